// Package pathname says which files a pattern in a word of a shell stands
// for, as bash does in the C locale. It is used twice: when a text is judged,
// and when it runs. It reads folders through a Disk and nothing else.
package pathname

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"
)

// Disk is what is looked at, and what counts it.
type Disk interface {
	// List returns the names in a folder; none if it cannot be read.
	List(folder string) []string
	// Exists reports whether something is at a path, through links.
	Exists(path string) bool
	// Spend counts steps, and reports whether there may be more of them.
	Spend(steps int) bool
}

// Expand returns the names that a pattern stands for, sorted by bytes; with
// none, a shell takes the word as it is. What was quoted in it stands behind
// backslashes. Relative names are below dir. It reports false where it does
// not know: for folders without end in sight, and for patterns whose meaning
// depends on the language.
func Expand(d Disk, glob, dir string) ([]string, bool) {
	if dir == "" && !strings.HasPrefix(glob, "/") {
		return nil, false
	}
	if folder, _, twice := strings.Cut(glob, "//"); twice {
		return nil, nowhere(d, folder, dir) // http://host/path?query is no name of a file
	}
	if len(glob) > maxLength {
		d.Spend(len(glob))
		return nil, false
	}
	found := []string{""}
	for i, part := range strings.Split(glob, "/") {
		if i > 0 {
			for k := range found {
				found[k] += "/"
			}
		}
		if part == "" {
			continue
		}
		var next []string
		if !Special(part) {
			for _, name := range found {
				next = append(next, name+Unescape(part))
			}
		} else if next = matches(d, found, part, dir); next == nil {
			return nil, false
		}
		if found = next; len(found) == 0 {
			break
		}
	}
	found = slices.DeleteFunc(found, func(name string) bool { return !d.Exists(join(dir, name)) })
	slices.Sort(found)
	return found, true
}

// nowhere reports whether the folder with which a pattern begins is a plain name of
// nothing, so that the pattern stands for no file.
func nowhere(d Disk, folder, dir string) bool {
	return folder != "" && len(folder) <= maxLength && !Special(folder) && d.Spend(1) && !d.Exists(join(dir, Unescape(folder)))
}

const (
	// Max bounds the names of one pattern.
	Max = 50_000
	// maxLength bounds a pattern: no system opens a longer path.
	maxLength = 4096
	// perStep is how many letters of patterns are compared with a name in one step.
	perStep = 1024
)

// matches adds to each folder the entries that one part of a pattern matches.
// It returns nil for what is no pattern, or too much work.
func matches(d Disk, folders []string, part, dir string) []string {
	if !d.Spend(1 + len(part)/4) { // to compile it costs more than all else
		return nil
	}
	if strings.Contains(part, "[:") || strings.Contains(part, "[.") || strings.Contains(part, "[=") {
		return nil // which letters these mean depends on the language
	}
	text, err := pattern.Regexp(part, pattern.EntireString|pattern.NoGlobStar)
	if err != nil {
		return nil
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	next, dotted := []string{}, strings.HasPrefix(strings.TrimPrefix(part, `\`), ".")
	for _, folder := range folders {
		names := d.List(strings.TrimSuffix(join(dir, folder), "/"))
		if !d.Spend(len(names) * len(part) / perStep) {
			return nil
		}
		for _, name := range names {
			if (name[0] != '.' || dotted) && expr.MatchString(name) {
				next = append(next, folder+name)
			}
		}
		if len(next) > Max {
			return nil
		}
	}
	return next
}

// Portable reports whether a pattern means to other shells what it means to
// bash: these match . and .. with a dot, and read ^ in brackets as itself.
func Portable(glob string) bool {
	glob = strings.ReplaceAll(glob, `\.`, ".")
	return !strings.Contains(glob, "[^") && !strings.HasPrefix(glob, ".") && !strings.Contains(glob, "/.")
}

// Special reports whether a text is more than a name.
func Special(glob string) bool {
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// Unescape takes the backslashes out that keep a pattern from meaning more.
func Unescape(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' && i+1 < len(glob) {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

// Escape puts a backslash before what patterns read.
func Escape(text string) string {
	var b strings.Builder
	for i := range len(text) {
		if strings.IndexByte(`*?[]\-!^`, text[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

func join(dir, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return strings.TrimSuffix(dir, "/") + "/" + name
}

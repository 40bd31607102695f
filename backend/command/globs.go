package command

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"
)

// names returns the files that a pattern of a word in dir stands for, sorted
// by bytes as the C locale does; the word itself if there is none. It reports
// false where only the run can tell.
func (j *job) names(glob, dir string) ([]string, bool) {
	if dir == "" && !strings.HasPrefix(glob, "/") {
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
		if !hasMeta(part) {
			for _, name := range found {
				next = append(next, name+unescape(part))
			}
		} else if next = j.matches(found, part, dir); next == nil {
			return nil, false
		}
		if found = next; len(found) == 0 {
			break
		}
	}
	found = slices.DeleteFunc(found, func(name string) bool {
		_, err := j.look(join(dir, name))
		return err != nil
	})
	if j.named += len(found); j.spent() {
		return nil, false
	}
	if len(found) == 0 {
		return []string{unescape(glob)}, true
	}
	slices.Sort(found)
	return found, true
}

// matches adds to each folder the entries that one part of a pattern matches.
// It returns nil for what is no pattern, or too much work.
func (j *job) matches(folders []string, part, dir string) []string {
	if !j.spend(1 + len(part)/4) { // to compile it costs more than all else
		return nil
	}
	text, err := pattern.Regexp(part, pattern.EntireString|pattern.NoGlobStar)
	if err != nil {
		return nil
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	next := []string{}
	for _, folder := range folders {
		for _, name := range j.list(strings.TrimSuffix(join(dir, folder), "/")) {
			if (name[0] != '.' || part[0] == '.') && expr.MatchString(name) {
				next = append(next, folder+name)
			}
		}
		if j.spent() || len(next) > maxNames {
			j.named += len(next)
			return nil
		}
	}
	return next
}

// hasMeta reports whether a part of a pattern is more than a name.
func hasMeta(part string) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// unescape takes the backslashes out that keep a pattern from meaning more.
func unescape(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		if glob[i] == '\\' && i+1 < len(glob) {
			i++
		}
		b.WriteByte(glob[i])
	}
	return b.String()
}

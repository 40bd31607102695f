package glob

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What is accepted. Together these bound the steps of one match: the library
// starts again at every folder of the path, and then compares at most
// maxGlob bytes with each name.
const (
	maxPattern = 4096 // bytes of a pattern
	maxPath    = 4096 // bytes of a path; no kernel of ours takes a longer one
	maxGlob    = 256  // bytes from the first folder with a wildcard on
	maxStars   = 16   // * and ** of a pattern
)

// Parse reads a pattern. Home is the home folder, an absolute path; it is
// needed for patterns that begin with ~. The error says what is wrong with
// the pattern and what to write instead.
func Parse(pattern, home string) (Pattern, error) {
	text := strings.TrimSpace(pattern)
	if err := checkText(text); err != nil {
		return Pattern{}, err
	}
	p, err := parse(text, home)
	if err != nil {
		return Pattern{}, fmt.Errorf("cannot use the pattern %q: %w", text, err)
	}
	p.text, p.any = text, text == "*"
	p.folded = p.exact.fold()
	return p, nil
}

func checkText(text string) error {
	switch {
	case text == "":
		return errors.New("cannot use an empty pattern: write an absolute path or a command's name")
	case len(text) > maxPattern:
		return fmt.Errorf("cannot use a pattern of %d bytes: write at most %d", len(text), maxPattern)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("cannot use the pattern %q: take the control characters out, or write ? for each", text)
	case !utf8.ValidString(text), strings.ContainsRune(text, utf8.RuneError):
		// Bytes that are no text compare equal to this character in the library.
		return fmt.Errorf("cannot use the pattern %q: write ? for each byte that is not UTF-8", text)
	}
	return nil
}

func parse(text, home string) (Pattern, error) {
	switch {
	case !strings.ContainsAny(text, "/~"):
		seg := readSegment(text)
		s := shape{prefix: seg.literal}
		if seg.stars > 0 || seg.wild {
			s = shape{glob: seg.glob}
		}
		return Pattern{bare: true, exact: s}, checkSize(s, seg.stars)
	case strings.HasPrefix(text, "/"):
		return parsePath("", text)
	case strings.HasPrefix(text, "**/"):
		return parsePath("", "/"+text)
	case text == "~" || strings.HasPrefix(text, "~/"):
		if !path.IsAbs(home) || path.Clean(home) != home || checkText(home) != nil {
			return Pattern{}, fmt.Errorf("the home folder %q cannot stand for ~: write the absolute path", home)
		}
		return parsePath(strings.TrimSuffix(home, "/"), text[1:])
	case strings.HasPrefix(text, "~"):
		return Pattern{}, errors.New("only ~ and ~/… are known: write the absolute path of another home")
	}
	return Pattern{}, errors.New("it is relative: write an absolute path, ~/…, **/… for any folder, or a name without / and ~")
}

// parsePath reads what follows a literal folder; rest is empty or begins
// with a slash.
func parsePath(root, rest string) (Pattern, error) {
	s := shape{prefix: root}
	if rest == "" || rest == "/" && root == "" {
		s.prefix = root + rest
		return Pattern{exact: s}, nil
	}
	stars, before := 0, ""
	for _, name := range strings.Split(rest[1:], "/") {
		seg := readSegment(name)
		switch {
		case name == "":
			return Pattern{}, errors.New("it has an empty folder: take out the doubled / or the / at its end (/** covers a folder and all below it)")
		case name == "." || name == "..":
			return Pattern{}, errors.New("it has a folder . or ..: write the path without them")
		case seg.double && name != "**":
			return Pattern{}, errors.New("** must be a folder of its own: write * within a name, or /**/ for folders between")
		case name == "**" && before == "**":
			continue
		}
		before = name
		stars += seg.stars
		if s.glob == "" && seg.stars == 0 && !seg.wild {
			s.prefix += "/" + seg.literal
		} else {
			s.glob += "/" + seg.glob
		}
	}
	return Pattern{exact: s}, checkSize(s, stars)
}

func checkSize(s shape, stars int) error {
	if stars > maxStars {
		return fmt.Errorf("it has %d wildcards: write at most %d", stars, maxStars)
	}
	if len(s.glob) > maxGlob {
		return fmt.Errorf("it goes on for %d bytes after its first wildcard: write at most %d", len(s.glob), maxGlob)
	}
	return nil
}

// segment is one name of a pattern, read.
type segment struct {
	literal string // the name it stands for, when there is no wildcard
	glob    string // the same for doublestar
	stars   int    // runs of *
	double  bool   // there is a run of more than one *
	wild    bool   // there is a ?
}

const special = `*?[]{}\`

func readSegment(name string) segment {
	var seg segment
	var literal, glob strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '*':
			end := i + 1
			for end < len(name) && name[end] == '*' {
				end++
			}
			seg.stars++
			seg.double = seg.double || end > i+1
			glob.WriteByte('*')
			i = end - 1
			continue
		case c == '?':
			seg.wild = true
			glob.WriteByte('?')
			continue
		case c == '\\' && i+1 < len(name) && strings.IndexByte(special, name[i+1]) >= 0:
			i++
			c = name[i]
		}
		if strings.IndexByte(special, c) >= 0 {
			glob.WriteByte('\\')
		}
		glob.WriteByte(c)
		literal.WriteByte(c)
	}
	seg.literal, seg.glob = literal.String(), glob.String()
	if name == "**" {
		seg.glob = "**"
	}
	return seg
}

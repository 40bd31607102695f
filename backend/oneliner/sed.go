package oneliner

import (
	"strings"
	"unicode/utf8"
)

// Sed returns "" when a script of sed surely does nothing but read its input
// and print, and else why not, as a clause that follows "the program of sed".
func Sed(script string) string {
	if reason := legible(script); reason != "" {
		return reason
	}
	if halved(script) {
		return unclear
	}
	s := sedScript{text: script, ascii: strings.IndexFunc(script, func(r rune) bool { return r >= utf8.RuneSelf }) < 0}
	for {
		reason, more := s.command()
		if reason != "" || !more {
			return reason
		}
	}
}

// sedScript reads a script as GNU sed does, and gives up where BSD sed would
// go on elsewhere. That one may know fewer commands: an error there runs
// nothing.
type sedScript struct {
	text  string
	ascii bool // all of it
	pos   int
	depth int // open braces
	// labelled: a label stands in this line. To BSD sed it takes the rest of
	// the line. What is left of the line is judged as commands, and none of
	// them may reach into the next.
	labelled bool
}

// peek returns the next character, 0 at the end.
func (s *sedScript) peek() byte {
	if s.pos == len(s.text) {
		return 0
	}
	return s.text[s.pos]
}

func (s *sedScript) blanks() { s.pos = skipBlanks(s.text, s.pos) }

// digits skips a number, and reports whether there is one.
func (s *sedScript) digits() bool {
	start := s.pos
	for isDigit(s.peek()) {
		s.pos++
	}
	return s.pos > start
}

// command reads one command, and reports whether there was one.
func (s *sedScript) command() (reason string, more bool) {
	for {
		s.blanks()
		c := s.peek()
		if c == '\n' {
			s.labelled = false
		} else if c != ';' {
			break
		}
		s.pos++
	}
	if s.pos == len(s.text) {
		if s.depth > 0 {
			return unclear, false
		}
		return "", false
	}
	start := s.pos
	if !s.addresses() {
		return unclear, false
	}
	addressed := s.pos > start
	c := s.peek()
	s.pos++
	if addressed && (c == '}' || c == ':' || c == '#') {
		return unclear, false
	}
	return s.body(c), true
}

// addresses reads up to two addresses and a !.
func (s *sedScript) addresses() bool {
	found, ok := s.address(false)
	if !ok {
		return false
	}
	s.blanks()
	if found && s.peek() == ',' {
		s.pos++
		s.blanks()
		if found, ok = s.address(true); !found || !ok {
			return false
		}
		s.blanks()
	}
	if s.peek() == '!' {
		s.pos++
		s.blanks()
	}
	return s.pos < len(s.text)
}

func (s *sedScript) address(second bool) (found, ok bool) {
	switch c := s.peek(); {
	case c == '$':
		s.pos++
	case isDigit(c):
		s.digits()
		if s.peek() == '~' {
			s.pos++
			return true, s.digits()
		}
	case second && (c == '+' || c == '~'):
		s.pos++
		return true, s.digits()
	case c == '/' || c == '\\':
		s.pos++
		if c == '\\' {
			c = s.peek()
			s.pos++
			if !s.delimits(c) {
				return true, false
			}
		}
		if !s.regex(c, false) {
			return true, false
		}
		for {
			s.blanks()
			if s.peek() != 'I' && s.peek() != 'M' {
				break
			}
			s.pos++
		}
	default:
		return false, true
	}
	return true, true
}

// delimits reports whether a character may stand around the parts of s and y.
// Among others than ASCII, it must not be what may be the half of one.
func (s *sedScript) delimits(c byte) bool {
	return ' ' < c && c < 0x7f && c != '\\' && c != '[' && (s.ascii || !isDigit(c) && c < '@')
}

// regex moves behind the end of a regular expression, or of a part of y, in
// which brackets are characters to most.
func (s *sedScript) regex(end byte, y bool) bool {
	i, ok := regexEnd(s.text, s.pos, end, y)
	s.pos = i + 1
	return ok
}

// body reads what follows the addresses.
func (s *sedScript) body(c byte) string {
	switch c {
	case '{':
		if s.depth++; s.depth > maxDepth {
			return deep
		}
		return ""
	case '}':
		if s.depth--; s.depth < 0 {
			return unclear
		}
		return s.end()
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
		return s.end()
	case 'l', 'q', 'Q':
		s.blanks()
		s.digits()
		return s.end()
	case 'v':
		s.blanks()
		for isDigit(s.peek()) || s.peek() == '.' {
			s.pos++
		}
		return s.end()
	case ':', 'b', 't', 'T':
		return s.label(c == ':')
	case 'a', 'i', 'c':
		return s.insert()
	case 's':
		return s.substitute()
	case 'y':
		c := s.peek()
		s.pos++
		if !s.delimits(c) || !s.regex(c, true) || !s.regex(c, true) {
			return unclear
		}
		return s.end()
	case '#':
		return s.comment()
	case 'e':
		return starts
	case 'w', 'W':
		return writes
	case 'r', 'R':
		return reads
	}
	return unclear
}

// end makes sure that a command ends here.
func (s *sedScript) end() string {
	s.blanks()
	if s.pos == len(s.text) || strings.IndexByte("\n;}#", s.peek()) >= 0 {
		return ""
	}
	return unclear
}

// comment reads a comment. To busybox, one behind a label is a part of it, up
// to a semicolon.
func (s *sedScript) comment() string {
	line, _, _ := strings.Cut(s.text[s.pos:], "\n")
	if strings.HasSuffix(line, `\`) || s.labelled {
		return unclear
	}
	s.pos += len(line)
	return ""
}

// label reads a label. GNU sed ends it at a blank, a semicolon or a brace,
// older ones at a line's end or a semicolon.
func (s *sedScript) label(needed bool) string {
	s.blanks()
	start := s.pos
	for isLetter(s.peek()) || isDigit(s.peek()) || s.peek() == '.' || s.peek() == '-' {
		s.pos++
	}
	if needed && s.pos == start {
		return unclear
	}
	s.labelled = true
	return s.end()
}

// insert reads the text of a, i and c. Behind a backslash and a line's end it
// goes on for as long as lines end in a backslash; of the form with the text
// behind the command only one line is understood, which is an error to some.
func (s *sedScript) insert() string {
	s.blanks()
	if s.peek() == '\\' {
		s.pos++
		if s.peek() == '\n' {
			s.pos++
			return s.lines()
		}
		s.blanks()
	}
	line, _, _ := strings.Cut(s.text[s.pos:], "\n")
	if line == "" || line[0] == '\\' || line[len(line)-1] == '\\' {
		return unclear
	}
	s.pos += len(line)
	return ""
}

func (s *sedScript) lines() string {
	if s.labelled {
		return unclear
	}
	for s.pos < len(s.text) {
		line, _, more := strings.Cut(s.text[s.pos:], "\n")
		s.pos += len(line)
		slashes := len(line) - len(strings.TrimRight(line, `\`))
		if slashes == 0 {
			return ""
		}
		if slashes%2 == 0 || !more {
			return unclear // an old BSD sed goes on behind two backslashes
		}
		s.pos++
	}
	return unclear
}

func (s *sedScript) substitute() string {
	c := s.peek()
	s.pos++
	if !s.delimits(c) || !s.regex(c, false) || !s.replacement(c) {
		return unclear
	}
	for {
		s.blanks()
		switch f := s.peek(); {
		case isDigit(f) || f != 0 && strings.IndexByte("gpiImM", f) >= 0:
			s.pos++
		case f == 'e':
			return starts
		case f == 'w':
			return writes
		default:
			return s.end()
		}
	}
}

// replacement moves behind the end of the second part of s. A backslash takes
// away the meaning of the next character, of a line's end too.
func (s *sedScript) replacement(end byte) bool {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		s.pos++
		switch c {
		case end:
			return true
		case '\n':
			return false
		case '\\':
			if s.pos == len(s.text) || s.text[s.pos] == '\n' && s.labelled {
				return false
			}
			s.pos++
		}
	}
	return false
}

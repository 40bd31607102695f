package pathname

import "strings"

// Pattern is a pattern that a text is compared with, as a case of a shell does it:
// no sign of it is special at the beginning of a name or before a slash.
type Pattern []piece

// piece is one part of a pattern: any text, or one character.
type piece struct {
	any  bool
	char byte
	set  *[256]bool // nil for char alone
}

// Signs reports whether a text without quotes would be more than itself in a pattern.
func Signs(text string) bool { return strings.ContainsAny(text, `*?[(\`) }

// Read takes a pattern apart. It reports false for one that shells may not read
// alike. What was quoted in it stands behind backslashes.
func Read(text string) (p Pattern, ok bool) {
	if len(text) > maxLength {
		return nil, false
	}
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return nil, false
			}
			p = append(p, piece{char: text[i]})
		case '*':
			if n := len(p); n == 0 || !p[n-1].any {
				p = append(p, piece{any: true})
			}
		case '?':
			set := &[256]bool{}
			for c := range set {
				set[c] = true
			}
			p = append(p, piece{set: set})
		case '[':
			set, length := readSet(text[i+1:])
			if set == nil {
				return nil, false
			}
			p = append(p, piece{set: set})
			i += length
		default:
			p = append(p, piece{char: text[i]})
		}
	}
	return p, true
}

// classes are sets of characters that mean the same in each language, of those that
// have one byte.
var classes = map[string]string{
	"alpha": lowerCase + upperCase, "digit": digits, "alnum": lowerCase + upperCase + digits, "upper": upperCase, "lower": lowerCase,
	"space": " \t\n\v\f\r", "blank": " \t", "xdigit": digits + "abcdefABCDEF",
}

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	upperCase = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
	// alone are signs that stand for themselves in brackets.
	alone = "_.,:;@%+=/ #~<>&|(){}'\"$"
)

// readSet reads what stands behind an opening bracket, and returns how long that is
// with the closing one; nil for what is not clear.
func readSet(text string) (*[256]bool, int) {
	set, i, not := &[256]bool{}, 0, false
	if strings.HasPrefix(text, "!") || strings.HasPrefix(text, "^") {
		not, i = true, 1
	}
	begin := i
	for ; i < len(text); i++ {
		c := text[i]
		if class, rest, found := strings.Cut(text[i:], ":]"); found && strings.HasPrefix(class, "[:") && classes[class[2:]] != "" {
			for _, c := range []byte(classes[class[2:]]) {
				set[c] = true
			}
			i = len(text) - len(rest) - 1
			continue
		}
		switch {
		case c == ']' && i > begin:
			if not {
				for c := range set {
					set[c] = !set[c]
				}
			}
			return set, i + 1
		case c == '-' && (i == begin || i+1 < len(text) && text[i+1] == ']'):
			set[c] = true
		case i+2 < len(text) && text[i+1] == '-' && text[i+2] != ']':
			if !oneRange(c, text[i+2]) {
				return nil, 0
			}
			for ; c < text[i+2]; c++ {
				set[c] = true
			}
			set[c] = true
			i += 2
		case strings.IndexByte(lowerCase+upperCase+digits+alone, c) >= 0:
			set[c] = true
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// oneRange reports whether two characters are the ends of a range that holds the
// same in each language.
func oneRange(from, to byte) bool {
	for _, all := range []string{lowerCase, upperCase, digits} {
		if i, k := strings.IndexByte(all, from), strings.IndexByte(all, to); i >= 0 && k >= i {
			return true
		}
	}
	return false
}

// Clear reports whether what a pattern makes of a text is the same whatever letters
// a shell knows: one that counts characters is only clear where each is a byte.
func (p Pattern) Clear(text string) bool {
	counts := false
	for _, one := range p {
		counts = counts || one.set != nil
	}
	return !counts || isASCII(text)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Steps is how much work it is to compare a pattern with a text of so many bytes.
func (p Pattern) Steps(bytes int) int { return bytes * (1 + len(p)/8) }

// walk goes through a text, from its end with back, and tells each length of what the
// pattern matches there, until it hears no.
func (p Pattern) walk(text string, back bool, tell func(length int) bool) {
	now, next := make([]bool, len(p)+1), make([]bool, len(p)+1)
	at := func(i int) piece {
		if back {
			return p[len(p)-1-i]
		}
		return p[i]
	}
	now[0] = true
	for length := 0; ; length++ {
		some := false
		for i := range p {
			if now[i] && at(i).any {
				now[i+1] = true
			}
			some = some || now[i]
		}
		if now[len(p)] && !tell(length) || !some || length == len(text) {
			return
		}
		c := text[length]
		if back {
			c = text[len(text)-1-length]
		}
		clear(next)
		for i := range p {
			if one := at(i); now[i] && (one.any || one.set == nil && one.char == c || one.set != nil && one.set[c]) {
				if one.any {
					next[i] = true
				} else {
					next[i+1] = true
				}
			}
		}
		now, next = next, now
	}
}

// Fits reports whether a pattern matches all of a text.
func (p Pattern) Fits(text string) (fits bool) {
	p.walk(text, false, func(length int) bool { fits = length == len(text); return true })
	return fits
}

// Begins returns how much a pattern matches at the beginning of a text, the least or
// the most, and -1 for nothing at all.
func (p Pattern) Begins(text string, most bool) int { return p.length(text, false, most) }

// Ends does the same at the end.
func (p Pattern) Ends(text string, most bool) int { return p.length(text, true, most) }

func (p Pattern) length(text string, back, most bool) int {
	found := -1
	p.walk(text, back, func(length int) bool { found = length; return most })
	return found
}

// Fixed reports whether all that a pattern matches has one length, and not none.
func (p Pattern) Fixed() bool {
	for _, one := range p {
		if one.any {
			return false
		}
	}
	return len(p) > 0
}

// Replace puts another text in the place of the first piece that a fixed pattern
// matches, or of each. With another pattern the text stays as it is.
func (p Pattern) Replace(text, with string, all bool) string {
	if !p.Fixed() {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if len(text)-i >= len(p) && p.here(text[i:]) {
			b.WriteString(with)
			if i += len(p); !all {
				b.WriteString(text[i:])
				break
			}
			continue
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

func (p Pattern) here(text string) bool {
	for i, one := range p {
		if one.set == nil && one.char != text[i] || one.set != nil && !one.set[text[i]] {
			return false
		}
	}
	return true
}

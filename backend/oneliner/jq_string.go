package oneliner

import "strings"

// beginString reads a string up to its end, or up to a \( that puts a piece
// of program into it.
func (p *jqProgram) beginString() string {
	if p.path && !p.wrapped() {
		p.apart = true // to yq, the quote belongs to the path before it
	}
	if len(p.strings) > 0 {
		p.apart = true // to yq, the quote ends the string around it
	}
	p.strings = append(p.strings, jqString{})
	p.pos++
	return p.str()
}

// wrapped reports whether a field in quotes begins here that yq ends where jq
// does.
func (p *jqProgram) wrapped() bool {
	name, _, found := strings.Cut(p.text[p.pos+1:], `"`)
	return found && name != "" && p.text[p.pos-1] == '.' && !strings.ContainsAny(name, " \\")
}

// str reads on within a string.
func (p *jqProgram) str() string {
	now := &p.strings[len(p.strings)-1]
	start := p.pos
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case '"':
			now.words = now.words || hasYqWord(p.text[start:p.pos])
			if now.escape && now.words {
				return unclear // yq may make a \( of the escapes
			}
			p.words = p.words || now.words
			p.strings = p.strings[:len(p.strings)-1]
			p.pos++
			p.before, p.path = `"`, false
			return ""
		case '\\':
			if strings.HasPrefix(p.text[p.pos:], `\(`) {
				if len(p.open) == maxDepth {
					return deep
				}
				now.words = now.words || hasYqWord(p.text[start:p.pos])
				p.open = append(p.open, '"')
				p.pos += 2
				p.before, p.path = "(", false
				return ""
			}
			if p.pos+1 == len(p.text) || strings.IndexByte(`"\/bfnrtu`, p.text[p.pos+1]) < 0 {
				return unclear
			}
			now.escape = now.escape || strings.IndexByte("bfnrt", p.text[p.pos+1]) < 0
			p.apart = p.apart || p.text[p.pos+1] == '"' // old versions of yq end the string there
			p.pos++
		}
		p.pos++
	}
	return unclear
}

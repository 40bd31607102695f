package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// strictly returns the value of a word that means the same to every shell: no
// expansion, glob, brace, tilde or ANSI quoting.
func (t *textJob) strictly(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if !bare(&b, part.Value, i == 0) {
				return "", false
			}
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			if part.Dollar {
				return "", false
			}
			for _, inner := range part.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return "", false
				}
				quoted(&b, lit.Value)
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// bare adds an unquoted piece. first tells that it begins the word, where an
// equals sign counts to zsh.
func bare(b *strings.Builder, piece string, first bool) bool {
	if first && (piece == "[" || piece == "]") {
		b.WriteString(piece)
		return true // the command, not a pattern
	}
	if first && strings.HasPrefix(piece, "=") {
		return false
	}
	for i := 0; i < len(piece); i++ {
		switch c := piece[i]; {
		case c == '\\':
			if i++; i == len(piece) {
				return false
			}
			if piece[i] != '\n' {
				b.WriteByte(piece[i])
			}
		case strings.IndexByte("*?[]{}^#~()<>", c) >= 0: // zsh reads patterns and more in them
			return false
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// quoted adds a piece that stands in double quotes, where a backslash counts
// only before five characters.
func quoted(b *strings.Builder, piece string) {
	for i := 0; i < len(piece); i++ {
		if piece[i] == '\\' && i+1 < len(piece) && strings.IndexByte("$`\"\\\n", piece[i+1]) >= 0 {
			if i++; piece[i] == '\n' {
				continue
			}
		}
		b.WriteByte(piece[i])
	}
}

package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// literal returns the value of a word that means the same to every shell: no
// expansion, glob, brace or ANSI quoting, and of tildes only that of the own
// home. All other words are known only when they run.
func (t *textJob) literal(word *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if part.Value == "~" && i == 0 && len(word.Parts) > 1 {
				return "", false // ~"x" is not the home folder
			}
			if !t.bare(&b, part.Value, i == 0) {
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

// bare adds an unquoted piece. first tells that it begins the word, where a
// tilde counts, and to zsh an equals sign.
func (t *textJob) bare(b *strings.Builder, piece string, first bool) bool {
	if first && (piece == "[" || piece == "]") {
		b.WriteString(piece)
		return true // the command, not a pattern
	}
	if first && !t.anyShell && (piece == "~" || strings.HasPrefix(piece, "~/")) {
		b.WriteString(t.Home)
		piece = piece[1:]
	}
	if first && (strings.HasPrefix(piece, "~") || (strings.HasPrefix(piece, "=") && (t.anyShell || t.noShell))) {
		return false
	}
	special := "*?[]{}"
	if t.anyShell {
		special += "^#~"
	}
	for i := 0; i < len(piece); i++ {
		c := piece[i]
		switch {
		case c == '\\':
			if i++; i == len(piece) {
				return false
			}
			b.WriteByte(piece[i])
		case strings.IndexByte(special, c) >= 0:
			return false
		case c == '~' && i > 0 && strings.IndexByte("=:", piece[i-1]) >= 0:
			return false // bash expands it after = and : in some words
		default:
			b.WriteByte(c)
		}
	}
	return true
}

// quoted adds a piece that stands in double quotes, where a backslash counts
// only before four characters.
func quoted(b *strings.Builder, piece string) {
	for i := 0; i < len(piece); i++ {
		if piece[i] == '\\' && i+1 < len(piece) && strings.IndexByte("$`\"\\", piece[i+1]) >= 0 {
			i++
		}
		b.WriteByte(piece[i])
	}
}

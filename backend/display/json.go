package display

import (
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSONWriter passes JSON on, of which each write is a whole text, with every
// character that Escape would escape as \uXXXX in its strings: a terminal that
// shows it is not steered, and whoever reads it as JSON gets the same texts.
type JSONWriter struct{ To io.Writer }

func (w JSONWriter) Write(text []byte) (int, error) {
	if _, err := w.To.Write(escapeJSON(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// escapeJSON escapes what stands in the strings of a JSON text. There is nothing
// beyond ASCII outside of them, and JSON lets no control of ASCII but DEL stand in
// them. A byte that is not UTF-8 becomes U+FFFD, as JSON decoders have it.
func escapeJSON(text []byte) []byte {
	out := make([]byte, 0, len(text))
	before := rune(0)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == 0x7f, r >= utf8.RuneSelf && (Hides(before, r) || r == utf8.RuneError && n == 1):
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		default:
			out = append(out, text[i:i+n]...)
		}
		before = r
		i += n
	}
	return out
}

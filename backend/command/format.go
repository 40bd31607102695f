package command

import "strings"

// Format writes an argument vector as one line for reading, in the form that
// callers send as rawCommand (openclaw-protocol.md, §4 "Formatting"): a word
// that is empty or holds white space or a quote is quoted. It is not meant to
// be parsed again.
func Format(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		if word == "" || strings.ContainsAny(word, " \t\n\v\f\r\"\u00a0\u2028\u2029\ufeff") {
			word = `"` + strings.ReplaceAll(word, `"`, `\"`) + `"`
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// rawAgrees reports whether a display text, trimmed, is the formatted argv or
// the text of a plain shell call.
func rawAgrees(raw string, argv []string) bool {
	if raw == strings.TrimSpace(Format(argv)) {
		return true
	}
	_, text, ok := shellText(argv)
	return ok && raw == strings.TrimSpace(text)
}

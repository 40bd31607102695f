package command

import (
	"strings"
	"unicode"
)

// Format writes an argument vector as one line for reading, in the form that
// callers of OpenClaw's protocol send as rawCommand: a word that is empty or
// holds white space or a quote is quoted. A shell would read other words in it,
// and so would a person: see Quote.
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

// plainWord holds what a shell reads as it stands, wherever it stands in a
// word but at its beginning.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^~#"

// Quote writes an argument vector so that a person and a shell read the same
// words in it: whatever a shell would not take as it stands is in single
// quotes. It is what a question shows.
func Quote(argv []string) string {
	words := make([]string, len(argv))
	for i, word := range argv {
		if word == "" || strings.ContainsAny(word[:1], "~#=") || !plain(word) {
			word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
		words[i] = word
	}
	return strings.Join(words, " ")
}

// plain reports whether a word needs no quotes. Letters of all scripts need
// none.
func plain(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(plainWord, r)
	}) < 0
}

// rawAgrees reports whether a display text, trimmed, is the formatted argv or
// the text of a plain shell call.
func rawAgrees(raw string, argv []string) bool {
	if raw == strings.TrimSpace(Format(argv)) {
		return true
	}
	_, text, _, ok := shellText(argv)
	return ok && raw == strings.TrimSpace(text)
}

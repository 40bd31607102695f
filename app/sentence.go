package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/display"
)

// maxNote bounds what a person tells the agent, in bytes.
const maxNote = 2000

func shorten(note string) string {
	note = strings.TrimSpace(note)
	if len(note) > maxNote {
		note = note[:maxNote]
	}
	return strings.ToValidUTF8(note, "")
}

// sentence writes an error for a person: with a capital and a full stop.
func sentence(err error) string {
	text := display.Escape(err.Error())
	r, n := utf8.DecodeRuneInString(text)
	text = string(unicode.ToUpper(r)) + text[n:]
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	return text
}

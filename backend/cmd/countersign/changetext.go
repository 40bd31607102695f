package main

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/host"
)

const (
	// narrowTerminal is how wide a terminal is at least that shows a line in one.
	narrowTerminal = 60
	// maxAgentColumn keeps a long name from taking the place of the change.
	maxAgentColumn = 24
)

// cellsOf are the word, whose, and the change of a line of a change; ok is false
// for any other line.
func cellsOf(line string) (word, agent, what string, ok bool) {
	cells := strings.Split(line, "\t")
	if len(cells) != 3 {
		return "", "", "", false
	}
	return cells[0], cells[1], cells[2], true
}

// laidOut is the text of a host for a terminal of this width: its cells in columns,
// or in two lines each. Words alone carry it, so it is the same without colour.
func laidOut(text string, width int, utf8Terminal bool) string {
	if !utf8Terminal {
		text = strings.NewReplacer("→", "->", "…", "...").Replace(text)
	}
	lines, column := strings.Split(text, "\n"), 0
	for _, line := range lines {
		_, agent, _, _ := cellsOf(line)
		column = max(column, utf8.RuneCountInString(agent))
	}
	column = min(column, maxAgentColumn)
	for i, line := range lines {
		word, agent, what, ok := cellsOf(line)
		switch {
		case ok && width < narrowTerminal:
			lines[i] = fmt.Sprintf("  %-7s  %s\n    %s", word, agent, what)
		case ok:
			lines[i] = fmt.Sprintf("  %-7s  %-*s  %s", word, column, agent, what)
		}
	}
	return strings.Join(lines, "\n")
}

// knowsUTF8 reports whether the terminal is told to be one of UTF-8.
func knowsUTF8(getenv func(string) string) bool {
	locale := strings.ToUpper(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return strings.Contains(locale, "UTF-8") || strings.Contains(locale, "UTF8")
}

// passphraseFor names what the passphrase signs.
func passphraseFor(text string) string {
	n := 0
	for _, line := range strings.Split(text, "\n") {
		if word, _, _, ok := cellsOf(line); ok && (word == string(host.Looser) || word == string(host.Undoes)) {
			n++
		}
	}
	switch n {
	case 0:
		return "Passphrase to accept this: "
	case 1:
		return "Passphrase to accept 1 change: "
	}
	return fmt.Sprintf("Passphrase to accept %d changes: ", n)
}

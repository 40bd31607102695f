package service

import (
	_ "embed"
	"strings"
)

//go:embed systemd.service
var systemdText string

// systemdUnit is a unit of systemd's user manager (systemd.service(5)).
func systemdUnit(u Unit) []byte {
	words := []string{systemdWord(u.Program)}
	for _, arg := range u.Args {
		words = append(words, systemdWord(arg))
	}
	return []byte(strings.NewReplacer("{about}", systemdLine(u.About), "{command}", strings.Join(words, " ")).Replace(systemdText))
}

// systemdWord is one word of a command line: quoted, with nothing left that
// systemd would expand (systemd.syntax(7), systemd.unit(5), "Specifiers").
func systemdWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(word) + `"`
}

// systemdLine is a text to the end of its line.
func systemdLine(text string) string { return strings.ReplaceAll(text, `%`, `%%`) }

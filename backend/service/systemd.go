package service

import (
	_ "embed"
	"strings"
	"text/template"
)

//go:embed systemd.service
var systemdText string

var systemd = template.Must(template.New("systemd").Funcs(template.FuncMap{"word": systemdWord, "text": systemdLine}).Parse(systemdText))

// systemdUnit is a unit of systemd's user manager (systemd.service(5)).
func systemdUnit(u Unit) ([]byte, error) {
	var b strings.Builder
	err := systemd.Execute(&b, u)
	return []byte(b.String()), err
}

// systemdWord is one word of a command line: quoted, with nothing left that
// systemd would expand (systemd.syntax(7), systemd.unit(5), "Specifiers").
func systemdWord(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(word) + `"`
}

// systemdLine is a text to the end of its line.
func systemdLine(text string) string { return strings.ReplaceAll(text, `%`, `%%`) }

package service

import (
	_ "embed"
	"encoding/xml"
	"strconv"
	"strings"
	"text/template"
)

//go:embed launchd.plist
var launchdText string

var launchd = template.Must(template.New("launchd").Funcs(template.FuncMap{"text": xmlText}).Parse(launchdText))

// label is the name of a service for launchd.
func label(name string) string { return "app.countersign." + name }

// launchdAgent is an agent of launchd for one person (launchd.plist(5)). Its
// messages go to a file in logs.
func launchdAgent(u Unit, logs string) ([]byte, error) {
	var b strings.Builder
	err := launchd.Execute(&b, struct {
		Unit
		Label, Log string
	}{u, label(u.Name), logs + "/" + u.Name + ".log"})
	return []byte(b.String()), err
}

func xmlText(text string) (string, error) {
	var b strings.Builder
	err := xml.EscapeText(&b, []byte(text))
	return b.String(), err
}

// printedPID reads the process id from what launchctl print tells, 0 for none.
func printedPID(text string) int {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "pid = "); ok {
			pid, _ := strconv.Atoi(value)
			return pid
		}
	}
	return 0
}

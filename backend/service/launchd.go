package service

import (
	_ "embed"
	"html"
	"strconv"
	"strings"
)

//go:embed launchd.plist
var launchdText string

// label is the name of a service for launchd.
func label(name string) string { return "app.countersign." + name }

// launchdAgent is an agent of launchd for one person (launchd.plist(5)). Its
// messages go to a file in logs.
func launchdAgent(u Unit, logs string) []byte {
	words := []string{launchdWord(u.Program)}
	for _, arg := range u.Args {
		words = append(words, launchdWord(arg))
	}
	fill := strings.NewReplacer("{label}", html.EscapeString(label(u.Name)), "{words}", strings.Join(words, "\n"), "{log}", html.EscapeString(logs+"/"+u.Name+".log"))
	return []byte(fill.Replace(launchdText))
}

func launchdWord(word string) string { return "\t\t<string>" + html.EscapeString(word) + "</string>" }

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

package main

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/history"
)

// TestMachineStopsRead: what is counted is told in a table, without what steers a
// terminal, and of few commands nothing is told.
func TestMachineStopsRead(t *testing.T) {
	counted := history.Stops{Commands: 40, Asked: 10, Denied: 2, Kept: 9, Programs: []history.Cause{{Name: "a\x1b[2Jb", Stops: 7}}}
	for _, test := range []struct {
		days     int
		commands int64
		want     []string
	}{
		{1, 40, []string{"today", "25.0", "2.5", "5.0", `     7  a\u{1B}[2Jb`}},
		{7, 40, []string{"last 7 days"}},
		{1, 19, []string{"today: 19 commands, too few to tell\n"}},
		{7, 0, []string{"last 7 days: 0 commands, too few to tell\n"}},
	} {
		counted.Commands = test.commands
		var out strings.Builder
		stopsOf(test.days, counted).write(&out)
		for _, want := range test.want {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "\x1b") {
				t.Errorf("%d days, %d commands: %q", test.days, test.commands, out.String())
			}
		}
	}
}

package setup

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
)

// TestReadme: the table of the README of all rooms for agents says of each what
// is written for it, and what it does.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	silent := map[Would]string{AskSelf: "it asks by itself", Refuse: "refused", Wait: "stays pending there"}
	missing := map[Would]string{AskSelf: "it asks by itself", Refuse: "refuses", Wait: "stays pending"}
	for _, one := range targets() {
		_, agent, err := find(one.agent)
		if err != nil {
			t.Fatal(err)
		}
		c := agent.Capability
		files, events, waits, rewrites := "none: ", "", "without end", "no"
		if one.user != "" {
			files = "`~/" + path.Join(one.folder, one.user) + "`"
			if one.moved != "" {
				files += " (`$" + one.moved + "`)"
			}
			files += " · `" + one.project + "` |"
		}
		for _, e := range one.events {
			if events += ", " + e.name; e.noOnly {
				events += " (only a no counts)"
			}
		}
		if c.Timeout > 0 {
			waits = fmt.Sprintf("%.0f s", c.Timeout.Seconds())
		}
		if c.CanRewriteInput {
			rewrites = "yes"
		}
		begins := "| `" + one.agent + "` | " + files
		ends := strings.TrimPrefix(events, ", ") + " | " + strings.Join([]string{waits, silent[withoutApp(c)], missing[withoutProgram(one, c)], rewrites}, " | ") + " |"
		_, row, found := strings.Cut(string(text), "\n"+begins)
		row, _, _ = strings.Cut(row, "\n")
		if !found || !strings.Contains(row, ends) {
			t.Errorf("README.md says something else of %s than: %s … %s", one.agent, begins, ends)
		}
	}
}

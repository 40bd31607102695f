package menubar

import (
	"slices"
	"testing"
	"time"
)

// TestChange tells which rows of an open menu can be changed in place.
func TestChange(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	facts := Facts{Now: now, Agents: []Agent{{ID: "main", Name: "main", Mode: "ask-when-needed"}}, Waiting: []Question{{ID: "1", Agent: "main", Command: "ls", Expires: now.Add(time.Minute)}}}
	before := Build(facts).Items
	for name, row := range map[string]struct {
		change func(*Facts)
		same   bool
		titles []string
	}{
		"nothing":          {func(*Facts) {}, true, nil},
		"a second later":   {func(f *Facts) { f.Now = now.Add(time.Second) }, true, []string{"main: ls — 0:59"}},
		"another mode":     {func(f *Facts) { f.Agents[0].Mode = "deny" }, true, []string{"main — Deny", "Deny", "Ask when needed"}},
		"another question": {func(f *Facts) { f.Waiting[0].ID = "2" }, false, nil},
		"one more": {func(f *Facts) {
			f.Running = append(f.Running, Run{ID: "r", Agent: "main", Command: "sleep", Started: now})
		}, false, nil},
		"paused": {func(f *Facts) { f.Paused = true }, false, nil},
	} {
		f := facts
		f.Agents, f.Waiting = slices.Clone(facts.Agents), slices.Clone(facts.Waiting)
		row.change(&f)
		after := Build(f).Items
		if got := sameRows(before, after); got != row.same {
			t.Errorf("%s: the same rows: %v", name, got)
			continue
		}
		if !row.same {
			continue
		}
		var titles []string
		for _, i := range changed(before, after) {
			titles = append(titles, flat(after)[i].Title)
		}
		if !slices.Equal(titles, row.titles) {
			t.Errorf("%s: %q, want %q", name, titles, row.titles)
		}
	}
}

// A press names its row also when the menu was made anew before it is heard.
func TestTags(t *testing.T) {
	var menu tags
	menu.renew()
	stop, quit := menu.take("stop a"), menu.take("quit")
	check := func(when string, want map[int]string) {
		t.Helper()
		for tag, id := range want {
			if got := menu.id(tag); got != id {
				t.Errorf("%s: tag %d is %q, want %q", when, tag, got, id)
			}
		}
	}
	check("at first", map[int]string{stop: "stop a", quit: "quit", quit + 1: "", 0: "", -1: ""})
	menu.renew()
	later := menu.take("stop everything")
	check("made anew", map[int]string{stop: "stop a", quit: "quit", later: "stop everything"})
	menu.renew()
	check("made anew twice", map[int]string{stop: "", quit: "", later: "stop everything"})
}

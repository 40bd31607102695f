package menubar

import (
	"reflect"
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

// What is shown while the menu is open changes in place or waits; what came
// last is drawn when it is closed.
func TestSheet(t *testing.T) {
	at := time.Unix(1_000_000, 0)
	menu := func(waiting ...string) Menu {
		f := Facts{Now: at}
		for _, id := range waiting {
			f.Waiting = append(f.Waiting, Question{ID: id, Agent: "main", Command: "ls", Expires: at.Add(time.Minute)})
		}
		return Build(f)
	}
	var s sheet
	later := menu("a")
	later.Items[1].Title = "main: ls — 0:59"
	for _, step := range []struct {
		name   string
		opens  bool
		menu   *Menu // nil: it is closed
		places []int
		anew   bool
		shows  Menu
	}{
		{"the first", false, ptr(menu()), nil, true, menu()},
		{"the same", false, ptr(menu()), nil, false, menu()},
		{"another", false, ptr(menu("a")), nil, true, menu("a")},
		{"opened, a second later", true, ptr(later), []int{1}, false, later},
		{"still open, another", false, ptr(menu("b")), nil, false, later},
		{"still open, a third", false, ptr(menu("b", "c")), nil, false, later},
		{"closed", false, nil, nil, true, menu("b", "c")},
		{"opened, another", true, ptr(menu()), nil, false, menu("b", "c")},
		{"what is shown came back", false, ptr(menu("b", "c")), nil, false, menu("b", "c")},
		{"closed, where nothing waits", false, nil, nil, false, menu("b", "c")},
		{"closed, another", false, ptr(menu("d")), nil, true, menu("d")},
	} {
		if step.opens {
			s.open = true
		}
		var places []int
		var anew bool
		if step.menu == nil {
			anew = s.closed()
		} else {
			places, anew = s.take(*step.menu)
		}
		if !slices.Equal(places, step.places) || anew != step.anew || !reflect.DeepEqual(s.shows, step.shows) {
			t.Errorf("%s: rows %v, anew %v, shows %+v", step.name, places, anew, s.shows)
		}
	}
}

func ptr(m Menu) *Menu { return &m }

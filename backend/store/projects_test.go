package store

import (
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestSaidOfAFolder: the newest word counts, and no older one holds on beside it.
func TestSaidOfAFolder(t *testing.T) {
	yes := func(agent string) approval.Project { return approval.Project{Path: "/p", Agent: agent} }
	no := func(agent string) approval.Project { return approval.Project{Path: "/p", Agent: agent, No: true} }
	for _, test := range []struct{ said, left []approval.Project }{
		{[]approval.Project{yes(""), yes("")}, []approval.Project{yes("")}},
		{[]approval.Project{yes("a"), yes("b")}, []approval.Project{yes("a"), yes("b")}},
		{[]approval.Project{yes("a"), yes("b"), yes("")}, []approval.Project{yes("")}},
		{[]approval.Project{yes(""), no("a")}, []approval.Project{yes(""), no("a")}},
		{[]approval.Project{yes(""), no("a"), yes("a")}, []approval.Project{yes(""), yes("a")}},
		{[]approval.Project{no(""), yes("a")}, []approval.Project{no(""), yes("a")}},
		{[]approval.Project{no(""), no("a")}, []approval.Project{no(""), no("a")}},
		{[]approval.Project{no(""), yes("a"), no("a")}, []approval.Project{no(""), no("a")}},
		{[]approval.Project{yes("a"), no("")}, []approval.Project{no("")}},
	} {
		d := &Document{}
		for _, p := range test.said {
			d.Name(p)
		}
		if !reflect.DeepEqual(d.Projects, test.left) {
			t.Errorf("%v: left %v", test.said, d.Projects)
		}
	}
	d := &Document{Projects: []approval.Project{yes("a"), yes("b"), {Path: "/q"}}}
	if gone := d.Unname("/p", "b"); !reflect.DeepEqual(gone, []approval.Project{yes("b")}) {
		t.Errorf("of one agent: %v", gone)
	}
	if gone := d.Unname("/p", ""); len(gone) != 0 || len(d.Projects) != 2 {
		t.Errorf("of every one, to whom nothing was said: %v, left %v", gone, d.Projects)
	}
	if gone := d.Unname("/p"); !reflect.DeepEqual(gone, []approval.Project{yes("a")}) || len(d.Projects) != 1 {
		t.Errorf("at all: %v, left %v", gone, d.Projects)
	}
}

// TestProjectsOfAnAgent: who is not named gets what is said to all.
func TestProjectsOfAnAgent(t *testing.T) {
	text := doc(`"projects": [{"path": "/p", "agent": "default"}, {"path": "/q"}, {"path": "/r", "no": true}]`)
	view := view{home: "/home/ann", accepted: parse(t, text)}
	for agent, want := range map[string]int{"main": 3, "other": 2, "": 2, "*": 2} {
		if got := view.policy(agent).Projects; len(got) != want {
			t.Errorf("%q: %v", agent, got)
		}
	}
	encoded, err := parse(t, text).Encode()
	if again := parse(t, string(encoded)); err != nil || !reflect.DeepEqual(again.Projects, parse(t, text).Projects) {
		t.Errorf("%v, written and read: %v", err, again.Projects)
	}
}

// TestOwnWordDecides: what was said to an agent alone counts before what was said to
// every one, and for no other agent.
func TestOwnWordDecides(t *testing.T) {
	yes := func(agent string) approval.Project { return approval.Project{Path: "/p", Agent: agent} }
	no := func(agent string) approval.Project { return approval.Project{Path: "/p", Agent: agent, No: true} }
	for _, test := range []struct {
		said         []approval.Project
		itsNo, other bool // a no counts
	}{
		{[]approval.Project{no(""), yes("a")}, false, true},
		{[]approval.Project{yes(""), no("a")}, true, false},
		{[]approval.Project{no(""), no("a")}, true, true},
		{[]approval.Project{no("")}, true, true},
	} {
		d := &Document{}
		for _, p := range test.said {
			d.Name(p)
		}
		for agent, want := range map[string]bool{"a": test.itsNo, "b": test.other, "": test.other} {
			if got := d.projects(agent); len(got) != 1 || got[0].No != want {
				t.Errorf("%v: %q has %v", test.said, agent, got)
			}
		}
	}
	// And which of these take something back.
	for _, test := range []struct {
		old, new []approval.Project
		loosens  int
	}{
		{[]approval.Project{no("")}, []approval.Project{no(""), no("a")}, 0},
		{[]approval.Project{no("")}, []approval.Project{no(""), yes("a")}, 1},
		{[]approval.Project{no("")}, []approval.Project{no("a")}, 1},
		{[]approval.Project{yes(""), no("a")}, []approval.Project{yes(""), yes("a")}, 1},
		{[]approval.Project{yes(""), no("a")}, []approval.Project{yes("")}, 1},
		{[]approval.Project{no(""), yes("a")}, []approval.Project{no("")}, 0},
		{[]approval.Project{no(""), no("a")}, []approval.Project{no("")}, 0},
	} {
		if got := Loosens(&Document{Projects: test.old}, &Document{Projects: test.new}); len(got) != test.loosens {
			t.Errorf("%v, then %v: loosens %q", test.old, test.new, got)
		}
	}
}

// TestProjectsOfBoth: while an edit waits, only what both say is a project, and all
// that one says is none.
func TestProjectsOfBoth(t *testing.T) {
	a := parse(t, doc(`"projects": [{"path": "/u", "sameAs": "/v"}, {"path": "/p"}, {"path": "/q", "addedAt": 1}, {"path": "/r", "no": true}]`))
	b := parse(t, doc(`"projects": [{"path": "/u"}, {"path": "/q"}, {"path": "/s"}, {"path": "/t", "no": true}, {"path": "/r", "no": true}]`))
	var got []string
	for _, p := range stricter(a.policy("x", ""), b.policy("x", "")).Projects {
		got = append(got, p.Path+p.SameAs)
	}
	if strings.Join(got, " ") != "/u /q /r /t" {
		t.Errorf("got %q", got)
	}
}

func TestBadProjects(t *testing.T) {
	for _, text := range []string{
		`{}`, `{"path": ""}`, `{"path": "p"}`, `{"path": "~/p"}`, `{"path": "/p/"}`, `{"path": "/p/../q"}`, `{"path": "/p\u0000"}`, `{"path": "/` + strings.Repeat("p", 5000) + `"}`,
		`{"path": "/p", "agent": ""}`, `{"path": "/p", "agent": "*"}`, `{"path": "/p", "no": "yes"}`, `{"path": "/p", "only": "reads"}`, `{"path": "/p", "sameAs": "/p"}`, `{"path": "/p", "sameAs": "q"}`, `{"path": "/p", "sameAs": ""}`, `{"path": "/p", "no": true, "sameAs": "/q"}`, `{"path": "/p", "addedBy": "` + strings.Repeat("x", 201) + `"}`, `"/p"`,
		`{"path": "/p"}, {"path": "/p", "no": true}`, `{"path": "/p", "agent": "main"}, {"path": "/p", "agent": "default"}`,
	} {
		if _, err := Parse("x", []byte(doc(`"projects": [`+text+`]`)), "/home/ann"); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	many := strings.TrimSuffix(strings.Repeat(`{"path": "/p"},`, maxProjects+1), ",")
	if _, err := Parse("x", []byte(doc(`"projects": [`+many+`]`)), "/home/ann"); err == nil {
		t.Error("too many are taken")
	}
}

//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
)

// TestTurnedDown: what a person turned down, and what is not wider, is turned down
// for that agent, and stays so in the next app.
func TestTurnedDown(t *testing.T) {
	words := approval.Entry{Pattern: "/usr/bin/git", Args: []string{"fetch"}, Cwd: "/p", Allows: []approval.Allowed{approval.AllowProjectWrites}}
	with := func(change func(*approval.Entry)) approval.Entry {
		e := words
		change(&e)
		return e
	}
	other := approval.Entry{Pattern: "/usr/bin/make", Args: []string{"all"}}
	p := readPreferences(filepath.Join(t.TempDir(), "countersign.json"))
	pinned := with(func(e *approval.Entry) { e.Identity = []approval.Identity{{Path: "/usr/bin/git", SHA256: "5f1d"}} })
	if err := p.turnDown("main", []approval.Entry{pinned, other}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*preferences{p, readPreferences(p.path)} {
		for name, test := range map[string]struct {
			agent string
			list  []approval.Entry
			want  bool
		}{
			"the same":            {"main", []approval.Entry{words, other}, true},
			"one of the two":      {"main", []approval.Entry{words}, true},
			"of another version":  {"main", []approval.Entry{with(func(e *approval.Entry) { e.Identity = []approval.Identity{{Path: "/usr/bin/git", SHA256: "00"}} })}, true},
			"exactly one":         {"main", []approval.Entry{with(func(e *approval.Entry) { e.Args, e.ArgsExact = []string{"fetch", "origin"}, true })}, true},
			"that allows less":    {"main", []approval.Entry{with(func(e *approval.Entry) { e.Allows = nil })}, true},
			"of another agent":    {"codex", []approval.Entry{words}, false},
			"of nobody":           {"", []approval.Entry{words}, false},
			"in every folder":     {"main", []approval.Entry{with(func(e *approval.Entry) { e.Cwd = "" })}, false},
			"in another project":  {"main", []approval.Entry{with(func(e *approval.Entry) { e.Cwd = "/q" })}, false},
			"any arguments":       {"main", []approval.Entry{with(func(e *approval.Entry) { e.Args = nil })}, false},
			"that allows more":    {"main", []approval.Entry{with(func(e *approval.Entry) { e.Allows = append(e.Allows, approval.AllowNetworkSends) })}, false},
			"with a third":        {"main", []approval.Entry{words, other, {Pattern: "/usr/bin/id"}}, false},
			"of another program":  {"main", []approval.Entry{with(func(e *approval.Entry) { e.Pattern = "/opt/bin/git" })}, false},
			"nothing":             {"main", nil, false},
			"with a variable too": {"main", []approval.Entry{with(func(e *approval.Entry) { e.Env = map[string][]string{"A": {"b"}} })}, false},
		} {
			if got := p.turnedDown(test.agent, test.list); got != test.want {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
	// All of a program covers its first words, where it is known which program that is.
	all := func(agent string, e approval.Entry) bool {
		q := readPreferences(filepath.Join(t.TempDir(), "countersign.json"))
		if err := q.turnDown(agent, []approval.Entry{{Pattern: e.Pattern}}); err != nil {
			t.Fatal(err)
		}
		e.Allows = nil
		return q.turnedDown("main", []approval.Entry{e})
	}
	sudo := approval.Entry{Pattern: "/usr/bin/sudo", Args: []string{"ls"}, Identity: []approval.Identity{{Path: "/usr/bin/sudo"}}}
	if !all("main", pinned) || all("codex", pinned) || all("main", sudo) {
		t.Errorf("%v %v %v", all("main", pinned), all("codex", pinned), all("main", sudo))
	}
	// Other preferences leave it, and it leaves them.
	if err := p.set(shown.Preferences{Kept: shown.Kept{Theme: shown.ThemeDark, KeepDays: 30}}); err != nil {
		t.Fatal(err)
	}
	if again := readPreferences(p.path); again.get().Theme != shown.ThemeDark || !again.turnedDown("main", []approval.Entry{words}) {
		t.Errorf("%+v", again.get())
	}
}

// TestTurnedDownIsBounded: the oldest go, a file that is not ours stays as it is, and
// what cannot be saved does not hold.
func TestTurnedDownIsBounded(t *testing.T) {
	dir := t.TempDir()
	p := readPreferences(filepath.Join(dir, "countersign.json"))
	entry := func(i int) []approval.Entry {
		return []approval.Entry{{Pattern: fmt.Sprintf("/bin/%d", i), Args: slices.Repeat([]string{"a"}, 100)}}
	}
	for i := range 100 {
		if err := p.turnDown("main", entry(i)); err != nil {
			t.Fatal(err)
		}
	}
	again := readPreferences(p.path)
	if again.broken != nil || again.turnedDown("main", entry(0)) || !again.turnedDown("main", entry(99)) {
		t.Errorf("%v, of %d", again.broken, len(again.turned))
	}
	long := []approval.Entry{{Pattern: "/bin/sh", Args: []string{strings.Repeat("x", maxPlain)}}}
	if err := p.turnDown("main", long); err == nil || p.turnedDown("main", long) || !p.turnedDown("main", entry(99)) {
		t.Errorf("a suggestion longer than the file: %v", err)
	}
	for name, text := range map[string]string{"no list": `{"turnedDown": {}}`, "no entries": `{"turnedDown": [{"entry": 1}]}`, "no JSON": "{"} {
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := readPreferences(at)
		err := p.turnDown("main", entry(1))
		if kept, _ := os.ReadFile(at); err == nil || string(kept) != text || p.turnedDown("main", entry(1)) {
			t.Errorf("%s: %v, %s", name, err, kept)
		}
	}
	full := filepath.Join(dir, "full")
	if err := os.WriteFile(full, []byte(`{"others": "`+strings.Repeat("x", maxPlain-1000)+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p = readPreferences(full)
	if err := p.turnDown("main", []approval.Entry{{Pattern: "/bin/x", Args: slices.Repeat([]string{"a"}, 300)}}); err == nil || readPreferences(full).broken != nil {
		t.Errorf("a file was made too large to be read: %v", err)
	}
}

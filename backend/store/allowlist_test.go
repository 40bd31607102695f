package store

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestAllowlistThere(t *testing.T) {
	five := 5
	list := []Entry{
		{Entry: approval.Entry{
			ID: "1", Pattern: "~/bin/x", Args: []string{"a", "*"}, ArgsExact: true, ArgPattern: "^a", Cwd: "/p", ExpiresAt: 9, UsesLeft: &five, SessionKey: "s",
			RequireIdentity: "sha256", Disabled: true, Note: "n", Source: "allow-always", AddedAt: 1, AddedBy: "panel", AddedFor: "run",
			LastUsedAt: 2, LastUsedCommand: "secret", LastResolvedPath: "/x",
			Identity: []approval.Identity{{Path: "/x"}}, Interpreters: []approval.Identity{{Path: "/y"}}, Links: []approval.Link{{Path: "/a", Target: "/b"}},
		}},
		{Entry: approval.Entry{Pattern: "git"}},
	}
	text, err := EncodeAllowlist("main", list)
	if err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"secret", "/x", "/y", "allow-always", "panel", "run", "token"} {
		if strings.Contains(string(text), `"`+left) {
			t.Errorf("%q is in %s", left, text)
		}
	}
	for _, agent := range []string{"main", "another"} {
		got, err := ParseAllowlist("file", text, "/home/x", agent)
		want := []approval.Entry{{
			Pattern: "~/bin/x", Args: []string{"a", "*"}, ArgsExact: true, ArgPattern: "^a", Cwd: "/p", ExpiresAt: 9, UsesLeft: &five, SessionKey: "s",
			RequireIdentity: "sha256", Disabled: true, Note: "n",
		}, {Pattern: "git"}}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("as %s: %+v %v", agent, got, err)
		}
	}
}

func TestAllowlistRefused(t *testing.T) {
	file := func(list string) string { return `{"version": 1, "agents": {"main": {"allowlist": [` + list + `]}}}` }
	many := strings.TrimSuffix(strings.Repeat(`"git",`, maxImportEntries+1), ",")
	for text, want := range map[string]string{
		"":                             "f:1: is not JSON",
		"[]":                           "f:1: must be an object",
		`{"version": 1}`:               "f: agents: have no entries",
		`{"version": 2, "agents": {}}`: "f:1: version: must be 1",
		file(`{"pattern": "a/b"}`):     "f:1: agents.main.allowlist[0].pattern",
		file("\n" + `{"pattern": "x", "cwd": 1}`):     "f:2: agents.main.allowlist[0].cwd",
		file(`"x", {"pattern": "x", "onlyOnSun": 1}`): "f: agents.main.allowlist[1].onlyOnSun: is not a field that we know",
		file(`{"pattern": "x", "args": null}`):        "f:1: agents.main.allowlist[0].args",
		file(many):                                    "f: agents.main.allowlist: has more than 10000 entries",
		file(`"` + strings.Repeat("x", MaxImport)):    "f: is larger than 1 MiB",
		`{"version": 1, "agents": {"a": {"allowlist": ["x"]}, "b": {"allowlist": ["y"]}}}`: `f: agents: several have entries (2), and "main" is none of them`,
	} {
		_, err := ParseAllowlist("f", []byte(text), "/home/x", "main")
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		}
	}
}

func TestMissing(t *testing.T) {
	d := &Document{}
	d.Agent("main").Allowlist = []Entry{
		{Entry: approval.Entry{ID: "1", Pattern: "/bin/off", Disabled: true}},
		{Entry: approval.Entry{ID: "2", Pattern: "/bin/known", LastUsedAt: 5, Identity: []approval.Identity{{Path: "/bin/known"}}}},
		{Entry: approval.Entry{ID: "3", Pattern: "/bin/git", Args: []string{"status"}}},
	}
	for i, test := range []struct {
		entry approval.Entry
		want  bool
	}{
		{approval.Entry{Pattern: "/bin/off"}, false},
		{approval.Entry{Pattern: "/bin/known"}, false},
		{approval.Entry{Pattern: "/bin/git", Args: []string{"status"}}, false},
		{approval.Entry{Pattern: "/bin/git"}, true},
		{approval.Entry{Pattern: "/bin/git", Args: []string{"status"}, ArgsExact: true}, true},
		{approval.Entry{Pattern: "/bin/git", Args: []string{"status"}, Cwd: "/p"}, true},
	} {
		if got := d.Missing("main", []approval.Entry{test.entry, test.entry}); got[0] != test.want || got[1] {
			t.Errorf("%d: %v", i, got)
		}
	}
	if got := fmt.Sprint(d.Missing("nobody", []approval.Entry{{Pattern: "x"}, {Pattern: "x"}})); got != "[true false]" {
		t.Error(got)
	}
}

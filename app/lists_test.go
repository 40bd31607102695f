//go:build linux || darwin

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/node"
)

func names(rows []shown.SafeBinRow) (list []string) {
	for _, r := range rows {
		list = append(list, r.Name+" "+string(r.From)+" "+string(r.Use))
	}
	return list
}

func TestSafeBins(t *testing.T) {
	for _, agent := range []string{"main", shown.Every} {
		t.Run(agent, func(t *testing.T) {
			a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "off"}, "agents": {"*": {"safeBins": ["head", "jq"]}}}`)
			a.settingsInSight()
			from := string(shown.FromEvery)
			if agent == shown.Every {
				from = string(shown.FromHere)
			}
			if got, want := names(a.settings.Lists(agent).SafeBins), []string{"head " + from + " used", "jq " + from + " never"}; !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			p := a.settings.Policy(agent)
			p = mustSave(t, a.settings.AddTo(agent, p.Rev, "safe-bins", " wc "))
			p = mustSave(t, a.settings.AddTo(agent, p.Rev, "safe-bins", "frobnicate"))
			p = mustSave(t, a.settings.AddTo(agent, p.Rev, "safe-bins", "~/bin"))
			lists := a.settings.Lists(agent)
			if got, want := names(lists.SafeBins), []string{"head here used", "jq here never", "wc here used", "frobnicate here unknown"}; !slices.Equal(got, want) {
				t.Errorf("%q", got)
			}
			if len(lists.Folders) != 3 || lists.Folders[0].From != shown.FromBuiltIn || lists.Folders[2].Path != "~/bin" || lists.Folders[2].From != shown.FromHere {
				t.Errorf("%+v", lists.Folders)
			}
			if got := a.answer(a.agent(t.Context(), "main", "sh", "-c", "echo x | wc -l")); !got.Success {
				t.Errorf("it does not hold: %+v", got)
			}
			for _, bad := range []string{"", "wc", "a b", "a/b", "~/bin", "/x\x00"} {
				if s := a.settings.AddTo(agent, p.Rev, "safe-bins", bad); s.OK || s.Message == "" {
					t.Errorf("added: %q", bad)
				}
			}
			p = mustSave(t, a.settings.RemoveFrom(agent, p.Rev, "safe-bins", "wc"))
			p = mustSave(t, a.settings.RemoveFrom(agent, p.Rev, "safe-bins", lists.Folders[2].Exact))
			if got := a.answer(a.agent(t.Context(), "main", "sh", "-c", "echo x | wc -l")); got.Success {
				t.Error("it still holds")
			}
			for _, bad := range []string{"wc", "/usr/bin"} {
				if s := a.settings.RemoveFrom(agent, p.Rev, "safe-bins", bad); s.OK {
					t.Errorf("removed: %q", bad)
				}
			}
			for range 5 {
				mustSave(t, a.settings.Undo())
			}
			if got := names(a.settings.Lists(agent).SafeBins); len(got) != 2 || got[0] != "head "+from+" used" {
				t.Errorf("after all undos: %q", got)
			}
			if s := a.settings.AddTo(agent, a.settings.Policy(agent).Rev, "everything", "x"); s.OK {
				t.Error("a list that is none")
			}
		})
	}
}

func TestSkills(t *testing.T) {
	a := newTestApp(t, askMe)
	tool := filepath.Join(a.person.Home, "tool")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(tool, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("#!/bin/sh\n")
	if s := a.settings.AddTo("main", a.settings.Policy("main").Rev, "skills", "~/tool"); s.OK {
		t.Error("added by a page that nobody sees")
	}
	a.settingsInSight()
	p := mustSave(t, a.settings.AddTo("main", a.settings.Policy("main").Rev, "skills", "~/tool"))
	state := func() shown.SkillState {
		t.Helper()
		list := a.settings.Lists("main").Skills
		if len(list) != 1 || list[0].Name != "tool" || list[0].Path != "~/tool" || list[0].SHA256 == "" || list[0].From != shown.FromHere {
			t.Fatalf("%+v", list)
		}
		return list[0].State
	}
	if got := state(); got != shown.SkillSame {
		t.Error(got)
	}
	write("#!/bin/sh\necho other\n")
	if got := state(); got != shown.SkillChanged {
		t.Error(got)
	}
	p = mustSave(t, a.settings.AddTo("main", p.Rev, "skills", tool)) // accepted again, as it is now
	if got := state(); got != shown.SkillSame {
		t.Error(got)
	}
	if err := os.Remove(tool); err != nil {
		t.Fatal(err)
	}
	if got := state(); got != shown.SkillGone {
		t.Error(got)
	}
	for _, bad := range []string{"", "tool", "~/tool", "~", "/etc/passwd"} {
		if s := a.settings.AddTo("main", p.Rev, "skills", bad); s.OK || s.Message == "" {
			t.Errorf("added: %q", bad)
		}
	}
	p = mustSave(t, a.settings.SetWord("main", p.Rev, "autoAllowSkills", "true"))
	if p.AutoSkills != (shown.Setting{Value: "true", From: shown.FromHere}) {
		t.Errorf("%+v", p.AutoSkills)
	}
	exact := a.settings.Lists("main").Skills[0].Exact
	p = mustSave(t, a.settings.RemoveFrom("main", p.Rev, "skills", exact))
	if s := a.settings.RemoveFrom("main", p.Rev, "skills", exact); s.OK || !s.Conflict {
		t.Errorf("removed twice: %+v", s)
	}
	mustSave(t, a.settings.Undo())
	state()
}

func TestAnswersFrom(t *testing.T) {
	a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"main": {}, "other": {"acceptAnswersFrom": ["gw-1"]}}}`)
	if s := a.settings.SetAnswersFrom("main", a.settings.Policy("main").Rev, "gw-1", true); s.OK {
		t.Error("switched on by a page that nobody sees")
	}
	a.settingsInSight()
	if rows := a.settings.Lists("main").Gateways; len(rows) != 1 || rows[0].On || rows[0].Name != "gw-1" {
		t.Fatalf("%+v", rows)
	}
	p := a.settings.Policy("main")
	if s := a.settings.SetAnswersFrom("main", p.Rev, "evil", true); s.OK {
		t.Error("a gateway that nobody knows")
	}
	p = mustSave(t, a.settings.SetAnswersFrom("main", p.Rev, "gw-1", true))
	if rows := a.settings.Lists("main").Gateways; !rows[0].On || rows[0].From != shown.FromHere {
		t.Errorf("%+v", rows)
	}
	old := p.Rev
	p = mustSave(t, a.settings.SetAnswersFrom("main", p.Rev, "gw-1", false))
	if s := a.settings.SetAnswersFrom("main", old, "gw-1", true); s.OK || !s.Conflict {
		t.Errorf("with what was shown before: %+v", s)
	}
	mustSave(t, a.settings.Undo())
	if rows := a.settings.Lists("main").Gateways; !rows[0].On {
		t.Errorf("after undo: %+v", rows)
	}
	mustSave(t, a.settings.Undo())
	if rows := a.settings.Lists("main").Gateways; rows[0].On {
		t.Errorf("after both: %+v", rows)
	}
	if row := a.settings.Lists("main").Client; row.On || row.Exact != "mcp-client" {
		t.Errorf("%+v", row)
	}
	p = mustSave(t, a.settings.SetAnswersFrom("main", a.settings.Policy("main").Rev, "mcp-client", true))
	if l := a.settings.Lists("main"); !l.Client.On || l.Client.From != shown.FromHere || len(l.Gateways) != 1 || a.settings.Lists("other").Client.On {
		t.Errorf("%+v", l)
	}
	mustSave(t, a.settings.SetAnswersFrom("main", p.Rev, "mcp-client", false))
	if a.settings.Lists("main").Client.On {
		t.Error("it stays on")
	}
	b := newTestApp(t, askMe)
	if rows := b.settings.Lists("main").Gateways; rows == nil || len(rows) > 0 {
		t.Errorf("%+v", rows)
	}
	// What the node service of this machine has joined can be chosen too.
	file := b.state.Node()
	if _, err := node.Identity(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("{"), []byte(`{"tokens": {"wss://gw.example:443": "t", "ws://127.0.0.1:1": "u"},`), 1)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if rows := b.settings.Lists("main").Gateways; len(rows) != 2 || rows[0].Name != "127.0.0.1:1" || rows[1].Name != "gw.example:443" || rows[1].On {
		t.Errorf("%+v", rows)
	}
}

func TestHistorySize(t *testing.T) {
	a := activity(t)
	if s := a.activity.Size(); s.Rows != 4+3 || s.Bytes < 4096 || s.Oldest == 0 || s.MaxRows != 1_000_000 || s.MaxDays != 400 || s.Problem != "" {
		t.Errorf("%+v", s)
	}
}

//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

func TestImport(t *testing.T) {
	a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"main": {"allowlist": [{"pattern": "/usr/bin/id"}]}}}`)
	tool := filepath.Join(a.person.Home, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(a.person.Home, "list.json")
	a.window.openFile = func() string { return file }
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"version": 1, "socket": {"token": "x"}, "defaults": {"security": "full"}, "agents": {"theirs": {"security": "full", "allowlist": [
		"/usr/bin/id", {"pattern": "~/tool", "lastUsedAt": 5, "lastUsedCommand": "tool", "note": "<b>", "identity": [{"path": "/evil", "sha256": "` + strings.Repeat("0", 64) + `"}]},
		"/bin/sh", "~/tool", {"pattern": "no-such-program-here", "disabled": true}]}}}`)
	if list := a.settings.ChooseImport("main"); list.Problem == "" || list.Token != "" {
		t.Errorf("a page that nobody sees read a file: %+v", list)
	}
	a.settingsInSight()
	list := a.settings.ChooseImport("main")
	if list.Problem != "" || list.New != 3 || len(list.Rows) != 5 || list.Token == "" {
		t.Fatalf("%+v", list)
	}
	for i, known := range []bool{true, false, false, true, false} {
		if list.Rows[i].Known != known {
			t.Errorf("%+v", list.Rows[i])
		}
	}
	if w := list.Rows[2].Warning; !list.Partial && (w == nil || w.Kind != shown.WarnCode) {
		t.Errorf("%+v", w)
	}
	if len(a.file().Agents["main"].Allowlist) != 1 {
		t.Error("it was added before it was shown")
	}
	rev := a.settings.Policy("main").Rev
	for _, token := range []string{"", "x"} {
		if s := a.settings.TakeImport("main", rev, token); s.OK {
			t.Errorf("taken with %q", token)
		}
	}
	if s := a.settings.TakeImport("other", a.settings.Policy("other").Rev, list.Token); s.OK {
		t.Error("taken for another agent")
	}
	write(`{"version": 1, "agents": {"theirs": {"allowlist": ["/bin/rm"]}}}`) // what is added is what was shown
	p := mustSave(t, a.settings.TakeImport("main", rev, list.Token))
	if len(p.Allowlist) != 4 || p.Security.Value != "allowlist" {
		t.Errorf("%+v", p)
	}
	for _, e := range a.file().Agents["main"].Allowlist {
		switch {
		case e.Pattern == "/bin/rm":
			t.Error("the file was read again")
		case e.Pattern == "~/tool" && (len(e.Identity) != 1 || e.Identity[0].Path != tool || e.LastUsedAt != 0 || e.LastUsedCommand != "" || e.AddedBy != "import"):
			t.Errorf("%+v", e)
		case e.Pattern == "no-such-program-here" && !e.Disabled:
			t.Error("what was off is on")
		}
	}
	if s := a.settings.TakeImport("main", p.Rev, list.Token); s.OK {
		t.Error("it was added twice")
	}
	write(`{"version": 1, "agents": {"theirs": {"allowlist": ["/usr/bin/id", "~/tool"]}}}`)
	if again := a.settings.ChooseImport("main"); again.New != 0 || again.Token != "" {
		t.Errorf("%+v", again)
	}
	if p = mustSave(t, a.settings.Undo()); len(p.Allowlist) != 1 {
		t.Errorf("one undo leaves %+v", p.Allowlist)
	}
}

func TestImportRefused(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	home, file := a.person.Home, ""
	a.window.openFile = func() string { return file }
	for name, text := range map[string]string{
		"field.json": `{"version": 1, "agents": {"x": {"allowlist": [{"pattern": "/a/../b"}]}}}`,
		"large.json": strings.Repeat(" ", store.MaxImport+1),
		"empty.json": "",
	} {
		file = filepath.Join(home, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list := a.settings.ChooseImport("main")
		if !strings.Contains(list.Problem, name) || list.Token != "" || list.Rows == nil {
			t.Errorf("%s: %+v", name, list)
		}
		if name == "field.json" && !strings.Contains(list.Problem, "agents.x.allowlist[0].pattern") {
			t.Error(list.Problem)
		}
	}
	for _, at := range []string{home, filepath.Join(home, "not there"), "/dev/zero"} {
		file = at
		if list := a.settings.ChooseImport("main"); list.Problem == "" {
			t.Errorf("%s: %+v", at, list)
		}
	}
	file = ""
	if list := a.settings.ChooseImport("main"); list.Problem != "" || list.File != "" || len(list.Rows) != 0 {
		t.Errorf("nobody chose a file: %+v", list)
	}
}

func TestExportAllowlist(t *testing.T) {
	a := newTestApp(t, askMe)
	if e := a.settings.ExportAllowlist("main"); e.OK {
		t.Error("a page that nobody sees wrote a file")
	}
	a.settingsInSight()
	if _, err := a.host.Update(func(d *store.Document) error {
		d.Add("main", approval.Entry{Pattern: "/usr/bin/id", Args: []string{"-u"}, LastUsedCommand: "id -u", LastUsedAt: 5})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	a.window.saveAs = filepath.Join(a.person.Home, "out.json")
	if e := a.settings.ExportAllowlist("main"); !e.OK || e.Rows != 1 || e.File == "" {
		t.Fatalf("%+v", e)
	}
	text, err := os.ReadFile(a.window.saveAs)
	if err != nil || strings.Contains(string(text), "token") || strings.Contains(string(text), "lastUsed") {
		t.Errorf("%s %v", text, err)
	}
	a.window.openFile = func() string { return a.window.saveAs }
	if list := a.settings.ChooseImport("another"); list.New != 1 || list.Rows[0].Args[0] != "-u" {
		t.Errorf("%+v", list)
	}
	for id, want := range map[string]string{"*": "every-agent", "../../etc/x": "------etc-x", "ünï": "-n-", strings.Repeat("a", 99): strings.Repeat("a", 64)} {
		if got := fileName(id); got != want {
			t.Errorf("%q gives %q", id, got)
		}
	}
}

//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

// file reads the policy as it is on the disk.
func (a *testApp) file() *store.Document {
	a.t.Helper()
	text, err := os.ReadFile(a.state.Approvals())
	if err != nil {
		a.t.Fatal(err)
	}
	doc, err := store.Parse("policy", text, a.person.Home)
	if err != nil {
		a.t.Fatal(err)
	}
	return doc
}

func mustSave(t *testing.T, s Saved) shown.Policy {
	t.Helper()
	if !s.OK || s.Policy == nil {
		t.Fatalf("not saved: %+v", s)
	}
	return *s.Policy
}

// prefer is what a person chooses.
func prefer(theme shown.Theme, terminal bool) shown.Preferences {
	return shown.Preferences{Kept: shown.Kept{Theme: theme, KeepDays: shown.KeepDays[0]}, AnswerFromTerminal: terminal}
}

// TestLongList hands a long list over in parts, those used last first.
func TestLongList(t *testing.T) {
	a := newTestApp(t, askMe)
	const many = 2*moreRows + 7
	if _, err := a.host.Update(func(d *store.Document) error {
		for i := range many {
			e := store.Entry{Entry: approval.Entry{ID: fmt.Sprint("e", i), Pattern: fmt.Sprint("/opt/", i)}}
			e.LastUsedAt = int64(i + 1)
			d.Agent("main").Allowlist = append(d.Agent("main").Allowlist, e)
		}
		d.Add(shown.Every, approval.Entry{ID: "all", Pattern: "/bin/bash"})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	p := a.settings.Policy("main")
	if len(p.Allowlist) != firstRows || p.Entries != many+1 || p.Allowlist[0].ID != fmt.Sprint("e", many-1) || p.Allowlist[firstRows-1].ID != fmt.Sprint("e", many-firstRows) {
		t.Fatalf("%d of %d, first %+v", len(p.Allowlist), p.Entries, p.Allowlist[0])
	}
	var all []string
	for calls := 0; len(all) < p.Entries && calls < 10; calls++ {
		for _, row := range a.settings.Entries("main", p.Rev, len(all)) {
			all = append(all, row.ID)
		}
	}
	for i, id := range all {
		if want := fmt.Sprint("e", i); id != want && (i != many || id != "all") {
			t.Fatalf("%s in the place of %s", id, want)
		}
	}
	whole := a.settings.whole("main")
	if len(all) != many+1 || len(whole.Allowlist) != many+1 || whole.Rev != p.Rev {
		t.Errorf("%d and %d of %d", len(all), len(whole.Allowlist), many+1)
	}
	for _, bad := range []struct {
		agent, rev string
		first      int
	}{{"main", "other", 0}, {"main", "", 0}, {"other", p.Rev, 0}, {"main", p.Rev, -1}, {"main", p.Rev, many + 1}, {"main", p.Rev, 1 << 40}} {
		if rows := a.settings.Entries(bad.agent, bad.rev, bad.first); len(rows) != 0 {
			t.Errorf("%+v: %d rows", bad, len(rows))
		}
	}
}

func TestModes(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	for _, agent := range []string{"main", shown.Every} {
		p := a.settings.Policy(agent)
		for _, test := range []struct {
			mode string
			want [2]string
		}{
			{"deny", [2]string{"deny", "off"}}, {"ask-always", [2]string{"allowlist", "always"}},
			{"ask-when-needed", [2]string{"allowlist", "on-miss"}}, {"only-listed", [2]string{"allowlist", "off"}},
			{"allow-all", [2]string{"full", "off"}},
		} {
			mode, want := test.mode, test.want
			p = mustSave(t, a.settings.SetMode(agent, p.Rev, mode))
			now := a.host.Policy().Policy(agent)
			if got := [2]string{string(now.Security), string(now.Ask)}; got != want || string(p.Mode) != mode {
				t.Errorf("%s, %s: %v, shown as %s", agent, mode, got, p.Mode)
			}
		}
		if s := a.settings.SetMode(agent, p.Rev, "yolo"); s.OK {
			t.Error("a mode that is none was saved")
		}
		p = mustSave(t, a.settings.SetWord(agent, p.Rev, "ask", "on-miss"))
		if p.Mode != shown.ModeCustom || p.Custom != "full/on-miss" || p.Ask.From != shown.FromHere {
			t.Errorf("%s: %+v", agent, p)
		}
		if s := a.settings.SetWord(agent, p.Rev, "ask", "sometimes"); s.OK {
			t.Error("a word that is none was saved")
		}
		p = mustSave(t, a.settings.SetWord(agent, p.Rev, "ask", ""))
		if p.Ask.From == shown.FromHere {
			t.Errorf("%s: %+v", agent, p.Ask)
		}
	}
}

// The variables that an entry carries are for its program: they stay when that is
// narrowed otherwise, and go when it becomes another one.
func TestEntryVariables(t *testing.T) {
	a := newTestApp(t, `{"version": 1, "agents": {"main": {"allowlist": [{"id": "e", "pattern": "/usr/bin/uname", "env": {"GOOS": ["linux"]}}]}}}`)
	a.settingsInSight()
	p := a.settings.Policy("main")
	if got := p.Allowlist[0].Env; !slices.Equal(got, []string{"GOOS=linux"}) {
		t.Errorf("shown: %q", got)
	}
	p = mustSave(t, a.settings.ChangeEntry("main", p.Rev, "e", shown.EntryEdit{Pattern: "/usr/bin/uname", Args: []string{"-m"}}))
	if got := a.file().Agents["main"].Allowlist[0].Env["GOOS"]; !slices.Equal(got, []string{"linux"}) {
		t.Errorf("after other arguments: %q", got)
	}
	mustSave(t, a.settings.ChangeEntry("main", p.Rev, "e", shown.EntryEdit{Pattern: "/usr/bin/env"}))
	if got := a.file().Agents["main"].Allowlist[0].Env; got != nil {
		t.Errorf("another program: %q", got)
	}
}

func TestEntries(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	p := a.settings.Policy("main")
	p = mustSave(t, a.settings.AddEntry("main", p.Rev, shown.EntryEdit{Pattern: "/usr/bin/uname", Args: []string{"-s"}, ArgsExact: true, Note: "why"}))
	if len(p.Allowlist) != 1 || p.Allowlist[0].From != shown.FromHere || p.Allowlist[0].AddedBy != "settings" {
		t.Fatalf("%+v", p.Allowlist)
	}
	if got := a.answer(a.agent(t.Context(), "main", "/usr/bin/uname", "-s")); !got.Success {
		t.Fatalf("the entry does not hold: %+v", got)
	}
	// Use changes the file, and must not be a conflict.
	a.eventually("its use is on disk", func() bool { return a.file().Agents["main"].Allowlist[0].LastUsedAt != 0 })
	id := p.Allowlist[0].ID
	p = mustSave(t, a.settings.ChangeEntry("main", p.Rev, id, shown.EntryEdit{Pattern: "/usr/bin/uname", Args: []string{"-m"}}))
	if e := a.file().Agents["main"].Allowlist[0]; !slices.Equal(e.Args, []string{"-m"}) || e.ArgsExact || e.LastUsedAt == 0 {
		t.Errorf("%+v", e)
	}
	p = mustSave(t, a.settings.SwitchEntry("main", p.Rev, p.Allowlist[0].ID, false))
	if !a.file().Agents["main"].Allowlist[0].Disabled {
		t.Error("it is not switched off")
	}
	before := a.file().Agents["main"]
	p = mustSave(t, a.settings.RemoveEntry("main", p.Rev, p.Allowlist[0].ID))
	if len(p.Allowlist) != 0 {
		t.Error("it is still there")
	}
	p = mustSave(t, a.settings.Undo())
	if after := a.file().Agents["main"]; len(after.Allowlist) != 1 || !same(t, after, before) {
		t.Errorf("undo gives %+v", after)
	}
	for range 4 { // switched, removed, changed, added: three are left
		if s := a.settings.Undo(); !s.OK {
			if s.Message != "There is nothing to undo." {
				t.Errorf("%+v", s)
			}
			break
		}
	}
	if left := a.settings.Policy("main"); len(left.Allowlist) != 0 {
		t.Errorf("after all undos: %+v", left.Allowlist)
	}
	bad := []shown.EntryEdit{
		{Pattern: ""}, {Pattern: "/usr/bin/../bin/x"}, {Pattern: "a/b"}, {Pattern: "/usr/bin/x", Cwd: "not absolute"},
		{Pattern: strings.Repeat("/a*", 5000)},
	}
	for _, e := range bad {
		if s := a.settings.AddEntry("main", a.settings.Policy("main").Rev, e); s.OK || s.Message == "" {
			t.Errorf("saved: %.60q", e.Pattern)
		}
	}
}

func same(t *testing.T, a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return string(x) == string(y)
}

func TestDenylist(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	for _, agent := range []string{"main", shown.Every} {
		p := a.settings.Policy(agent)
		rule := shown.DenyEdit{Pattern: "uname", Args: []string{"-s"}, Reason: "no"}
		p = mustSave(t, a.settings.AddDeny(agent, p.Rev, rule))
		if len(p.Denylist) != 1 || p.Denylist[0].From != shown.FromHere {
			t.Fatalf("%s: %+v", agent, p.Denylist)
		}
		got := a.answer(a.agent(t.Context(), "main", "uname", "-s"))
		if got.Refused == nil || got.Refused.Reason != approval.ReasonDenylisted {
			t.Errorf("%s: %+v", agent, got)
		}
		p = mustSave(t, a.settings.RemoveDeny(agent, p.Rev, rule))
		if s := a.settings.RemoveDeny(agent, p.Rev, rule); s.OK || !s.Conflict {
			t.Errorf("a rule was removed twice: %+v", s)
		}
	}
}

// What was edited meanwhile is not overwritten, and the edit is not lost: it
// is told, with what is there now.
func TestConflict(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	seen := a.settings.Policy("main")
	mustSave(t, a.settings.AddDeny("main", seen.Rev, shown.DenyEdit{Pattern: "sudo"}))
	late := a.settings.AddEntry("main", seen.Rev, shown.EntryEdit{Pattern: "/usr/bin/uname"})
	if late.OK || !late.Conflict || late.Policy == nil || len(late.Policy.Denylist) != 1 {
		t.Fatalf("%+v", late)
	}
	mustSave(t, a.settings.AddEntry("main", late.Policy.Rev, shown.EntryEdit{Pattern: "/usr/bin/uname"}))

	// Somebody else edits: an undo would take back what it never saw.
	if _, err := a.host.Update(func(d *store.Document) error {
		d.Deny("main", approval.DenyRule{Pattern: "ssh"})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if s := a.settings.Undo(); s.OK || !s.Conflict {
		t.Errorf("%+v", s)
	}
	if len(a.file().Agents["main"].Denylist) != 2 {
		t.Error("an edit of somebody else was taken back")
	}
	for _, rev := range []string{"", "x"} {
		if s := a.settings.SetMode("main", rev, "deny"); s.OK || !s.Conflict {
			t.Errorf("with revision %q: %+v", rev, s)
		}
	}
	if s := a.settings.SetMode("", a.settings.Policy("").Rev, "allow-all"); s.OK {
		t.Error("an agent without a name got settings of its own")
	}
}

func TestFirstRun(t *testing.T) {
	for start, want := range map[string]shown.Mode{
		"deny-all": shown.ModeDeny, "ask-me": shown.ModeAskWhenNeeded, "developer-tools": shown.ModeAskWhenNeeded,
	} {
		t.Run(start, func(t *testing.T) {
			a := newTestApp(t, "")
			if s := a.approvals.Screen(""); !s.FirstRun || !s.Settings {
				t.Fatalf("%+v", s)
			}
			if s := a.settings.Choose(start); s.OK {
				t.Error("it was chosen before it was in sight")
			}
			a.settings.Ready()
			if _, s, _ := a.window.is(); s != firstRunSize {
				t.Errorf("its window is %v", s)
			}
			got := a.answer(a.agent(t.Context(), "main", "uname"))
			if got.Refused == nil || got.Refused.Reason != approval.ReasonSecurityDeny {
				t.Errorf("before the choice: %+v", got)
			}
			if s := a.settings.Choose("everything"); s.OK {
				t.Error("a starting point that is none was taken")
			}
			said := a.settings.Start()
			mustSave(t, a.settings.Choose(start))
			// What the page said holds: the words of the examples are judged so.
			for _, e := range said.Examples {
				p := a.host.Policy().Policy("main")
				now := a.suppose(t.Context(), p, strings.Fields(e.Command))
				if want := e.Verdicts[slices.Index(starts.All, starts.Start(start))]; now != want {
					t.Errorf("%s: said %s, is %s", e.Command, want, now)
				}
			}
			if p := a.settings.Policy(shown.Every); p.Mode != want {
				t.Errorf("%+v", p)
			}
			if s := a.settings.Choose("ask-me"); s.OK {
				t.Error("it was chosen twice")
			}
			if s := a.approvals.Screen(""); s.FirstRun {
				t.Error("it is asked again")
			}
			if start == "developer-tools" {
				if got := a.answer(a.agent(t.Context(), "main", "uname")); !got.Success {
					t.Errorf("%+v", got)
				}
				tools := a.settings.Start().Tools
				passing := slices.ContainsFunc(tools, func(t shown.Tool) bool { return t.Name == "uname" && !t.Asks })
				if !passing || len(tools) < 10 || len(a.settings.Policy("any").Allowlist) < len(tools) {
					t.Errorf("%d tools, %d entries", len(tools), len(a.settings.Policy("any").Allowlist))
				}
			}
		})
	}
}

// The file of the store is written once; the page is told whenever it, or
// anything in it, changes.
func TestOutsideEdit(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	text, err := os.ReadFile(a.state.Approvals())
	if err != nil {
		t.Fatal(err)
	}
	loose := strings.Replace(string(text), `"allowlist"`, `"full"`, 1)
	if loose == string(text) {
		t.Fatalf("nothing to loosen in %s", text)
	}
	if err := os.WriteFile(a.state.Approvals(), []byte(loose), 0o600); err != nil {
		t.Fatal(err)
	}
	a.eventually("the edit is held", func() bool { return len(a.settings.Host().Held) > 0 })
	if s := a.settings.SetMode("main", a.settings.Policy("main").Rev, "deny"); s.OK || s.Message == "" {
		t.Errorf("an edit went over one that waits: %+v", s)
	}
	held := a.settings.Host().HeldHash
	if s := a.settings.AnswerEdit(held, true); s.OK || !s.Conflict {
		t.Errorf("an edit was taken that had just come: %+v", s)
	}
	a.later(stage.Guard)
	for _, hash := range []string{"another", ""} {
		for _, accept := range []bool{true, false} {
			if s := a.settings.AnswerEdit(hash, accept); s.OK || !s.Conflict {
				t.Errorf("another edit was answered: %+v", s)
			}
		}
	}
	if s := a.settings.AnswerEdit(held, false); !s.OK {
		t.Errorf("%+v", s)
	}
	if got := a.host.Policy().Policy("main").Security; got != approval.SecurityList {
		t.Errorf("security is %s", got)
	}
	if !a.window.told(eventPolicy) {
		t.Error("the page was not told")
	}
}

// editFile changes the policy file as another program would, to something looser.
func (a *testApp) editFile(from, to string) {
	a.t.Helper()
	text, err := os.ReadFile(a.state.Approvals())
	if err != nil {
		a.t.Fatal(err)
	}
	changed := strings.Replace(string(text), from, to, 1)
	if changed == string(text) {
		a.t.Fatalf("no %s in %s", from, text)
	}
	if err := os.WriteFile(a.state.Approvals(), []byte(changed), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// outside waits until an edit from outside is for the panel.
func (a *testApp) outside() shown.Edit {
	a.t.Helper()
	var edit *shown.Edit
	a.eventually("an edit waits", func() bool { edit = a.approvals.Screen("").Edit; return edit != nil })
	return *edit
}

// An edit from outside brings the panel, behind questions and never over the
// settings, and its answer counts once it was in sight.
func TestOutsideEditOnPanel(t *testing.T) {
	a := newTestApp(t, askMe)
	answers := a.agent(t.Context(), "main", "touch", filepath.Join(a.project, "proof"))
	q := a.question()
	a.editFile(`"allowlist"`, `"full"`)
	edit := a.outside()
	if len(edit.Loosens) == 0 || edit.File != "~/s/exec-approvals.json" {
		t.Errorf("%+v", edit)
	}
	a.look(q.ID)
	if a.look(edit.ID); !a.looked(q.ID) {
		t.Error("an edit came before a question")
	}
	if s := a.settings.AnswerEdit(edit.Hash, true); s.OK {
		t.Error("an edit behind a question was taken")
	}
	if said := a.approvals.Decide(q.ID, q.Seen, "deny", ""); !said.OK {
		t.Fatalf("%+v", said)
	}
	a.answer(answers)

	a.approvals.Ready(edit.ID, 500)
	if visible, s, _ := a.window.is(); !visible || s.width != 560 {
		t.Errorf("visible %v, size %v", visible, s)
	}
	if s := a.settings.AnswerEdit(edit.Hash, true); s.OK {
		t.Error("an edit was taken that had just come into sight")
	}
	a.look(edit.ID)
	if s := a.settings.AnswerEdit("another", true); s.OK {
		t.Error("another edit was taken")
	}
	if s := a.settings.AnswerEdit(edit.Hash, true); !s.OK {
		t.Errorf("%+v", s)
	}
	if got := a.host.Policy().Policy("main").Security; got != approval.SecurityFull {
		t.Errorf("security is %s", got)
	}
	a.eventually("the window is gone", func() bool { visible, _, _ := a.window.is(); return !visible })
	if again := a.approvals.Screen("").Edit; again != nil {
		t.Errorf("%+v is still on the panel", again)
	}
}

// What a person does not answer on the panel stays for the settings, and
// another edit comes to the panel again.
func TestOutsideEditLeft(t *testing.T) {
	for name, leave := range map[string]func(a *testApp){
		"later":    func(a *testApp) { a.approvals.LeaveEdit() },
		"closed":   func(a *testApp) { a.keepOpen() },
		"settings": func(a *testApp) { a.settingsInSight(); a.keepOpen() },
	} {
		t.Run(name, func(t *testing.T) {
			a := newTestApp(t, askMe)
			a.editFile(`"allowlist"`, `"full"`)
			edit := a.outside()
			a.look(edit.ID)
			leave(a)
			a.eventually("the window is gone", func() bool { visible, _, _ := a.window.is(); return !visible })
			if a.approvals.Ready(edit.ID, 500); a.approvals.Screen("").Edit != nil || a.view().Visible {
				t.Error("it came back by itself")
			}
			a.look(edit.ID)
			if s := a.settings.AnswerEdit(edit.Hash, true); s.OK {
				t.Error("it was taken out of sight")
			}
			if held := a.settings.Host().Held; len(held) == 0 {
				t.Error("the settings do not show it")
			}
			a.editFile(`"on-miss"`, `"off"`)
			if next := a.outside(); next.Hash == edit.Hash {
				t.Error("the next edit is the one before")
			}
		})
	}
}

// An edit from while the app was closed is on the panel of the next start.
func TestOutsideEditWhileClosed(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	if s := a.settings.SetMode("main", a.settings.Policy("main").Rev, "ask-always"); !s.OK {
		t.Fatalf("%+v", s)
	}
	a.app.close()
	a.editFile(`"always"`, `"off"`)
	next := &testApp{app: newApp(a.state, a.person.Home), t: t, window: &testWindow{}}
	if err := next.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(next.app.close)
	next.opened(next.window)
	edit := next.outside()
	if next.look(edit.ID); !next.looked(edit.ID) {
		t.Error("it cannot be seen")
	}
	if s := next.settings.AnswerEdit(edit.Hash, false); !s.OK {
		t.Errorf("%+v", s)
	}
	if got := next.host.Policy().Policy("main").Ask; got != approval.AskAlways {
		t.Errorf("ask is %s", got)
	}
}

// A stricter edit from outside holds at once, also for what waits.
func TestOutsideTightening(t *testing.T) {
	a := newTestApp(t, askMe)
	answers := a.agent(t.Context(), "main", "touch", filepath.Join(a.project, "proof"))
	a.question()
	text, err := os.ReadFile(a.state.Approvals())
	if err != nil {
		t.Fatal(err)
	}
	strict := strings.Replace(string(text), `"defaults": {`, `"defaults": {"denylist": ["touch"], `, 1)
	if err := os.WriteFile(a.state.Approvals(), []byte(strict), 0o600); err != nil || strict == string(text) {
		t.Fatal(err, strict)
	}
	if got := a.answer(answers); got.Refused == nil || got.Refused.Reason != approval.ReasonDenylisted {
		t.Errorf("%+v", got)
	}
}

// What can be pressed on the session's bus tightens at once. What loosens is
// for the window.
func TestMenuModes(t *testing.T) {
	a := newTestApp(t, `{"version":1,"defaults":{"security":"allowlist","ask":"on-miss"},"agents":{"main":{"security":"allowlist"}}}`)
	mode := func() shown.Mode { return a.settings.Policy("main").Mode }
	for _, step := range []struct {
		press     string
		want      shown.Mode
		wantsOpen bool
	}{
		{"mode:main:ask-always", shown.ModeAskAlways, false},
		{"mode:main:allow-all", shown.ModeAskAlways, menuIsOpen},
		{"mode:main:ask-when-needed", shown.ModeAskAlways, menuIsOpen},
		{"mode:main:nonsense", shown.ModeAskAlways, true},
		{"mode:main:deny", shown.ModeDeny, false},
		{"mode::allow-all", shown.ModeDeny, true},
		{"agent:main", shown.ModeDeny, false},
		{"", shown.ModeDeny, false},
		{"stop:nothing", shown.ModeDeny, false},
	} {
		a.keepOpen()
		a.press(step.press)
		s := a.approvals.Screen("")
		if got := mode(); menuIsOpen && got != step.want || s.Settings != step.wantsOpen {
			t.Errorf("%s: mode %s, settings %v", step.press, got, s.Settings)
		}
	}
	a.press("settings")
	if !a.approvals.Screen("").Settings {
		t.Error("the settings do not open")
	}
	a.press("quit")
	if !a.window.quit {
		t.Error("it does not quit")
	}
}

// While the app runs, a yes and a loosening belong to its window, and with "Answer
// from the terminal" to who types the passphrase.
func TestCommandLineBesideTheApp(t *testing.T) {
	phrase := []byte("correct horse battery staple")
	person, err := operator.New(phrase)
	if err != nil {
		t.Fatal(err)
	}
	a := newTestApp(t, askMe, func(state paths.State) {
		if err := person.Write(state.OperatorPublic()); err != nil {
			t.Fatal(err)
		}
	})
	signs := func(_ context.Context, method string, params []byte, ask ipc.ConfirmAsk) ([]byte, error) {
		s, err := host.Statement(a.state.Dir, method, params, ask.Text)
		s.Nonce = ask.Nonce
		if err != nil {
			return nil, err
		}
		return person.Sign(phrase, s)
	}
	key, err := host.ReadOperatorKey(a.state.OperatorKey())
	if err != nil {
		t.Fatal(err)
	}
	client, err := ipc.Dial(a.state)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	answers := a.agent(t.Context(), "main", "touch", filepath.Join(a.project, "proof"))
	q := a.question()
	digest, count := a.names().Unseen(q.Seen, a.host.Waiting()[0])
	allow := map[string]any{"id": q.ID, "digest": digest, "count": count, "decision": "allow-once"}
	calls := []struct {
		method string
		params any
		taken  bool
	}{
		{"pending.answer", allow, false},
		{"policy.set", map[string]any{"field": "security", "value": "full"}, false},
		{"entries.add", map[string]any{"agentId": "main", "entry": map[string]any{"pattern": "/usr/bin/id"}}, false},
		{"policy.accept", map[string]any{"hash": "x"}, false},
		{"policy.reject", struct{}{}, false},
		{"window.open", struct{}{}, true},
		{"entries.add", map[string]any{"agentId": "main", "deny": map[string]any{"pattern": "sudo"}}, true},
		{"policy.set", map[string]any{"field": "security", "value": "deny", "agentId": "other"}, true},
		{"entries.remove", map[string]any{"agentId": "main", "which": "nothing"}, false},
		{"pause", struct{}{}, true},
		{"pause", map[string]any{"until": time.Now().Add(time.Hour).UnixMilli()}, false}, // it would end
		{"resume", struct{}{}, false},
	}
	for _, call := range calls {
		if err := client.Call(t.Context(), key, call.method, call.params, nil); (err == nil) != call.taken {
			t.Errorf("%s %v: %v", call.method, call.params, err)
		}
	}
	on := prefer(shown.ThemeDark, true)
	if s := a.settings.SetPreferences(on); s.OK {
		t.Error("it was switched on by a page whose settings nobody sees")
	}
	a.settingsInSight()
	a.look(q.ID)
	if s := a.settings.SetPreferences(on); s.OK {
		t.Error("it was switched on while a question covered the settings")
	}
	if err := a.prefs.set(on); err != nil {
		t.Fatal(err)
	}
	for method, params := range map[string]any{"pending.answer": allow, "resume": struct{}{}} {
		if err := client.Call(t.Context(), key, method, params, nil); err == nil {
			t.Errorf("%s without the passphrase", method)
		}
		if err := client.CallSigned(t.Context(), key, signs, method, params, nil); err != nil {
			t.Errorf("%s with the switch on: %v", method, err)
		}
	}
	if got := a.answer(answers); !got.Success {
		t.Errorf("%+v", got)
	}
	if err := client.Call(t.Context(), key, "stop", struct{}{}, nil); err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestPreferences(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	if s := a.settings.SetPreferences(prefer("pink", false)); s.OK {
		t.Error("a theme that is none was saved")
	}
	if s := a.settings.SetPreferences(prefer(shown.ThemeLight, true)); !s.OK {
		t.Fatal(s.Message)
	}
	if a.approvals.Screen("").Theme != shown.ThemeLight {
		t.Error("the theme does not hold")
	}
	short := prefer(shown.ThemeLight, true)
	short.KeepDays, short.Sound = 1, true
	if s := a.settings.SetPreferences(short); s.OK {
		t.Error("a history of one day was taken")
	}
	short.KeepDays = 30
	if s := a.settings.SetPreferences(short); !s.OK || a.activity.Size().MaxDays != 30 {
		t.Errorf("%+v, %+v", s, a.activity.Size())
	}
	if got := readPreferences(a.state.Preferences()).get(); got.KeepDays != 30 || !got.Sound {
		t.Errorf("%+v", got)
	}
	if s := a.settings.SetPreferences(prefer(shown.ThemeLight, true)); !s.OK || a.activity.Size().MaxDays != 400 {
		t.Errorf("%+v, %+v", s, a.activity.Size())
	}
	// What permits something ends with the app.
	if got := readPreferences(a.state.Preferences()).get(); got != (prefer(shown.ThemeLight, false)) {
		t.Errorf("%+v", got)
	}
	info, err := os.Stat(a.state.Preferences())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	for _, text := range []string{"", "{", `{"theme":"pink","answerFromTerminal":true}`, `[]`, `{"keepDays":1}`, `{"keepDays":"90"}`, `{"sound":1}`, `{"theme":7}`} {
		if err := os.WriteFile(a.state.Preferences(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p := readPreferences(a.state.Preferences())
		if got := p.get(); got != (prefer(shown.ThemeSystem, false)) {
			t.Errorf("%q gives %+v", text, got)
		}
		if err := p.set(prefer(shown.ThemeDark, false)); err == nil {
			t.Errorf("%q was written over", text)
		}
	}
	if err := os.WriteFile(a.state.Preferences(), []byte(`{"theme":"dark","answerFromTerminal":true,"later":[1]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	p := readPreferences(a.state.Preferences())
	if got := p.get(); got != (prefer(shown.ThemeDark, false)) {
		t.Errorf("%+v", got)
	}
	if err := p.set(prefer(shown.ThemeLight, false)); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(a.state.Preferences())
	if err != nil || !strings.Contains(string(kept), "later") || !strings.Contains(string(kept), "light") {
		t.Errorf("%s %v", kept, err)
	}
}

// TestBindings shows which agents the configuration binds to a node.
func TestBindings(t *testing.T) {
	a := newTestApp(t, askMe)
	for _, row := range []struct{ text, want, problem string }{
		{"", "", ""},
		{`{"tools": {"exec": {"host": "node"}}}`, "", ""},
		{`{"tools": {"exec": {"node": "mini"}}, "agents": {"list": [{"id": "b", "tools": {"exec": {"node": "x\u202ey"}}}, {"id": "a", "tools": {"exec": {"ask": "always"}}}]}}`,
			`* mini tools.exec.node, b x\u{202E}y agents.list[b].tools.exec.node`, ""},
		{`{"tools": 7}`, "", "cannot be used: gateway.json5"},
	} {
		if row.text != "" {
			if err := os.WriteFile(a.state.Gateway(), []byte(row.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		h := a.settings.Host()
		var got []string
		for _, b := range h.Bindings {
			got = append(got, fmt.Sprint(b.Agent.ID, " ", b.Node, " ", b.From))
		}
		if strings.Join(got, ", ") != row.want || (h.BindingsProblem == "") != (row.problem == "") || !strings.Contains(h.BindingsProblem, row.problem) {
			t.Errorf("%s: %q, %s", row.text, got, h.BindingsProblem)
		}
	}
	if err := errors.Join(os.Remove(a.state.Gateway()), syscall.Mkfifo(a.state.Gateway(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if h := a.settings.Host(); !strings.Contains(h.BindingsProblem, "no plain file") {
		t.Errorf("%+v", h)
	}
}

// TestPlayer takes the first way to play a sound that is whole.
func TestPlayer(t *testing.T) {
	const sound = "/usr/share/sounds/freedesktop/stereo/message-new-instant.oga"
	for _, row := range []struct {
		there []string
		want  string
	}{
		{nil, ""}, {[]string{"/usr/bin/canberra-gtk-play", "/usr/bin/paplay", sound}, "/usr/bin/canberra-gtk-play"},
		{[]string{"/usr/bin/paplay"}, ""}, {[]string{"/usr/bin/paplay", sound}, "/usr/bin/paplay"}, {[]string{sound}, ""},
		{[]string{"/usr/bin/afplay", "/System/Library/Sounds/Ping.aiff"}, "/usr/bin/afplay"},
	} {
		got := append(player(func(path string) bool { return slices.Contains(row.there, path) }), "")[0]
		if got != row.want {
			t.Errorf("%v: %s", row.there, got)
		}
	}
}

// What is written in a form is told with what it would have meant.
func TestPreviewReplays(t *testing.T) {
	a := newTestApp(t, askMe)
	for _, args := range [][]string{{"-s"}, {"-m"}} {
		answers := a.agent(t.Context(), "main", append([]string{"uname"}, args...)...)
		a.question()
		p := a.host.Waiting()[0]
		if err := a.host.Answer(p.ID, pending.Shown{}, approval.Answer{Decision: approval.DecisionDeny, By: "panel"}); err != nil {
			t.Fatal(err)
		}
		a.answer(answers)
	}
	for _, test := range []struct {
		agent, pattern string
		args           []string
		want           string
	}{
		{"main", "uname", nil, "2 of 2, 2 denied"},
		{"main", "uname", []string{"-s"}, "1 of 2, 1 denied"},
		{"main", "whoami", nil, "0 of 2, 0 denied"},
		{"other", "uname", nil, "0 of 0, 0 denied"},
		{"*", "uname", nil, "nothing"},
		{"main", "a/b", nil, "nothing"},
	} {
		got := "nothing"
		if r := a.settings.Preview(test.agent, shown.EntryEdit{Pattern: test.pattern, Args: test.args}).Replay; r != nil {
			got = fmt.Sprintf("%d of %d, %d denied", r.Allowed, r.Looked, r.Denied)
		}
		if got != test.want {
			t.Errorf("%s %s %v: %s, want %s", test.agent, test.pattern, test.args, got, test.want)
		}
	}
}

func TestPreview(t *testing.T) {
	a := newTestApp(t, askMe)
	bin := filepath.Join(a.person.Home, "bin")
	for i := range 60 {
		dir := filepath.Join(bin, string(rune('a'+i%26)))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, "tool"+string(rune('0'+i/26)))
		if err := os.WriteFile(name, []byte("#!/usr/bin/true\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "readme"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(bin, filepath.Join(a.person.Home, "link")); err != nil {
		t.Fatal(err)
	}
	if got := a.settings.Preview("*", shown.EntryEdit{Pattern: "**/tool0"}); !got.More {
		t.Errorf("below any folder: %+v", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if got := a.preview(over, shown.EntryEdit{Pattern: "~/bin/*"}); !got.More || got.Warning != "" {
		t.Errorf("without the time to look: %+v", got)
	}
	tests := []struct {
		pattern string
		count   int
		warning shown.Warning
		problem bool
	}{
		{"~/bin/a/tool0", 1, "", false},
		{"~/bin/readme", 0, shown.WarnNothing, false},
		{"~/bin/a/*", 3, "", false},
		{"~/bin/**", 60, shown.WarnBroad, false},
		{"/bin/sh", 1, shown.WarnCode, false},
		{"/usr/bin/env", 1, shown.WarnStarts, false},
		{"no-such-program-here", 0, shown.WarnNothing, false},
		{"~/link/a/*", 3, "", false},
		{"a/b", 0, "", true},
		{"", 0, "", true},
	}
	for _, test := range tests {
		got := a.preview(t.Context(), shown.EntryEdit{Pattern: test.pattern}) // for as long as it takes
		if got.Count != test.count || got.Warning != test.warning || (got.Problem != "") != test.problem || len(got.Programs) > previewNames {
			t.Errorf("%q: %+v", test.pattern, got)
		}
	}
}

//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/menubar"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

// titles are the rows of the menu as it is now, a line each.
func (a *testApp) titles() string {
	var b strings.Builder
	var each func([]menubar.Item)
	each = func(items []menubar.Item) {
		for _, i := range items {
			b.WriteString(i.ID + " " + i.Title + "\n")
			each(i.Children)
		}
	}
	each(menubar.Build(a.facts(a.t.Context())).Items)
	return b.String()
}

// A pause begins with a press. It ends with one only where no other program
// can press; elsewhere that leads to the window.
func TestMenuPause(t *testing.T) {
	a := newTestApp(t, askMe)
	for _, step := range []struct {
		press string
		least time.Duration // of the pause, 0 for until resumed
	}{
		{"pause:15m", 14 * time.Minute}, {"pause:nonsense", 14 * time.Minute}, {"pause:", 14 * time.Minute}, {"pause", 14 * time.Minute},
		{"pause:1h", 59 * time.Minute}, {"pause:15m", 59 * time.Minute}, {"pause:resumed", 0}, {"pause:1h", 0},
	} {
		a.press(step.press)
		until, on := a.host.Paused()
		if left := time.Until(until); !on || until.IsZero() != (step.least == 0) || step.least > 0 && (left < step.least || left > step.least+time.Minute) {
			t.Errorf("%s: paused %v until %v", step.press, on, until)
		}
	}
	if rows := a.titles(); !strings.Contains(rows, "Paused until resumed") || !strings.Contains(rows, "resume Resume") || strings.Contains(rows, "pause:15m") {
		t.Error(rows)
	}
	if s := a.approvals.Screen(""); !s.Paused || s.PausedUntil != 0 {
		t.Errorf("%+v", s)
	}
	a.press("resume")
	if _, on := a.host.Paused(); on != menuIsOpen || a.approvals.Screen("").Settings != menuIsOpen {
		t.Errorf("after a press on Resume: paused %v", on)
	}
	a.keepOpen()
	if got := a.approvals.Pause("soon"); got.OK {
		t.Error("an unknown length")
	}
	if got := a.approvals.Resume(); got.OK {
		t.Error("a page that nobody sees ends the pause")
	}
	a.settingsInSight()
	if got := a.approvals.Resume(); got.OK {
		t.Error("the pause ends by a click that was meant for something else")
	}
	a.later(stage.Guard)
	if got := a.approvals.Resume(); !got.OK {
		t.Error(got.Message)
	}
	if _, on := a.host.Paused(); on {
		t.Error("it is paused")
	}
}

// In a pause no question comes to the front by itself. One that a person opens
// does, and the first of them when the pause is over.
func TestPauseIsQuiet(t *testing.T) {
	a := newTestApp(t, askMe)
	if got := a.approvals.Pause("1h"); !got.OK {
		t.Fatal(got.Message)
	}
	a.eventually("it is known", func() bool { return a.view().Paused })
	answers := a.agent(t.Context(), "main", "touch", filepath.Join(a.project, "proof"))
	q := a.question()
	a.approvals.Ready(q.ID, 500)
	if visible, _, _ := a.window.is(); visible {
		t.Error("it came to the front")
	}
	a.app.mu.Lock()
	if a.dead != nil {
		t.Error("the page is taken for dead")
	}
	a.app.mu.Unlock()
	a.press("question:" + q.ID)
	a.approvals.Ready(q.ID, 500)
	if visible, _, _ := a.window.is(); !visible {
		t.Error("it does not come to the front on a person's word")
	}
	a.look(q.ID)
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); !got.OK {
		t.Error(got.Message)
	}
	a.eventually("it waits for the end of the pause", func() bool { return a.host.Status().HeldBack == 1 })
	next := a.agent(t.Context(), "main", "touch", "next")
	second := a.question()
	a.approvals.Ready(second.ID, 500)
	a.host.Resume()
	a.eventually("the page is told to show it", func() bool { return a.window.told(eventOpen) })
	a.eventually("it may come to the front", func() bool {
		a.approvals.Ready(second.ID, 500)
		visible, _, _ := a.window.is()
		return visible
	})
	if answer := a.answer(answers); !answer.Success {
		t.Errorf("%+v", answer)
	}
	a.approvals.Decide(second.ID, "", "deny", "")
	a.answer(next)
}

// What is allowed for a while is in the menu, and is taken back there.
func TestMenuLeases(t *testing.T) {
	a := newTestApp(t, `{"version":1,"defaults":{"security":"allowlist","ask":"on-miss"},"agents":{"main":{"allowlist":[
		{"id":"s","pattern":"/usr/bin/uname","sessionKey":"s"},{"id":"u","pattern":"/usr/bin/id","usesLeft":3},
		{"id":"t","pattern":"/usr/bin/git","args":["fetch"],"expiresAt":99999999999999},{"id":"over","pattern":"/usr/bin/id","expiresAt":1},
		{"id":"good","pattern":"/usr/bin/id"},{"id":"off","pattern":"/usr/bin/id","usesLeft":3,"disabled":true}]}}}`)
	var got []string
	for _, l := range a.facts(t.Context()).Leases {
		got = append(got, fmt.Sprint(l.ID, " ", l.Command, " ", l.Uses, " ", l.Ends.IsZero()))
	}
	if want := []string{"t git fetch -1 false", "s uname -1 true", "u id 3 true"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a.press("end-lease:s")
	a.press("end-lease:good") // no lease
	a.press("end-lease:")
	var left []string
	for _, e := range a.file().Agents["main"].Allowlist {
		left = append(left, e.ID)
	}
	if want := []string{"u", "t", "over", "good", "off"}; !slices.Equal(left, want) {
		t.Errorf("left: %q", left)
	}
}

// Stop everything takes two presses.
func TestMenuStopEverything(t *testing.T) {
	a := newTestApp(t, `{"version":1,"defaults":{"security":"allowlist","ask":"on-miss"},"agents":{"*":{"allowlist":[{"pattern":"/usr/bin/sleep"},{"pattern":"/bin/sleep"},{"pattern":"/x","sessionKey":"s"}]}}}`)
	running := a.agent(t.Context(), "main", "sleep", "1000")
	waiting := a.agent(t.Context(), "main", "touch", "x")
	a.question()
	a.eventually("it runs", func() bool { return a.host.Status().Running == 1 })
	a.press("stop-everything")
	a.press("stop-everything:what")
	if s := a.host.Status(); s.Running != 1 || s.Waiting != 1 {
		t.Fatalf("it stopped without a second press: %+v", s)
	}
	a.press("stop-everything:now")
	if r := a.answer(running); r.Success || !strings.Contains(r.Error, "Stop everything") {
		t.Errorf("%+v", r)
	}
	if w := a.answer(waiting); w.Refused == nil || w.Refused.Reason != approval.ReasonUserDenied || !strings.Contains(w.Refused.Message, "Stop everything") {
		t.Errorf("%+v", w)
	}
	if s := a.host.Status(); s.Running+s.Waiting != 0 || len(a.file().Agents["*"].Allowlist) != 2 {
		t.Errorf("%+v", s)
	}
	if got := a.approvals.StopEverything(); !got.OK {
		t.Error(got.Message)
	}
}

// The menu tells what was decided, and takes back what was allowed for always.
func TestMenuRecent(t *testing.T) {
	a := newTestApp(t, askMe)
	command := tool(a)
	for _, decision := range []string{"deny", "allow-once", "allow-always"} {
		answers := a.agent(t.Context(), "main", command...)
		q := a.question()
		a.look(q.ID)
		if got := a.approvals.Decide(q.ID, q.Seen, decision, ""); !got.OK {
			t.Fatal(got.Message)
		}
		a.answer(answers)
	}
	a.answer(a.agent(t.Context(), "main", command...))
	var verdicts []string
	var id string
	for _, r := range a.facts(t.Context()).Recent {
		verdicts = append(verdicts, r.Verdict)
		if r.CanUndo {
			id = r.ID
		}
	}
	if !slices.Equal(verdicts, []string{"Passed", "Always allowed", "Allowed once", "Denied by you"}) || id == "" {
		t.Fatalf("%q", verdicts)
	}
	if rows := a.titles(); strings.Count(rows, "undo:") != 1 {
		t.Error(rows)
	}
	a.press("undo:" + id)
	if list := a.file().Agents["main"].Allowlist; len(list) != 0 || a.approvals.Screen("").Settings {
		t.Errorf("%+v", list)
	}
	if rows := a.titles(); strings.Contains(rows, "undo:") {
		t.Error(rows)
	}
	a.press("undo:" + id)
	if !a.approvals.Screen("").Settings {
		t.Error("what cannot be undone is told nowhere")
	}
	if got := a.approvals.Undo(id); got.OK {
		t.Error("it was undone twice")
	}
}

// An entry that was edited by hand is no more what the answer wrote.
func TestUndoAfterAnEdit(t *testing.T) {
	a := newTestApp(t, askMe)
	_, err := a.host.Update(func(d *store.Document) error {
		d.Add("main", approval.Entry{ID: "e", Pattern: "/usr/bin/id", AddedFor: "run"})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a.settingsInSight()
	p := a.settings.Policy("main")
	if s := a.settings.ChangeEntry("main", p.Rev, "e", shown.EntryEdit{Pattern: "/usr/bin/id", Args: []string{"-u"}}); !s.OK {
		t.Fatal(s.Message)
	}
	if got := a.approvals.Undo("run"); got.OK {
		t.Error("an entry that a person edited is taken away")
	}
}

// Every outcome has its words.
func TestOutcomes(t *testing.T) {
	for _, o := range []host.Outcome{
		host.Passed, host.AllowedOnce, host.AllowedAlways, host.DeniedByYou, host.DeniedByRule, host.Denied, host.TimeRanOut, host.CallerHungUp,
	} {
		if outcomes[o] == "" {
			t.Errorf("no words for %s", o)
		}
	}
}

// Open at login is a file of the desktop, which names this program.
func TestMenuLogin(t *testing.T) {
	a := newTestApp(t, askMe)
	if !strings.Contains(a.titles(), "login ") {
		if menuIsOpen {
			t.Error("there is no row")
		}
		t.Skip("skipped: this platform has no desktop entries")
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(a.person.Home, "a folder"))
	file := filepath.Join(a.person.Home, "a folder/autostart/countersign.desktop")
	on := func() bool { l := a.facts(t.Context()).Login; return l != nil && *l }
	if on() {
		t.Error("it is on at first")
	}
	a.press("login")
	text, err := os.ReadFile(file)
	self, _ := os.Executable()
	if err != nil || !on() || !strings.Contains(string(text), "Exec=\""+self+"\" \"--state-dir\" \""+a.state.Dir+"\"\n") {
		t.Errorf("%v, %v\n%s", on(), err, text)
	}
	a.press("login")
	if _, err := os.Stat(file); err == nil || on() {
		t.Error("it is still on")
	}
	// What others put there is replaced, a link or a folder is not followed.
	for name, make := range map[string]func() error{
		"a file":   func() error { return os.WriteFile(file, []byte("[Desktop Entry]\nExec=evil\n"), 0o600) },
		"a link":   func() error { return os.Symlink("/nowhere", file) },
		"a folder": func() error { return os.Mkdir(file, 0o700) },
	} {
		if err := make(); err != nil {
			t.Fatal(err)
		}
		a.keepOpen()
		a.press("login")
		if is := on(); is != (name == "a file") || a.approvals.Screen("").Settings == is {
			t.Errorf("%s: %v", name, is)
		}
		os.Remove(file)
	}
}

//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

// wanted is what came of a change.
type wanted struct {
	accepted string
	err      error
}

// wants has a command line want a change, and returns it as the panel shows it.
func (a *testApp) wants(ctx context.Context, id string) (*shown.Change, <-chan wanted) {
	a.t.Helper()
	done, now := make(chan wanted, 1), time.Now()
	go func() {
		accepted, err := a.askPerson(ctx, host.Change{
			ID: id, Who: "zsh in Terminal", Asked: now, Until: now.Add(time.Minute),
			Lines: []host.Line{
				{Line: store.Line{Agent: "main", Kind: store.LineMode, Was: "allowlist/always", Is: "full/on-miss"}, Word: host.Looser},
				{Line: store.Line{Agent: store.Every, Kind: store.LineOther, Text: "two\x1b[2Jlines"}, Word: host.Looser},
				{
					Line: store.Line{Agent: store.Every, Kind: store.LineDenial, Denial: approval.DenyRule{Pattern: "curl"}}, Word: host.Undoes,
					By: host.Made{In: "terminal", When: now.Add(-3 * time.Minute)},
				},
			},
		})
		done <- wanted{accepted, err}
	}()
	var c *shown.Change
	a.eventually("the change is on the panel", func() bool { c = a.approvals.Screen("").Change; return c != nil && c.ID == shown.ChangeMark+id })
	return c, done
}

func (a *testApp) got(done <-chan wanted) wanted {
	a.t.Helper()
	select {
	case w := <-done:
		return w
	case <-time.After(patience):
		a.t.Fatal("the change is still asked about")
		return wanted{}
	}
}

// A change comes to the front by itself, counts once it was in sight, for itself
// alone, and once.
func TestChangeOnPanel(t *testing.T) {
	a := newTestApp(t, askMe)
	c, done := a.wants(t.Context(), "x")
	if len(c.Lines) != 3 || c.Who != "zsh in Terminal" || strings.Contains(c.Lines[1].Text, "\x1b") {
		t.Fatalf("%+v", c)
	}
	if mode := c.Lines[0]; mode.Was != "ask-always" || mode.Is != "full/on-miss" || mode.Agent.ID != "main" {
		t.Errorf("%+v", mode)
	}
	if undoes := c.Lines[2]; undoes.Word != "undoes" || undoes.Entry.Pattern != "curl" || undoes.By == nil || undoes.By.Minutes != 3 {
		t.Errorf("%+v", undoes)
	}
	if said := a.approvals.AnswerChange(c.ID, true); said.OK {
		t.Error("a yes counted before it was in sight")
	}
	a.approvals.Ready(c.ID, 500)
	if visible, s, _ := a.window.is(); !visible || s.width != 560 {
		t.Errorf("visible %v, size %v", visible, s)
	}
	if said := a.approvals.AnswerChange(c.ID, true); said.OK {
		t.Error("a yes counted that had just come into sight")
	}
	a.look(c.ID)
	if said := a.approvals.AnswerChange("change:y", true); said.OK {
		t.Error("a yes to another change counted")
	}
	if _, err := a.askPerson(t.Context(), host.Change{ID: "z"}); !errors.Is(err, stage.ErrAnother) {
		t.Errorf("a second change: %v", err)
	}
	if said := a.approvals.AnswerChange(c.ID, true); !said.OK {
		t.Errorf("%+v", said)
	}
	if w := a.got(done); w.accepted != "x" || w.err != nil {
		t.Errorf("%+v", w)
	}
	if said := a.approvals.AnswerChange(c.ID, true); said.OK {
		t.Error("a yes counted twice")
	}
	a.eventually("the window is gone", func() bool { visible, _, _ := a.window.is(); return !visible })
}

// What ends a change without a yes.
func TestChangeEnds(t *testing.T) {
	for name, end := range map[string]func(a *testApp, id string, gone func()){
		"no":                   func(a *testApp, id string, _ func()) { a.approvals.AnswerChange(id, false) },
		"the window closes":    func(a *testApp, _ string, _ func()) { a.keepOpen() },
		"the screen locks":     func(a *testApp, _ string, _ func()) { a.screenAway(true) },
		"the terminal is gone": func(_ *testApp, _ string, gone func()) { gone() },
	} {
		a := newTestApp(t, askMe)
		ctx, gone := context.WithCancel(t.Context())
		c, done := a.wants(ctx, "x")
		a.look(c.ID)
		end(a, c.ID, gone)
		if w := a.got(done); w.accepted != "" {
			t.Errorf("%s: %+v", name, w)
		}
		gone()
		if left := a.approvals.Screen("").Change; left != nil {
			t.Errorf("%s: %+v is still on the panel", name, left)
		}
		if said := a.approvals.AnswerChange(c.ID, true); said.OK {
			t.Errorf("%s: a yes counts after it", name)
		}
		a.eventually("the window is gone", func() bool { visible, _, _ := a.window.is(); return !visible })
	}
	a := newTestApp(t, askMe)
	a.screenAway(true)
	if _, err := a.askPerson(t.Context(), host.Change{ID: "x"}); !errors.Is(err, stage.ErrLocked) {
		t.Errorf("on a locked screen: %v", err)
	}
}

// A change is over questions and settings, also in a pause, and gives both back:
// what was there is answered anew, once it was in sight again.
func TestChangeComesFirst(t *testing.T) {
	a := newTestApp(t, askMe)
	answers := a.agent(t.Context(), "main", "touch", filepath.Join(a.project, "proof"))
	q := a.question()
	a.look(q.ID)
	c, done := a.wants(t.Context(), "x")
	if waiting := a.approvals.Screen("").Waiting; len(waiting) != 0 {
		t.Errorf("%d questions are on the page with it", len(waiting))
	}
	a.look(c.ID)
	if a.approvals.Ready(q.ID, 500); !a.looked(c.ID) || a.looked(q.ID) {
		t.Error("a question took its place")
	}
	if said := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); said.OK {
		t.Error("a question behind it was allowed")
	}
	a.approvals.AnswerChange(c.ID, false)
	a.got(done)
	if a.looked(q.ID) {
		t.Error("the question counts as seen")
	}
	if again := a.question(); again.ID != q.ID {
		t.Errorf("%+v", again)
	}
	a.look(q.ID)
	if said := a.approvals.Decide(q.ID, q.Seen, "deny", ""); !said.OK {
		t.Errorf("%+v", said)
	}
	a.answer(answers)

	if err := a.host.Pause(time.Time{}); err != nil {
		t.Fatal(err)
	}
	a.settingsInSight()
	c, done = a.wants(t.Context(), "y")
	a.look(c.ID)
	if a.edits() {
		t.Error("the settings can be changed behind it")
	}
	if said := a.approvals.AnswerChange(c.ID, true); !said.OK {
		t.Errorf("%+v", said)
	}
	a.got(done)
	a.eventually("the settings are back", a.edits)
}

// What a terminal changed is taken back at once, whosever it was, and not where
// something else was edited since.
func TestUndoAccepted(t *testing.T) {
	a := newTestApp(t, askMe)
	a.settingsInSight()
	changes := func(pattern string) {
		before := a.host.Policy().Document
		after, err := a.host.Update(func(d *store.Document) error {
			d.Add("main", approval.Entry{Pattern: "/usr/bin/" + pattern})
			d.Deny("other", approval.DenyRule{Pattern: pattern})
			return d.Set("third", "ask", "off")
		})
		if err != nil {
			t.Fatal(err)
		}
		a.settings.accepted(before, after.Document)
	}
	was, err := a.host.Policy().Document.Meaning()
	if err != nil {
		t.Fatal(err)
	}
	changes("uname")
	if !a.settings.Host().CanUndo {
		t.Error("the page does not know that it can be taken back")
	}
	mustSave(t, a.settings.Undo())
	if is, err := a.host.Policy().Document.Meaning(); err != nil || is != was {
		t.Errorf("undo gives %+v", a.file())
	}
	changes("id")
	if _, err := a.host.Update(func(d *store.Document) error { return d.Set("fourth", "ask", "always") }); err != nil {
		t.Fatal(err)
	}
	if s := a.settings.Undo(); s.OK || !s.Conflict || len(a.file().Agents["other"].Denylist) != 1 {
		t.Errorf("%+v", s)
	}
}

// A folder that may be a project is on the panel as a change is, and what the person
// says goes to the host; being left says nothing.
func TestFolderOnPanel(t *testing.T) {
	for name, c := range map[string]struct {
		every bool
		say   func(a *testApp, id string, gone func())
		want  host.FolderAnswer
		lost  bool
	}{
		"no":                          {true, func(a *testApp, id string, _ func()) { a.approvals.AnswerFolder(id, "no") }, host.FolderNo, false},
		"this agent":                  {true, func(a *testApp, id string, _ func()) { a.approvals.AnswerFolder(id, "agent") }, host.FolderAgent, false},
		"every agent":                 {true, func(a *testApp, id string, _ func()) { a.approvals.AnswerFolder(id, "every") }, host.FolderEvery, false},
		"the window closes":           {true, func(a *testApp, _ string, _ func()) { a.keepOpen() }, host.FolderUnanswered, false},
		"the screen locks":            {true, func(a *testApp, _ string, _ func()) { a.screenAway(true) }, host.FolderUnanswered, false},
		"the time is over":            {true, func(_ *testApp, _ string, gone func()) { gone() }, host.FolderUnanswered, true},
		"every agent was not offered": {false, func(a *testApp, id string, gone func()) { a.refuses(id, "every"); gone() }, host.FolderUnanswered, true},
		"another word":                {true, func(a *testApp, id string, gone func()) { a.refuses(id, "all"); gone() }, host.FolderUnanswered, true},
		"an answer to a change":       {true, func(a *testApp, id string, gone func()) { a.approvals.AnswerChange(id, true); gone() }, host.FolderUnanswered, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := newTestApp(t, askMe)
			ctx, gone := context.WithCancel(t.Context())
			defer gone()
			type said struct {
				answer host.FolderAnswer
				err    error
			}
			done := make(chan said, 1)
			now := time.Now()
			q := host.FolderQuestion{ID: "x", AgentID: "claude", Folder: "/srv/ledger", Text: "touch x", Asked: now, Until: now.Add(time.Minute)}
			if !c.every {
				q.Holds = 2
			}
			go func() {
				answer, err := a.askFolder(ctx, q)
				done <- said{answer, err}
			}()
			var f *shown.Folder
			a.eventually("the folder is on the panel", func() bool { f = a.approvals.Screen("").Folder; return f != nil })
			if f.ID != shown.FolderMark+"x" || f.Folder != "/srv/ledger" || f.Every != c.every || f.Holds != q.Holds || f.Agent.ID != "claude" {
				t.Errorf("%+v", f)
			}
			if a.approvals.AnswerFolder(f.ID, "no").OK || a.approvals.AnswerFolder(f.ID, "agent").OK {
				t.Error("an answer counted before it was in sight")
			}
			a.look(f.ID)
			c.say(a, f.ID, gone)
			select {
			case got := <-done:
				if got.answer != c.want || (got.err != nil) != c.lost {
					t.Errorf("%+v", got)
				}
			case <-time.After(patience):
				t.Fatal("it is still asked")
			}
			if a.approvals.AnswerFolder(f.ID, "agent").OK || a.approvals.Screen("").Folder != nil {
				t.Error("it is not over")
			}
		})
	}
}

// A folder hides no question, fails no change, and comes back after them: its answer
// counts only while it is on the panel.
func TestFolderGivesWay(t *testing.T) {
	a := newTestApp(t, askMe)
	said, now := make(chan host.FolderAnswer, 1), time.Now()
	go func() {
		answer, err := a.askFolder(t.Context(), host.FolderQuestion{ID: "x", AgentID: "claude", Folder: "/srv/ledger", Text: "touch x", Asked: now, Until: now.Add(time.Minute)})
		if err != nil {
			t.Error(err)
		}
		said <- answer
	}()
	const id = shown.FolderMark + "x"
	there := func() bool { f := a.approvals.Screen("").Folder; return f != nil && f.ID == id }
	a.eventually("the folder is on the panel", there)
	a.look(id)

	answers := a.agent(t.Context(), "main", "touch", filepath.Join(a.project, "proof"))
	q := a.question()
	if there() || a.approvals.AnswerFolder(id, "agent").OK {
		t.Error("the folder is before a question")
	}
	a.look(q.ID)
	if a.approvals.Ready(id, 500); !a.looked(q.ID) || a.looked(id) {
		t.Error("the folder took its place")
	}
	c, done := a.wants(t.Context(), "y")
	a.look(c.ID)
	if said := a.approvals.AnswerChange(c.ID, true); !said.OK {
		t.Errorf("%+v", said)
	}
	if w := a.got(done); w.accepted != "y" || w.err != nil {
		t.Errorf("%+v", w)
	}
	if there() {
		t.Error("the folder is before a question, after the change")
	}
	a.look(q.ID)
	if said := a.approvals.Decide(q.ID, q.Seen, "deny", ""); !said.OK {
		t.Errorf("%+v", said)
	}
	a.answer(answers)

	a.eventually("the folder is back", there)
	if a.approvals.AnswerFolder(id, "agent").OK {
		t.Error("an answer counted before it was in sight again")
	}
	a.look(id)
	if !a.approvals.AnswerFolder(id, "agent").OK {
		t.Error("its answer does not count")
	}
	select {
	case answer := <-said:
		if answer != host.FolderAgent {
			t.Errorf("%q", answer)
		}
	case <-time.After(patience):
		t.Fatal("it is still asked")
	}
}

func (a *testApp) refuses(id, answer string) {
	a.t.Helper()
	if a.approvals.AnswerFolder(id, answer).OK {
		a.t.Errorf("the answer %q counted", answer)
	}
}

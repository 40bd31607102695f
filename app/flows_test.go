//go:build desktoptest && linux

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/apptest"
)

// choose opens a menu and presses a row of it, until ok. What is pressed within
// half a second of its opening does not count, and closes it.
func (d *desk) choose(menu, row string, ok func() bool) {
	d.t.Helper()
	d.eventually(menu+" "+row+" counts", func() bool {
		if o, there := d.tree.Find(apptest.MenuItem, row); there {
			_ = o.Press() // it may be too early all the same, or go away just now
		} else if o, there := d.tree.Find(apptest.MenuButton, menu); there && o.Press() == nil {
			time.Sleep(600 * time.Millisecond)
		}
		return ok()
	})
}

// check presses a box or a choice until it is on.
func (d *desk) check(role apptest.Role, name string) {
	d.t.Helper()
	d.eventually(name+" is on", func() bool {
		o, there := d.tree.Find(role, name)
		if there && !o.Checked() {
			_ = o.Press()
			o, there = d.tree.Find(role, name)
		}
		return there && o.Checked()
	})
}

// open goes to a page of the settings.
func (d *desk) open(i apptest.Item, page string) {
	d.t.Helper()
	d.row(i, "Settings…")
	d.wait(apptest.Link, page)
	d.eventually("the page "+page, func() bool {
		if o, there := d.tree.Find(apptest.Link, page); there {
			_ = o.Press()
		}
		_, there := d.tree.Find(apptest.Heading, page)
		return there
	})
}

func (d *desk) has(role apptest.Role, name string) bool {
	_, there := d.tree.Find(role, name)
	return there
}

// runs expects that a command runs, asked about or not.
func (d *desk) runs(done <-chan outcome) {
	d.t.Helper()
	if o := d.outcome(done); o.code != 0 {
		d.t.Errorf("it did not run: %+v", o)
	}
}

// A wider permission with an end, chosen before it is saved.
func TestWindowRemembersWiderForAWhile(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	item := d.item(watcher)
	done := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.Button, "Always allow…")
	d.press("Always allow…", func() bool { return d.has(apptest.Button, "Always allow: save and allow") })
	d.check(apptest.Radio, "Any uname command")
	d.check(apptest.Radio, "1 hour")
	d.press("Always allow: save and allow", func() bool { return len(done) == 1 })
	d.runs(done)
	d.runs(d.ask(t.Context(), "uname", "-m")) // wider than what was asked
	d.open(item, "Agents")
	d.wait(apptest.CheckBox, "In force: /usr/bin/uname")
	d.shows("Any arguments")
	d.shows(` min"`) // until it ends
}

// The menu beside Allow once gives the narrowest permission for a while.
func TestWindowAllowsForAWhile(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	item := d.item(watcher)
	done := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.MenuButton, "Allow for…")
	d.choose("Allow for…", "Next 5 runs", func() bool { return len(done) == 1 })
	d.runs(done)
	d.runs(d.ask(t.Context(), "uname", "-s"))
	other := d.ask(t.Context(), "uname", "-m")
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(other) == 1 })
	d.open(item, "Agents")
	d.wait(apptest.CheckBox, "In force: /usr/bin/uname")
	d.shows("uses left")
}

// An edit of the file that loosens waits for an answer: it is put back or taken.
func TestWindowAnswersAnEdit(t *testing.T) {
	d := newDesk(t, askMe)
	at := filepath.Join(d.state, "exec-approvals.json")
	loosen := func() {
		t.Helper()
		text, err := os.ReadFile(at)
		var doc map[string]any
		if err != nil || json.Unmarshal(text, &doc) != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		doc["agents"] = map[string]any{"main": map[string]any{"security": "full", "ask": "off"}}
		if text, err = json.Marshal(doc); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	loosen()
	d.wait(apptest.Heading, "Something changed the policy file")
	d.press("Keep as it was", func() bool {
		text, err := os.ReadFile(at)
		return err == nil && !strings.Contains(string(text), `"full"`)
	})
	d.eventually("the edit is gone", func() bool { return !d.has(apptest.Heading, "Something changed") })
	loosen()
	d.wait(apptest.Button, "Take the change")
	d.press("Take the change", func() bool { return !d.has(apptest.Button, "Take the change") })
	d.runs(d.ask(t.Context(), "uname", "-s"))
}

// Several small questions of one agent are answered from one list.
func TestWindowAnswersTogether(t *testing.T) {
	d := newDesk(t, askMe)
	asked := map[string]<-chan outcome{}
	for _, option := range []string{"-s", "-m", "-n"} {
		asked[option] = d.ask(t.Context(), "uname", option)
	}
	d.press("Answer three together…", func() bool { return d.has(apptest.Button, "Deny all") })
	d.wait(apptest.Button, "Allow 0 once, deny 3")
	d.check(apptest.CheckBox, "uname -s")
	d.check(apptest.CheckBox, "uname -n")
	d.press("Allow 2 once, deny 1", func() bool { return !d.has(apptest.Button, "Deny all") })
	d.runs(asked["-s"])
	d.runs(asked["-n"])
	if o := d.outcome(asked["-m"]); o.code != 126 || !strings.Contains(o.out, "user denied") {
		t.Errorf("%+v", o)
	}
}

// A yes for a caller that hung up holds once, for the same request.
func TestWindowAllowsIfItAsksAgain(t *testing.T) {
	d := newDesk(t, askMe)
	proof := filepath.Join(d.home, "proof")
	ctx, hangUp := context.WithCancel(t.Context())
	gone := d.ask(ctx, "touch", proof)
	d.wait(apptest.Button, "Allow once")
	hangUp()
	d.outcome(gone)
	d.wait(apptest.Button, "Allow if it asks again")
	d.press("Allow if it asks again", func() bool { return !d.has(apptest.Button, "Allow if it asks again") })
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran when nobody waited for it")
	}
	d.runs(d.ask(t.Context(), "touch", proof))
	if _, err := os.Stat(proof); err != nil {
		t.Error(err)
	}
	third := d.ask(t.Context(), "touch", proof)
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(third) == 1 })
}

// What was answered is in the history, with its outcome.
func TestWindowShowsActivity(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	item := d.item(watcher)
	done := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(done) == 1 })
	d.open(item, "Activity")
	d.wait(apptest.Cell, "uname -s")
	d.shows("Denied by you")
	d.wait(apptest.Field, "Search commands")
}

// A command that is tried is judged as the panel would, and is not run.
func TestWindowTries(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	item := d.item(watcher)
	proof := filepath.Join(d.home, "proof")
	d.open(item, "Try a command")
	if err := d.wait(apptest.Field, "Command to try").Focus(); err != nil {
		t.Fatal(err)
	}
	if err := d.tree.Type("touch " + proof); err != nil {
		t.Fatal(err)
	}
	d.wait(apptest.Heading, "Would ask you")
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran")
	}
}

// activations counts what a person presses in one part of a flow: three at most.
type activations struct {
	d     *desk
	count int
}

// press presses what is there until it counts; however often that takes, it is
// one activation to a person.
func (a *activations) press(role apptest.Role, name string, ok func() bool) {
	a.d.t.Helper()
	a.count++
	a.d.eventually(name+" counts", func() bool {
		if o, there := a.d.tree.Find(role, name); there {
			_ = o.Press() // it may go away just now
		}
		time.Sleep(100 * time.Millisecond)
		return ok()
	})
}

func (a *activations) end(part string) {
	a.d.t.Helper()
	if a.count > 3 {
		a.d.t.Errorf("%s takes %d activations", part, a.count)
	}
	a.d.t.Logf("%s: %d", part, a.count)
	a.count = 0
}

// A newcomer is asked once, allows it for an hour, finds it under Activity, makes
// it an entry that means more, and takes it back: each in three activations at
// most.
func TestWindowNewcomer(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	item := d.item(watcher)
	a := &activations{d: d}
	done := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.Heading, "May main run uname?")
	d.shows("No entry covers it.")

	d.wait(apptest.MenuButton, "Allow for…")
	a.count = 2 // the menu, and its row
	d.choose("Allow for…", "1 hour", func() bool { return len(done) == 1 })
	d.runs(done)
	a.end("allow it for an hour")

	a.count = 1 // Settings… in the menu of the item
	d.row(item, "Settings…")
	d.wait(apptest.Link, "Activity")
	a.press(apptest.Link, "Activity", func() bool { return d.has(apptest.Cell, "uname -s") })
	d.shows("Allowed a while")
	if err := d.wait(apptest.Cell, "uname -s").Parent().Focus(); err != nil {
		t.Fatal(err)
	}
	a.press(apptest.Button, "Show all…", func() bool { return d.has(apptest.Heading, "Request") })
	d.shows("Allow for 1 hour, by you on the panel")
	a.end("find it again")

	a.press(apptest.Button, "Make it an entry…", func() bool { return d.has(apptest.Heading, "What may main run from now on?") })
	a.count++
	d.check(apptest.Radio, "Any uname command")
	a.press(apptest.Button, "Save", func() bool { return !d.has(apptest.Heading, "What may main run") })
	a.end("make it an entry")
	d.runs(d.ask(t.Context(), "uname", "-m")) // wider than what was asked

	a.press(apptest.Link, "Agents", func() bool { return d.has(apptest.CheckBox, "In force: /usr/bin/uname") })
	if err := d.wait(apptest.CheckBox, "In force: /usr/bin/uname").Focus(); err != nil {
		t.Fatal(err)
	}
	a.press(apptest.Button, "Delete", func() bool { return !d.has(apptest.CheckBox, "In force: /usr/bin/uname") })
	a.end("take it back")
	again := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.Heading, "May main run uname?")
	d.press("Deny", func() bool { return len(again) == 1 })
}

// A history of a newer version stops everything that runs, and one that was cut
// short is kept: the settings say either, and nothing is lost.
func TestWindowSaysWhatIsWrongWithTheHistory(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	d.item(watcher)
	done := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(done) == 1 })
	at := filepath.Join(d.state, "history.db")
	again := func(spoil func()) apptest.Item {
		t.Helper()
		d.end()
		spoil()
		d.start()
		return d.item(watcher)
	}
	version := func(n byte) {
		t.Helper()
		f, err := os.OpenFile(at, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte{n}, 63); err != nil { // the last byte of its user_version
			t.Fatal(err)
		}
	}
	before, err := os.ReadFile(at)
	if err != nil {
		t.Fatal(err)
	}
	item := again(func() {
		if before, err = os.ReadFile(at); err != nil { // all of it, now that nobody writes
			t.Fatal(err)
		}
		version(99)
	})
	if o := d.outcome(d.ask(t.Context(), "uname", "-s")); o.code == 0 || !strings.Contains(o.out, "history") {
		t.Errorf("%+v", o)
	}
	d.row(item, "Settings…")
	d.shows("Nothing runs: the history cannot be written.")
	d.shows("a newer version wrote it: install that version again")

	item = again(func() { version(before[63]) })
	d.open(item, "Activity")
	d.wait(apptest.Cell, "uname -s") // it is all there

	item = again(func() {
		if err := os.Truncate(at, int64(len(before))/2); err != nil {
			t.Fatal(err)
		}
	})
	d.row(item, "Settings…")
	d.shows("The history could not be read, and another one was begun.")
	asked := d.ask(t.Context(), "uname", "-s")
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(asked) == 1 })
}

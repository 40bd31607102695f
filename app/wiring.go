package main

import (
	"strings"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/rescue"
)

// on tells the stage what happened, and does what it says.
func (a *app) on(e stage.Event) {
	if a.follow(e) {
		a.endWindow()
	}
}

// follow does it with the lock, but for the end of the window, of which it reports
// whether that is due: keepOpen is asked then.
func (a *app) follow(e stage.Event) (ends bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.stage.On(a.now(), e) {
		_, end := c.(stage.End)
		ends = ends || end
		a.do(c)
	}
	return ends
}

// now is what is so outside of the stage, as it is at this moment: the page may be
// ahead of what watches. The caller holds the lock.
func (a *app) now() stage.Now {
	n := stage.Now{Time: a.clock(), Window: a.window != nil}
	if a.host == nil {
		return n
	}
	n.Waiting = a.host.Waiting()
	_, n.Paused = a.host.Paused()
	policy := a.host.Policy()
	n.FirstRun = firstRunDue(policy)
	if policy.Held != nil {
		n.Edit = editID(policy.Held.Hash)
	}
	return n
}

// do carries out a command of the stage. The caller holds the lock.
func (a *app) do(c stage.Command) {
	switch c := c.(type) {
	case stage.Show:
		a.window.Show(sizeOf(c.As, c.Height), c.Top)
	case stage.Front:
		a.window.Front(c.Top)
	case stage.Resize:
		a.window.Resize(panelSize(c.Height))
	case stage.Hide:
		a.window.Hide()
	case stage.TakeKeyboard:
		a.window.TakeKeyboard()
	case stage.TellShown:
		a.stage.On(stage.Now{Time: a.clock()}, stage.Shown{})
	case stage.Sound:
		a.sound()
	case stage.TellScreen:
		a.window.Tell(eventScreen)
	case stage.TellOpen:
		a.window.Tell(eventOpen, c.ID)
	case stage.AwaitSettings:
		time.AfterFunc(pageTime, rescue.Guarded(nil, "the settings", a.settingsReady))
	case stage.ExpectPage:
		a.expectPage(c.On)
	case stage.Leave:
		if left := a.asked[c.ID]; left != nil {
			left.say(left.unsaid())
		}
	}
}

func sizeOf(f stage.Form, height int) size {
	switch f {
	case stage.Settings:
		return settingsSize
	case stage.FirstRun:
		return firstRunSize
	}
	return panelSize(height)
}

// kindOf reads the mark of an ID that the page was given.
func kindOf(id string) stage.Kind {
	switch {
	case strings.HasPrefix(id, shown.EditMark):
		return stage.Edit
	case strings.HasPrefix(id, shown.ChangeMark):
		return stage.Change
	case strings.HasPrefix(id, shown.FolderMark):
		return stage.Folder
	}
	return stage.Question
}

// editID is the ID of an edit from outside on the panel, "" for none.
func editID(hash string) string {
	if hash == "" {
		return ""
	}
	return shown.EditMark + hash
}

// quitAgain is how long the window has to close until it is told again.
const quitAgain = 200 * time.Millisecond

// endWindow tells the window to end. One that only begins to run does not hear it,
// so it is told until it has ended.
func (a *app) endWindow() {
	a.mu.Lock()
	w := a.window
	a.mu.Unlock()
	w.Quit()
	go func() {
		defer rescue.Catch(nil, "the end of the window", nil)
		for {
			select {
			case <-a.over.Done():
				return
			case <-time.After(quitAgain):
				w.Quit()
			}
		}
	}()
}

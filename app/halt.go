package main

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/menubar"
)

// pause pauses for one of the lengths of the menu.
func (a *app) pause(id string) error {
	i := slices.IndexFunc(menubar.Pauses, func(p menubar.Pause) bool { return p.ID == id })
	if i < 0 {
		return fmt.Errorf("there is no pause of this length")
	}
	var until time.Time
	if length := menubar.Pauses[i].Length; length > 0 {
		until = time.Now().Add(length)
	}
	return a.host.Pause(until)
}

// resume ends a pause from the menu. Where other programs can press its rows,
// it leads to the settings instead.
func (a *app) resume() {
	if menuIsOpen {
		a.openSettings()
		return
	}
	a.host.Resume()
}

// stopEverything stops everything on a person's word.
func (a *app) stopEverything() error {
	_, err := a.host.StopEverything("panel")
	a.orSettings(err)
	return err
}

// orSettings opens the settings where something that the menu said could not
// be done: they tell how things are.
func (a *app) orSettings(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "Countersign:", err)
		a.openSettings()
	}
}

// Pause lets nothing start: for "15m", "1h", or until it is "resumed".
func (a *Approvals) Pause(id string) Answered { return answered(a.app.pause(id)) }

// Resume ends a pause. It counts from what a person sees.
func (a *Approvals) Resume() Answered {
	a.app.mu.Lock()
	inSight := a.app.stage.InSight(a.app.clock())
	a.app.mu.Unlock()
	if !inSight {
		return Answered{Message: tooEarly}
	}
	a.app.host.Resume()
	return Answered{OK: true}
}

// StopEverything denies what waits, ends what runs, and takes leases and
// answers back that stand.
func (a *Approvals) StopEverything() Answered { return answered(a.app.stopEverything()) }

// Undo takes the entries out that the answer to a request wrote.
func (a *Approvals) Undo(id string) Answered { return answered(a.app.host.Undo(id)) }

package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/countersign-app/countersign/app/mac"
)

// program is the file that this process was started from, as it was then. Until
// the next start this process is what it was, whatever takes its place.
type program struct {
	path string
	was  fs.FileInfo
}

// thisProgram is the zero value where the file cannot be told.
func thisProgram() program {
	self, err := os.Executable()
	if err != nil {
		return program{}
	}
	was, err := os.Stat(self)
	if err != nil {
		return program{}
	}
	return program{self, was}
}

// replaced reports whether another version is in its place that can be started.
// Where nothing is, an upgrade may be on its way.
func (p program) replaced() bool {
	if p.was == nil {
		return false
	}
	now, err := os.Stat(p.path)
	return err == nil && now.Mode().IsRegular() && now.Size() > 0 && now.Mode()&0o111 != 0 &&
		!(os.SameFile(p.was, now) && p.was.Size() == now.Size() && p.was.ModTime().Equal(now.ModTime()))
}

// generalPage is the page of the settings that offers to restart.
const generalPage = "general"

// update restarts the app from the menu. Where other programs can press its
// rows, who wrote that file could have it run in place of the host: there it
// leads to the settings instead.
func (a *app) update() {
	if menuIsOpen {
		a.openPage(generalPage)
		return
	}
	a.restart()
}

// upgradeTime is how often what an upgrade makes is looked at.
const upgradeTime = time.Second

// follow calls replaced once another version is in the place of the program. It
// returns then, and when ctx is over.
//
// The file and the bundle that it lies in are watched themselves: their folders
// can hold everything else that is installed.
func (p program) follow(ctx context.Context, replaced func()) {
	if p.was == nil {
		return
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Countersign: an update is not noticed:", err)
		return
	}
	defer w.Close()
	watch := func() {
		for _, path := range []string{p.path, mac.Bundle()} {
			if path != "" {
				_ = w.Add(path) // while it is away, the clock looks
			}
		}
	}
	watch()
	tick := time.NewTicker(upgradeTime)
	tick.Stop()
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.Events:
		case <-w.Errors: // events may be lost
		case <-tick.C:
		}
		if p.replaced() {
			replaced()
			return
		}
		if _, err := os.Stat(p.path); err != nil {
			tick.Reset(upgradeTime)
			continue
		}
		tick.Stop()
		watch()
	}
}

package main

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/rescue"
)

const (
	// silence is how long a page may take to show a question before it counts
	// as dead.
	silence = 8 * time.Second
	// again is how long after a new start the app does not start anew: what
	// is broken then is not the page.
	again = time.Minute
	// startedAgain holds when the app started itself anew, in unix seconds.
	startedAgain = "COUNTERSIGN_STARTED_AGAIN"
)

// expectPage waits for the page to show a question, or no longer. The caller
// holds the lock.
func (a *app) expectPage(expect bool) {
	switch {
	case expect:
		a.dead = time.AfterFunc(silence, rescue.Guarded(nil, "a page that shows nothing", a.pageIsDead))
	case a.dead != nil:
		a.dead.Stop()
		a.dead = nil
	}
}

// pageIsDead starts the app anew: there is no other way to get a page. What
// waits is denied, and the agents are told that they may ask again.
func (a *app) pageIsDead() {
	fmt.Fprintln(os.Stderr, "Countersign: the window does not show what waits")
	a.on(stage.PageSilent{})
	if at, err := strconv.ParseInt(os.Getenv(startedAgain), 10, 64); err == nil && time.Since(time.Unix(at, 0)) < again {
		return
	}
	if err := os.Setenv(startedAgain, strconv.FormatInt(time.Now().Unix(), 10)); err != nil {
		fmt.Fprintln(os.Stderr, "Countersign:", err)
		return
	}
	a.restart()
}

// restart ends the app and starts it anew.
func (a *app) restart() {
	a.mu.Lock()
	a.anew = true
	a.mu.Unlock()
	a.quit()
}

// startAnew starts the program at the place of this one: on macOS as an app, and
// elsewhere in this process.
func startAnew() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if mac.Bundle() != "" {
		return mac.OpenAnew(os.Args[1:])
	}
	return syscall.Exec(self, os.Args, os.Environ())
}

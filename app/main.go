// Command Countersign is the menu-bar app: the exec host with a window that
// asks. It starts hidden, owns the state folder and the socket, and shows
// itself when a question waits or the settings are opened.
//
// The page in the window computes nothing. Of ours it can call what Activity,
// Approvals and Settings export, and of Wails what windows, events and the
// clipboard need. What it says is checked here: a yes counts only for the question that
// it has had in sight for a while, and an edit only while the settings are in
// sight, so that a page that is slow or gone can only deny.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/descriptors"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/rescue"
)

// version is set by the linker for releases.
var version = "dev"

// noDisplay is what to say where there is no screen to ask on.
const noDisplay = "there is no display to ask on: run `countersign host run` for a host without a window"

func main() {
	closeInspector()
	if mac.FromFinder() {
		home, err := os.UserHomeDir()
		if err == nil {
			err = mac.KeepErrors(home)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "Countersign: errors are not kept:", err)
		}
	}
	if err := descriptors.Keep(); err != nil {
		fail(err)
	}
	switch err := run(os.Args[1:]); {
	case errors.Is(err, errShown):
		fmt.Println(err)
	case err != nil:
		fail(err)
	}
}

// fail says why the app cannot run, to who reads what it prints or else in a
// window.
func fail(err error) {
	fmt.Fprintln(os.Stderr, "Countersign:", err)
	if mac.FromFinder() {
		mac.Alert("Countersign cannot start", sentence(err))
	}
	os.Exit(1)
}

// closeInspector takes away the variables that make WebKit open a door to its
// inspector, through which anybody could press a button.
func closeInspector() {
	for _, name := range []string{"WEBKIT_INSPECTOR_SERVER", "WEBKIT_INSPECTOR_HTTP_SERVER"} {
		os.Unsetenv(name)
	}
}

func run(args []string) error {
	if refusal != "" {
		return errors.New(refusal)
	}
	flags := flag.NewFlagSet("Countersign", flag.ContinueOnError)
	stateDir := flags.String("state-dir", "", "state `folder` (default: $COUNTERSIGN_STATE_DIR, $OPENCLAW_STATE_DIR, ~/.openclaw)")
	showVersion := flags.Bool("version", false, "print the version")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil || flags.NArg() > 0:
		return fmt.Errorf("usage: %s [--state-dir DIR] [--version]", filepath.Base(os.Args[0]))
	}
	if *showVersion {
		fmt.Println("Countersign", version)
		return nil
	}
	if generating {
		return openWindow(newApp(paths.State{}, ""))
	}
	if !hasDisplay() {
		return errors.New(noDisplay)
	}
	home, err := paths.Home(os.Getenv)
	if err != nil {
		return err
	}
	state, err := paths.Find(*stateDir, os.Getenv)
	if err != nil {
		return err
	}
	a := newApp(state, home)
	if err := a.start(); err != nil {
		return err
	}
	if barFirst {
		a.work.Go(rescue.Guarded(nil, "the status item", a.openBar))
	}
	err = openWindow(a)
	a.close()
	if a.anew {
		return startAnew()
	}
	return err
}

// start starts the host, whose questions come to the window.
func (a *app) start() error {
	name, shell := host.Person()
	opt := host.Options{
		State: a.state, Home: a.person.Home, User: name, Shell: shell, Environ: os.Environ(),
		WaitForAnswers: true, Panel: true, FromTerminal: a.prefs.answerFromTerminal, AskPerson: a.askPerson, AskFolder: a.askFolder, Accepted: a.settings.accepted,
		Programs: host.Neighbours(), PolicyChanged: a.policyChanged, Event: a.runChanged,
		OpenWindow: a.openSettings, Screen: mac.CanRecordScreen, Responsible: mac.Responsible(),
		Confirm: func(what string, agents []string) error {
			return a.presence.confirm(what, agents, a.prefs.get().Kept)
		},
		KeepHistory: days(a.prefs.get().KeepDays), Version: version, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	h, err := host.Start(opt)
	if errors.Is(err, ipc.ErrLive) {
		if err := a.startedTwice(); err != errWait {
			return err
		}
		for end := time.Now().Add(givingWay); errors.Is(err, ipc.ErrLive) && time.Now().Before(end); h, err = host.Start(opt) {
			time.Sleep(lookAgain)
		}
	}
	if errors.Is(err, ipc.ErrLive) {
		return errWait
	}
	if err != nil {
		return err
	}
	a.mu.Lock() // calls may come already
	a.host = h
	a.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	goOn := func(at string, do func()) { // a mistake in one of them leaves no app that shows nothing
		a.work.Go(func() { rescue.Again(ctx, nil, at, do) })
	}
	goOn("the questions that wait", func() { a.watch(ctx) })
	goOn("the menu", func() { a.keepMenu(ctx) })
	goOn("the edits of the policy", func() { a.followEdits(ctx) })
	if e, err := a.hooks.env(); err == nil { // else hooks are not ours to write
		goOn("the hooks", func() { a.followHooks(ctx, e) })
	}
	goOn("the version", func() { a.program.follow(ctx, a.menuChanged) })
	goOn("the signals", func() { a.obeySignals(ctx) })
	goOn("the screen", func() {
		if err := watchScreen(ctx, a.screenAway); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "Countersign:", err)
		}
	})
	return nil
}

// screenAway holds answers back while the screen is locked. Whoever comes back
// shows anew that it is them.
func (a *app) screenAway(away bool) {
	a.presence.forget()
	a.on(stage.ScreenAway{On: away})
	a.orSettings(a.host.ScreenAway(away, a.prefs.get().EndSessionsAtLock))
}

const (
	// givingWay is how long the host of a node service may take to end.
	givingWay = 20 * time.Second
	lookAgain = 100 * time.Millisecond
)

// startedTwice has the app that runs already show its settings: somebody who
// starts it again looks for its window. The host of a node service ends
// instead.
func (a *app) startedTwice() error {
	var opened host.Opened
	key, err := host.ReadOperatorKey(a.state.OperatorKey())
	if err == nil {
		var client *ipc.Client
		if client, err = ipc.Dial(a.state, host.Neighbours()...); err == nil {
			defer client.Close()
			err = client.Call(context.Background(), key, "window.open", struct{}{}, &opened)
		}
	}
	switch {
	case err == nil && opened.GivesWay:
		return errWait
	case err != nil:
		return fmt.Errorf("a host already runs in %s and has no window to show: use its terminal, or end it first", a.state.Dir)
	}
	return errShown
}

// errWait tells that the folder will be free.
var errWait = errors.New("the node service is still ending what it runs: start Countersign again in a moment")

// errShown ends a second start that did its work.
var errShown = errors.New("Countersign is running already: its settings are open")

// obeySignals ends the app when it is told to end from outside. Wails would
// only ask to close the window, which hides it.
func (a *app) obeySignals(ctx context.Context) {
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(told)
	select {
	case <-told:
		a.quit()
	case <-ctx.Done():
	}
}

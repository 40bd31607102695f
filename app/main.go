// Command Countersign is the menu-bar app: the exec host with a window that
// asks. It starts hidden, owns the state folder and the socket, and shows
// itself when a question waits or the settings are opened.
//
// The page in the window can call what Approvals and Settings export, and
// nothing else. It computes nothing and decides nothing; whatever it says is
// checked again here, so that a page that is slow, gone or lying can only deny.
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

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
)

// version is set by the linker for releases.
var version = "dev"

// noDisplay is what to say where there is no screen to ask on.
const noDisplay = "there is no display to ask on: run `countersign host run` for a host without a window"

func main() {
	closeInspector()
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Countersign:", err)
		os.Exit(1)
	}
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
		return errors.New("usage: Countersign [--state-dir DIR] [--version]")
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
	defer a.close()
	if barFirst {
		a.work.Go(a.openBar)
	}
	return openWindow(a)
}

// start starts the host, whose questions come to the window.
func (a *app) start() error {
	name, shell := host.Person()
	h, err := host.Start(host.Options{
		State: a.state, Home: a.person.Home, User: name, Shell: shell, Environ: os.Environ(),
		WaitForAnswers: true, Panel: true, FromTerminal: a.prefs.answerFromTerminal,
		Programs: programs(), PolicyChanged: a.policyChanged, Event: a.runChanged,
		Version: version, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if errors.Is(err, ipc.ErrLive) {
		return fmt.Errorf("a host already runs in %s: use its window or terminal, or end it first", a.state.Dir)
	}
	if err != nil {
		return err
	}
	a.host = h
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	a.work.Go(func() { a.watch(ctx) })
	a.work.Go(func() { a.keepMenu(ctx) })
	a.work.Go(func() { a.obeySignals(ctx) })
	return nil
}

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

// programs is the command line beside the app, if it is there.
func programs() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	at := filepath.Join(filepath.Dir(self), "countersign")
	// On a disk that does not tell cases apart this is the app itself.
	mine, err1 := os.Stat(self)
	other, err2 := os.Stat(at)
	if err1 != nil || err2 != nil || os.SameFile(mine, other) {
		return nil
	}
	return []string{at}
}

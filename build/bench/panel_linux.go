package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/apptest"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// patience is more than anything on a working desktop takes.
const patience = 20 * time.Second

// window measures the app in a window: on the display that there is, or on
// one of its own.
func window(app string) error {
	if os.Getenv("COUNTERSIGN_BENCH") == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd := exec.Command("xvfb-run", "-a", "-s", "-screen 0 1280x1024x24", "dbus-run-session", "--", self, "--window", app)
		cmd.Env = append(os.Environ(), "COUNTERSIGN_BENCH=window")
		cmd.Stdout = os.Stdout
		return cmd.Run()
	}
	watcher, err := apptest.Watch()
	if err != nil {
		return err
	}
	defer watcher.Close()
	tree, err := apptest.Open()
	if err != nil {
		return err
	}
	defer tree.Close()
	return panels(app, watcher, tree)
}

func panels(app string, watcher *apptest.Watcher, tree *apptest.Tree) error {
	f, err := newFolder(0)
	if err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	s, err := store.Open(store.Options{State: f.state, Home: f.dir})
	if err != nil {
		return err
	}
	_, err = s.Update("", func(d *store.Document) error { d.Defaults.Ask = approval.AskOnMiss; return nil })
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	began := time.Now()
	cmd := exec.Command(app, "--state-dir", f.state.Dir)
	cmd.Env = append(os.Environ(), "HOME="+f.dir, "SHELL=/bin/sh")
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}()
	item, err := watcher.Item(patience)
	if err != nil {
		return err
	}
	row("P10", "app: start to a status item", fmt.Sprint(time.Since(began).Round(time.Millisecond)), "≤ 200ms")
	if _, err := tree.Wait(apptest.AnyRole, "Countersign", patience); err != nil {
		return err
	}
	token, err := f.token()
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // the page is loaded, as it is on any day but the first second of it
	var took []time.Duration
	for i := range rounds + 1 {
		one, err := onePanel(f, token, i, tree)
		if err != nil {
			return err
		}
		if i > 0 {
			took = append(took, one)
		}
	}
	began = time.Now()
	if err := item.Press("Settings…"); err != nil {
		return err
	}
	if _, err := tree.Wait(apptest.AnyRole, "Ask when needed", patience); err != nil {
		return err
	}
	opened := time.Since(began)
	slices.Sort(took)
	p95 := took[len(took)*95/100]
	row("P10", "app: a request's frame to the button in the accessible tree", fmt.Sprint(p95.Round(time.Millisecond)), "≤ 100ms (p95)")
	row("", "the same, at the median", fmt.Sprint(took[len(took)/2].Round(time.Millisecond)), "")
	row("", "app: a click on Settings… to the settings in the tree", fmt.Sprint(opened.Round(time.Millisecond)), "≤ 200ms")
	return nil
}

// onePanel sends a request and waits for its button.
func onePanel(f *folder, token string, i int, tree *apptest.Tree) (time.Duration, error) {
	client, err := ipc.Dial(f.state.Socket())
	if err != nil {
		return 0, err
	}
	defer client.Close()
	x := ipc.Exec{}
	x.Request.Command = []string{"touch", filepath.Join(f.dir, fmt.Sprint("proof", i))}
	x.Request.AgentID = "bench"
	x.Request.Deadline = time.Now().Add(time.Minute)
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	began := time.Now()
	go client.Exec(ctx, token, x)
	if _, err := tree.Wait(apptest.Button, "Allow once", patience); err != nil {
		return 0, err
	}
	took := time.Since(began)
	// It has to be gone before the next one, so that none is taken for it.
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if deny, ok := tree.Find(apptest.Button, "Deny"); ok {
			_ = deny.Press() // too early, perhaps: then once more
			continue
		}
		return took, nil
	}
	return 0, errors.New("the question does not go away")
}

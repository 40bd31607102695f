//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReplaced notices each way in which a program is replaced, and none in
// which it is only touched or on its way.
func TestReplaced(t *testing.T) {
	for _, row := range []struct {
		name string
		do   func(path string) error
		want bool
	}{
		{"nothing happened", func(string) error { return nil }, false},
		{"other rights", func(path string) error { return os.Chmod(path, 0o755) }, false},
		{"taken away", os.Remove, false},
		{"taken away, and a folder is made", func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }, false},
		{"renamed over", func(path string) error { return swapIn(path, "another") }, true},
		{"renamed over, of the same size", func(path string) error { return swapIn(path, "version 1") }, true},
		{"written over", func(path string) error { return os.WriteFile(path, []byte("version 22"), 0o700) }, true},
		{"renamed over by what cannot be started", func(path string) error { return errors.Join(swapIn(path, "a text"), os.Chmod(path, 0o600)) }, false},
		{"an empty one is being written", func(path string) error { return swapIn(path, "") }, false},
	} {
		path := filepath.Join(t.TempDir(), "app")
		p := madeProgram(t, path)
		if err := row.do(path); err != nil {
			t.Fatal(row.name, err)
		}
		if got := p.replaced(); got != row.want {
			t.Errorf("%s: replaced %v", row.name, got)
		}
	}
	if (program{}).replaced() {
		t.Error("a program that is not known was replaced")
	}
}

// TestUpdateIsFollowed waits for a replacement, with a while in which there is
// no program at all.
func TestUpdateIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app")
	p := madeProgram(t, path)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	told := make(chan struct{})
	go p.follow(ctx, func() { close(told) })
	for _, step := range []func() error{
		func() error { return os.Chmod(path, 0o755) },
		func() error { return os.Remove(path) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
			t.Fatal("told of what is no update")
		case <-time.After(50 * time.Millisecond):
		}
	}
	if err := os.WriteFile(path, []byte("version 2"), 0o700); err != nil {
		t.Fatal(err)
	}
	select {
	case <-told:
	case <-ctx.Done():
		t.Fatal("an update is not noticed")
	}
}

// The row of the menu restarts the app, or leads to the button that does: only
// a page that is in sight is a person's word.
func TestRestart(t *testing.T) {
	a := newTestApp(t, askMe)
	restarted := func() bool {
		a.app.mu.Lock()
		defer a.app.mu.Unlock()
		return a.anew
	}
	a.press("restart")
	if restarted() == menuIsOpen || a.approvals.Screen("").Settings != menuIsOpen {
		t.Error("after a press on the row: restarted", restarted())
	}
	if !menuIsOpen {
		return
	}
	if page := a.approvals.Screen("").Page; page != generalPage {
		t.Errorf("it leads to %q", page)
	}
	a.keepOpen()
	if a.settings.Restart().OK || restarted() {
		t.Error("a page that nobody sees restarts it")
	}
	a.openSettings()
	a.settings.Ready()
	a.eventually("the settings are in sight", a.edits)
	if !a.settings.Restart().OK || !restarted() {
		t.Error("it is not restarted")
	}
}

func madeProgram(t *testing.T, path string) program {
	t.Helper()
	if err := os.WriteFile(path, []byte("version 1"), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	was, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return program{path, was}
}

// swapIn puts a file with this text in the place of another one.
func swapIn(path, text string) error {
	if err := os.WriteFile(path+".new", []byte(text), 0o700); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

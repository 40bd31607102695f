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
func window(program, app string) error {
	if os.Getenv("COUNTERSIGN_BENCH") == "" {
		self, err := os.Executable()
		if err != nil {
			return err
		}
		cmd := exec.Command("xvfb-run", "-a", "-s", "-screen 0 1280x1024x24", "dbus-run-session", "--", self, "-window", program, app)
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
	// The first start of a session starts what every desktop has running.
	for i, size := range []int{0, 0, entries} {
		if err := panels(app, size, i == 0, watcher, tree); err != nil {
			return err
		}
	}
	return nil
}

// panels measures the app with so many entries: its start, its questions and
// its settings. Where it is only to warm up it ends before the questions.
func panels(app string, size int, warm bool, watcher *apptest.Watcher, tree *apptest.Tree) error {
	f, err := asking(size)
	if err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	began := time.Now()
	f.app = app
	cmd := exec.Command(app, "--state-dir", f.state.Dir)
	cmd.Env = f.environment()
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
	up := time.Since(began)
	if !warm {
		row("P10", fmt.Sprintf("app with %d entries: start to a status item", size), fmt.Sprint(up.Round(time.Millisecond)), "≤ 200ms")
	}
	if _, err := tree.Wait(apptest.AnyRole, "Countersign", patience); err != nil {
		return err
	}
	token, err := f.token()
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second) // the page is loaded, as it is on any day but the first second of it
	if warm {
		return nil
	}
	for _, q := range questions(f) {
		if err := q.measure(f, token, tree); err != nil {
			return err
		}
	}
	began = time.Now()
	if err := item.Press("Settings…"); err != nil {
		return err
	}
	if _, err := tree.Wait(apptest.CheckBox, "In force: ", patience); err != nil {
		return err
	}
	row("P10", "     a click on Settings… to the first entry in the tree", fmt.Sprint(time.Since(began).Round(time.Millisecond)), "≤ 200ms")
	return nil
}

// asking makes a state folder with so many entries that asks about the rest.
func asking(size int) (*folder, error) {
	f, err := newFolder(size)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(store.Options{State: f.state, Home: f.dir})
	if err != nil {
		return nil, err
	}
	_, err = s.Update("", func(d *store.Document) error { d.Defaults.Ask = approval.AskOnMiss; return nil })
	return f, errors.Join(err, s.Close())
}

// question is a request, and what is waited for when it is asked about.
type question struct {
	what    string
	command []string
	role    apptest.Role
	name    string
}

func questions(f *folder) []question {
	return []question{
		{"a risky request", []string{"touch", filepath.Join(f.dir, "..", "proof")}, apptest.Button, "Allow once"},
		{"one with widths", []string{"uname", "-s"}, apptest.MenuButton, "Allow for…"},
	}
}

func (q question) measure(f *folder, token string, tree *apptest.Tree) error {
	var took []time.Duration
	for i := range rounds + 1 {
		one, err := q.once(f, token, tree)
		if err != nil {
			return err
		}
		if i > 0 {
			took = append(took, one)
		}
	}
	slices.Sort(took)
	row("P10", "     "+q.what+": its frame to “"+q.name+"” in the tree", fmt.Sprint(took[len(took)*95/100].Round(time.Millisecond)), "≤ 100ms (p95)")
	row("", "     the same, at the median", fmt.Sprint(took[len(took)/2].Round(time.Millisecond)), "")
	return nil
}

// once sends a request and waits for its button.
func (q question) once(f *folder, token string, tree *apptest.Tree) (time.Duration, error) {
	client, err := ipc.Dial(f.state, f.app)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	x := ipc.Exec{}
	x.Request.Command, x.Request.Cwd = q.command, f.dir
	x.Request.AgentID = "bench"
	x.Request.Deadline = time.Now().Add(time.Minute)
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	began := time.Now()
	go client.Exec(ctx, token, x)
	if _, err := tree.Wait(q.role, q.name, patience); err != nil {
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

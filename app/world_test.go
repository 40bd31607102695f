//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
)

// patience is how long a test waits before it gives up. Nothing takes that
// long unless it hangs.
const patience = 30 * time.Second

// Nothing is locked while tests run, also where they run without a screen.
func init() {
	watchScreen = func(ctx context.Context, _ func(away bool)) error {
		<-ctx.Done()
		return nil
	}
}

// testApp is an app whose window is a list of what it was told.
type testApp struct {
	*app
	t      *testing.T
	window *testWindow
	// project is where its agents work.
	project string
}

// newTestApp starts an app on a new home. policy is the text of its policy
// file, "" for none; it names the folder of the agents as a project, too.
func newTestApp(t *testing.T, policy string, before ...func(paths.State)) *testApp {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "cs") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	if home, err = filepath.EvalSymlinks(home); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("SHELL", "/bin/sh")
	state, project := paths.State{Dir: filepath.Join(home, "s")}, filepath.Join(home, "project")
	if err := os.Mkdir(project, 0o700); err != nil {
		t.Fatal(err)
	}
	if policy != "" {
		policy = strings.TrimSuffix(policy, "}") + `, "projects": [{"path": "` + project + `"}]}`
		if err := os.Mkdir(state.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(state.Approvals(), []byte(policy), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, prepare := range before {
		prepare(state)
	}
	a := &testApp{app: newApp(state, home), t: t, window: &testWindow{}, project: project}
	if err := a.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.close)
	a.app.mu.Lock()
	a.app.window = a.window
	a.app.mu.Unlock()
	if firstRunDue(a.host.Policy()) {
		a.openSettings()
	}
	return a
}

// agent asks for a command as a node service would, over the socket, and
// gives the answer to the channel that it returns.
func (a *testApp) agent(ctx context.Context, agentID string, command ...string) <-chan ipc.ExecAnswer {
	a.t.Helper()
	return a.agentUntil(ctx, time.Now().Add(10*time.Minute), agentID, command...)
}

// agentUntil is the same for a caller that gives up at another time.
func (a *testApp) agentUntil(ctx context.Context, deadline time.Time, agentID string, command ...string) <-chan ipc.ExecAnswer {
	a.t.Helper()
	snap := a.host.Policy()
	client, err := ipc.Dial(a.state)
	if err != nil {
		a.t.Fatal(err)
	}
	answers := make(chan ipc.ExecAnswer, 1)
	x := ipc.Exec{}
	x.Request.Command, x.Request.AgentID, x.Request.SessionKey = command, agentID, "main"
	x.Request.Cwd = a.project
	x.Request.Deadline = deadline
	go func() {
		defer client.Close()
		answer, err := client.Exec(ctx, snap.SocketToken, x)
		if !errors.As(err, &answer.Refused) && err != nil {
			answer.Error = err.Error()
		}
		answers <- answer
	}()
	return answers
}

func (a *testApp) answer(answers <-chan ipc.ExecAnswer) ipc.ExecAnswer {
	a.t.Helper()
	select {
	case answer := <-answers:
		return answer
	case <-time.After(patience):
		a.t.Fatal("there is no answer")
		return ipc.ExecAnswer{}
	}
}

// question waits until one question is on the screen.
func (a *testApp) question() shown.Question {
	a.t.Helper()
	var q shown.Question
	a.eventually("a question waits", func() bool {
		for _, one := range a.approvals.Screen("").Waiting {
			if q = one; q.Ended == nil {
				return true
			}
		}
		return false
	})
	return q
}

// look has the page show a question for as long as a person needs.
func (a *testApp) look(id string) {
	a.approvals.Ready(id, 500)
	a.later(stage.Guard)
}

// later has time go by.
func (a *testApp) later(d time.Duration) {
	a.app.mu.Lock()
	defer a.app.mu.Unlock()
	before := a.clock
	a.clock = func() time.Time { return before().Add(d) }
}

// view is what the page shows now, and how the window is.
func (a *testApp) view() stage.View {
	a.app.mu.Lock()
	defer a.app.mu.Unlock()
	return a.stage.View(a.now())
}

// settingsInSight opens the settings, as a person does before an edit.
func (a *testApp) settingsInSight() {
	a.openSettings()
	a.settings.Ready()
}

func (a *testApp) eventually(what string, ok func() bool) {
	a.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	a.t.Fatalf("never: %s", what)
}

// testWindow notes what a window is told.
type testWindow struct {
	mu    sync.Mutex
	shown bool
	top   bool
	size  size
	shows int
	// keyboard counts how often it was given to the window.
	keyboard int
	quit     bool
	events   []string
	saveAs   string // what the person chooses
	// openFile returns what the person chooses to be read, nothing if nil.
	openFile func() string
}

func (w *testWindow) Show(s size, top bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown, w.top, w.size = true, top, s
	w.shows++
}

func (w *testWindow) Front(top bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown, w.top = true, top
	w.shows++
}

func (w *testWindow) TakeKeyboard() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keyboard++
}

func (w *testWindow) Resize(s size) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.size = s
}

func (w *testWindow) Hide() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown = false
}

func (w *testWindow) Tell(event string, data ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, event)
}

func (w *testWindow) SaveAs(string) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.saveAs, nil
}

func (w *testWindow) Open() (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.openFile == nil {
		return "", nil
	}
	return w.openFile(), nil
}

func (w *testWindow) Quit() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quit = true
}

func (w *testWindow) is() (visible bool, s size, shows int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.shown, w.size, w.shows
}

func (w *testWindow) told(event string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.events, event)
}

const askMe = `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss", "askFallback": "deny"}, "agents": {}}`

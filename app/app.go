package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/menubar"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/paths"
)

// app joins the host, the window and the status item. The page cannot reach
// it.
type app struct {
	state     paths.State
	person    shown.Person
	prefs     *preferences
	activity  *Activity
	approvals *Approvals
	settings  *Settings
	// permissions are those of macOS.
	permissions *permissions
	hooks       *hooks
	presence    *presence
	sharing     sharing

	program program
	host    *host.Host
	cancel  context.CancelFunc
	work    sync.WaitGroup
	refresh chan struct{} // the menu is to be made anew
	edited  chan struct{} // the policy changed
	clock   func() time.Time
	over    context.Context // done when the window has ended
	ended   context.CancelFunc

	mu     sync.Mutex
	window window
	bar    *menubar.Bar
	// stage decides what the window shows, and asked is what it has on the panel
	// beside questions, by ID.
	stage stage.Stage
	asked map[string]*asking
	dead  *time.Timer // runs while a question waits for the page
	anew  bool        // after quitting
}

func newApp(state paths.State, home string) *app {
	node, _ := os.Hostname() // without a name the panel shows none
	a := &app{
		state: state, person: shown.Person{Home: home, Node: node},
		prefs:   readPreferences(state.Preferences()),
		program: thisProgram(),
		refresh: make(chan struct{}, 1), edited: make(chan struct{}, 1), clock: time.Now, asked: map[string]*asking{},
	}
	a.over, a.ended = context.WithCancel(context.Background())
	a.permissions, a.presence, a.hooks = newPermissions(state.Grants()), newPresence(), newHooks(a)
	a.activity, a.approvals, a.settings = &Activity{app: a}, &Approvals{a}, &Settings{app: a}
	return a
}

// opened is called once the window is there.
func (a *app) opened(w window) {
	a.mu.Lock()
	a.window = w
	a.mu.Unlock()
	a.on(stage.Opened{})
}

// openBar shows the status item. Without one the window still asks.
func (a *app) openBar() {
	bar, err := menubar.Start(a.press)
	if err != nil {
		fmt.Fprintln(os.Stderr, "Countersign: there is no status item:", err)
	}
	a.mu.Lock()
	a.bar = bar
	a.mu.Unlock()
	a.menuChanged()
}

func (a *app) close() {
	a.ended()
	a.cancel()
	a.work.Wait()
	a.mu.Lock()
	bar := a.bar
	a.expectPage(false)
	a.mu.Unlock()
	if bar != nil {
		bar.Close()
	}
	a.host.Close()
}

// watch follows the questions.
func (a *app) watch(ctx context.Context) {
	var cursor uint64
	for ctx.Err() == nil {
		cursor, _ = a.host.Watch(ctx, cursor)
		a.questionsChanged()
	}
}

// questionsChanged is called when something else waits than before.
func (a *app) questionsChanged() {
	a.menuChanged()
	a.on(stage.Changed{})
}

// ready is called when the page has something on the panel, which is when the
// window may be seen.
func (a *app) ready(id string, height int) {
	a.on(stage.Ready{Item: stage.Item{Kind: kindOf(id), ID: id}, Height: height})
}

// looked reports whether something on the panel has been in sight for long enough.
func (a *app) looked(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stage.Looked(id, a.clock())
}

// edits reports whether what comes from the settings is a person's word.
func (a *app) edits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stage.Edits()
}

// openSettings has the page show the settings.
func (a *app) openSettings() { a.on(stage.SettingsWanted{}) }

// pageTime is how long the page may take to show the settings.
const pageTime = time.Second

// settingsReady is called when the settings are on the page, or should be.
func (a *app) settingsReady() { a.on(stage.SettingsReady{}) }

// openAgent opens the settings of one agent.
func (a *app) openAgent(id string) { a.openAt(id, "") }

// hooksPage is the page of the settings that shows the hooks.
const hooksPage = "hooks"

// openPage opens a page of the settings.
func (a *app) openPage(page string) { a.openAt("", page) }

func (a *app) openAt(agent, page string) { a.on(stage.PageWanted{Agent: agent, Page: page}) }

// keepOpen is asked when the window is to be closed. A click on its close
// button only hides it.
func (a *app) keepOpen() bool {
	a.on(stage.Closed{})
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.stage.Quitting()
}

// chooseFile has the person choose where a file is written, "" for nowhere.
func (a *app) chooseFile(name string) (string, error) {
	return a.choose(func(w window) (string, error) { return w.SaveAs(name) })
}

// chooseOpen has the person choose a file that is read, "" for none.
func (a *app) chooseOpen() (string, error) { return a.choose(window.Open) }

func (a *app) choose(ask func(window) (string, error)) (string, error) {
	a.mu.Lock()
	w := a.window
	a.mu.Unlock()
	if w == nil {
		return "", errNotOpen
	}
	return ask(w)
}

// quit has the window end, and with it the app.
func (a *app) quit() { a.on(stage.Quit{}) }

// show brings a question to the front on a person's word.
func (a *app) show(id string) { a.on(stage.Wanted{ID: id}) }

// policyChanged is called by the host.
func (a *app) policyChanged() {
	a.menuChanged()
	select {
	case a.edited <- struct{}{}:
	default:
	}
	a.tell(eventPolicy)
}

// runChanged is called by the host.
func (a *app) runChanged(approval.Event) { a.menuChanged() }

// tell sends an event to the page, if there is one.
func (a *app) tell(event string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.window != nil {
		a.window.Tell(event)
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/app/menubar"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/rescue"
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

	program program
	host    *host.Host
	cancel  context.CancelFunc
	work    sync.WaitGroup
	refresh chan struct{}   // the menu is to be made anew
	edited  chan struct{}   // the policy changed
	over    context.Context // done when the window has ended
	ended   context.CancelFunc

	mu       sync.Mutex
	window   window
	bar      *menubar.Bar
	open     bool   // the settings
	coming   bool   // they are open, and not yet on the page
	agent    string // whose settings a person asked for last
	page     string // the page of the settings, if not those of agents
	turn     int    // how often somebody did
	offers   bool   // the first run shows the agents that could ask us
	visible  bool
	quitting bool
	told     bool // the window, that it is to end
	anew     bool // after quitting
	// current is the question that the page shows, and since when the window
	// has been as it is with it.
	current string
	since   time.Time
	// raised are the questions that brought the window to the front; each does
	// so once.
	raised map[string]bool
	// listed are the questions on the list of small ones, and since when.
	listed map[string]time.Time
	// suggested are the entries that the page shows as suggestions, by their ID.
	suggested map[string]suggested
	// offered is the recorded request that the page shows as a possible entry.
	offered offered
	// paused tells that there was a pause when the questions were last looked
	// at, and asked for is the question that a person wants to see all the same.
	paused   bool
	askedFor string
	// change is what a command line wants and a person is asked about, nil for nothing.
	// It comes before questions: somebody has just typed it. folder is one that may be a
	// project, nil for none: it comes after all else (see onTop).
	change, folder *asking
	// away tells that the screen is locked.
	away bool
	// held is the edit from outside that the settings show, and since when.
	held      string
	heldSince time.Time
	left      string      // the hash of the edit that the panel leaves to them
	dead      *time.Timer // runs while a question waits for the page
	lost      lost
}

func newApp(state paths.State, home string) *app {
	node, _ := os.Hostname() // without a name the panel shows none
	a := &app{
		state: state, person: shown.Person{Home: home, Node: node},
		prefs:   readPreferences(state.Preferences()),
		program: thisProgram(),
		refresh: make(chan struct{}, 1), edited: make(chan struct{}, 1), raised: map[string]bool{},
	}
	a.over, a.ended = context.WithCancel(context.Background())
	a.permissions, a.presence, a.hooks = newPermissions(state.Grants()), newPresence(), newHooks(a)
	a.activity, a.approvals, a.settings = &Activity{a}, &Approvals{a}, &Settings{app: a}
	return a
}

// opened is called once the window is there.
func (a *app) opened(w window) {
	a.mu.Lock()
	a.window = w
	late, open := a.quitting, a.open
	a.mu.Unlock()
	if late {
		a.quit()
		return
	}
	if open || firstRunDue(a.host.Policy()) {
		a.openSettings()
	}
	w.Tell(eventScreen)
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

// questionsChanged tells the page, and gives the window back when nothing is
// left to show.
func (a *app) questionsChanged() {
	a.menuChanged()
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.host.Waiting() // as it is now: the page may be ahead of the watch
	before := a.paused
	_, a.paused = a.host.Paused()
	keep, unseen := false, false
	for _, p := range list {
		keep = keep || !p.CallerGone || a.raised[p.ID]
		unseen = unseen || !p.CallerGone && !a.raised[p.ID] && !a.paused
	}
	edit := a.outsideEdit()
	for id := range a.raised {
		if !slices.ContainsFunc(list, func(p approval.Prompt) bool { return p.ID == id }) && (edit == nil || edit.ID != id) && !a.asks(id) {
			delete(a.raised, id)
		}
	}
	top := a.onTop()
	keep = keep || edit != nil && a.raised[edit.ID] || top != nil && a.raised[top.id]
	unseen = unseen || top != nil && !a.raised[top.id]
	if a.window == nil {
		return
	}
	a.expectPage(unseen && len(a.raised) == 0)
	if !keep {
		a.current = ""
		a.give()
	}
	a.window.Tell(eventScreen)
	if before && !a.paused {
		a.resumed(list)
	}
}

// give gives the window back to the settings, or hides it. The caller holds
// the lock.
func (a *app) give() {
	switch {
	case !a.visible:
	case a.open:
		a.window.Front(false)
	default:
		a.visible = false
		a.window.Hide()
	}
}

// ready is called when the page has a question, or an edit from outside, on
// it, which is when the window may be seen.
func (a *app) ready(id string, height int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.expectPage(false)
	if a.window == nil {
		return
	}
	live, top := a.live(id), a.onTop()
	if !live && (top != nil || strings.HasPrefix(id, shown.EditMark) || strings.HasPrefix(id, shown.FolderMark)) {
		return // something came before it, or the settings show it
	}
	if a.current != id {
		a.current, a.since = id, time.Now()
	}
	raise := live && !a.raised[id] && (!a.paused || a.askedFor == id || top != nil || strings.HasPrefix(id, shown.EditMark))
	switch {
	case raise && a.open && a.visible:
		a.window.Front(true)
	case raise:
		a.window.Show(a.sizeWith(height), true)
	case a.visible && !a.open:
		a.window.Resize(panelSize(height))
	default:
		return
	}
	a.since = time.Now()
	if raise {
		if a.askedFor == id {
			a.window.TakeKeyboard()
		}
		a.raised[id], a.visible = true, true
		a.sound()
	}
}

func (a *app) sizeWith(height int) size {
	if a.open {
		return a.settingsSize()
	}
	return panelSize(height)
}

// guard is how long nothing counts after it appeared under a person's hand:
// the key or the click was meant for something else (design, keyboard).
const guard = 500 * time.Millisecond

// looked reports whether a question has been in sight for long enough.
func (a *app) looked(id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.visible && a.current == id && time.Since(a.since) >= guard
}

// edits reports whether the settings are in sight and nothing covers them,
// which is when what comes from them is a person's word.
func (a *app) edits() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open && a.visible && a.current == ""
}

// showsHeld notes that the settings show an edit from outside, and sawHeld
// reports whether they did for long enough.
func (a *app) showsHeld(hash string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.held != hash {
		a.held, a.heldSince = hash, time.Now()
	}
}

func (a *app) sawHeld(hash string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held == hash && time.Since(a.heldSince) >= guard
}

// openSettings has the page show the settings. The window comes to the front
// when they are on it, or a little later if the page does not say so.
func (a *app) openSettings() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = true
	a.leaveEdit()
	if a.window == nil {
		return // they open with it
	}
	a.window.Tell(eventScreen)
	if a.visible {
		a.since = time.Now() // buttons move
		a.window.Show(a.settingsSize(), a.current != "")
		return
	}
	a.coming = true
	time.AfterFunc(pageTime, rescue.Guarded(nil, "the settings", a.settingsReady))
}

// pageTime is how long the page may take to show the settings.
const pageTime = time.Second

// settingsReady is called when the settings are on the page.
func (a *app) settingsReady() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open && a.coming {
		a.coming, a.visible, a.since = false, true, time.Now()
		a.window.Show(a.settingsSize(), a.current != "")
	}
}

// openAgent opens the settings of one agent.
func (a *app) openAgent(id string) { a.openAt(id, "") }

// hooksPage is the page of the settings that shows the hooks.
const hooksPage = "hooks"

// openPage opens a page of the settings.
func (a *app) openPage(page string) { a.openAt("", page) }

func (a *app) openAt(agent, page string) {
	a.mu.Lock()
	a.agent, a.page = agent, page
	a.turn++
	a.mu.Unlock()
	a.openSettings()
}

// keepOpen is asked when the window is to be closed. A click on its close
// button only hides it; a question that waits stays in the menu.
func (a *app) keepOpen() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.quitting {
		return false
	}
	a.open, a.coming, a.agent, a.page, a.visible = false, false, "", "", false
	a.offers = false
	a.leaveEdit()
	if top := a.onTop(); top != nil && a.current == top.id {
		top.say(top.unsaid())
	}
	a.window.Hide()
	a.window.Tell(eventScreen)
	return true
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

// quitAgain is how long the window has to close until it is told again.
const quitAgain = 200 * time.Millisecond

// quit has the window end, and with it the app. A window that only begins to
// run does not hear it, so it is told until it has ended.
func (a *app) quit() {
	a.mu.Lock()
	a.quitting = true
	w := a.window
	first := w != nil && !a.told
	a.told = a.told || first
	a.mu.Unlock()
	if !first {
		return
	}
	w.Quit()
	go func() {
		defer rescue.Catch(nil, "the end of the window", nil)
		for {
			select {
			case <-a.over.Done():
				return
			case <-time.After(quitAgain):
				w.Quit()
			}
		}
	}()
}

// show brings a question to the front on a person's word.
func (a *app) show(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.window == nil {
		return
	}
	delete(a.raised, id) // it may come to the front once more
	a.askedFor = id      // also in a pause
	a.window.Tell(eventOpen, id)
}

// settingsSize is how large they are. The caller holds the lock.
func (a *app) settingsSize() size {
	if a.offers || firstRunDue(a.host.Policy()) {
		return firstRunSize
	}
	return settingsSize
}

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

// screen is what the page shows now. Only the question that it wants, or else
// the first one, is whole: others may be many and long.
func (a *app) screen(want string) shown.Screen {
	s, list := a.screenNow()
	s.FirstRun = firstRunDue(a.host.Policy())
	in := a.names()
	whole := max(0, slices.IndexFunc(list, func(p approval.Prompt) bool { return p.ID == want }))
	for i, p := range list {
		if i == whole {
			q := shown.NewQuestion(p, in).WithDenials(a.host.DenyRules(p), in)
			if small := smallOf(list, p.AgentID, in); q.Small() && len(small) > 1 {
				q.Together = len(small)
			}
			s.Waiting = append(s.Waiting, q)
		} else {
			s.Waiting = append(s.Waiting, shown.NewPlace(p, in))
		}
	}
	return s
}

// screenNow is all of it but the questions, and which those are.
func (a *app) screenNow() (s shown.Screen, list []approval.Prompt) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s = shown.Screen{
		Settings: a.open, OffersHooks: a.offers, Agent: a.agent, Page: a.page, Turn: a.turn, Waiting: []shown.Question{}, Theme: a.prefs.get().Theme, Now: time.Now().UnixMilli(),
	}
	list = slices.DeleteFunc(a.host.Waiting(), func(p approval.Prompt) bool { return p.CallerGone && !a.raised[p.ID] })
	if until, paused := a.host.Paused(); paused {
		s.Paused = true
		if !until.IsZero() {
			s.PausedUntil = until.UnixMilli()
		}
	}
	s.Edit = a.outsideEdit()
	if top := a.onTop(); top != nil {
		s.Change, s.Folder, list = top.change, top.folder, nil
	}
	return s, list
}

// names adds what the policy file says about showing the agents.
func (a *app) names() shown.Person {
	in := a.person
	in.Agents = map[string]shown.Named{}
	if doc := a.host.Policy().Document; doc != nil {
		for id, agent := range doc.Agents {
			in.Agents[id] = shown.Named{Name: agent.DisplayName, Color: agent.Color}
		}
	}
	return in
}

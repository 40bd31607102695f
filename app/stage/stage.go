// Package stage decides what the one window shows, and when. It is told what
// happened (an Event) and what is so outside of it (Now), and returns what is to
// be done (Commands). It has no window, no clock and no goroutine of its own, so
// that every order of events can be tried without them.
//
// The window is the panel while something waits for a person, and the settings
// otherwise. One thing is on the panel, the first of these that there is:
//
//   - a change that a command line wants: somebody has just typed it,
//   - a question that an agent waits for,
//   - an edit of the policy file from outside, while the settings, which show it
//     too, are closed,
//   - a folder that may be a project.
//
// Each brings the window to the front once, when the page says that it is there,
// and a question not in a pause. What a person says counts only for what they had
// in sight for as long as Guard: Looked, Edits and their like answer that.
package stage

import (
	"errors"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Stage is the life of the window. The zero value is one whose window was not
// shown yet. Its methods must not be called at the same time.
type Stage struct {
	open   bool   // the settings
	coming bool   // they are open, and not yet on the page
	offers bool   // the first run shows the agents that could ask us
	agent  string // whose settings a person asked for last
	page   string // the page of the settings, if not those of agents
	turn   int    // how often somebody did

	visible  bool
	expected bool // the page is to show a question soon
	away     bool // the screen is locked
	quitting bool
	told     bool // the window, that it is to end

	// current is what the page shows on the panel, and since when the window has
	// been as it is with it.
	current Item
	since   time.Time
	// raised are the items that brought the window to the front; each does so once.
	raised map[string]bool
	// listed are the questions on the list of small ones, and since when.
	listed map[string]time.Time
	// paused tells that there was a pause when the questions were last looked at,
	// and askedFor is the question that a person wants to see all the same.
	paused   bool
	askedFor string
	// change is what a command line wants and a person is asked about, "" for
	// nothing, and folder one that may be a project, "" for none.
	change, folder string
	// held is the edit from outside that the settings show, and since when, and
	// left the one that the panel leaves to them.
	held      string
	heldSince time.Time
	left      string
}

// Guard is how long nothing counts after it appeared under a person's hand: the
// key or the click was meant for something else.
const Guard = 500 * time.Millisecond

// Now is what is so outside of the stage when something happens.
type Now struct {
	Time time.Time
	// Window tells that there is one. Until then nothing can be shown.
	Window bool
	// Waiting are the questions, also those that nobody waits for any more.
	Waiting []approval.Prompt
	Paused  bool
	// Edit is the ID of the edit of the policy file that waits, "" for none.
	Edit string
	// FirstRun tells that nobody has chosen how agents start.
	FirstRun bool
}

// Kind says what an Item is.
type Kind int

const (
	Question Kind = iota // or a list of questions
	Edit
	Change
	Folder
)

// Item is something on the panel. Its ID names it among those of all kinds.
type Item struct {
	Kind Kind
	ID   string
}

// Why something is not put on the panel.
var (
	ErrNoWindow = errors.New("Countersign's window is not there yet: try again in a moment")
	ErrLocked   = errors.New("the screen is locked: nothing is shown on it")
	ErrAnother  = errors.New("Countersign's window asks something else: answer that first")
)

// Ask puts a change or a folder on the panel, until Over. There is one change at a
// time, and one folder.
func (s *Stage) Ask(i Item) error {
	at := &s.change
	if i.Kind == Folder {
		at = &s.folder
	}
	switch {
	case s.quitting: // a window that only opens shows it soon
		return ErrNoWindow
	case s.away:
		return ErrLocked
	case *at != "":
		return ErrAnother
	}
	*at = i.ID
	return nil
}

// Over takes away what Ask put there.
func (s *Stage) Over(id string) {
	if s.change == id {
		s.change = ""
	}
	if s.folder == id {
		s.folder = ""
	}
}

// OnTop is what is on the panel in the place of questions, "" for nothing: a
// change, or a folder while nothing else is there. What comes takes its place, and
// it comes back after that.
func (s *Stage) OnTop(n Now) string {
	if s.change != "" || s.folder == "" {
		return s.change
	}
	here := func(p approval.Prompt) bool { return !p.CallerGone || s.raised[p.ID] }
	if s.PanelEdit(n) != "" && !s.open || slices.ContainsFunc(n.Waiting, here) {
		return ""
	}
	return s.folder
}

// PanelEdit is the edit from outside that is for the panel, "" for none: the one
// that waits, if it was not left to the settings.
func (s *Stage) PanelEdit(n Now) string {
	if n.Edit == s.left {
		return ""
	}
	return n.Edit
}

// live reports whether the page may have this on the panel.
func (s *Stage) live(n Now, id string) bool {
	if top := s.OnTop(n); top != "" {
		return id == top
	}
	asked := false
	for _, p := range n.Waiting {
		if !p.CallerGone && p.ID == id {
			return true
		}
		asked = asked || !p.CallerGone
	}
	edit := s.PanelEdit(n)
	return !asked && !s.open && edit != "" && id == edit
}

// Looked reports whether something on the panel has been in sight for long enough.
func (s *Stage) Looked(id string, t time.Time) bool {
	return s.current.ID == id && s.InSight(t)
}

// InSight reports whether the window has been as it is for long enough.
func (s *Stage) InSight(t time.Time) bool { return s.visible && t.Sub(s.since) >= Guard }

// LookedAtList reports whether a question has been on the list for long enough.
// Whether that list is in sight is to be asked of Looked.
func (s *Stage) LookedAtList(id string, t time.Time) bool {
	since, there := s.listed[id]
	return there && t.Sub(since) >= Guard
}

// SawEdit reports whether the settings have shown an edit from outside for long
// enough.
func (s *Stage) SawEdit(id string, t time.Time) bool {
	return s.held == id && t.Sub(s.heldSince) >= Guard
}

// Edits reports whether the settings are in sight and nothing covers them, which
// is when what comes from them is a person's word.
func (s *Stage) Edits() bool { return s.open && s.visible && s.current.ID == "" }

// Quitting reports whether the app is to end.
func (s *Stage) Quitting() bool { return s.quitting }

// View is what the page shows now, and how the window is.
type View struct {
	Settings    bool   // they are open
	OffersHooks bool   // the first run shows the agents that could ask us
	Agent, Page string // where the settings are
	Turn        int    // changes when somebody opens them elsewhere
	// Top comes in the place of questions, "" for nothing, and Edit after them.
	Top, Edit string
	Waiting   []approval.Prompt
	// Current is what the page said last that it has on the panel, and Paused
	// tells that questions do not come to the front by themselves.
	Current         string
	Visible, Paused bool
}

// View returns it.
func (s *Stage) View(n Now) View {
	v := View{
		Settings: s.open, OffersHooks: s.offers, Agent: s.agent, Page: s.page, Turn: s.turn,
		Top: s.OnTop(n), Edit: s.PanelEdit(n), Current: s.current.ID, Visible: s.visible, Paused: s.paused,
	}
	for _, p := range n.Waiting {
		if v.Top == "" && (!p.CallerGone || s.raised[p.ID]) {
			v.Waiting = append(v.Waiting, p)
		}
	}
	return v
}

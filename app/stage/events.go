package stage

import (
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Event is something that happened.
type Event interface {
	on(s *Stage, n Now) []Command
}

// On takes what happened, and returns what is to be done.
func (s *Stage) On(n Now, e Event) []Command { return e.on(s, n) }

type (
	// Opened tells that the window is there.
	Opened struct{}
	// Changed tells that something else waits than before: questions, an edit, what
	// was put on the panel; or that a pause begins or ends.
	Changed struct{}
	// Ready tells that the page has an item on the panel, which is when the window
	// may be seen, and how high it would like to be.
	Ready struct {
		Item
		Height int
	}
	// Shown tells that the window is now as TellShown left it.
	Shown struct{}
	// Wanted tells that a person wants to see a question.
	Wanted struct{ ID string }
	// Listed tells which questions are on the list of small ones.
	Listed struct{ IDs []string }
	// EditLeft tells that a person leaves the edit on the panel to the settings, and
	// EditShown that these show one.
	EditLeft  struct{}
	EditShown struct{ ID string }

	// SettingsWanted tells that somebody opens the settings, PageWanted that they
	// want those of an agent, or a page, and HooksOffered that the first run shows
	// the agents that could ask us, or ends.
	SettingsWanted struct{}
	PageWanted     struct{ Agent, Page string }
	HooksOffered   struct{ On bool }
	// SettingsReady tells that the settings are on the page, or should be by now.
	SettingsReady struct{}

	// Closed tells that a person closes the window. That only hides it; a question
	// that waits stays in the menu.
	Closed struct{}
	// ScreenAway tells that the screen was locked, or is no more.
	ScreenAway struct{ On bool }
	// PageSilent tells that the page showed no question in time.
	PageSilent struct{}
	// Quit tells that the app is to end.
	Quit struct{}
)

func (Opened) on(s *Stage, n Now) (do []Command) {
	if s.quitting {
		return Quit{}.on(s, n)
	}
	if s.open || n.FirstRun {
		do = s.openSettings(n)
	}
	return append(do, TellScreen{})
}

// The page is told, and the window is given back when nothing is left to show.
func (Changed) on(s *Stage, n Now) (do []Command) {
	before := s.paused
	s.paused = n.Paused
	keep, unseen := false, false
	for _, p := range n.Waiting {
		keep = keep || !p.CallerGone || s.raised[p.ID]
		unseen = unseen || s.unseen(p) && !s.paused
	}
	for id := range s.raised {
		if !waits(n.Waiting, id) && id != s.PanelEdit(n) && id != s.change && id != s.folder {
			delete(s.raised, id)
		}
	}
	keep = keep || s.raised[s.PanelEdit(n)]
	if top := s.OnTop(n); top != "" {
		keep, unseen = keep || s.raised[top], unseen || !s.raised[top]
	}
	if !n.Window {
		return nil
	}
	do = s.expect(unseen && len(s.raised) == 0)
	if !keep {
		s.current = Item{}
		do = append(do, s.give()...)
	}
	do = append(do, TellScreen{})
	// After a pause the first question comes to the front that nobody saw because
	// of it.
	if first := slices.IndexFunc(n.Waiting, s.unseen); before && !s.paused && first >= 0 {
		do = append(do, TellOpen{n.Waiting[first].ID})
	}
	return do
}

func waits(list []approval.Prompt, id string) bool {
	return slices.ContainsFunc(list, func(p approval.Prompt) bool { return p.ID == id })
}

// unseen reports whether somebody waits for a question that did not come to the
// front yet.
func (s *Stage) unseen(p approval.Prompt) bool { return !p.CallerGone && !s.raised[p.ID] }

// expect waits for the page to show a question, or no longer. A page whose process
// has died shows nothing ever again, and nothing can be asked.
func (s *Stage) expect(on bool) []Command {
	if on == s.expected || on && s.quitting {
		return nil
	}
	s.expected = on
	return []Command{ExpectPage{on}}
}

// give gives the window back to the settings, or hides it.
func (s *Stage) give() []Command {
	switch {
	case !s.visible:
		return nil
	case s.open:
		return []Command{Front{Top: false}}
	}
	s.visible = false
	return []Command{Hide{}}
}

func (e Ready) on(s *Stage, n Now) []Command {
	do := s.expect(false)
	if !n.Window {
		return do
	}
	live, top := s.live(n, e.ID), s.OnTop(n) != ""
	if !live && (top || e.Kind == Edit || e.Kind == Folder) {
		return do // something came before it, or the settings show it
	}
	if s.current.ID != e.ID {
		s.current, s.since = e.Item, n.Time
	}
	raise := live && !s.raised[e.ID] && (!s.paused || s.askedFor == e.ID || top || e.Kind == Edit)
	switch {
	case raise && s.open && s.visible:
		do = append(do, Front{Top: true})
	case raise && s.open:
		do = append(do, Show{As: s.settingsForm(n), Top: true})
	case raise:
		do = append(do, Show{As: Panel, Height: e.Height, Top: true})
	case s.visible && !s.open:
		return append(do, Resize{e.Height}, TellShown{})
	default:
		return do
	}
	do = append(do, TellShown{})
	if s.askedFor == e.ID {
		do = append(do, TakeKeyboard{})
	}
	if s.raised == nil {
		s.raised = map[string]bool{}
	}
	s.raised[e.ID], s.visible = true, true
	return append(do, Sound{})
}

func (Shown) on(s *Stage, n Now) []Command {
	s.since = n.Time
	return nil
}

func (e Wanted) on(s *Stage, n Now) []Command {
	if !n.Window {
		return nil
	}
	delete(s.raised, e.ID) // it may come to the front once more
	s.askedFor = e.ID      // also in a pause
	return []Command{TellOpen{e.ID}}
}

func (e Listed) on(s *Stage, n Now) []Command {
	was := s.listed
	s.listed = map[string]time.Time{}
	for _, id := range e.IDs {
		since, there := was[id]
		if !there {
			since = n.Time
		}
		s.listed[id] = since
	}
	return nil
}

func (EditLeft) on(s *Stage, n Now) []Command {
	s.leaveEdit(n)
	return nil
}

func (s *Stage) leaveEdit(n Now) {
	if n.Edit != "" {
		s.left = n.Edit
	}
	if s.current.Kind == Edit {
		s.current = Item{}
	}
}

func (e EditShown) on(s *Stage, n Now) []Command {
	if s.held != e.ID {
		s.held, s.heldSince = e.ID, n.Time
	}
	return nil
}

func (SettingsWanted) on(s *Stage, n Now) []Command { return s.openSettings(n) }

func (e PageWanted) on(s *Stage, n Now) []Command {
	s.agent, s.page = e.Agent, e.Page
	s.turn++
	return s.openSettings(n)
}

func (e HooksOffered) on(s *Stage, n Now) []Command {
	s.offers = e.On
	return s.openSettings(n)
}

// openSettings has the page show the settings. The window comes to the front when
// they are on it, or a little later if the page does not say so.
func (s *Stage) openSettings(n Now) []Command {
	s.open = true
	s.leaveEdit(n)
	if !n.Window {
		return nil // they open with it
	}
	if s.visible {
		s.since = n.Time // buttons move
		return []Command{TellScreen{}, s.showSettings(n)}
	}
	s.coming = true
	return []Command{TellScreen{}, AwaitSettings{}}
}

func (SettingsReady) on(s *Stage, n Now) []Command {
	if !s.open || !s.coming {
		return nil
	}
	s.coming, s.visible, s.since = false, true, n.Time
	return []Command{s.showSettings(n)}
}

func (s *Stage) showSettings(n Now) Command {
	return Show{As: s.settingsForm(n), Top: s.current.ID != ""}
}

func (s *Stage) settingsForm(n Now) Form {
	if s.offers || n.FirstRun {
		return FirstRun
	}
	return Settings
}

func (Closed) on(s *Stage, n Now) (do []Command) {
	if s.quitting || !n.Window {
		return nil
	}
	s.open, s.coming, s.offers, s.visible = false, false, false, false
	s.agent, s.page = "", ""
	s.leaveEdit(n)
	if top := s.OnTop(n); top != "" && s.current.ID == top {
		do = append(do, Leave{top})
	}
	return append(do, Hide{}, TellScreen{})
}

func (e ScreenAway) on(s *Stage, _ Now) (do []Command) {
	s.away = e.On
	for _, id := range []string{s.change, s.folder} {
		if s.away && id != "" {
			do = append(do, Leave{id})
		}
	}
	return do
}

func (PageSilent) on(s *Stage, _ Now) []Command { return s.expect(false) }

// A window that is not there yet is told when it is.
func (Quit) on(s *Stage, n Now) []Command {
	s.quitting = true
	if !n.Window || s.told {
		return nil
	}
	s.told = true
	return []Command{End{}}
}

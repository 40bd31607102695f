package stage

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// step is one thing that happens. so is what changed outside before it, nil for
// nothing, want what is to be done, and counts what a person's word would count for
// afterwards: names of items, "settings", and "window" for what counts wherever it
// is pressed.
type step struct {
	so     func(*Now)
	on     Event
	want   []Command
	counts string
}

func do(list ...Command) []Command { return list }

func asked(ids ...string) func(*Now) {
	return func(n *Now) {
		n.Waiting = nil
		for _, id := range ids {
			p := approval.Prompt{ID: id}
			p.ID, p.CallerGone = strings.CutSuffix(id, " gone")
			n.Waiting = append(n.Waiting, p)
		}
	}
}

func edited(id string) func(*Now)      { return func(n *Now) { n.Edit = id } }
func paused(on bool) func(*Now)        { return func(n *Now) { n.Paused = on } }
func later(d time.Duration) func(*Now) { return func(n *Now) { n.Time = n.Time.Add(d) } }
func window(n *Now)                    { n.Window = true }
func noWindow(n *Now)                  { n.Window = false }
func firstRun(n *Now)                  { n.FirstRun = true }
func chosen(n *Now)                    { n.FirstRun = false }

// ready is the event of an item that is on the page.
func ready(id string) Ready { return Ready{item(id), 500} }

func item(id string) Item {
	kinds := map[string]Kind{"edit": Edit, "change": Change, "folder": Folder}
	name, _, _ := strings.Cut(id, ":")
	return Item{kinds[name], id}
}

var names = []string{"q", "r", "list", "edit:a", "edit:b", "change:a", "folder:a"}

// counts is what a person's word counts for.
func counts(s *Stage, n Now) string {
	var list []string
	for _, id := range names {
		if s.Looked(id, n.Time) {
			list = append(list, id)
		}
	}
	if s.Edits() {
		list = append(list, "settings")
	}
	if s.InSight(n.Time) {
		list = append(list, "window")
	}
	return strings.Join(list, ", ")
}

// put puts something on the panel, over takes it away, and both tell that something
// else waits.
type put string
type over string

func (i put) on(s *Stage, n Now) []Command {
	if err := s.Ask(item(string(i))); err != nil {
		panic(err)
	}
	return Changed{}.on(s, n)
}

func (i over) on(s *Stage, n Now) []Command {
	s.Over(string(i))
	return Changed{}.on(s, n)
}

var (
	panel    = Show{As: Panel, Height: 500, Top: true}
	settings = Show{As: Settings}
	first    = Show{As: FirstRun}
)

func TestStage(t *testing.T) {
	for name, steps := range map[string][]step{
		"a question": {
			{asked("q"), Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("q"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
			{later(Guard - 1), Changed{}, do(TellScreen{}), ""},
			{later(1), Changed{}, do(TellScreen{}), "q, window"},
			{nil, Ready{item("q"), 600}, do(Resize{600}, TellShown{}), ""}, // it grew under the hand
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
			{asked(), Changed{}, do(Hide{}, TellScreen{}), ""},
		},
		"the page shows nothing": {
			{asked("q"), Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{nil, Changed{}, do(TellScreen{}), ""},
			{nil, PageSilent{}, do(ExpectPage{false}), ""},
			{nil, Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{asked(), Changed{}, do(ExpectPage{false}, TellScreen{}), ""},
		},
		"the page shows something else": {
			{asked("q"), Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("r"), do(ExpectPage{false}), ""},
			{later(Guard), ready("edit:a"), nil, ""},
			{nil, ready("folder:a"), nil, ""},
		},
		"a question after one that was seen": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{asked("r"), Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("r"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
		},
		"two questions": {
			{asked("q", "r"), Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("q"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
			{later(Guard), ready("r"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "r, window"},
			{nil, ready("q"), do(Resize{500}, TellShown{}), ""}, // it came to the front once
			{asked("q"), Changed{}, do(TellScreen{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
		},
		"the list of small ones": {
			{asked("q", "r"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{nil, ready("list"), do(Resize{500}, TellShown{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "list, window"},
		},
		"its caller hangs up": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{asked("q gone"), Changed{}, do(TellScreen{}), ""}, // it says so until it is dismissed
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
			{asked(), Changed{}, do(Hide{}, TellScreen{}), ""},
		},
		"its caller hangs up unseen": {
			{asked("q"), Changed{}, do(ExpectPage{true}, TellScreen{}), ""},
			{asked("q gone"), Changed{}, do(ExpectPage{false}, TellScreen{}), ""},
			{nil, ready("q"), nil, ""},
		},
		"a question, closed": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), Closed{}, do(Hide{}, TellScreen{}), ""},
			{nil, ready("q"), nil, ""}, // the page does not bring it back
			{nil, Wanted{"q"}, do(TellOpen{"q"}), ""},
			{nil, ready("q"), do(panel, TellShown{}, TakeKeyboard{}, Sound{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
		},
		"the settings": {
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, SettingsReady{}, do(settings), "settings"},
			{nil, SettingsReady{}, nil, "settings"}, // the time for it is over, too
			{later(Guard), SettingsWanted{}, do(TellScreen{}, settings), "settings"},
			{later(Guard), PageWanted{"main", ""}, do(TellScreen{}, settings), "settings"},
			{later(Guard), Changed{}, do(Front{}, TellScreen{}), "settings, window"},
			{nil, Closed{}, do(Hide{}, TellScreen{}), ""},
			{nil, SettingsReady{}, nil, ""},
		},
		"the settings, closed before they come": {
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, Closed{}, do(Hide{}, TellScreen{}), ""},
			{nil, SettingsReady{}, nil, ""},
		},
		"the settings, closed before they come, and opened under a question": {
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, Closed{}, do(Hide{}, TellScreen{}), ""},
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{nil, SettingsWanted{}, do(TellScreen{}, Show{As: Settings, Top: true}), ""},
			{nil, SettingsReady{}, nil, ""},
		},
		"a question over the settings": {
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, SettingsReady{}, do(settings), "settings"},
			{asked("q"), ready("q"), do(Front{Top: true}, TellShown{}, Sound{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
			{nil, Ready{item("q"), 900}, nil, "q, window"}, // the settings keep their size
			{asked(), Changed{}, do(Front{}, TellScreen{}), "settings, window"},
		},
		"the settings under a question": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), SettingsWanted{}, do(TellScreen{}, Show{As: Settings, Top: true}), ""}, // buttons move
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
		},
		"a question before the settings are there": {
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{asked("q"), ready("q"), do(Show{As: Settings, Top: true}, TellShown{}, Sound{}), ""},
			{nil, SettingsReady{}, do(Show{As: Settings, Top: true}), ""},
		},
		"the first run": {
			{noWindow, SettingsWanted{}, nil, ""},
			{firstRun, Changed{}, nil, ""},
			{window, Opened{}, do(TellScreen{}, AwaitSettings{}, TellScreen{}), ""},
			{nil, SettingsReady{}, do(first), "settings"},
			{chosen, HooksOffered{true}, do(TellScreen{}, first), "settings"},
			{nil, HooksOffered{false}, do(TellScreen{}, settings), "settings"},
		},
		"settings that were wanted before there was a window": {
			{noWindow, SettingsWanted{}, nil, ""},
			{window, Opened{}, do(TellScreen{}, AwaitSettings{}, TellScreen{}), ""},
		},
		"the first run, unasked": {
			{firstRun, Opened{}, do(TellScreen{}, AwaitSettings{}, TellScreen{}), ""},
			{nil, SettingsReady{}, do(first), "settings"},
		},
		"the first run, closed": {
			{nil, HooksOffered{true}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, Closed{}, do(Hide{}, TellScreen{}), ""},
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, SettingsReady{}, do(settings), "settings"},
		},
		"before there is a window": {
			{noWindow, Changed{}, nil, ""},
			{asked("q"), Changed{}, nil, ""},
			{nil, ready("q"), nil, ""},
			{nil, Wanted{"q"}, nil, ""},
			{nil, Closed{}, nil, ""},
			{window, Opened{}, do(TellScreen{}), ""},
			{nil, ready("q"), do(panel, TellShown{}, Sound{}), ""},
		},
		"a pause": {
			{paused(true), Changed{}, do(TellScreen{}), ""},
			{asked("q", "r"), Changed{}, do(TellScreen{}), ""},
			{nil, ready("q"), nil, ""},
			{later(Guard), Wanted{"r"}, do(TellOpen{"r"}), ""},
			{nil, ready("r"), do(panel, TellShown{}, TakeKeyboard{}, Sound{}), ""},
			{later(Guard), ready("q"), do(Resize{500}, TellShown{}), ""}, // beside that, on the person's word
			{paused(false), Changed{}, do(TellScreen{}, TellOpen{"q"}), ""},
			{nil, ready("q"), do(panel, TellShown{}, Sound{}), ""},
		},
		"the end of a pause with nothing unseen": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{paused(true), Changed{}, do(TellScreen{}), ""},
			{paused(false), Changed{}, do(TellScreen{}), ""},
		},
		"an edit": {
			{edited("edit:a"), Changed{}, do(TellScreen{}), ""},
			{nil, ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "edit:a, window"},
			{edited("edit:b"), Changed{}, do(Hide{}, TellScreen{}), ""},
			{nil, ready("edit:a"), nil, ""},
			{nil, ready("edit:b"), do(panel, TellShown{}, Sound{}), ""},
			{edited(""), Changed{}, do(Hide{}, TellScreen{}), ""},
		},
		"an edit in a pause": {
			{paused(true), Changed{}, do(TellScreen{}), ""},
			{edited("edit:a"), ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
		},
		"an edit behind a question": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
			{edited("edit:a"), ready("edit:a"), nil, "q, window"},
			{asked(), ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
		},
		"an edit, left": {
			{edited("edit:a"), ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), EditLeft{}, nil, "window"},
			{nil, Changed{}, do(Hide{}, TellScreen{}), ""},
			{nil, ready("edit:a"), nil, ""},
			{edited("edit:b"), ready("edit:b"), do(panel, TellShown{}, Sound{}), ""},
		},
		"an edit, closed": {
			{edited("edit:a"), ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), Closed{}, do(Hide{}, TellScreen{}), ""},
			{nil, ready("edit:a"), nil, ""},
		},
		"an edit and the settings, which show it": {
			{edited("edit:a"), ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), SettingsWanted{}, do(TellScreen{}, settings), "settings"},
			{nil, ready("edit:a"), nil, "settings"},
			{edited("edit:b"), ready("edit:b"), nil, "settings"},
		},
		"a change": {
			{nil, put("change:a"), do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("change:a"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "change:a, window"},
			{nil, over("change:a"), do(Hide{}, TellScreen{}), ""},
		},
		"a change in a pause": {
			{paused(true), put("change:a"), do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("change:a"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
		},
		"a change before a question": {
			{asked("q"), ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), put("change:a"), do(TellScreen{}), "q, window"}, // what the page still shows
			{nil, ready("change:a"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), ready("q"), nil, "change:a, window"},
			{nil, over("change:a"), do(TellScreen{}), "change:a, window"}, // it is over: no answer is had
			{nil, ready("q"), do(Resize{500}, TellShown{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "q, window"},
		},
		"a change over the settings": {
			{nil, SettingsWanted{}, do(TellScreen{}, AwaitSettings{}), ""},
			{nil, SettingsReady{}, do(settings), "settings"},
			{later(Guard), put("change:a"), do(ExpectPage{true}, Front{}, TellScreen{}), "settings, window"},
			{nil, ready("change:a"), do(ExpectPage{false}, Front{Top: true}, TellShown{}, Sound{}), ""},
			{later(Guard), over("change:a"), do(Front{}, TellScreen{}), "settings, window"},
		},
		"a change, closed": {
			{nil, put("change:a"), do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("change:a"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
			{nil, Closed{}, do(Leave{"change:a"}, Hide{}, TellScreen{}), ""},
		},
		"a change that the page does not show, closed": {
			{nil, put("change:a"), do(ExpectPage{true}, TellScreen{}), ""},
			{nil, Closed{}, do(Hide{}, TellScreen{}), ""},
		},
		"a folder gives way and comes back": {
			{nil, put("folder:a"), do(ExpectPage{true}, TellScreen{}), ""},
			{nil, ready("folder:a"), do(ExpectPage{false}, panel, TellShown{}, Sound{}), ""},
			{asked("q"), Changed{}, do(TellScreen{}), ""},
			{nil, ready("q"), do(panel, TellShown{}, Sound{}), ""},
			{later(Guard), ready("folder:a"), nil, "q, window"},
			{nil, put("change:a"), do(TellScreen{}), "q, window"},
			{nil, ready("change:a"), do(panel, TellShown{}, Sound{}), ""},
			{asked(), over("change:a"), do(TellScreen{}), ""},
			{nil, ready("folder:a"), do(Resize{500}, TellShown{}), ""},
			{later(Guard), Changed{}, do(TellScreen{}), "folder:a, window"},
			{nil, Closed{}, do(Leave{"folder:a"}, Hide{}, TellScreen{}), ""},
		},
		"a folder behind an edit": {
			{edited("edit:a"), put("folder:a"), do(TellScreen{}), ""},
			{nil, ready("folder:a"), nil, ""},
			{nil, ready("edit:a"), do(panel, TellShown{}, Sound{}), ""},
			{nil, SettingsWanted{}, do(TellScreen{}, settings), "settings"}, // they show the edit
			{nil, ready("folder:a"), do(Front{Top: true}, TellShown{}, Sound{}), ""},
		},
		"a locked screen": {
			{nil, put("change:a"), do(ExpectPage{true}, TellScreen{}), ""},
			{nil, put("folder:a"), do(TellScreen{}), ""},
			{nil, ScreenAway{true}, do(Leave{"change:a"}, Leave{"folder:a"}), ""},
			{nil, ScreenAway{false}, nil, ""},
		},
		"the end": {
			{nil, Quit{}, do(End{}), ""},
			{nil, Quit{}, nil, ""},
			{asked("q"), Changed{}, do(TellScreen{}), ""}, // no page is expected any more
			{nil, Closed{}, nil, ""},
		},
		"the end before there is a window": {
			{noWindow, Quit{}, nil, ""},
			{nil, Quit{}, nil, ""},
			{window, Opened{}, do(End{}), ""},
			{nil, Quit{}, nil, ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, n := &Stage{}, Now{Time: time.Unix(1_800_000_000, 0), Window: true}
			for i, step := range steps {
				if step.so != nil {
					step.so(&n)
				}
				got := s.On(n, step.on)
				if slices.Contains(got, Command(TellShown{})) {
					s.On(n, Shown{})
				}
				if !slices.Equal(got, step.want) {
					t.Errorf("step %d, %T: %#v, want %#v", i, step.on, got, step.want)
				}
				if have := counts(s, n); have != step.counts {
					t.Errorf("step %d, %T: %q counts, want %q", i, step.on, have, step.counts)
				}
			}
		})
	}
}

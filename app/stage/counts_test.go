package stage

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// The time that the window takes to come is not time in sight.
func TestGuardBeginsWhenShown(t *testing.T) {
	s, n := &Stage{}, Now{Time: time.Unix(1_800_000_000, 0), Window: true}
	asked("q")(&n)
	s.On(n, ready("q"))
	later(Guard)(&n)
	s.On(n, Shown{})
	if s.Looked("q", n.Time) {
		t.Error("it counts as soon as it is shown")
	}
	if later(Guard)(&n); !s.Looked("q", n.Time) {
		t.Error("it never counts")
	}
}

func TestAsk(t *testing.T) {
	for _, c := range []struct {
		name string
		so   []Event
		ask  string
		want error
	}{
		{"nothing else", nil, "change:a", nil},
		{"a folder beside a change", []Event{put("change:a")}, "folder:a", nil},
		{"a change beside a folder", []Event{put("folder:a")}, "change:a", nil},
		{"a second change", []Event{put("change:a")}, "change:b", ErrAnother},
		{"a second folder", []Event{put("folder:a")}, "folder:b", ErrAnother},
		{"a change after another", []Event{put("change:a"), over("change:a")}, "change:b", nil},
		{"a folder after another", []Event{put("folder:a"), over("folder:a")}, "folder:b", nil},
		{"the end of something else", []Event{put("change:a"), over("change:b")}, "change:b", ErrAnother},
		{"a locked screen", []Event{ScreenAway{true}}, "change:a", ErrLocked},
		{"an unlocked screen", []Event{ScreenAway{true}, ScreenAway{false}}, "change:a", nil},
		{"the end of the app", []Event{Quit{}}, "folder:a", ErrNoWindow},
	} {
		s := &Stage{}
		for _, e := range c.so {
			s.On(Now{Window: true}, e)
		}
		if err := s.Ask(item(c.ask)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

// A question counts on the list once it was on it for long enough itself.
func TestListed(t *testing.T) {
	s, n := &Stage{}, Now{Time: time.Unix(1_800_000_000, 0), Window: true}
	for i, c := range []struct {
		after  time.Duration
		list   []string
		q, r   bool
		reason string
	}{
		{0, []string{"q"}, false, false, "it had just come"},
		{Guard, []string{"q", "r"}, true, false, "the other one had just come"},
		{Guard, []string{"r"}, false, true, "the first one is gone"},
		{0, []string{"q", "r"}, false, true, "it is back, and had just come"},
	} {
		later(c.after)(&n)
		s.On(n, Listed{c.list})
		if q, r := s.LookedAtList("q", n.Time), s.LookedAtList("r", n.Time); q != c.q || r != c.r {
			t.Errorf("%d: q %v, r %v, but %s", i, q, r, c.reason)
		}
	}
}

// An edit counts in the settings once they showed that one for long enough.
func TestSawEdit(t *testing.T) {
	s, n := &Stage{}, Now{Time: time.Unix(1_800_000_000, 0), Window: true}
	for i, c := range []struct {
		after time.Duration
		shows string
		want  bool
	}{
		{0, "edit:a", false}, {Guard - 1, "edit:a", false}, {1, "edit:a", true}, {Guard, "edit:b", false}, {0, "edit:a", false}, {Guard, "edit:a", true}, {0, "", false},
	} {
		later(c.after)(&n)
		s.On(n, EditShown{c.shows})
		if got := s.SawEdit("edit:a", n.Time); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

func TestView(t *testing.T) {
	s, n := &Stage{}, Now{Window: true}
	ids := func(v View) (list []string) {
		for _, p := range v.Waiting {
			list = append(list, p.ID)
		}
		return list
	}
	edited("edit:a")(&n)
	asked("q", "r gone")(&n)
	s.On(n, PageWanted{"", "hooks"})
	s.On(n, HooksOffered{true})
	if v := s.View(n); !v.Settings || !v.OffersHooks || v.Page != "hooks" || v.Turn != 1 || v.Visible || v.Edit != "" || v.Top != "" || !slices.Equal(ids(v), []string{"q"}) {
		t.Errorf("with the settings: %+v", v)
	}
	s.On(n, ready("q"))
	edited("edit:b")(&n)
	asked("q gone", "r gone")(&n)
	if v := s.View(n); !v.Visible || v.Current != "q" || v.Edit != "edit:b" || !slices.Equal(ids(v), []string{"q"}) {
		t.Errorf("with one that was in sight when its caller hung up: %+v", v)
	}
	s.On(n, put("folder:a"))
	if v := s.View(n); v.Top != "" || len(v.Waiting) != 1 {
		t.Errorf("with a folder behind it: %+v", v)
	}
	s.On(n, put("change:a"))
	if v := s.View(n); v.Top != "change:a" || len(v.Waiting) != 0 {
		t.Errorf("with a change: %+v", v)
	}
	s.On(n, Closed{})
	if v := s.View(n); v.Settings || v.OffersHooks || v.Page != "" || v.Visible {
		t.Errorf("closed: %+v", v)
	}
}

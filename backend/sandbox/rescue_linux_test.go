package sandbox

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a command at whose start we panic is ended with its box, and the session
// gets another one.
func TestPanics(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const seconds = "7654" // no other test sleeps for so long
		j := w.job("sleep", seconds)
		j.Started = func() { panic("secret") }
		before := rescue.Caught()
		if _, err := w.Run(t.Context(), w.config, j); !errors.Is(err, errFailed) {
			t.Errorf("it ended with %v", err)
		}
		if n := rescue.Caught() - before; n != 1 {
			t.Errorf("%d were counted", n)
		}
		if !dies(seconds) {
			t.Error("it runs on")
		}
		if got := w.sh("echo works"); got != "works\n[0]" {
			t.Errorf("then %s", got)
		}
	})
}

// mined is a box that panics.
type mined struct{ over bool }

func (*mined) run(context.Context, Job, *output) (int, error) { panic("secret") }
func (m *mined) end()                                         { m.over = true }
func (m *mined) ended() bool                                  { return m.over }

// TestPanicsOfBoxes: a box that panics is ended, its place is given away, and nothing
// stays locked.
func TestPanicsOfBoxes(t *testing.T) {
	w := newWorld(t, "")
	for range maxWork + 1 { // as many as would fill it
		b := &mined{}
		p := &place{box: b, work: 1, used: time.Now()}
		p.once.Do(func() {})
		w.mu.Lock()
		w.boxes["main"] = p
		w.mu.Unlock()
		if _, err := w.within(t.Context(), b, w.job("true"), &output{}); !errors.Is(err, errFailed) {
			t.Fatal(err)
		}
		w.leave("main", p, false)
		if w.boxes["main"] != nil || p.work != 0 || !b.over {
			t.Fatalf("%+v stays", p)
		}
	}
}

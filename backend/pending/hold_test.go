package pending_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// clocked is a question that ends in so many seconds, and can be held until
// latest seconds from now, 0 for not at all.
func clocked(id string, ends, latest int) (approval.Prompt, time.Time) {
	p, at := question(id, "a"), time.Now().Add(time.Duration(ends)*time.Second)
	if latest > 0 {
		p.Latest = time.Now().Add(time.Duration(latest) * time.Second).UnixMilli()
	}
	return p, at
}

// TestHold lets the clock run for a while, stops it, and lets it run on, in
// seconds, and looks at when the question ends.
func TestHold(t *testing.T) {
	tests := []struct {
		name          string
		ends, latest  int
		holdAt, until int // 0 for never
		over          int
	}{
		{"never held", 60, 600, 0, 0, 60},
		{"held for good", 60, 600, 10, 0, 600},
		{"held for a while", 60, 600, 10, 110, 160},
		{"held for nearly all of it", 60, 600, 10, 590, 600},
		{"held at once", 60, 600, 1, 2, 61},
		{"held in the last second", 60, 600, 59, 300, 301},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, begin := pending.New(), time.Now()
				p, ends := clocked("1", test.ends, test.latest)
				done := asked(t, b, context.Background(), p, "k", ends)
				if test.holdAt > 0 {
					time.Sleep(time.Duration(test.holdAt) * time.Second)
					held(t, b, "1", true, nil)
					if q := b.List()[0]; !q.Held || q.Expires != p.Latest || q.Digest() != p.Digest() {
						t.Errorf("while it is held: %+v", q)
					}
				}
				if test.until > 0 {
					time.Sleep(time.Until(begin.Add(time.Duration(test.until) * time.Second)))
					held(t, b, "1", false, nil)
				}
				expires := b.List()[0].Expires
				if a := <-done; a.Reason != approval.ReasonPromptExpired {
					t.Errorf("%+v", a)
				}
				if over := int(time.Since(begin).Seconds()); over != test.over || time.Now().UnixMilli() != expires {
					t.Errorf("it ended after %d s, want %d; it said %v", over, test.over, time.UnixMilli(expires).Sub(begin))
				}
				if q := b.List()[0]; !q.CallerGone || q.Held {
					t.Errorf("left behind: %+v", q)
				}
				held(t, b, "1", true, pending.ErrUnknown)
				synctest.Wait()
				b.Close()
			})
		})
	}
}

func held(t *testing.T, b *pending.Book, id string, on bool, want error) {
	t.Helper()
	if err := b.Hold(id, on); !errors.Is(err, want) {
		t.Errorf("hold %s %v: %v, want %v", id, on, err, want)
	}
}

func TestHoldTwiceAndTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pending.New()
		defer b.Close()
		fixed, ends := clocked("fixed", 18, 0)
		asked(t, b, context.Background(), fixed, "fixed", ends)
		held(t, b, "fixed", true, pending.ErrNoHold)
		held(t, b, "fixed", false, nil)
		held(t, b, "nothing", true, pending.ErrUnknown)

		p, ends := clocked("1", 60, 600)
		done := asked(t, b, context.Background(), p, "k", ends)
		time.Sleep(10 * time.Second)
		for range 2 { // the time that is left is that of the first
			held(t, b, "1", true, nil)
			time.Sleep(20 * time.Second)
		}
		for range 2 {
			held(t, b, "1", false, nil)
		}
		if q := b.List()[0]; time.UnixMilli(q.Expires).Sub(time.Now()) != 50*time.Second || q.Held {
			t.Errorf("held twice: %+v", q)
		}
		held(t, b, "1", true, nil)
		if err := b.Answer("1", seen(b, "1", 1), allow); err != nil || <-done != allow {
			t.Errorf("a held question is not answered: %v", err)
		}
		held(t, b, "1", true, pending.ErrUnknown)
		held(t, b, "1", false, pending.ErrUnknown)
	})
}

// Each of those who share a question waits as long as it can by itself.
func TestHoldMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, begin := pending.New(), time.Now()
		defer b.Close()
		var over sync.Map
		ask := func(id string, ends, latest int) {
			p, at := clocked(id, ends, latest)
			go func() {
				_, _ = b.Ask(context.Background(), p, "k", at)
				over.Store(id, time.Since(begin).Seconds())
			}()
			synctest.Wait()
		}
		ask("short", 18, 0)
		held(t, b, "short", true, pending.ErrNoHold)
		ask("long", 60, 300)
		held(t, b, "short", true, nil)
		ask("later", 30, 600)
		time.Sleep(20 * time.Second)
		held(t, b, "short", false, nil)
		if q := b.List()[0]; q.Count != 2 {
			t.Errorf("the one that gives up by itself still waits: %+v", q)
		}
		time.Sleep(time.Hour)
		for id, want := range map[string]float64{"short": 18, "long": 80, "later": 50} {
			if got, _ := over.Load(id); got != want {
				t.Errorf("%s was over after %v s, want %v", id, got, want)
			}
		}
	})
}

// A pause holds all, and gives back those alone that no person held.
func TestHoldAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := pending.New()
		defer b.Close()
		put := func(id string, latest int) {
			p, ends := clocked(id, 60, latest)
			asked(t, b, context.Background(), p, id, ends)
		}
		put("before", 600)
		put("mine", 600)
		put("fixed", 0)
		held(t, b, "mine", true, nil)
		b.HoldAll(true)
		put("meanwhile", 600)
		held(t, b, "meanwhile", false, nil)
		say := func() (s string) {
			for _, p := range b.List() {
				s += fmt.Sprintf("%s %v, ", p.ID, p.Held)
			}
			return s
		}
		if got := say(); got != "before true, mine true, fixed false, meanwhile true, " {
			t.Error("paused:", got)
		}
		b.HoldAll(false)
		if got := say(); got != "before false, mine true, fixed false, meanwhile false, " {
			t.Error("afterwards:", got)
		}
	})
}

// Holding, answering and giving up at the same moment leave nothing behind.
func TestHoldRace(t *testing.T) {
	b := pending.New()
	var all sync.WaitGroup
	for i := range 200 {
		p, ends := question(fmt.Sprint(i), fmt.Sprint(i)), time.Now().Add(time.Duration(i%7)*time.Millisecond)
		p.Latest = ends.Add(2 * time.Millisecond).UnixMilli()
		all.Go(func() {
			if a, err := b.Ask(context.Background(), p, fmt.Sprint(i%50), ends); err != nil || a.Decision == "" {
				t.Errorf("%+v, %v", a, err)
			}
		})
		all.Go(func() {
			for n := range 20 {
				_ = b.Hold(p.ID, n%2 == 0)
			}
		})
	}
	all.Wait()
	for _, p := range b.List() {
		if !p.CallerGone || p.Held {
			t.Errorf("left open: %+v", p)
		}
	}
}

// Nobody is asked for a caller that has gone already.
func TestGoneBefore(t *testing.T) {
	b := pending.New()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if a, err := b.Ask(ctx, question("1", "a"), "1", later()); err != nil || a.Reason != approval.ReasonApprovalCancelled || len(b.List()) != 0 {
		t.Errorf("%+v, %v, %+v", a, err, b.List())
	}
}

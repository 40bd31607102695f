package pending_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// TestFamilyLeavesPlaces puts questions of one family under as many names as there
// are, short ones and long ones: it has a half of the places, and one of another
// family is still put.
func TestFamilyLeavesPlaces(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		most int
		why  error
	}{
		"short": {"x", pending.Total / 2, pending.ErrFamily},
		"long":  {strings.Repeat("x", pending.Bytes/20), 10, pending.ErrTooLong},
	} {
		t.Run(name, func(t *testing.T) {
			b := pending.New()
			ctx, stop := context.WithCancel(context.Background())
			var all sync.WaitGroup
			var mu sync.Mutex
			refused := 0
			ask := func(family, id string) {
				p := question(id, "agent "+id)
				p.Peer.Family, p.Plan.Text = family, c.text
				all.Go(func() {
					_, err := b.Ask(ctx, p, id, later())
					mu.Lock()
					defer mu.Unlock()
					if errors.Is(err, c.why) {
						refused++
					} else if err != nil {
						t.Error(err)
					}
				})
			}
			settled := func(asked int) (put int) {
				for {
					put = len(b.List())
					mu.Lock()
					over := put+refused == asked
					mu.Unlock()
					if over {
						return put
					}
				}
			}
			for i := range pending.Total {
				ask("1/1", fmt.Sprint(i))
			}
			if put := settled(pending.Total); put > c.most || put < c.most/2 {
				t.Errorf("%d questions are put, want about %d", put, c.most)
			}
			before := len(b.List())
			ask("2/2", "honest")
			if put := settled(pending.Total + 1); put != before+1 {
				t.Error("one of another family is kept out")
			}
			stop()
			all.Wait()
			for _, p := range b.List() {
				if p.GoneBecause != approval.ReasonApprovalCancelled {
					t.Errorf("%+v", p)
				}
			}
		})
	}
}

package family

import (
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a look at the families that panics leaves the book free, and the next
// look is made.
func TestPanics(t *testing.T) {
	b := New(Look{All: func() ([]proc.Info, error) { panic("secret") }}, proc.ID{PID: 10}, me)
	b.timer = time.AfterFunc(time.Hour, func() {})
	b.timer.Stop() // it has gone off
	before := rescue.Caught()
	b.again()
	if n := rescue.Caught() - before; n != 1 {
		t.Errorf("%d were counted", n)
	}
	if !b.timer.Stop() {
		t.Error("nobody looks any more")
	}
	b.Close()
	b.later()
	if b.timer.Stop() {
		t.Error("a book that is closed looks again")
	}
}

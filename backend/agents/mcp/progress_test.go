package mcp

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestProgress runs on a clock of its own.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var told []string
		teller := newTeller(func(message string, count int) {
			told = append(told, fmt.Sprintf("%d %s at %.0f", count, message, time.Since(began).Seconds()))
		})
		step := func(d time.Duration, event approval.EventKind) {
			time.Sleep(d)
			teller.tell(event)
			synctest.Wait()
		}
		step(16*time.Second, approval.EventAsked)
		step(31*time.Second, approval.EventAnswered)
		step(1*time.Second, approval.EventStarted)
		step(16*time.Second, approval.EventFinished)
		teller.end()
		for range 100 { // nobody listens, and nothing waits
			teller.tell(approval.EventStarted)
		}
		time.Sleep(time.Hour)
		want := []string{
			"1 waiting to start at 15", "2 waiting for approval at 16", "3 waiting for approval at 31", "4 waiting for approval at 46",
			"5 running at 48", "6 running at 63",
		}
		if !slices.Equal(told, want) {
			t.Errorf("%q, want %q", told, want)
		}
	})
}

func TestProgressForNobody(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		teller := newTeller(nil)
		teller.tell(approval.EventAsked)
		time.Sleep(time.Minute)
		teller.end()
	})
}

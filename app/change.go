package main

import (
	"context"
	"errors"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
)

// asking is a change of the command line that is on the panel.
type asking struct {
	*shown.Change
	// answer gets what the person says, once.
	answer chan bool
}

// Why a change is not shown.
var (
	errNoWindow = errors.New("Countersign's window is not there yet: try again in a moment")
	errLocked   = errors.New("the screen is locked: nothing is shown on it")
	errAnother  = errors.New("Countersign's window shows another change: answer that first")
)

// askPerson shows a change on the panel until the person answers or ctx is done,
// and returns the ID of what they accepted. There is one at a time.
func (a *app) askPerson(ctx context.Context, c host.Change) (accepted string, err error) {
	now := asking{&shown.Change{
		ID: shown.ChangeMark + c.ID, Who: c.Who, Process: c.Process, Lines: a.changeLines(c), InForce: c.InForce,
		Asked: c.Asked.UnixMilli(), Expires: c.Until.UnixMilli(),
	}, make(chan bool, 1)}
	if err := a.putChange(&now); err != nil {
		return "", err
	}
	a.questionsChanged()
	defer func() {
		a.mu.Lock()
		a.change = nil
		a.mu.Unlock()
		a.questionsChanged()
	}()
	select {
	case yes := <-now.answer:
		if yes {
			accepted = c.ID
		}
		return accepted, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (a *app) changeLines(c host.Change) (lines []shown.ChangeLine) {
	in := a.person
	a.mu.Lock()
	ready := a.host != nil
	a.mu.Unlock()
	if ready {
		in = a.names()
	}
	for _, l := range c.Lines {
		var by *shown.Made
		if l.By.In != "" {
			by = &shown.Made{In: l.By.In, Who: display.Escape(l.By.Who), Minutes: int(c.Asked.Sub(l.By.When).Minutes())}
		}
		lines = append(lines, shown.NewChangeLine(string(l.Word), l.Line, l.Beside(), by, in))
	}
	return lines
}

func (a *app) putChange(c *asking) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.host == nil || a.quitting: // a window that only opens shows it soon
		return errNoWindow
	case a.away:
		return errLocked
	case a.change != nil:
		return errAnother
	}
	a.change = c
	return nil
}

// saysTo answers the change on the panel. The caller holds the lock.
func (a *app) saysTo(id string, yes bool) bool {
	if a.change == nil || a.change.ID != id {
		return false
	}
	select {
	case a.change.answer <- yes:
		return true
	default:
		return false // it has one
	}
}

// AnswerChange accepts the change of the command line that is on the panel, or
// says no to it. It counts for that change only, and once it was in sight for a
// while.
func (a *Approvals) AnswerChange(id string, accept bool) Answered {
	if accept && !a.app.looked(id) {
		return Answered{Message: tooEarly}
	}
	a.app.mu.Lock()
	defer a.app.mu.Unlock()
	if !a.app.saysTo(id, accept) {
		return Answered{Message: "This is over: nothing was changed. The terminal must ask again."}
	}
	return Answered{OK: true}
}

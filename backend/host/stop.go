package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Stopped says what StopEverything ended.
type Stopped struct {
	Questions int `json:"questions"` // that waited
	Gone      int `json:"gone"`      // questions that nobody waited for any more
	Commands  int `json:"commands"`  // that ran
	Leases    int `json:"leases"`    // of all agents
	Answers   int `json:"answers"`   // that stood for requests to come
}

// stopPatience is how long StopEverything waits until nothing runs. What can
// be ended is gone within a second; a program that waits for a broken disk is
// not.
const stopPatience = 3 * time.Second

// StopEverything denies all questions and all that is on its way, ends all that
// runs, and takes back leases and answers that stand. Nothing that came before
// it starts after it. Where the leases cannot be taken back, the host pauses.
// by says who did it.
func (h *Host) StopEverything(by string) (Stopped, error) {
	var s Stopped
	s.Questions, s.Gone, s.Answers = h.gate.Stop(by)
	leases := make(chan error, 1)
	go func() {
		defer rescue.Catch(h.log, "the end of the leases", func() {
			leases <- errors.New("the leases could not be taken back: end them by `countersign leases end --all`")
		})
		var err error
		s.Leases, err = h.endLeases()
		leases <- err
	}()
	var err error
	s.Commands, err = h.endAll()
	err = errors.Join(err, <-leases)
	// What came while the leases were still there may have passed under one.
	questions, gone, answers := h.gate.Stop(by)
	commands, again := h.endAll()
	s.Gone += gone
	s.Questions, s.Answers, s.Commands, err = s.Questions+questions, s.Answers+answers, s.Commands+commands, errors.Join(err, again)
	h.log.Warn("everything was stopped", "by", by, "questions", s.Questions, "commands", s.Commands, "leases", s.Leases, "error", err)
	return s, err
}

// endAll ends what runs and returns how many commands that were.
func (h *Host) endAll() (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), h.patience)
	defer cancel()
	return h.runner.StopAll(ctx)
}

func (h *Host) endLeases() (ended int, err error) {
	ended, err = h.EndLeases(nil)
	if err == nil || !h.hasLeases() {
		return ended, nil
	}
	if err := h.Pause(time.Time{}); err != nil {
		return 0, err
	}
	return 0, fmt.Errorf("the leases are still there, so everything is paused until you resume: %w", err)
}

// hasLeases reports whether there are leases, or may be.
func (h *Host) hasLeases() bool {
	snap := h.store.Snapshot()
	if snap.Broken != nil || snap.Document == nil {
		return true
	}
	for _, agent := range snap.Document.Agents {
		for _, e := range agent.Allowlist {
			if e.Leased() {
				return true
			}
		}
	}
	return false
}

// Pause lets nothing start until then, or until Resume for the zero time. It
// fails where that would make a pause shorter. Who watches the questions is
// told of a pause and of its end.
func (h *Host) Pause(until time.Time) error { return h.gate.Pause(until) }

// Resume ends a pause.
func (h *Host) Resume() { h.gate.Resume() }

// Paused reports whether there is a pause, and until when: the zero time for
// until Resume.
func (h *Host) Paused() (until time.Time, on bool) {
	until, _, on = h.gate.Paused()
	return until, on
}

func stopAll(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	s, err := h.StopEverything("command line")
	if err != nil {
		return nil, err
	}
	return s, nil
}

// maxPause is the longest time that a pause can be given.
const maxPause = 30 * 24 * time.Hour

func pauseCall(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Until int64 `json:"until"` // unix milliseconds, 0 until resumed
	}](c)
	if err != nil {
		return nil, err
	}
	var until time.Time
	if params.Until != 0 {
		until = time.UnixMilli(params.Until)
		if left := time.Until(until); left <= 0 || left > maxPause {
			return nil, errors.New("cannot pause until then: that is over, or more than 30 days away")
		}
	}
	return struct{}{}, h.Pause(until)
}

func resumeCall(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	if _, err := h.person(ctx, c, difference{lines: sentences("Ends the pause: commands start again")}); err != nil {
		return nil, err
	}
	h.Resume()
	return struct{}{}, nil
}

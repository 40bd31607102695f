//go:build linux || darwin

package runner

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: where a stage of a run makes us panic, it is denied, what runs of it by
// then is ended and reaped, and the next run goes as it should.
func TestPanics(t *testing.T) {
	needs(t, "sleep", "cat")
	r, dir := newRunner(t), scratch(t)
	boom := func() { panic("secret") }
	for name, plant := range map[string]func(*Job){
		"before a start": func(j *Job) { j.Check = func(int, *approval.Segment) error { boom(); return nil } },
		"before the last start": func(j *Job) {
			last := len(j.Plan.Segments) - 1
			j.Check = func(seg int, _ *approval.Segment) error {
				if seg == last {
					boom()
				}
				return nil
			}
		},
		"after a start": func(j *Job) { j.Started = func(int, *approval.Segment, Process) { boom() } },
		"after an end":  func(j *Job) { j.Ended = func(int, Process, Status) { boom() } },
	} {
		for mode, job := range map[string]Job{
			"one program": argvJob(t, dir, "sleep", "0.01"),
			"a pipeline":  textJob(t, dir, "{ sleep 0.1 | sleep 100; } | cat"),
			"builtins":    textJob(t, dir, "{ echo one; sleep 0.1; sleep 100; } | { cat; echo two; } | cat"),
			"background":  behindJob(t, dir, "{ sleep 0.1; sleep 0.1; } & sleep 0.2; sleep 100"),
		} {
			t.Run(name+" of "+mode, func(t *testing.T) {
				job.ID = strings.ReplaceAll(t.Name(), "/", " ")
				job.Env = testEnv(job.ID, dir)
				plant(&job)
				before := rescue.Caught()
				got := run1(t, r, job)
				if got.Denied == nil || got.Denied.Reason != approval.ReasonInternal || got.Success() {
					t.Errorf("%+v", got)
				}
				if rescue.Caught() == before {
					t.Error("it was not counted")
				}
				mustBeGone(t, job.ID)
				if n := len(r.Running()); n != 0 {
					t.Errorf("%d go on", n)
				}
				next := textJob(t, dir, "echo one | cat")
				next.ID = "next of " + job.ID
				next.Env = testEnv(next.ID, dir)
				if got := run1(t, r, next); string(got.Stdout) != "one\n" || !got.Success() {
					t.Errorf("the next one: %+v", got)
				}
			})
		}
	}
}

// TestPanicsOfOutput: output that is lost is not taken for all that there was, and
// who writes does not hang.
func TestPanicsOfOutput(t *testing.T) {
	lost := make(chan struct{}, 1)
	c, err := newCollector(func() { lost <- struct{}{} })
	must(t, err)
	c.mu.Lock()
	c.sum = nil // what is written makes it panic
	c.mu.Unlock()
	before := rescue.Caught()
	write(c.write[0], strings.Repeat("x", 1<<20))
	<-lost
	c.finish(patience)
	if n := rescue.Caught() - before; n != 1 {
		t.Errorf("%d were counted", n)
	}
	if !c.mu.TryLock() {
		t.Error("it is locked")
	}
}

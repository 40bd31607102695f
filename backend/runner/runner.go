// Package runner runs what was approved: one command, or one plan with a
// judge that its caller hands in.
//
// It starts programs, collects their output and ends what they leave behind;
// it decides nothing and remembers nothing of a run that is over. Three
// things must never happen: that it starts a shell of its own choice, that it
// starts another file than the one that was judged, and that anything of a
// run lives on when the run is over. It signals only processes that cannot
// have been replaced by others with the same id.
//
// A host on Linux is a child subreaper: what leaves its process group stays
// our descendant and is found. Other parts of the host may start helpers of
// their own, but must leave them in the host's process group: a child in
// another group that nobody registered counts as left behind.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Options are what a Runner needs from its host. Every field may be zero.
type Options struct {
	// Now is the clock for the times in results.
	Now func() time.Time
	Log *slog.Logger
	// MaxStarts is how many programs may be on their way from fork to exec
	// at the same time; zero means one for each processor, and at least two.
	// With more, the slowest of many callers waits longer.
	MaxStarts int
	// Descriptors is how many all runs may have together; zero means
	// their share of this process.
	Descriptors int
}

// Mode says what of a job's plan is run.
type Mode int

const (
	// ModeArgv starts Plan.Outer, or without one the program of the one
	// segment that no other segment starts, with Plan.Argv.
	ModeArgv Mode = iota
	// ModePlan runs Plan.Root without a shell.
	ModePlan
)

// Outer is the segment number that Check, Started and Ended get for
// Plan.Outer, which is not one of the segments.
const Outer = -1

// Life of a command.
const (
	DefaultTimeout = 30 * time.Minute
	MaxTimeout     = 24 * time.Hour
)

// Job is one run.
type Job struct {
	// ID is the run id. Env must hold it as COUNTERSIGN_RUN.
	ID string
	// Agent is who asked: what its runs take together is bounded.
	Agent string
	// Family is from where it asked, whatever it calls itself; empty for nothing
	// beside the agent.
	Family string
	// Session is the conversation of the agent that asked, empty for none that is known.
	Session string
	Plan    *approval.Plan
	Mode    Mode
	// Env is the complete environment, PWD included, no name twice.
	Env []string
	// Timeout ends the run. Zero means DefaultTimeout, or none with
	// Background; more than MaxTimeout means MaxTimeout.
	Timeout    time.Duration
	Background bool

	// The callbacks may be nil, except Check in ModePlan. They are called
	// without locks; stages of a pipeline may call them at the same time.

	// Check is the judge: called right before each start. An error ends the
	// whole run as a denial; a *Denied tells which.
	Check func(seg int, s *approval.Segment) error
	// Final judges a command whose words only the run could tell, whose
	// patterns stand for other files than before, or that follows one which may
	// have changed what its words lead to. It returns the plan of that one
	// command, resolved anew, or an error that ends the run as a denial.
	// Without it a command with such words is denied.
	Final func(seg int, argv []string, dir string) (*approval.Plan, error)
	// Output judges a file anew that a redirection writes, where an earlier command of
	// the run may have changed it or its folder. It returns it as it is now, or an
	// error that ends the run as a denial, as the change does without it.
	Output func(r approval.Redirect) (approval.Redirect, error)
	// Made tells of each file that a redirection made.
	Made func(f approval.File)
	// Find returns what a command word stands for in a folder, "" for nothing.
	Find func(word, dir string) string
	// Started tells of each program that was started. s is what it runs, nil
	// for Outer.
	Started func(seg int, s *approval.Segment, p Process)
	// Ended tells of each program that ended.
	Ended func(seg int, p Process, s Status)
}

// Process names one program of a run.
type Process struct {
	PID int
	// PGID is the process group that it leads, and its session.
	PGID int
	// Started tells it from a later process with the same id, in the
	// kernel's own units.
	Started uint64
}

// Status is how a program ended.
type Status struct {
	// Code is what a shell would call its status: 128 and the number of the
	// signal for a program that a signal ended.
	Code int
	// Signal is the name of that signal, such as "SIGKILL".
	Signal string
}

// Running describes a run that is not over.
type Running struct {
	ID         string
	Started    time.Time
	Background bool
	// Groups are the leaders of its process groups: its programs.
	Groups []Process
}

// Denied is a refusal as an error.
type Denied struct{ approval.Denial }

func (d *Denied) Error() string {
	if d.Sentence == "" {
		return string(d.Reason)
	}
	return d.Sentence
}

// Causes that end a run before it ends by itself. Their text is what
// Result.Error says.
var (
	errStopped    = errors.New("the command was stopped")
	errStoppedAll = errors.New("the command was ended because the person pressed Stop everything: stop here and ask them in the conversation")
	errClosed     = errors.New("the command was ended because the host is closing")
	errGone       = errors.New("the command was ended because its caller hung up")
	errTimeout    = errors.New("the command was ended because its time was over")
	errDenied     = errors.New("denied")
)

// family is as whose a run counts besides.
func (j *Job) family() string { return cmp.Or(j.Family, "agent "+j.Agent) }

// valid refuses jobs that cannot mean anything, before anything starts.
func (j *Job) valid() error {
	switch {
	case j.ID == "" || j.Plan == nil:
		return errors.New("internal error: a run without an id or a plan")
	case j.Mode == ModePlan && j.Plan.Root == nil:
		return errors.New("internal error: this plan cannot be run without its shell")
	case j.Mode == ModePlan && j.Check == nil:
		return errors.New("internal error: a plan without a judge")
	}
	for _, kv := range j.Env {
		if kv == marker+"="+j.ID {
			return nil
		}
	}
	return fmt.Errorf("internal error: the environment of a run lacks %s", marker)
}

// marker is the variable by which the programs of a run are found.
const marker = approval.RunMark

// timeout is how long the run may take; zero means for ever.
func (j *Job) timeout() time.Duration {
	switch {
	case j.Timeout > 0:
		return min(j.Timeout, MaxTimeout)
	case j.Background:
		return 0
	}
	return DefaultTimeout
}

// cause is why a run was ended, as one of ours where its context only says
// that somebody stopped waiting.
func cause(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return errGone
	}
	return err
}

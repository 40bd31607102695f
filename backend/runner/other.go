//go:build !linux && !darwin

package runner

import (
	"context"
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
)

var errPlatform = errors.New("cannot run commands on this platform: processes cannot be followed to their end here")

// Runner runs nothing on this platform.
type Runner struct{}

// Able is false on this platform.
func Able(*approval.Plan) bool { return false }

// New fails on this platform.
func New(Options) (*Runner, error) { return nil, errPlatform }

// Run runs nothing.
func (*Runner) Run(_ context.Context, job Job) approval.Result {
	if err := job.valid(); err != nil {
		return approval.Result{Error: err.Error()}
	}
	return approval.Result{Error: errPlatform.Error()}
}

// Stop finds nothing to stop.
func (*Runner) Stop(string) bool { return false }

// StopAll finds nothing to stop.
func (*Runner) StopAll(context.Context) (int, error) { return 0, nil }

// Running returns nothing.
func (*Runner) Running() []Running { return nil }

// Began knows of no process.
func (*Runner) Began(string, string, string, int) (id approval.ProcessID, ok bool) { return id, false }

// Close does nothing.
func (*Runner) Close() {}

// EndLeftovers fails on this platform.
func (*Runner) EndLeftovers(context.Context, string, []Process) ([]string, error) {
	return nil, errPlatform
}

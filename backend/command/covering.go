package command

import (
	"context"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// covering is the word with which an entry covers an effect that asks, "" where none
// does.
func (a *arguments) covering(e effect, r rule, u use) approval.Allowed {
	switch e {
	case "out", "sink":
		return a.allowedWrite(u)
	case "down":
		return a.allowedRemoval(u)
	case effectPython:
		return a.allowedCode(u.value)
	}
	return r.allowed
}

// allowedWrite is the word for a write to the file that a value names.
func (a *arguments) allowedWrite(u use) approval.Allowed {
	_, _, why := a.writes(a.dir, u.value, func(string) bool { return false })
	return why.Allowed
}

// Made are the files in the temp folder that a plan names to be written, and that were
// changed since a time: what the session of a request has made there once it ran.
func (a *Analyzer) Made(ctx context.Context, plan *approval.Plan, since time.Time) (files []approval.File) {
	j := &job{Analyzer: a, effort: newEffort(ctx)}
	targets := plan.Targets
	for i := range plan.Segments {
		targets = append(slices.Clip(targets), plan.Segments[i].Targets...)
	}
	for _, to := range targets {
		at := j.tempOf(to.Path)
		if at == "" || to.Op != approval.TargetWrites && to.Op != approval.TargetChanges || !j.spend(1) {
			continue
		}
		file, err := j.look(at)
		if err == nil && file.Path == at && file.IsRegular() && file.UID == a.UID && file.Links <= 1 && file.Changed >= since.UnixNano() {
			files = append(files, file)
		}
	}
	return files
}

// allowedRemoval is the word for the removal of a file in the temp folder that a command
// of this session made.
func (a *arguments) allowedRemoval(u use) approval.Allowed {
	if a.dir == "" || u.value == "" {
		return ""
	}
	at := a.tempOf(join(a.dir, u.value))
	file, err := a.look(at)
	if at == "" || err != nil || file.Path != at || !file.IsRegular() || !a.job.wrote(file) {
		return ""
	}
	return approval.AllowTempWrites
}

package gate

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
)

// written knows which files in the temp folder commands of a session made: what others
// made there stays theirs. It is lost with the host, and a question then.
type written struct {
	mu sync.Mutex
	by map[session]*writtenFiles
}

type writtenFiles struct {
	list []approval.File
	used time.Time
}

// Bounds of what is known. Of more files those that were made last are.
const (
	maxWritten = 256
	maxWriters = 1_000 // sessions
)

// add notes a file.
func (w *written) add(by session, f approval.File, now time.Time) {
	if by.key == "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	files := w.of(by, now)
	if files == nil {
		if w.by == nil || len(w.by) >= maxWriters {
			w.by = map[session]*writtenFiles{}
		}
		files = &writtenFiles{used: now}
		w.by[by] = files
	}
	files.list = slices.DeleteFunc(files.list, func(old approval.File) bool { return old.Path == f.Path })
	files.list = append(files.list[max(0, len(files.list)-maxWritten+1):], f)
}

// files returns those of a session.
func (w *written) files(by session, now time.Time) []approval.File {
	w.mu.Lock()
	defer w.mu.Unlock()
	if files := w.of(by, now); files != nil {
		return slices.Clone(files.list)
	}
	return nil
}

// of returns what a session has, unless it is over. The lock is held.
func (w *written) of(by session, now time.Time) *writtenFiles {
	files := w.by[by]
	if files == nil {
		return nil
	}
	if now.Sub(files.used) > sessionLife {
		delete(w.by, by)
		return nil
	}
	files.used = now
	return files
}

// made notes a file that a command made by a redirection, where a later one needs that
// to write it again.
func (f *flight) made(file approval.File) {
	if !f.judged.Plan.Folder.Holds(file.Path) {
		f.gate.written.add(session{f.judged.Req.AgentID, f.judged.Req.SessionKey}, file, f.gate.Now())
	}
}

// wrote notes the files in the temp folder that the run of a request made, whoever
// opened them.
func (f *flight) wrote(ctx context.Context) {
	defer rescue.Catch(f.gate.Log, "what a run made in the temp folder", func() {})
	for _, file := range f.judged.Machine().Analyzer.Made(context.WithoutCancel(ctx), &f.judged.Plan, f.row.Started) {
		f.made(file)
	}
}

// output judges a file anew that a redirection writes.
func (f *flight) output(ctx context.Context, r approval.Redirect) (again approval.Redirect, err error) {
	defer rescue.Catch(f.gate.Log, "a file that is written", func() { err = &runner.Denied{Denial: *failed()} })
	again, d := f.judged.Output(ctx, r)
	if d != nil {
		return again, &runner.Denied{Denial: *d}
	}
	return again, nil
}

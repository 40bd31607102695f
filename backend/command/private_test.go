package command_test

import (
	"fmt"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/trail"
)

// keptBack is a world in which macOS keeps what is in a folder from us: what
// is there is seen, and not what it holds.
type keptBack struct {
	*approvaltest.World
	folder string
}

func (k keptBack) Head(file approval.File, n int) ([]byte, error) {
	if len(file.Path) > len(k.folder) && file.Path[:len(k.folder)] == k.folder {
		return nil, fmt.Errorf("open %s: %w", file.Path, trail.ErrPrivate)
	}
	return k.World.Head(file, n)
}

// A script that macOS keeps from us may start anything, and asks.
func TestKeptBack(t *testing.T) {
	world := approvaltest.NewWorld("/bin/sh /usr/bin/awk")
	for _, name := range []string{"/Users/ann/Documents/run.sh", "/Users/ann/run.sh"} {
		world.Files[name] = approvaltest.File{Mode: 0o755, UID: 500, Text: "#!/bin/sh\n"}
	}
	world.Files["/Users/ann/Documents/a.awk"] = approvaltest.File{Mode: 0o644, UID: 500, Text: "{ print }\n"}
	a := &command.Analyzer{World: keptBack{world, "/Users/ann/Documents/"}, Home: "/Users/ann", UID: 500}
	a.SetPath([]string{"/bin", "/usr/bin"})
	for _, row := range []struct {
		cwd  string
		argv []string
		want approval.Reason
	}{
		{"/Users/ann", []string{"./run.sh"}, ""},
		{"/Users/ann/Documents", []string{"./run.sh"}, approval.ReasonUnreadable},
		{"/Users/ann/Documents", []string{"awk", "-f", "a.awk"}, approval.ReasonInlineCode},
	} {
		plan := a.Analyze(t.Context(), &approval.Request{Command: row.argv, Cwd: row.cwd, Who: approval.Ours}, approvaltest.Named(row.cwd))
		var got approval.Reason
		for _, s := range plan.Segments {
			for _, f := range s.Findings {
				got = f.Reason
			}
		}
		if got != row.want || plan.Invalid != "" {
			t.Errorf("%v in %s: %q, want %q (%s)", row.argv, row.cwd, got, row.want, show(plan))
		}
	}
}

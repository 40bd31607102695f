package runner

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// mustStop waits until a run is in the middle, stops it, and expects that it
// is over soon.
func mustStop(t *testing.T, r *Runner, job Job, inTheMiddle func()) approval.Result {
	t.Helper()
	over := make(chan approval.Result, 1)
	go func() { over <- run1(t, r, job) }()
	inTheMiddle()
	if !r.Stop(job.ID) {
		t.Errorf("it was over already: %+v", <-over)
		return approval.Result{}
	}
	var got approval.Result
	eventually(t, "it is over", func() bool {
		select {
		case got = <-over:
			return true
		default:
			return false
		}
	})
	if got.Error != errStopped.Error() {
		t.Errorf("got %+v", got)
	}
	mustBeGone(t, job.ID)
	return got
}

// A process that is not of the run may have got one of its pipes, and neither
// reads it nor lets it go. The run ends all the same.
func TestPipesInStrangeHands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text   string
		fd     string // of the process that says its id
		flag   int
		middle func(t *testing.T, stolen *os.File)
	}{
		"read by a substitution": {`x=$(./say); echo never`, "1", os.O_WRONLY, func(*testing.T, *os.File) {}},
		"written by a loop": {`while true; do echo ` + strings.Repeat("x", 16000) + `; done | ./say`, "0", os.O_RDONLY, func(t *testing.T, stolen *os.File) {
			eventually(t, "the pipe is full", func() bool {
				n, err := unix.IoctlGetInt(int(stolen.Fd()), unix.TIOCINQ)
				must(t, err)
				return n >= chunk-16000
			})
		}},
		"the output": {`./say`, "1", os.O_WRONLY, func(*testing.T, *os.File) {}},
	} {
		t.Run(name, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			r, dir := newRunner(t), scratch(t)
			script(t, filepath.Join(dir, "say"), "#!/bin/sh\necho $$ >pid\nexec sleep 100\n")
			job := scriptJob(t, "bash", dir, test.text)
			var stolen *os.File
			mustStop(t, r, *job, func() {
				pid := pidIn(t, filepath.Join(dir, "pid"))
				var err error
				stolen, err = os.OpenFile("/proc/"+strconv.Itoa(pid)+"/fd/"+test.fd, test.flag, 0)
				must(t, err)
				test.middle(t, stolen)
			})
			stolen.Close()
		})
	}
}

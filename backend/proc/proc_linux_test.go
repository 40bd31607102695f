package proc_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/proc"
)

const starving = "COUNTERSIGN_TEST_STARVING"

// Whoever has no descriptor left cannot look, and must not take that for a
// process that is gone: a run would be over while something of it lives.
func TestStatWithoutDescriptors(t *testing.T) {
	if os.Getenv(starving) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestStatWithoutDescriptors$", "-test.v")
		cmd.Env = append(os.Environ(), starving+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	d, err := os.Open("/proc")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(d.Fd()), Max: 1 << 10}); err != nil {
		t.Fatal(err)
	}
	if info, err := proc.Stat(os.Getpid()); err == nil || errors.Is(err, proc.ErrGone) {
		t.Errorf("got %+v, %v; want an error that does not say gone", info, err)
	}
}

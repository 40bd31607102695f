package proc_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

func TestMain(m *testing.M) { os.Exit(approvaltest.Main{M: m}.Run()) }

// sleeper starts a real process with a mark in its environment.
func sleeper(t *testing.T) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(approvaltest.Program(t, "sleep")) // macOS hides the environments of its own
	cmd.Env = []string{"MARK=a=b", "MARKER=x"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

func TestStat(t *testing.T) {
	child := sleeper(t).Process.Pid
	info, err := proc.Stat(child)
	if err != nil {
		t.Fatal(err)
	}
	if info.PID != child || info.Parent != os.Getpid() || info.Zombie || info.Started == 0 {
		t.Errorf("got %+v, want a living child of %d", info, os.Getpid())
	}
	self, err := proc.Stat(os.Getpid())
	if err != nil || info.Session != self.Session || info.Started < self.Started {
		t.Errorf("child %+v and parent %+v (%v)", info, self, err)
	}
}

func TestStatOfNobody(t *testing.T) {
	child := sleeper(t)
	_ = child.Process.Kill()
	_ = child.Wait()
	if info, err := proc.Stat(child.Process.Pid); !errors.Is(err, proc.ErrGone) {
		t.Errorf("a reaped process: %+v, %v", info, err)
	}
}

func TestFamily(t *testing.T) {
	child := sleeper(t).Process.Pid
	up, err := proc.Ancestors(child)
	if err != nil || len(up) == 0 || up[0].PID != os.Getpid() {
		t.Fatalf("ancestors of the child: %+v, %v", up, err)
	}
	list, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	isChild := func(p proc.Info) bool { return p.PID == child }
	if down := proc.Descendants(up[0].PID, list); !slices.ContainsFunc(down, isChild) {
		t.Errorf("the child is not among the descendants %+v", down)
	}
	if down := proc.Descendants(child, list); len(down) != 0 {
		t.Errorf("descendants of sleep: %+v", down)
	}
}

// A list in which two processes are each other's parent must not hang.
func TestDescendantsOfALoop(t *testing.T) {
	loop := []proc.Info{{PID: 5, Parent: 6}, {PID: 6, Parent: 5}}
	if got := proc.Descendants(5, loop); len(got) != 1 || got[0].PID != 6 {
		t.Errorf("got %+v", got)
	}
}

func TestGetenv(t *testing.T) {
	child := sleeper(t).Process.Pid
	// The kernel sets the environment up a moment after exec has succeeded.
	got, ok := proc.Getenv(child, "MARK")
	for deadline := time.Now().Add(10 * time.Second); !ok && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
		got, ok = proc.Getenv(child, "MARK")
	}
	if !ok || got != "a=b" {
		t.Errorf("MARK is %q, %v", got, ok)
	}
	if got, ok := proc.Getenv(child, "MAR"); ok {
		t.Errorf("MAR is %q, want none", got)
	}
}

func TestExe(t *testing.T) {
	child := sleeper(t)
	open, name, err := proc.Exe(child.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.Stat(open)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(child.Path)
	if err != nil || !os.SameFile(got, want) || !filepath.IsAbs(name) {
		t.Errorf("%s (%s) is not %s: %v", open, name, child.Path, err)
	}
}

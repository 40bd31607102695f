package ipc

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestAside: our own program asks, and does not operate, where somebody else
// decides what it does. The rows but the first run all in one such place.
func TestAside(t *testing.T) {
	for _, row := range []struct {
		name  string
		start func(t *testing.T, cmd *exec.Cmd)
		want  string
	}{
		{"by itself", func(t *testing.T, cmd *exec.Cmd) { must(t, cmd.Run()) }, "may"},
		{"in another user namespace", unshared("-U"), "namespace"},
		{"in another pid namespace", unshared("-U", "-p", "-f"), "namespace"},
		{"traced", traced, "looks into"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := shortDir(t)
			socket, _ := startHost(t)
			must(t, os.WriteFile(filepath.Join(dir, "op.go"), nil, 0o600))
			row.start(t, helperCommand(t, task{Socket: socket, Dir: dir, Hostile: true, Operate: "op"}))
			got, err := os.ReadFile(filepath.Join(dir, "op"))
			must(t, err)
			if !strings.Contains(string(got), row.want) {
				t.Errorf("it operates: %q, want %q", got, row.want)
			}
			row.start(t, helperCommand(t, task{Socket: socket, Dir: dir, Hostile: true, Ask: true}))
			if asked, _ := filepath.Glob(filepath.Join(dir, "asked*")); len(asked) != 1 {
				t.Error("it could not ask")
			}
		})
	}
}

// unshared runs a command in namespaces of its own.
func unshared(flags ...string) func(*testing.T, *exec.Cmd) {
	return func(t *testing.T, cmd *exec.Cmd) {
		t.Helper()
		tool, err := exec.LookPath("unshare")
		if err != nil {
			t.Skip("there is no unshare")
		}
		if out, err := exec.Command(tool, append(flags, "true")...).CombinedOutput(); err != nil {
			t.Skipf("no namespaces here: %s", out)
		}
		cmd.Args = append(append([]string{tool}, flags...), cmd.Path)
		cmd.Path = tool
		must(t, cmd.Run())
	}
}

// traced runs a command with this process as its tracer.
func traced(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	runtime.LockOSThread() // the tracer is a thread
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		t.Skipf("nothing can be traced here: %v", err)
	}
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(cmd.Process.Pid, &status, 0, nil)
		must(t, err)
		if !status.Stopped() {
			if status.ExitStatus() != 0 {
				t.Errorf("it ended with %v", status)
			}
			return
		}
		signal := int(status.StopSignal())
		if signal == int(syscall.SIGTRAP) {
			signal = 0
		}
		must(t, syscall.PtraceCont(cmd.Process.Pid, signal))
	}
}

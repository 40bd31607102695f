package host

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/history"
)

// ownDisk starts a test again where /tmp is a small disk of its own, and reports
// whether it is there.
func ownDisk(t *testing.T, size string) bool {
	t.Helper()
	const inside = "COUNTERSIGN_TEST_DISK"
	if os.Getenv(inside) != "" {
		must(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
		must(t, syscall.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777,size="+size))
		return true
	}
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command("/proc/self/fd/3", "-test.run=^"+t.Name()+"$", "-test.v")
	open, err := os.Open(self) // it may lie in /tmp
	must(t, err)
	defer open.Close()
	cmd.ExtraFiles = []*os.File{open}
	cmd.Dir, cmd.Env = "/", append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig: syscall.SIGKILL, Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("skipped: this system lets nobody mount here: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// fill writes until nothing more fits, and returns how to make room again.
func fill(t *testing.T, dir string) (room func()) {
	t.Helper()
	at := filepath.Join(dir, "fill")
	f, err := os.Create(at)
	must(t, err)
	defer f.Close()
	for _, size := range []int{1 << 16, 1 << 12, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
	}
	return func() { must(t, os.Remove(at)) }
}

// On a disk that is really full nothing runs, and the host says why, judges, and
// keeps all that it told anybody. With room again it goes on by itself.
func TestDiskReallyFull(t *testing.T) {
	if !ownDisk(t, "4m") {
		return
	}
	b := newBench(t, "/bin/echo")
	ctx := context.Background()
	for range 20 {
		if got := b.ask(ctx, b.text("echo x")).String(); got != "code 0" {
			t.Fatal(got)
		}
	}
	must(t, b.history.Sync(ctx))
	policy, err := os.ReadFile(b.opt.State.Approvals())
	must(t, err)
	room := fill(t, b.home)
	ran := 20
	eventually(t, "nothing runs", func() bool {
		got := b.ask(ctx, b.text("echo x")).String()
		if got == "code 0" { // what is there of the file is written first
			ran++
		}
		return got == "refused companion-unavailable"
	})
	if s := b.Status(); !strings.Contains(s.History, "full") || len(s.HistoryAside) > 0 {
		t.Errorf("%+v", s)
	}
	var explained Explanation
	if err := b.call("explain", map[string]any{"command": []string{"echo", "x"}}, &explained); err != nil || explained.Judgement.Verdict != "allow" {
		t.Errorf("judged %s, %v", explained.Judgement.Verdict, err)
	}
	if now, err := os.ReadFile(b.opt.State.Approvals()); err != nil || string(now) != string(policy) {
		t.Errorf("the policy file changed: %v", err)
	}
	room()
	eventually(t, "it runs again", func() bool { return b.ask(ctx, b.text("echo x")).String() == "code 0" })
	must(t, b.history.Sync(ctx))
	done := 0
	for _, row := range b.rows() {
		if row.State == history.Done {
			done++
		}
	}
	if done < ran+1 {
		t.Errorf("%d ran, and of %d the end is in the history", ran+1, done)
	}
	b.again(func(string) {})
	if report, err := b.history.Verify(ctx, ""); err != nil || report.Broken != nil {
		t.Errorf("%+v, %v", report, err)
	}
	if len(b.Status().HistoryAside) > 0 {
		t.Errorf("a full disk was taken for damage: %q", b.Status().HistoryAside)
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// asNobody mounts a folder for a program of root's where no other process sees
// it, and becomes that program as another user.
const asNobody = `mount -t tmpfs -o mode=755 none /mnt && mkdir /mnt/home && chown 65534:65534 /mnt/home &&
cp "$1" /mnt/countersign && chmod 755 /mnt/countersign && shift &&
exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all env -i HOME=/mnt/home PATH=/usr/bin:/bin /mnt/countersign "$@"`

// TestRenew: a host whose program root replaces starts anew, as the same process
// with the same arguments; it does not where its own user or others can write
// what would run.
func TestRenew(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can install for another user")
	}
	if out, err := exec.Command("unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt && setpriv --reuid=65534 true").CombinedOutput(); err != nil {
		t.Skipf("no mounts of our own here: %s", out)
	}
	for name, row := range map[string]struct {
		spoil func(program string) error // what is wrong with the new one
		want  bool
	}{
		"root's":             {func(string) error { return nil }, true},
		"writable by others": {func(p string) error { return os.Chmod(p, 0o777) }, false},
		"of the host's user": {func(p string) error { return os.Chown(p, 65534, 65534) }, false},
		"no program":         {func(p string) error { return os.Chmod(p, 0o644) }, false},
		"setuid":             {func(p string) error { return os.Chmod(p, 0o755|os.ModeSetuid) }, false},
		"in a folder that others can write": {func(p string) error {
			return os.Chmod(strings.TrimSuffix(p, "/countersign.new"), 0o777)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program, err := exec.LookPath("countersign")
			must(t, err)
			cmd := exec.Command("unshare", "-m", "sh", "-ec", asNobody, "sh", program, "--state-dir", "/mnt/home/s", "host", "run", "--ask=nobody", "--no-passphrase")
			log, err := os.Create(filepath.Join(t.TempDir(), "log"))
			must(t, err)
			defer log.Close()
			cmd.Stdout, cmd.Stderr = log, log
			must(t, cmd.Start())
			t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
			said := func() string {
				text, err := os.ReadFile(log.Name())
				must(t, err)
				return string(text)
			}
			starts := func() int { return strings.Count(said(), "Countersign listens on") }
			if !eventually(func() bool { return starts() == 1 }) {
				t.Fatalf("it does not start: %s", said())
			}
			mnt := fmt.Sprintf("/proc/%d/root/mnt", cmd.Process.Pid)
			text, err := os.ReadFile(mnt + "/countersign")
			must(t, err)
			must(t, os.WriteFile(mnt+"/countersign.new", text, 0o755))
			must(t, row.spoil(mnt+"/countersign.new"))
			must(t, os.Rename(mnt+"/countersign.new", mnt+"/countersign"))
			runs := func() string {
				exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", cmd.Process.Pid))
				must(t, err)
				return exe
			}
			if !row.want {
				time.Sleep(2*renewEvery + renewEvery/2)
				if n, exe := starts(), runs(); n != 1 || exe != "/mnt/countersign (deleted)" {
					t.Errorf("it started %d times, and runs %s\n%s", n, exe, said())
				}
				return
			}
			if !eventually(func() bool { return starts() == 2 }) {
				t.Errorf("it does not start again: %s", said())
			}
			if exe := runs(); exe != "/mnt/countersign" {
				t.Errorf("it runs %s", exe)
			}
		})
	}
}

package family_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/proc"
)

// TestSystem has real processes: an asker in a session of its own, and an orphan
// of it that left group and session before anybody looked.
func TestSystem(t *testing.T) {
	me, err := proc.Stat(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	look := family.System()
	told, lost := true, losses{}
	if forks := look.Forks; forks != nil {
		look.Forks = func(b family.Births) (func(), error) {
			stop, err := forks(counted{b, &lost})
			told = err == nil
			return stop, err
		}
	}
	b := family.New(look, proc.ID{}, os.Getuid())
	defer b.Close()
	// The asker waits for a line, then starts a child that starts another one and
	// ends; with setsid both are in sessions of their own.
	asker := exec.Command("sh", "-c", `read x; (setsid sh -c 'setsid sleep 300 & echo $!' &) ; read x`)
	asker.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	in, err := asker.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := asker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := asker.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); asker.Wait() }()
	it, err := proc.Stat(asker.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Take(it.ID(), "main"); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var orphan int
	fmt.Sscan(line, &orphan)
	defer syscall.Kill(orphan, syscall.SIGKILL)
	info, err := proc.Stat(orphan)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Check(it.ID()); err == nil || !strings.Contains(err.Error(), "main") {
		t.Errorf("the asker: %v", err)
	}
	if told {
		for end := time.Now().Add(10 * time.Second); b.Check(info.ID()) == nil; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Logf("an orphan of its own session passes: %+v, %+v", info, b.List())
				lost.late(t)
			}
		}
	}
	if first, err := proc.Stat(1); err == nil && me.PID != 1 {
		if err := b.Check(first.ID()); err != nil {
			t.Errorf("the first process of the machine: %v", err)
		}
	}
}

//go:build desktoptest && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/app/apptest"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// tty is a terminal with a shell that somebody types into.
type tty struct {
	d      *desk
	master *os.File
	mu     sync.Mutex
	text   strings.Builder
}

// shell opens one, as a window of a terminal does.
func (d *desk) shell() *tty {
	d.t.Helper()
	master, slave, _, err := approvaltest.OpenTerminal()
	if err != nil {
		d.t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "--noprofile")
	cmd.Env = append(d.env(), "PS1=ready> ")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	slave.Close()
	tt := &tty{d: d, master: master}
	go func() {
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			tt.mu.Lock()
			tt.text.Write(buf[:n])
			tt.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	d.t.Cleanup(func() {
		if d.t.Failed() {
			d.t.Logf("the terminal shows:\n%s", tt.shows())
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		master.Close()
	})
	return tt
}

func (t *tty) shows() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// types types a line of our command line, with words before it, and forgets what
// the terminal showed.
func (t *tty) types(before string, words ...string) {
	t.d.t.Helper()
	t.mu.Lock()
	t.text.Reset()
	t.mu.Unlock()
	line := fmt.Sprintf("%s%s --state-dir %s %s; echo code=$?\n", before, bin(t.d.t, "countersign"), t.d.state, strings.Join(words, " "))
	if _, err := t.master.WriteString(line); err != nil {
		t.d.t.Fatal(err)
	}
}

// ends waits until the command has ended with this code.
func (t *tty) ends(code int) string {
	t.d.t.Helper()
	var shown string
	t.d.eventually("the command ends", func() bool {
		shown = t.shows()
		return strings.Contains(shown, fmt.Sprintf("code=%d", code))
	})
	return shown
}

// What a person types that loosens comes to the window and counts by its button;
// from a script it does not come, and after a no not for a while.
func TestWindowAcceptsATerminalsChange(t *testing.T) {
	d := newDesk(t, askMe)
	at := filepath.Join(d.state, "exec-approvals.json")
	full := func() bool {
		text, err := os.ReadFile(at)
		return err == nil && strings.Contains(string(text), `"full"`)
	}
	shell := d.shell()
	loosen := []string{"policy", "set", "--agent", "main", "security", "full"}

	shell.types("sh -c '", append(loosen, "; true'")...)
	d.eventually("a script is refused", func() bool { return strings.Contains(shell.ends(0), "this is for its window") })
	shell.types("", loosen...)
	d.wait(apptest.Heading, "bash in ")
	d.shows("Custom: full/on-miss")
	d.shows("If you did not just type this, deny.")
	if full() {
		t.Error("it counts before its button")
	}
	d.press("Accept the change", full)
	shell.ends(0)
	d.eventually("the window is empty", func() bool { return !d.has(apptest.Button, "Accept") })

	shell.types("", "policy", "set", "--agent", "main", "security", "deny") // it tightens
	shell.ends(0)
	shell.types("", loosen...)
	d.wait(apptest.Button, "Accept the change")
	d.press("Deny", func() bool { return !d.has(apptest.Button, "Accept") })
	shell.ends(1)
	shell.types("", loosen...)
	if said := shell.ends(1); !strings.Contains(said, "not wanted") || full() {
		t.Errorf("after a no: %s", said)
	}

	// Another terminal is heard, and its change goes with it.
	other := d.shell()
	other.types("", loosen...)
	d.wait(apptest.Button, "Accept the change")
	if _, err := other.master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	d.eventually("the change is gone", func() bool { return !d.has(apptest.Button, "Accept") })
	if full() {
		t.Error("it counts without its terminal")
	}
}

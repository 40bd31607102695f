//go:build linux || darwin

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSecondHost: a folder has one host. A second one without a terminal says
// so and changes nothing.
func TestSecondHost(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.must(t, "policy", "set", "security", "allowlist")
	background(t, w.asks("--", "uname"))
	question := w.mustQuestions(t, 1)[0]
	before := snapshot(t, w.state.Dir)
	for _, ask := range []string{"nobody", "command-line", "auto"} {
		out, err := w.command("host", "run", "--ask="+ask).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "another Countersign is already listening there") {
			t.Errorf("--ask=%s: %v: %s", ask, err, out)
		}
	}
	if after := snapshot(t, w.state.Dir); after != before {
		t.Errorf("the folder changed from\n%s\nto\n%s", before, after)
	}
	if open := w.mustQuestions(t, 1); open[0].ID != question.ID {
		t.Error("the question is another one")
	}
	w.must(t, "approvals", "deny", question.ID)

	// When the first one has ended, the folder is free.
	w.end(syscall.SIGTERM)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
}

// snapshot describes the files of a folder, but for those of the history,
// which is written all the time.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || strings.HasPrefix(d.Name(), "history.db") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v", path, info.Mode())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(text))
		}
		fmt.Fprintln(&b)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inTerminal starts `host run` in a terminal of its own, below a shell that
// leads the session, as a person would.
func (w *world) inTerminal(t *testing.T) (*terminal, *process) {
	t.Helper()
	term := newTerminal(t)
	cmd := w.program("/bin/sh", "-c", "countersign host run --no-passphrase --operate=anyone; echo ended with $?")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.slave, term.slave, term.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	shell, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		syscall.Kill(-shell.Process.Pid, syscall.SIGTERM) // the shell and the host are one group
		shell.end(syscall.SIGKILL)
	})
	return term, shell
}

// TestPlainPrompt asks in a terminal.
func TestPlainPrompt(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	term, _ := w.inTerminal(t)
	term.shows(t, "Questions come here.")
	w.must(t, "policy", "set", "security", "allowlist")

	ask := func(words ...string) (*process, *bytes.Buffer) {
		cmd, said := w.asks(append([]string{"--agent", "main"}, words...)...), &bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = said, said
		return background(t, cmd), said
	}
	ended := func(p *process, code int, said *bytes.Buffer, want string) {
		t.Helper()
		<-p.over
		if got := p.ProcessState.ExitCode(); got != code || !strings.Contains(said.String(), want) {
			t.Errorf("the caller ended with %d, want %d and %q:\n%s\nthe terminal showed\n%s", got, code, want, said, term.text())
		}
	}

	// Everything that counts is shown.
	p, said := ask("--env", "GREETING=hello", "--wait", "5m", "--", "uname", "-s")
	term.shows(t, "Enter)")
	for _, want := range []string{
		"main wants to run:\n\n    uname -s\n",
		"uname -s → /usr/bin/uname [ask: no entry covers /usr/bin/uname, and it sets GREETING]",
		"folder   " + w.home + "\n",
		"sets     GREETING=hello\n",
		"because  no entry covers /usr/bin/uname, and it sets GREETING (allowlist-miss)\n",
		"asked by ", fmt.Sprintf("process %d", p.Process.Pid),
		"s left, until ", "; 1 waiting\n",
		"always would save: /usr/bin/uname, with GREETING=hello\n",
		"[d]eny (or just Enter)  [o]nce  [a]lways > ",
	} {
		if !strings.Contains(term.text(), want) {
			t.Errorf("the question does not show %q:\n%s", want, term.text())
		}
	}

	// What is typed while it appears was meant for something else.
	mark := len(term.text())
	term.types(t, "once\n")
	if early := term.answers(t, mark, "(typed too early to be meant for this)", "— allow-once."); early {
		if open := w.mustQuestions(t, 1); open[0].CallerGone {
			t.Error("the question was answered")
		}
		answer(t, term, "", "— deny.")
		ended(p, exitDenied, said, "user denied")
	} else {
		t.Log("this machine is too slow to type as early as that")
		ended(p, 0, said, "")
	}

	// Enter alone denies, and a no can say why.
	p, said = ask("--", "uname", "-m")
	term.shows(t, "    uname -m\n")
	answer(t, term, "what?", "Type [d]eny")
	answer(t, term, "", "— deny.")
	ended(p, exitDenied, said, "user denied")
	p, said = ask("--", "uname", "-p")
	term.shows(t, "    uname -p\n")
	answer(t, term, "no it is too loud", "— deny.")
	ended(p, exitDenied, said, "They say: it is too loud.")

	// A high risk says why, and no single letter is a yes to it.
	p, said = ask("--", "rm", "../nothing-is-there")
	term.shows(t, "  risk     high: rm deletes ")
	answer(t, term, "o", "Type [d]eny (or just Enter)  once > ")
	answer(t, term, "y", "Type [d]eny (or just Enter)  once > ")
	answer(t, term, "", "— deny.")
	ended(p, exitDenied, said, "user denied")

	// Once is for this one, always for those that come.
	p, said = ask("--", "uname", "-r")
	term.shows(t, "    uname -r\n")
	answer(t, term, "o", "— allow-once.")
	ended(p, 0, said, ".")
	p, said = ask("--", "uname", "-n")
	term.shows(t, "    uname -n\n")
	answer(t, term, "always", "— allow-always.")
	ended(p, 0, said, "")
	p, said = ask("--", "uname", "-v")
	ended(p, 0, said, "")

	// An answer that comes too late says so.
	p, said = ask("--wait", "1s", "--", "whoami")
	term.shows(t, "    whoami\n")
	ended(p, exitDenied, said, "prompt-expired")
	term.shows(t, "— answered elsewhere, or over.")

	// One whose caller is gone stands beside those that come.
	p, _ = ask("--wait", "5m", "--", "id", "-u")
	term.shows(t, "    id -u\n")
	p.end(syscall.SIGTERM)
	p, said = ask("--wait", "5m", "--", "id", "-g")
	term.shows(t, "    id -g\n")
	answer(t, term, "", "— deny.")
	ended(p, exitDenied, said, "user denied")
}

// answer types an answer, again when it came too early, until the terminal
// shows what it leads to.
func answer(t *testing.T, term *terminal, text, leadsTo string) {
	t.Helper()
	for {
		mark := len(term.text())
		term.types(t, text+"\n")
		if !term.answers(t, mark, "(typed too early to be meant for this)", leadsTo) {
			return
		}
	}
}

// TestTwoTerminals: a second `host run` in a terminal shows the questions of
// the first, and the first answer wins.
func TestTwoTerminals(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	one, _ := w.inTerminal(t)
	one.shows(t, "Questions come here.")
	w.must(t, "policy", "set", "security", "allowlist")
	two, shell := w.inTerminal(t)
	two.shows(t, "A host is already running in "+w.state.Dir)

	p := background(t, w.asks("--agent", "main", "--", "uname", "-s"))
	one.shows(t, "    uname -s\n")
	two.shows(t, "    uname -s\n")
	answer(t, two, "once", "— allow-once.")
	<-p.over
	if code := p.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the caller ended with %d", code)
	}
	one.shows(t, "— answered elsewhere, or over.")

	// The other way round, and from the command line.
	p = background(t, w.asks("--agent", "main", "--", "uname", "-m"))
	one.shows(t, "    uname -m\n")
	two.shows(t, "    uname -m\n")
	answer(t, one, "deny", "— deny.")
	<-p.over
	if code := p.ProcessState.ExitCode(); code != exitDenied {
		t.Errorf("the caller ended with %d", code)
	}
	two.shows(t, "— answered elsewhere, or over.")

	// The one that only shows can go; the host stays.
	two.types(t, "\x03")
	<-shell.over
	if !w.answers() {
		t.Error("the host is gone")
	}
}

// A host that leads the terminal's session, as in a container, lets go of the
// terminal without losing it.
func TestTerminalLeader(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	term := newTerminal(t)
	cmd := w.command("host", "run", "--no-passphrase")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.slave, term.slave, term.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := background(t, cmd)
	if !eventually(func() bool { return strings.Contains(term.text(), "Questions come here.") || p.isOver() }) || p.isOver() {
		t.Fatalf("it ended: %v\n%s", p.ProcessState, term.text())
	}
}

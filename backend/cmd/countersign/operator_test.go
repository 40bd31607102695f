//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

const typedPassphrase = "correct horse battery staple"

// atTerminal starts our command line in a terminal of its own, as a person does.
func (w *world) atTerminal(t *testing.T, words ...string) (*terminal, *process) {
	t.Helper()
	return typedAt(t, w.command(words...))
}

// typedAt has a command lead a terminal of its own.
func typedAt(t *testing.T, cmd *exec.Cmd) (*terminal, *process) {
	t.Helper()
	term := newTerminal(t)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.slave, term.slave, term.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	return term, background(t, cmd)
}

// setPassphrase sets it as a person does.
func (w *world) setPassphrase(t *testing.T) {
	t.Helper()
	term, p := w.atTerminal(t, "operator", "passphrase")
	term.shows(t, "New passphrase")
	term.types(t, typedPassphrase+"\n")
	term.shows(t, "The same again")
	term.types(t, typedPassphrase+"\n")
	<-p.over
	if !p.ProcessState.Success() || strings.Contains(term.text(), typedPassphrase) {
		t.Fatalf("%v\n%s", p.ProcessState, term.text())
	}
}

// loosens runs an edit that loosens, types, and reports whether it was made.
func (w *world) loosens(t *testing.T, value, typed string) (made bool, shown string) {
	t.Helper()
	term, p := w.atTerminal(t, "policy", "set", "--agent", "main", "security", value)
	if typed != "" {
		term.shows(t, "Passphrase to accept ")
		term.types(t, typed+"\n")
	}
	<-p.over
	return p.ProcessState.Success(), term.text()
}

// TestPassphrase: what loosens needs it, what tightens and reads does not, and it
// is shown what would change.
func TestPassphrase(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.setPassphrase(t)
	if err := w.startHost(nil, "host", "run", "--ask=command-line"); err != nil {
		t.Fatal(err)
	}
	// Without a terminal nobody can type.
	out, err := w.command("policy", "set", "--agent", "main", "security", "full").CombinedOutput()
	if err == nil {
		t.Errorf("it was loosened without a terminal: %s", out)
	}
	if made, shown := w.loosens(t, "full", "something else entirely"); made {
		t.Errorf("a wrong passphrase counts:\n%s", shown)
	} else if n := strings.Count(shown, "nothing was changed"); n != 1 {
		t.Errorf("it is told %d times that nothing was changed:\n%s", n, shown)
	}
	made, shown := w.loosens(t, "full", typedPassphrase)
	if !made || !strings.Contains(shown, "  looser   main  Mode: deny/on-miss ") || !strings.Contains(shown, " full/on-miss\n") || !strings.Contains(shown, "\nIf you did not just type this, press Ctrl-C.\nPassphrase to accept 1 change: ") || !strings.Contains(strings.NewReplacer("\n"+fold, "", "\n", "").Replace(shown), w.state.Dir) || strings.Contains(shown, typedPassphrase) {
		t.Errorf("made is %v:\n%s", made, shown)
	}
	for _, words := range [][]string{
		{"policy", "set", "--agent", "main", "security", "allowlist"}, {"policy", "show"}, {"history", "verify"}, {"pause"},
		{"approvals", "add", "--agent", "main", "--deny", "rm"}, {"stop"},
	} {
		w.must(t, words...)
	}
	if out, err := w.command("resume").CombinedOutput(); err == nil {
		t.Errorf("a pause was ended without the person: %s", out)
	}
	term, p := w.atTerminal(t, "resume")
	term.shows(t, "Passphrase to accept ")
	term.types(t, typedPassphrase+"\n")
	<-p.over
	if !p.ProcessState.Success() {
		t.Errorf("the person could not end a pause:\n%s", term.text())
	}
	// Nothing waits, so nobody is asked, with a hash or without.
	for _, words := range [][]string{{"policy", "accept"}, {"policy", "accept", "any"}, {"policy", "reject"}} {
		if out, err := w.command(words...).CombinedOutput(); err == nil || !strings.Contains(string(out), store.ErrNoEdit.Error()) {
			t.Errorf("%q: %v, %s", words, err, out)
		}
	}
	var seen []check
	out, _ = w.command("--json", "doctor").Output() // it ends with 1 where anything is amiss
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(seen, check{"confirms", true, confirmsLine(host.Status{Confirms: []host.Way{host.ByPassphrase}})}) {
		t.Errorf("how the person is known is not told: %+v", seen)
	}
	if slices.ContainsFunc(seen, func(c check) bool { return c.What == "passphrase" }) {
		t.Errorf("the first passphrase is told as a change: %+v", seen)
	}
}

// TestPassphraseForYes: each yes needs it, and a no does not.
func TestPassphraseForYes(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}}`)
	w.setPassphrase(t)
	if err := w.startHost(nil, "host", "run", "--ask=command-line"); err != nil {
		t.Fatal(err)
	}
	question := func() (string, *process) {
		p := background(t, w.asks("--agent", "main", "--", "uname", "-s"))
		open, err := w.questions(1)
		if err != nil {
			t.Fatal(err)
		}
		return open[0].ID, p
	}
	id, asks := question()
	if out, err := w.command("approvals", "approve", id).CombinedOutput(); err == nil {
		t.Errorf("a yes without the passphrase: %s", out)
	}
	term, p := w.atTerminal(t, "approvals", "approve", id)
	term.shows(t, "Passphrase to accept ")
	if !strings.Contains(term.text(), "uname -s") {
		t.Errorf("it does not show the command:\n%s", term.text())
	}
	term.types(t, typedPassphrase+"\n")
	<-p.over
	<-asks.over
	if code := asks.ProcessState.ExitCode(); code != 0 || !p.ProcessState.Success() {
		t.Errorf("the command ended with %d:\n%s", code, term.text())
	}
	id, asks = question()
	w.must(t, "approvals", "deny", id)
	<-asks.over
	if code := asks.ProcessState.ExitCode(); code != exitDenied {
		t.Errorf("a no: %d", code)
	}
}

// TestPassphraseAtHost: in the host's own terminal the next line is the
// passphrase, unseen; the first start offers to set it.
func TestPassphraseAtHost(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	term, _ := w.atTerminal(t, "host", "run")
	for _, step := range []struct {
		asks, typed string
		times       int // that it was asked then
	}{
		{"go on without: ", "too short", 1}, {"go on without: ", typedPassphrase, 2}, {"The same again: ", "another one of them", 1},
		{"go on without: ", typedPassphrase, 3}, {"The same again: ", typedPassphrase, 2},
	} {
		if !eventually(func() bool { return strings.Count(term.text(), step.asks) == step.times }) {
			t.Fatalf("it never asks %q:\n%s", step.asks, term.text())
		}
		term.types(t, step.typed+"\n")
	}
	term.shows(t, "Questions come here.")
	if strings.Contains(term.text(), typedPassphrase) {
		t.Errorf("the passphrase is seen:\n%s", term.text())
	}
	if made, shown := w.loosens(t, "allowlist", typedPassphrase); !made {
		t.Fatal(shown)
	}
	if made, shown := w.loosens(t, "allowlist", ""); !made {
		t.Fatal("what changes nothing asked: ", shown)
	}
	for _, row := range []struct {
		option, typed string
		code          int
	}{{"-s", typedPassphrase, 0}, {"-m", "once", exitDenied}} {
		p := background(t, w.asks("--agent", "main", "--wait", "5m", "--", "uname", row.option))
		mark := len(term.text())
		term.shows(t, "    uname "+row.option+"\n")
		answer(t, term, "once", "Passphrase to accept this: ")
		if since := term.text()[mark:]; !strings.Contains(since, "Allows once, for agent main: uname "+row.option) || !strings.Contains(since, w.state.Dir) {
			t.Errorf("what is signed is not shown:\n%s", since)
		}
		term.types(t, row.typed+"\n")
		if row.code == 0 {
			<-p.over
			if code := p.ProcessState.ExitCode(); code != row.code {
				t.Errorf("the command ended with %d:\n%s", code, term.text()[mark:])
			}
			continue
		}
		term.shows(t, "wrong passphrase")
	}
}

// TestPassphraseWithoutHost: an edit that no host sees wants it too, be it that
// none runs or that its lock was taken away.
func TestPassphraseWithoutHost(t *testing.T) {
	t.Parallel()
	for name, gone := range map[string]func(*testing.T, *world){
		"none runs": func(t *testing.T, w *world) { w.end(syscall.SIGTERM) },
		"its lock is taken away": func(t *testing.T, w *world) {
			if err := errors.Join(os.Remove(w.state.Lock()), os.Remove(w.state.Socket())); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testWorld(t)
			w.setPassphrase(t)
			if err := w.startHost(nil, "host", "run", "--ask=command-line"); err != nil {
				t.Fatal(err)
			}
			gone(t, w)
			w.must(t, "approvals", "add", "--deny", "/usr/bin/shred") // tightens
			full := func() bool {
				text, err := os.ReadFile(w.state.Approvals())
				if err != nil {
					t.Fatal(err)
				}
				return bytes.Contains(text, []byte(`"full"`))
			}
			if out, err := w.command("policy", "set", "security", "full").CombinedOutput(); err == nil || full() {
				t.Errorf("an edit that nobody signed is made: %s", out)
			}
			if made, shown := w.loosens(t, "full", "another one of them"); made || full() {
				t.Error("a wrong one is taken: ", shown)
			}
			if made, shown := w.loosens(t, "full", typedPassphrase); !made || !full() || !strings.Contains(shown, "full") {
				t.Error("the right one is not taken: ", shown)
			}
		})
	}
}

// TestMoreThanCanBeShown: what is not shown whole is not signed, without a host either.
func TestMoreThanCanBeShown(t *testing.T) {
	p := &program{ctx: t.Context(), state: paths.State{Dir: t.TempDir()}, signer: filepath.Join(t.TempDir(), "none")}
	key, err := operator.New([]byte(typedPassphrase))
	if err != nil {
		t.Fatal(err)
	}
	if err := key.Write(p.state.OperatorPublic()); err != nil {
		t.Fatal(err)
	}
	for lines, refused := range map[int]bool{store.MaxReasons: false, store.MaxReasons + 1: true} {
		if err := p.agree("policy.set", nil, make([]string, lines)); err == nil || errors.Is(err, host.ErrTooMuch) != refused {
			t.Errorf("%d lines: %v", lines, err)
		}
	}
}

// TestFirstStartIsProven: a host at which a passphrase was typed is closed to nobody
// who must look at it, whether one was set or not.
func TestFirstStartIsProven(t *testing.T) {
	t.Parallel()
	for name, typed := range map[string][]string{"set": {typedPassphrase, typedPassphrase}, "declined": {""}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := testWorld(t)
			term, _ := typedAt(t, powerless(w.command("host", "run")))
			for i, line := range typed {
				term.shows(t, []string{"go on without: ", "The same again: "}[i])
				term.types(t, line+"\n")
			}
			term.shows(t, "Questions come here.")
			if out, err := powerless(w.command("policy", "show")).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			if _, err := os.Stat(w.state.OperatorPublic()); (err == nil) != (typed[0] != "") {
				t.Error(err)
			}
		})
	}
}

// powerless takes root's powers from a command, where there are any: to look into
// each process is one of them.
func powerless(cmd *exec.Cmd) *exec.Cmd {
	if at, err := exec.LookPath("setpriv"); err == nil && os.Getuid() == 0 {
		cmd.Args = append([]string{at, "--bounding-set=-all", "--inh-caps=-all", cmd.Path}, cmd.Args[1:]...)
		cmd.Path = at
	}
	return cmd
}

// TestSignedElsewhere: a key that only root can change signs through another
// program, and none that the user could have written.
func TestSignedElsewhere(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root makes files of root")
	}
	t.Parallel()
	w := testWorld(t)
	base, err := os.MkdirTemp("/var/lib", "keys")
	if err != nil {
		t.Skip("root can make no folder below /var/lib here:", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	key, err := operator.New([]byte(typedPassphrase))
	if err != nil {
		t.Fatal(err)
	}
	at, mine, secret := filepath.Join(base, "operators"), filepath.Join(w.home, "my.pub"), filepath.Join(w.home, "secret")
	for _, path := range []string{at, mine} {
		if err := key.Write(path); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(secret, []byte(typedPassphrase+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := w.command("host", "run", "--ask=nobody", "--operator-key", mine).CombinedOutput(); err == nil || !bytes.Contains(out, []byte("root")) {
		t.Fatalf("a key that anyone writes: %v %s", err, out)
	}
	if err := w.startHost(nil, "host", "run", "--ask=nobody", "--operator-key", at); err != nil {
		t.Fatal(err)
	}
	sign := "countersign operator sign --key '" + mine + "' --secret '" + secret + "'"
	w.must(t, "--signer", sign, "policy", "set", "security", "full")
	for _, bad := range []string{"cat", "echo '\"AAAA\"'", "false", "countersign operator sign --secret '" + secret + "'"} {
		if out, err := w.command("--signer", bad, "policy", "set", "ask", "off").CombinedOutput(); err == nil {
			t.Errorf("signed by %s: %s", bad, out)
		}
	}
}

// TestPassphraseChanges: who changes it knows the one until now, and no host runs.
func TestPassphraseChanges(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.setPassphrase(t)
	term, p := w.atTerminal(t, "operator", "passphrase")
	term.shows(t, "The passphrase until now: ")
	term.types(t, "not the right one\n")
	<-p.over
	if p.ProcessState.Success() {
		t.Errorf("it could be changed:\n%s", term.text())
	}
	if err := w.startHost(nil, "host", "run", "--ask=nobody"); err != nil {
		t.Fatal(err)
	}
	term, p = w.atTerminal(t, "operator", "passphrase")
	<-p.over
	term.shows(t, "host is running")
	if p.ProcessState.Success() {
		t.Error("it was changed under a host")
	}
}

// TestPageHeight: a page goes on the screen with what is asked below it.
func TestPageHeight(t *testing.T) {
	for height, want := range map[int]int{0: 20, 1: 1, 3: 1, 12: 10, 22: 20, 100: 20} {
		if got := pageOf(height); got != want {
			t.Errorf("a terminal of %d rows shows %d", height, got)
		}
	}
}

// TestPages: a text longer than a screen is shown in parts, each letter of it.
func TestPages(t *testing.T) {
	for _, row := range []struct {
		text  string
		width int
		want  []string
	}{
		{"a\nb", 20, []string{"a", "b"}},
		{"abcdef", 4, []string{"abcd", "ef"}},
		{"日本語", 4, []string{"日本", "語"}},
		{"a\x1b[2Jb\u202ec", 80, []string{`a\u{1B}[2Jb\u{202E}c`}},
		{"", 80, []string{""}},
		// No part of a line looks like another line.
		{"  rm x; #            Asked by zsh", 20, []string{"  rm x; #           ", "     Asked by zsh"}},
		{strings.Repeat("a", 40), 20, []string{strings.Repeat("a", 20), "    " + strings.Repeat("a", 16), "    aaaa"}},
	} {
		if got := rows(row.text, row.width); strings.Join(got, "\n") != strings.Join(row.want, "\n") {
			t.Errorf("%q: %q", row.text, got)
		}
	}
}

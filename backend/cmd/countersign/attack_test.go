//go:build linux || darwin

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/paths"
)

// orders tell the program attack what to try. It has everything that a
// program of the user can read: the token, the operator key, and our binary.
type orders struct {
	Home, Socket, State string
	Token, Key          string
	Ours                string // our own program
	Attack              string // a link to it, by which it is this one
	Out                 string // folder for reports
	Question, Run       string // an open question, and a run of somebody else
	Ways                []string
	Captured            [][]byte // frames that the operator signed
	Terminal            string   // that of the host
	Ask                 bool     // ask before trying
}

// attempt is what came of one try.
type attempt struct {
	Way, What string
	Got       string
}

// attack is `attack ORDERS` or `attack ORDERS WAY PARENT`, which tries
// everything from the place where it stands, as soon as PARENT is gone.
func attack(args []string) int {
	var o orders
	text, err := os.ReadFile(args[0])
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err == nil {
		if len(args) == 1 {
			err = o.lead(args[0])
		} else {
			err = o.stand(args[0], args[1], args[2])
		}
	}
	if err != nil {
		return complain("attack:", err)
	}
	return 0
}

// lead tries what one process can, and starts others that stand elsewhere.
func (o orders) lead(file string) error {
	if o.Ask {
		if got := o.claim("true"); !strings.Contains(got, "prompt-expired") {
			return fmt.Errorf("it could not ask: %s", got)
		}
	} else if err := o.report("alone", o.alone()); err != nil {
		return err
	}
	for _, way := range o.Ways {
		if way == "itself" {
			if err := o.report(way, o.everything(way)); err != nil {
				return err
			}
			continue
		}
		if err := o.send(file, way); err != nil {
			return fmt.Errorf("%s: %w", way, err)
		}
		if !eventually(func() bool { _, err := os.Stat(o.reportFile(way)); return err == nil }) {
			return fmt.Errorf("%s did not report", way)
		}
	}
	return nil
}

// send starts a process that tries everything from another place.
func (o orders) send(file, way string) error {
	cmd := exec.Command(o.Attack, file, way, "0")
	switch way {
	case "a child":
	case "a session of its own", "a daemon", "a daemon with nothing in its environment":
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	case "a copy of our program":
		copied := filepath.Join(o.Out, "copied")
		if err := os.MkdirAll(copied, 0o700); err != nil {
			return err
		}
		for _, name := range []string{"attack", "countersign"} {
			text, err := os.ReadFile(o.Ours)
			if err == nil {
				err = os.WriteFile(filepath.Join(copied, name), text, 0o700)
			}
			if err != nil {
				return err
			}
		}
		cmd = exec.Command(filepath.Join(copied, "attack"), file, way, "0")
	}
	if way == "a daemon with nothing in its environment" {
		cmd.Env = []string{"GORACE=atexit_sleep_ms=0"}
	}
	return cmd.Run()
}

// stand becomes a daemon if that is the way, and tries everything.
func (o orders) stand(file, way, parent string) error {
	if strings.HasPrefix(way, "a daemon") {
		if parent == "0" {
			cmd := exec.Command(o.Attack, file, way, fmt.Sprint(os.Getpid()))
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			return cmd.Start() // and end, so that it has no parent
		}
		if !eventually(func() bool { return fmt.Sprint(os.Getppid()) != parent }) {
			return errors.New("its parent does not end")
		}
	}
	if way == "a copy of our program" {
		o.Ours = filepath.Join(o.Out, "copied", "countersign")
	}
	return o.report(way, o.everything(way))
}

func (o orders) reportFile(way string) string {
	return filepath.Join(o.Out, strings.ReplaceAll(way, " ", "-")+".json")
}

func (o orders) report(way string, tries []attempt) error {
	text, err := json.Marshal(tries)
	if err == nil {
		err = os.WriteFile(o.reportFile(way)+".part", text, 0o600)
	}
	if err == nil {
		err = os.Rename(o.reportFile(way)+".part", o.reportFile(way))
	}
	return err
}

// everything tries every method that answers, loosens or stops, with frames
// of its own and through our own program.
func (o orders) everything(way string) (tries []attempt) {
	entry := map[string]any{"pattern": "/**"}
	for _, call := range []struct {
		method string
		params any
	}{
		{"running.stop", map[string]any{"id": o.Run}},
		{"pending.answer", map[string]any{"id": o.Question, "decision": "allow-once"}},
		{"pending.answer", map[string]any{"id": o.Question, "decision": "allow-always"}},
		{"pending.answer", map[string]any{"id": o.Question, "decision": "deny"}},
		{"pending.hold", map[string]any{"id": o.Question, "on": true}},
		{"policy.set", map[string]any{"field": "security", "value": "full"}},
		{"policy.accept", map[string]any{"hash": o.heldHash()}},
		{"policy.reject", nil},
		{"entries.add", map[string]any{"agentId": "*", "entry": entry}},
		{"entries.remove", map[string]any{"agentId": "*", "which": "/usr/bin/id"}},
		{"start.take", map[string]any{"start": "developer-tools"}},
		{"leases.end", nil},
		{"skills.use", map[string]any{"agentId": "*", "skill": map[string]any{"name": "id", "path": "/usr/bin/id"}}},
		{"environment.read", nil},
		{"pause", map[string]any{}},
		{"resume", nil},
		{"stop", nil},
	} {
		tries = append(tries, attempt{way, "frame " + call.method, o.call(o.Key, call.method, call.params)})
	}
	tries = append(tries, attempt{way, "frame with the token", o.call(o.Token, "policy.set", map[string]any{"field": "security", "value": "full"})})
	for _, words := range [][]string{
		{"approvals", "approve", o.Question},
		{"approvals", "approve", "--always", o.Question},
		{"approvals", "deny", o.Question},
		{"approvals", "hold", o.Question},
		{"approvals", "add", "/**"},
		{"approvals", "remove", "/usr/bin/id"},
		{"policy", "set", "security", "full"},
		{"policy", "start", "developer-tools"},
		{"policy", "set", "--agent", "main", "ask", "off"},
		{"policy", "reject"},
		{"policy", "skills", "accept", "/usr/bin/id"},
		{"running", "stop", o.Run},
	} {
		cmd := exec.Command(o.Ours, append([]string{"--state-dir", o.State}, words...)...)
		cmd.Env = []string{"HOME=" + o.Home, "GORACE=atexit_sleep_ms=0"}
		out, err := cmd.CombinedOutput()
		got := fmt.Sprintf("%v: %s", err, out)
		if err == nil {
			got = "it worked: " + got
		}
		tries = append(tries, attempt{way, "countersign " + words[0] + " " + words[1], got})
	}
	return tries
}

func (o orders) call(key, method string, params any) string {
	f := foreign{o.Socket, key}
	text, err := f.say(f.frame("call", key, time.Now().UnixMilli(), map[string]any{"method": method, "params": params}))
	if err != nil {
		return err.Error()
	}
	return text
}

// claim asks to run a program that needs a question, and claims that the
// answer is known already.
func (o orders) claim(command ...string) string {
	f := foreign{o.Socket, o.Token}
	request := with(foreignRequest(command...), "cwd", o.Out)
	request = with(request, "agentId", "main")
	request = with(request, "deadlineMs", time.Now().Add(1300*time.Millisecond).UnixMilli())
	if !o.Ask {
		request = with(request, "approvalDecision", "allow-always")
		request = with(request, "policySnapshot", map[string]any{"security": "full", "ask": "off"})
	}
	text, err := f.say(f.exec(request))
	if err != nil {
		return err.Error()
	}
	return text
}

// alone tries what needs no other place to stand.
func (o orders) alone() (tries []attempt) {
	try := func(what, got string) { tries = append(tries, attempt{"alone", what, got}) }
	for i, frame := range o.Captured {
		text, err := foreign{o.Socket, ""}.say(frame)
		try(fmt.Sprintf("captured frame %d", i), fmt.Sprintf("%s%v", text, err))
	}
	try("claim", o.claim("/usr/bin/touch", "claimed"))

	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		unix.Close(tty)
	}
	try("/dev/tty", fmt.Sprint(err))
	if os.Geteuid() != 0 {
		try("typing", fmt.Sprint(o.typeInto()))
	}
	second := exec.Command(o.Ours, "--state-dir", o.State, "host", "run", "--ask=nobody", "--operate=anyone")
	second.Env = []string{"HOME=" + o.Home, "SHELL=/bin/sh", "GORACE=atexit_sleep_ms=0"}
	out, err := second.CombinedOutput()
	try("a second host", fmt.Sprintf("%v: %s", err, out))
	return append(tries, o.edits()...)
}

// typeInto types into the terminal of the host.
func (o orders) typeInto() error {
	tty, err := unix.Open(o.Terminal, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(tty)
	return unix.IoctlSetPointerInt(tty, unix.TIOCSTI, 'a')
}

func (o orders) approvals() string { return paths.State{Dir: o.State}.Approvals() }

// heldHash names the edit that waits, "" for none.
func (o orders) heldHash() string {
	_, after, _ := strings.Cut(o.call(o.Token, "status", nil), `"heldHash":"`)
	hash, _, _ := strings.Cut(after, `"`)
	return hash
}

// change is the name of the step from one policy to another.
func change(from, to []byte) string {
	hash := func(text []byte) string { sum := sha256.Sum256(text); return hex.EncodeToString(sum[:]) }
	return hash([]byte(hash(from) + " " + hash(to)))
}

// edits writes looser policies over the file, in every way, and then also
// over the versions that are kept of it. After each it waits until the host
// has seen it.
func (o orders) edits() (tries []attempt) {
	file := o.approvals()
	was, err := os.ReadFile(file)
	if err != nil {
		return []attempt{{"alone", "edit", err.Error()}}
	}
	looser := func(mark string) []byte {
		text := strings.Replace(string(was), `"security": "allowlist"`, `"security": "full"`, 1)
		return []byte(text + strings.Repeat(" ", len(mark)) + "\n")
	}
	for _, edit := range []struct {
		how string
		do  func(text []byte) error
	}{
		{"in place", func(text []byte) error { return os.WriteFile(file, text, 0o600) }},
		{"by a rename", func(text []byte) error {
			return errors.Join(os.WriteFile(file+".mine", text, 0o600), os.Rename(file+".mine", file))
		}},
		{"with its kept versions", func(text []byte) error {
			kept, err := filepath.Glob(filepath.Join(paths.State{Dir: o.State}.Backups(), "*"))
			for _, k := range kept {
				err = errors.Join(err, os.WriteFile(k, text, 0o600))
			}
			return errors.Join(err, os.WriteFile(file, text, 0o600))
		}},
	} {
		text := looser(edit.how)
		got := "the host did not see it"
		if err := edit.do(text); err != nil {
			got = err.Error()
		} else if eventually(func() bool { return o.heldHash() == change(was, text) }) {
			got = o.call(o.Token, "status", nil)
		}
		tries = append(tries, attempt{"alone", "edit " + edit.how, got})
	}
	return tries
}

//go:build linux || darwin

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/ipc"
)

// denies reports whether a hook said no in the words of its agent, for a reason
// where those have one ("" for any).
func (e ended) denies(agent, event string, reason approval.Reason) bool {
	var said struct {
		Decision, Behavior, Permission, PermissionDecision, Reason string
		Specific                                                   struct {
			PermissionDecision string
			Decision           json.RawMessage
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(e.stdout), &said) != nil || e.code != 0 {
		return false
	}
	switch agent {
	case "claude-code", "codex":
		if event == "PermissionRequest" {
			return strings.Contains(string(said.Specific.Decision), `"behavior":"deny"`)
		}
		return said.Specific.PermissionDecision == "deny"
	case "vscode":
		return said.Specific.PermissionDecision == "deny"
	case "copilot":
		return said.Behavior == "deny" || said.PermissionDecision == "deny"
	case "cursor":
		return said.Permission == "deny"
	case "gemini":
		return said.Decision == "deny"
	case "generic":
		return said.Decision == "deny" && (reason == "" || said.Reason == string(reason))
	}
	return false
}

// deniedHooks checks that everything is denied in a world, whoever asks.
func deniedHooks(t *testing.T, w *world, reason approval.Reason, flags ...string) {
	t.Helper()
	for _, event := range []string{"PermissionRequest", "PreToolUse"} {
		if got := w.hook(t, claudeAsks(event, "make"), append([]string{"claude-code"}, flags...)...); !got.denies("claude-code", event, "") {
			t.Errorf("%s: %+v", event, got)
		}
	}
	if got := w.hook(t, genericAsks, append([]string{"generic"}, flags...)...); !got.denies("generic", "tool", reason) {
		t.Errorf("generic: %+v", got)
	}
}

// dialect is how an agent asks its hook about a command or about reading a file.
type dialect struct {
	agent, event string
	// silent tells that the agent goes its own way where the hook says nothing, by
	// a question in the mode "default".
	silent  bool
	command func(cwd, mode, text string) any
	read    func(cwd, mode, path string) any // nil where it has no such event
}

type fields = map[string]any

func claudeCall(event, cwd, mode, tool string, input fields) any {
	return fields{"hook_event_name": event, "session_id": "s", "cwd": cwd, "permission_mode": mode, "tool_name": tool, "tool_input": input}
}

func dialects() []dialect {
	like := func(agent, event string, read bool) dialect {
		d := dialect{agent: agent, event: event, silent: true, command: func(cwd, mode, text string) any {
			return claudeCall(event, cwd, mode, "Bash", fields{"command": text, "description": "x"})
		}}
		if read {
			d.read = func(cwd, mode, path string) any {
				return claudeCall(event, cwd, mode, "Read", fields{"file_path": path})
			}
		}
		return d
	}
	return []dialect{
		like("claude-code", "PreToolUse", true), like("claude-code", "PermissionRequest", true),
		like("codex", "PreToolUse", false), like("codex", "PermissionRequest", false),
		{agent: "gemini", event: "BeforeTool",
			command: func(cwd, _, text string) any {
				return fields{"hook_event_name": "BeforeTool", "session_id": "s", "cwd": cwd, "tool_name": "run_shell_command", "tool_input": fields{"command": text}}
			},
			read: func(cwd, _, path string) any {
				return fields{"hook_event_name": "BeforeTool", "session_id": "s", "cwd": cwd, "tool_name": "read_file", "tool_input": fields{"file_path": path}}
			}},
		{agent: "copilot", event: "preToolUse",
			command: func(cwd, _, text string) any {
				return fields{"sessionId": "s", "cwd": cwd, "toolName": "bash", "toolArgs": fields{"command": text}}
			},
			read: func(cwd, _, path string) any {
				return fields{"sessionId": "s", "cwd": cwd, "toolName": "view", "toolArgs": fields{"path": path}}
			}},
		{agent: "vscode", event: "PreToolUse",
			command: func(cwd, _, text string) any {
				return fields{"hookEventName": "PreToolUse", "sessionId": "s", "cwd": cwd, "tool_name": "run_in_terminal", "tool_input": fields{"command": text}}
			},
			read: func(cwd, _, path string) any {
				return fields{"hookEventName": "PreToolUse", "sessionId": "s", "cwd": cwd, "tool_name": "read_file", "tool_input": fields{"filePath": path}}
			}},
		{agent: "cursor", event: "beforeShellExecution",
			command: func(cwd, _, text string) any {
				return fields{"hook_event_name": "beforeShellExecution", "conversation_id": "s", "cwd": cwd, "command": text}
			},
			read: func(cwd, _, path string) any {
				return fields{"hook_event_name": "beforeReadFile", "conversation_id": "s", "cwd": cwd, "file_path": path}
			}},
		{agent: "generic", event: "tool", silent: true,
			command: func(cwd, _, text string) any {
				return fields{"version": 1, "tool": "bash_execute", "args": fields{"command": text}, "cwd": cwd}
			},
			read: func(cwd, _, path string) any {
				return fields{"version": 1, "tool": "file_read", "args": fields{"path": path}, "cwd": cwd}
			}},
	}
}

func (d dialect) ask(t *testing.T, w *world, input any, flags ...string) ended {
	t.Helper()
	text, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	return w.hook(t, string(text), append([]string{d.agent}, flags...)...)
}

// withoutHost is a world whose host was killed: its policy asks, denies a program,
// and has an entry. A copy of what was accepted lies beside the file.
func withoutHost(t *testing.T) (w *world, project string) {
	t.Helper()
	w = testWorld(t)
	w.policy(t, `{"version": 1, "socket": {"token": "t"}, "defaults": {"security": "allowlist", "ask": "on-miss", "denylist": [{"pattern": "touch"}]},
		"agents": {"*": {"allowlist": [{"pattern": "uname"}]}}, "projects": [{"path": "`+w.home+`/project"}]}`)
	if err := w.start("--ask=nobody"); err != nil {
		t.Fatal(err)
	}
	w.end(syscall.SIGKILL)
	project = filepath.Join(w.home, "project")
	for name, text := range map[string]string{"project/main.go": "package main", ".ssh/id_ed25519": "secret", "project/.env": "secret"} {
		at := filepath.Join(w.home, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return w, project
}

// TestKilledHost: to kill the host loosens nothing. What the denylist, the floor,
// secrets, our files and our verbs deny stays denied in the words of each agent and
// in each mode; what is only asked about is the agent's to ask, and where its mode
// asks nobody, denied.
func TestKilledHost(t *testing.T) {
	approvaltest.Long(t)
	w, project := withoutHost(t)
	for _, d := range dialects() {
		t.Run(d.agent+" "+d.event, func(t *testing.T) {
			for _, text := range []string{
				"touch x", "ls && touch x", "rm -rf /", "cat .env", "cat ~/.ssh/id_ed25519", "cat " + w.state.Approvals(), "echo x >> ~/.bashrc", "cat < .env", "cat 3< .env", "{ cat; } < ~/.ssh/id_ed25519", "while read l; do echo $l; done < .env", "echo $(<.env)", "echo x > " + w.state.Approvals(),
				"countersign policy set security full", "countersign approvals approve 1",
			} {
				for _, mode := range []string{"default", "bypassPermissions"} {
					if got := d.ask(t, w, d.command(project, mode, text)); !got.denies(d.agent, d.event, "") {
						t.Errorf("%s, %s: %+v", mode, text, got)
					}
				}
			}
			for _, mode := range []string{"default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions", "", "invented"} {
				asks := d.silent && (mode == "default" || d.event != "PreToolUse")
				if got := d.ask(t, w, d.command(project, mode, "make install")); got.denies(d.agent, d.event, "") == asks {
					t.Errorf("%s, what is asked about: %+v", mode, got)
				}
				if got := d.ask(t, w, d.command(project, mode, "uname -a")); got.denies(d.agent, d.event, "") == d.silent {
					t.Errorf("%s, what an entry allows: %+v", mode, got)
				}
			}
			if d.read == nil {
				return
			}
			for path, denied := range map[string]bool{
				filepath.Join(project, ".env"): true, filepath.Join(w.home, ".ssh/id_ed25519"): true, w.state.Approvals(): true, filepath.Join(project, "main.go"): !d.silent,
			} {
				if got := d.ask(t, w, d.read(project, "bypassPermissions", path)); got.denies(d.agent, d.event, "") != denied {
					t.Errorf("read %s: %+v", path, got)
				}
			}
		})
	}
}

// TestKilledHostSettings: the mode asks, and the person's own rules let the call
// pass without.
func TestKilledHostSettings(t *testing.T) {
	for _, c := range []struct {
		agent, file, text string
		denied            bool
	}{
		{"claude-code", ".claude/settings.json", `{"permissions": {"allow": ["Bash(make:*)"]}}`, true},
		{"claude-code", "project/.claude/settings.local.json", `{"permissions": {"allow": ["Bash"]}}`, true},
		{"claude-code", "project/.claude/settings.json", `{"sandbox": {"enabled": true}}`, true},
		{"claude-code", "project/.claude/settings.json", `{"permissions": {"allow": ["Edit", "mcp__wiki"]}}`, false},
		{"claude-code", ".claude/settings.json", `{"permissions": `, true},
		{"claude-code", ".claude/settings.json", `{"permissions": {"deny": ["Bash"]}}`, false},
		{"codex", ".codex/config.toml", "sandbox_mode = \"danger-full-access\"\n", true},
		{"codex", ".codex/rules/default.rules", `prefix_rule(pattern=["make"], decision="allow")`, true},
		{"codex", ".codex/config.toml", "model = \"x\"\n", false},
	} {
		w, project := withoutHost(t)
		at := filepath.Join(w.home, c.file)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		d := dialect{agent: c.agent, event: "PreToolUse"}
		if got := d.ask(t, w, claudeCall("PreToolUse", project, "default", "Bash", fields{"command": "make install"})); got.denies(c.agent, d.event, "") != c.denied {
			t.Errorf("%s %s %s: %+v", c.agent, c.file, c.text, got)
		}
	}
}

// TestKilledHostPolicy: a policy file that was changed since does not loosen: the
// stricter of it and of what was accepted holds, and a broken one denies all.
func TestKilledHostPolicy(t *testing.T) {
	full := `{"version": 1, "socket": {"token": "t"}, "defaults": {"security": "full", "ask": "off"}, "agents": {"*": {"allowlist": [{"pattern": "make"}, {"pattern": "touch"}]}}}`
	d := dialects()[0]
	for _, c := range []struct {
		name, policy string
		text         string
		denied       bool
	}{
		{"looser", full, "touch x", true},
		{"looser, nobody asked", full, "make install", true},
		{"stricter", `{"version": 1, "socket": {"token": "t"}, "defaults": {"security": "deny"}}`, "uname -a", true},
		{"broken", `{"version": 1,`, "uname -a", true},
		{"empty", "", "uname -a", true},
		{"gone", "-", "uname -a", true},
	} {
		w, project := withoutHost(t)
		err := os.Remove(w.state.Approvals())
		if err == nil && c.policy != "-" {
			err = os.WriteFile(w.state.Approvals(), []byte(c.policy), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if got := d.ask(t, w, d.command(project, "bypassPermissions", c.text)); got.denies(d.agent, d.event, "") != c.denied {
			t.Errorf("%s: %s: %+v", c.name, c.text, got)
		}
		for _, d := range dialects() {
			if c.name != "broken" {
				break
			}
			if got := d.ask(t, w, d.command(project, "default", c.text)); !got.denies(d.agent, d.event, "") {
				t.Errorf("%s, %s: %+v", c.name, d.agent, got)
			}
		}
	}
}

// TestSilentHost: a host that is stopped, with its socket or without, is there. Nothing is judged without it, and the answer at the deadline is no.
func TestSilentHost(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(w *world) error
	}{
		{"stopped", func(w *world) error { return w.host.Process.Signal(syscall.SIGSTOP) }},
		{"stopped, without a socket", func(w *world) error { // one that moves makes another socket
			return errors.Join(w.host.Process.Signal(syscall.SIGSTOP), os.Remove(w.state.Socket()))
		}},
	} {
		w := testWorld(t)
		w.policy(t, `{"version": 1, "socket": {"token": "t"}, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"*": {"allowlist": [{"pattern": "uname"}]}}}`)
		if err := w.start("--ask=nobody"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.host.Process.Signal(syscall.SIGCONT) })
		if err := c.make(w); err != nil {
			t.Fatal(err)
		}
		for _, d := range dialects() {
			if got := d.ask(t, w, d.command("/", "default", "uname -a"), "--timeout=1s"); !got.denies(d.agent, d.event, "") {
				t.Errorf("%s: %s %s: %+v", c.name, d.agent, d.event, got)
			}
		}
		w.host.Process.Signal(syscall.SIGCONT)
	}
}

// TestHeldLock: Held sees a lock that another process has, and leaves a free one.
func TestHeldLock(t *testing.T) {
	w := hookWorld(t)
	if ipc.Held(w.state.Lock()) {
		t.Error("held, and there is none")
	}
	lock, err := ipc.Hold(w.state.Lock())
	if err != nil {
		t.Fatal(err)
	}
	if !ipc.Held(w.state.Lock()) {
		t.Error("not held")
	}
	lock.Close()
	if ipc.Held(w.state.Lock()) {
		t.Error("held after it was let go")
	}
}

// TestLockedWithoutHost: what holds the lock and answers with something else, or
// hangs up, is none to be judged without either.
func TestLockedWithoutHost(t *testing.T) {
	for _, answer := range []string{"", "yes\n", `{"type":"call-res","id":"ID","ok":true,"payload":{}}` + "\n"} {
		w := hookWorld(t)
		answers(t, w, answer)
		deniedHooks(t, w, approval.ReasonCompanion)
	}
}

// TestHostEndsBetween: the host is killed while a hook waits for its answer.
func TestHostEndsBetween(t *testing.T) {
	w := testWorld(t)
	w.policy(t, `{"version": 1, "socket": {"token": "t"}, "defaults": {"security": "allowlist", "ask": "on-miss"}}`)
	if err := w.start("--ask=command-line"); err != nil {
		t.Fatal(err)
	}
	input := fmt.Sprintf(`{"version": 1, "tool": "bash_execute", "args": {"command": "cat %s/.ssh/id_rsa"}, "cwd": "/"}`, w.home)
	done := make(chan ended, 1)
	go func() { done <- w.hook(t, input, "generic") }()
	for end := time.Now().Add(patience); ; {
		out, _ := w.command("approvals", "pending", "--json").Output()
		if strings.Contains(string(out), "id_rsa") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the question does not come")
		}
		time.Sleep(20 * time.Millisecond)
	}
	w.end(syscall.SIGKILL)
	if got := <-done; !got.denies("generic", "tool", approval.ReasonProtectedState) {
		t.Errorf("%+v", got)
	}
}

// TestNoHostByHand: the words by which a hook goes on, read from its own input.
func TestNoHostByHand(t *testing.T) {
	w, project := withoutHost(t)
	got := finish(t, w.command("hook", "generic", "--no-host=it went away"), fmt.Sprintf(`{"version": 1, "tool": "bash_execute", "args": {"command": "make"}, "cwd": %q}`, project))
	if got != (ended{noHost("it went away"), "", 0}) {
		t.Errorf("%+v", got)
	}
}

//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/approvaltest/model"
	"github.com/countersign-app/countersign/backend/host"
)

// agentProgram is the program of an agent that make agents-test installs.
func agentProgram(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("../../../build/agentprograms/node_modules", pattern))
	if err == nil && len(found) == 1 {
		found[0], err = filepath.Abs(found[0])
	}
	if err != nil || len(found) != 1 {
		t.Skip("the agents are not installed: make agents-test installs them")
	}
	return found[0]
}

// agentUse is one way to start a real agent for one task.
type agentUse struct {
	name  string // which is also what its hook calls itself, up to the first blank
	start func(t *testing.T, w *world, m *model.Model) (line string)
}

var agentUses = []agentUse{
	{"claude-code in mode bypassPermissions", claudeIn("bypassPermissions")},
	{"claude-code in mode auto", claudeIn("auto")},
	{"codex outside its sandbox", codexUnboxed},
}

// claudeIn starts Claude Code in one of its modes.
func claudeIn(mode string) func(*testing.T, *world, *model.Model) string {
	return func(t *testing.T, w *world, m *model.Model) string {
		program := agentProgram(t, "@anthropic-ai/claude-code-*/claude")
		if err := os.Mkdir(filepath.Join(w.home, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		w.must(t, "hook", "install", "claude-code", "--yes")
		// Root may skip questions only where it says that it is in a sandbox. The
		// check of mode auto comes to our model instead of to its maker's.
		return "ANTHROPIC_BASE_URL=" + m.URL + " ANTHROPIC_API_KEY=invented DISABLE_AUTOUPDATER=1" +
			" CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 CLAUDE_CODE_AUTO_MODE_SERVER=0 IS_SANDBOX=1 " +
			program + " --permission-mode " + mode + " -p go"
	}
}

func codexUnboxed(t *testing.T, w *world, m *model.Model) string {
	program := agentProgram(t, "@openai/codex-*/vendor/*/bin/codex")
	config := fmt.Sprintf(`
model = "invented"
model_provider = "invented"
[model_providers.invented]
name = "invented"
base_url = "%s/v1"
wire_api = "responses"
`, m.URL)
	folder := filepath.Join(w.home, ".codex")
	if err := errors.Join(os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "config.toml"), []byte(config), 0o600)); err != nil {
		t.Fatal(err)
	}
	w.must(t, "hook", "install", "codex", "--yes")
	return program + " exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust go </dev/null"
}

// TestRealAgentsCannotOperate has real Claude Code and Codex run commands that
// would loosen the policy and answer another agent's question, without a person
// who is asked about these commands. The host has no window, and takes who
// belongs to no family for a person.
func TestRealAgentsCannotOperate(t *testing.T) {
	for _, use := range agentUses {
		t.Run(use.name, func(t *testing.T) {
			w := testWorld(t)
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			w.must(t, "policy", "set", "security", "allowlist")
			background(t, w.asks("--agent", "victim", "--", "/usr/bin/touch", "answered"))
			commands, scripted := attempts(t, w, w.mustQuestions(t, 1)[0].ID)
			m := model.Start(t, commands...)
			line := use.start(t, w, m)
			shell := newShell(t, w)
			keepTree(t, shell.pid, strings.ReplaceAll(use.name, " ", "-"), w.home)
			shell.run(t, line, 3*time.Minute)

			results := m.Results()
			if len(results) != len(commands) {
				t.Fatalf("it ran %d of %d commands; its model did not know %q\n%s\n%s", len(results), len(commands), m.Strange(), strings.Join(results, "\n"), shell.text())
			}
			agent, _, _ := strings.Cut(use.name, " ")
			names := regexp.MustCompile(`process \d+.*asked Countersign as agent ` + agent + ` at \d\d:\d\d:\d\d`)
			for i, result := range results {
				t.Logf("%s: %s", commands[i], result)
				if scripted[i] && !names.MatchString(result) {
					t.Errorf("%s: it is not said who was refused: %s", commands[i], result)
				}
			}
			if got := answerServed(t, w); !strings.Contains(got, "asked Countersign as agent "+agent) {
				t.Errorf("what the agent serves answered: %s", got)
			}
			stands(t, w)

			// A person types into the shell that started the agent, and into another.
			if out := shell.run(t, w.countersign(t)+" policy set ask always", patience); !strings.Contains(out, "ended 0") {
				t.Errorf("the shell above the agent may not operate: %s", out)
			}
			if out := newShell(t, w).run(t, w.countersign(t)+" policy set ask on-miss", patience); !strings.Contains(out, "ended 0") {
				t.Errorf("another terminal may not operate: %s", out)
			}
		})
	}
}

// attempts are the commands of an agent that tries to operate. Those that are
// scripted reach the door in any case: what the script runs is in no command.
func attempts(t *testing.T, w *world, question string) (commands []string, scripted []bool) {
	t.Helper()
	ours := w.countersign(t)
	script := w.file(t, "tool", "exec "+ours+` "$@"`+"\n")
	add := func(isScripted bool, command string) {
		commands, scripted = append(commands, command), append(scripted, isScripted)
	}
	for _, words := range []string{
		"policy set security full", "policy set ask off", "approvals approve " + question, "approvals add /usr/bin/touch", "resume", "pause",
	} {
		add(false, ours+" "+words)
		add(true, "sh "+script+" "+words)
	}
	// What it serves is tried when all else was. It goes on in a session of its own.
	add(false, fmt.Sprintf("%s sh %s approvals serve --listen 127.0.0.1:0 --token-file %s 2>%s </dev/null >/dev/null & sleep 1",
		approvaltest.Program(t, "setsid"), script, w.file(t, "token", serveToken), w.file(t, "served", "")))
	add(true, approvaltest.Program(t, "setsid")+" sh "+script+" policy set security full")
	return commands, scripted
}

// serveToken is what a program shows to what an agent serves.
var serveToken = strings.Repeat("t", 40)

// answerServed says yes, over what the agent serves, to all that waits, and
// returns what comes back.
func answerServed(t *testing.T, w *world) string {
	t.Helper()
	line := fileText(t, filepath.Join(w.home, "served"))
	_, url, ok := strings.Cut(strings.TrimSpace(line), "questions are answered at ")
	if !ok {
		return line // it did not come so far
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + serveToken}}})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	for {
		_, message, err := ws.Read(ctx)
		if err != nil {
			return err.Error()
		}
		var m struct{ Type, RequestID, SessionID string }
		if err := json.Unmarshal(message, &m); err != nil {
			t.Fatal(err)
		}
		if m.Type != "approval_required" {
			t.Logf("what the agent serves: %s", message)
			if strings.Contains(string(message), "asked Countersign") {
				return string(message)
			}
			continue
		}
		response, _ := json.Marshal(map[string]string{"type": "approval_response", "sessionId": m.SessionID, "requestId": m.RequestID, "decision": "allow-once"})
		if err := ws.Write(ctx, websocket.MessageText, response); err != nil {
			t.Fatal(err)
		}
	}
}

// file writes a file in the home of a world, and returns its path.
func (w *world) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.home, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// stands checks that nothing was loosened, answered or stopped.
func stands(t *testing.T, w *world) {
	t.Helper()
	var held host.Policy
	w.json(t, &held, "policy", "show")
	if p := held.Policy; p.Security != approval.SecurityList || p.Ask != approval.AskOnMiss || len(p.Allowlist) > 0 {
		t.Errorf("the policy was changed: %+v", p)
	}
	var status host.Status
	if err := (&program{ctx: t.Context(), state: w.state, home: w.home}).read("status", nil, &status); err != nil || status.Paused {
		t.Errorf("the host was stopped: %v", err)
	}
	if n := w.waiting(t); n != 1 {
		t.Errorf("%d questions wait, and one did", n)
	}
	if _, err := os.Lstat(filepath.Join(w.home, "answered")); err == nil {
		t.Error("another agent's question was answered")
	}
}

// countersign is the path of our program.
func (w *world) countersign(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("countersign")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// shell is a shell that a person types into.
type shell struct {
	*terminal
	pid  int
	runs int
}

func newShell(t *testing.T, w *world) *shell {
	t.Helper()
	term := newTerminal(t)
	cmd := w.program(approvaltest.Find(t, "bash"), "--norc", "--noprofile")
	cmd.Env = append(cmd.Env, "PS1=", "TERM=dumb", "HISTFILE=")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.slave, term.slave, term.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p := background(t, cmd)
	s := &shell{terminal: term, pid: p.Process.Pid}
	s.types(t, "stty -echo\n")
	if p.isOver() {
		t.Fatal("the shell has ended")
	}
	return s
}

// run types a line, waits for its end, and returns what was shown meanwhile and
// "ended" with its exit code.
func (s *shell) run(t *testing.T, line string, limit time.Duration) string {
	t.Helper()
	s.runs++
	before, mark := len(s.text()), fmt.Sprintf("(run %d)", s.runs)
	s.types(t, line+"; echo ended $? '"+mark+"'\n")
	ended := regexp.MustCompile(`ended \d+ ` + regexp.QuoteMeta(mark))
	for end := time.Now().Add(limit); !ended.MatchString(s.text()[before:]); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s does not end:\n%s", line, s.text()[before:])
		}
	}
	return s.text()[before:]
}

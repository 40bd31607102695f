//go:build linux || darwin

package setup

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

// hookHere is a hook that ends with a code and a text, such as "2 no", and only
// if it was started and asked as a hook is. "wait" never ends by itself.
func hookHere(answer string) int {
	input, err := io.ReadAll(os.Stdin)
	var event map[string]any
	if err != nil || json.Unmarshal(input, &event) != nil || !strings.Contains(string(input), "countersign-self-test") || len(os.Args) < 5 || os.Args[1] != "hook" {
		return 99
	}
	if answer == "wait" {
		time.Sleep(time.Hour)
	}
	if strings.Contains(os.Args[len(os.Args)-1], "countersign-self-test-") { // a state folder where nobody is
		answer = "0 "
	}
	code, text, _ := strings.Cut(answer, " ")
	_, _ = os.Stdout.WriteString(text)
	n, _ := strconv.Atoi(code)
	return n
}

// hookProgram is the test binary as a hook, in a folder with a space.
func hookProgram(t *testing.T) string {
	t.Helper()
	program, err := os.Executable()
	mustDo(t, err)
	link := filepath.Join(t.TempDir(), "a folder", "countersign")
	mustDo(t, os.Mkdir(filepath.Dir(link), 0o755))
	mustDo(t, os.Symlink(program, link))
	t.Setenv(doVariable, "hook")
	return link
}

// TestTry starts a hook as each agent does, and reads its answer.
func TestTry(t *testing.T) {
	e := newEnv(t)
	e.Program = hookProgram(t)
	cases := []struct {
		agent, answer string
		live          Would
	}{
		{"claude-code", `0 {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}}`, Run},
		{"claude-code", `0 {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}`, Refuse},
		{"claude-code", `0 {"hookSpecificOutput": {"permissionDecision": "ask"}}`, AskSelf},
		{"claude-code", `2 no`, Refuse},
		{"codex", `0 {"hookSpecificOutput": {"decision": {"behavior": "deny", "message": "no"}}}`, Refuse},
		{"gemini", `0 {"decision": "allow"}`, Run},
		{"gemini", `0 {"decision": "block", "reason": "no"}`, Refuse},
		{"gemini", `0 {"continue": false}`, Refuse},
		{"cursor", `0 {"permission": "ask"}`, AskSelf},
		{"cursor", `1 broken`, Refuse}, // failClosed
		{"copilot", "0 {\"type\":\"progress\",\"message\":\"x\"}\n{\"permissionDecision\": \"allow\", \"behavior\": \"allow\"}", Run},
		{"vscode", `0 {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}`, Refuse},
	}
	for _, c := range cases {
		t.Run(c.agent+" "+c.answer, func(t *testing.T) {
			t.Setenv(answerVariable, c.answer)
			trial, err := Try(context.Background(), e, c.agent)
			if err != nil {
				t.Fatal(err)
			}
			_, a, err := find(c.agent)
			mustDo(t, err)
			events := targetOf(t, c.agent).events
			if len(trial.Live) != len(events) || len(trial.Gone) != len(events) {
				t.Fatalf("tried %+v", trial)
			}
			for i := range events {
				if got := trial.Live[i]; got.Would != c.live || got.Code == 99 {
					t.Errorf("%s: it %s (%+v), want %s", events[i].name, got.Would, got, c.live)
				}
				if got := trial.Gone[i]; got.Would != silent(events[i], a.Capability) {
					t.Errorf("%s without a host: it %s (%+v)", events[i].name, got.Would, got)
				}
			}
		})
	}
}

// TestTryWaits ends a hook that waits for a person, and says so.
func TestTryWaits(t *testing.T) {
	e := newEnv(t)
	e.Program = hookProgram(t)
	t.Setenv(answerVariable, "wait")
	for _, agent := range []string{"claude-code", "codex"} { // without a shell, and with one
		target, a, err := find(agent)
		mustDo(t, err)
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		got, err := e.try(ctx, target, a, target.events[0])
		cancel()
		if err != nil || got.Would != Wait || got.Code != -1 {
			t.Errorf("%s: %+v (%v)", agent, got, err)
		}
	}
}

// TestTryMissing is for a program that is not there.
func TestTryMissing(t *testing.T) {
	e := newEnv(t)
	e.Program = filepath.Join(e.Home, "countersign")
	for agent, want := range map[string]Would{"claude-code": Refuse, "cursor": Refuse, "copilot": Refuse} {
		trial, err := Try(context.Background(), e, agent)
		if err != nil || trial.Live[0].Would != want {
			t.Errorf("%s: %+v (%v)", agent, trial, err)
		}
	}
	trial, err := Try(context.Background(), e, "opencode")
	if err != nil || trial.Note == "" || trial.Live != nil {
		t.Errorf("opencode: %+v (%v)", trial, err)
	}
}

// TestSamples are events that the hooks themselves take.
func TestSamples(t *testing.T) {
	for _, target := range targets() {
		a, err := hook.Find(target.agent)
		mustDo(t, err)
		if target.handler == nil {
			continue
		}
		if a.Read == nil {
			t.Logf("not checked: the hook of %s reads nothing yet", target.agent)
			continue
		}
		for _, e := range target.events {
			got, err := a.Read(sample(target.agent, e.name, "/tmp"))
			if err != nil || got.Ignored || !strings.Contains(string(got.Call.Args)+got.Call.Tool, "countersign-self-test") {
				t.Errorf("%s %s: %+v (%v)", target.agent, e.name, got, err)
			}
		}
	}
}

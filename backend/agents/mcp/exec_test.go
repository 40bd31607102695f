package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// TestRequest reads the arguments of exec: what is asked of the host, or what
// is wrong with them.
func TestRequest(t *testing.T) {
	s := newSession(&server{Options: Options{Dir: "/here"}}, "mcp-test")
	for _, c := range []struct{ args, want string }{
		{`{"command": "ls -l"}`, `["bash" "-c" "ls -l"] in /here for 30m0s`},
		{`{"command": ["ls", "-l"]}`, `["ls" "-l"] in /here for 30m0s`},
		{`{"command": "ls", "workdir": "/there"}`, `["bash" "-c" "ls"] in /there for 30m0s`},
		{`{"command": "ls", "workdir": "../up"}`, `["bash" "-c" "ls"] in /up for 30m0s`},
		{`{"command": "ls", "host": "node", "timeout": 1.5}`, `["bash" "-c" "ls"] in /here for 1.5s`},
		{`{"command": "ls", "timeout": 1e-9}`, `["bash" "-c" "ls"] in /here for 1ms`},
		{`{"command": "ls", "timeout": 86400}`, `["bash" "-c" "ls"] in /here for 24h0m0s`},
		{`{"command": "ls", "background": true}`, `["bash" "-c" "ls"] in /here for 24h0m0s`},
		{`{"command": ""}`, "command is empty"},
		{`{"command": " \n\t"}`, "command is empty"},
		{`{"command": []}`, "command is empty"},
		{`{}`, "command is empty"},
		{`{"command": "ls", "host": "gateway"}`, "this machine only"},
		{`{"command": "ls", "timeout": -1}`, "timeout must be"},
		{`{"command": "ls", "timeout": 1e300}`, "timeout must be"},
		{`{"command": "` + strings.Repeat("x", maxCommand) + `"}`, `["bash" "-c" "` + strings.Repeat("x", maxCommand) + `"] in /here for 30m0s`},
		{`{"command": "` + strings.Repeat("x", maxCommand+1) + `"}`, "longer than 65536"},
		{`{"command": ["` + strings.Repeat(`","`, maxCommand) + `"]}`, "longer than 65536"},
		{`{"command": "` + strings.Repeat(`\u0001`, maxCommand) + `"}`, "too large"},
		{`{"command": "` + strings.Repeat(`\"`, maxCommand) + `"}`, "too large"},
		{`{"command": "ls", "env": {"A": "` + strings.Repeat("x", maxWire) + `"}}`, "too large"},
		{`{"command": "ls", "env": {` + names(maxEnv+1) + `}}`, "more than 100 names"},
	} {
		var q execInput
		if err := json.Unmarshal([]byte(c.args), &q); err != nil {
			t.Fatal(err)
		}
		x, err := s.request(&q)
		got := fmt.Sprintf("%q in %s for %s", x.Request.Command, x.Request.Cwd, x.Request.Timeout)
		if err != nil {
			got = err.Error()
		}
		if err == nil != strings.HasPrefix(c.want, "[") || !strings.Contains(got, c.want) {
			t.Errorf("%.60s: %.100s, want %.100s", c.args, got, c.want)
		}
		if r := x.Request; err == nil {
			if left := time.Until(r.Deadline); left < r.Timeout+askTime || left > r.Timeout+askTime+grace {
				t.Errorf("%.60s: the caller waits %s", c.args, left)
			}
			if r.AgentID != "mcp-test" || r.SessionKey != s.key || r.Who != approval.Ours || r.Background {
				t.Errorf("%.60s: %+v", c.args, r)
			}
		}
	}
}

func names(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"A%d": ""`, i))
	}
	return strings.Join(list, ",")
}

func TestAgent(t *testing.T) {
	for _, c := range []struct{ set, client, want string }{
		{"", "Claude Code", "mcp-claude-code"},
		{"", "cursor-vscode (via x) 1.0", "mcp-cursor-vscode-via-x-1-0"},
		{"", "main", "mcp-main"},
		{"", "", "mcp-client"},
		{"", "\u202e*/../\x00\u00e9", "mcp-client"},
		{"", "日本 main\n", "mcp-main"},
		{"", strings.Repeat("a", 1000), "mcp-" + strings.Repeat("a", 60)},
		{"", strings.Repeat("-a", 1000), "mcp-" + strings.Repeat("a-", 29) + "a"},
		{"", strings.Repeat("é", 1000) + "a", "mcp-client"},
		{"main", "Claude Code", "main"},
	} {
		if got := agentOf(c.set, &sdk.Implementation{Name: c.client}); got != c.want {
			t.Errorf("%q %.20q: %q, want %q", c.set, c.client, got, c.want)
		}
	}
	if got := agentOf("", nil); got != "mcp-client" {
		t.Error(got)
	}
}

func TestDenied(t *testing.T) {
	for _, c := range []struct {
		in   ipc.Error
		want string
	}{
		{ipc.Error{Message: "SYSTEM_RUN_DENIED: x.", Reason: approval.ReasonDenylisted}, "SYSTEM_RUN_DENIED: x. " + string(approval.EndingPolicy)},
		{ipc.Error{Message: "NO. " + string(approval.EndingPersonSaidNo), Reason: approval.ReasonUserDenied}, "NO. " + string(approval.EndingPersonSaidNo)},
		{ipc.Error{Message: "gone", Reason: approval.ReasonCompanion}, "gone. " + string(approval.EndingNobody)},
		{ipc.Error{Message: "PATH", Reason: approval.ReasonEnvRefused}, "PATH. " + string(approval.EndingPolicy)},
		{ipc.Error{Message: "command required", Reason: approval.ReasonInvalid}, "command required"},
		{ipc.Error{Message: "a\u202eb\nc", Reason: approval.ReasonInvalid}, `a\u{202E}b\u{A}c`},
	} {
		r := denied(c.in).Receipt
		if r.Message != c.want || r.Reason != c.in.Reason || r.Verdict != approval.VerdictDeny || r.AskAgain != approval.CanAskAgain(c.in.Reason) {
			t.Errorf("%+v: %+v, want %q", c.in, r, c.want)
		}
	}
}

func TestOutcome(t *testing.T) {
	full := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		in        ipc.ExecAnswer
		signal    string
		truncated bool
	}{
		{ipc.ExecAnswer{Stdout: "x"}, "", false},
		{ipc.ExecAnswer{Stdout: full + cutMark}, "", true},
		{ipc.ExecAnswer{Stdout: full[:199_999], Stderr: "x" + cutMark}, "", true},
		{ipc.ExecAnswer{Stdout: full}, "", false},
		{ipc.ExecAnswer{Stdout: "it says" + cutMark}, "", false},
		{ipc.ExecAnswer{Error: approval.EndedBySignal + "SIGKILL"}, "SIGKILL", false},
		{ipc.ExecAnswer{Error: "it broke"}, "", false},
	} {
		if o := outcomeOf(c.in); o.Signal != c.signal || o.Truncated != c.truncated || o.Error != c.in.Error {
			t.Errorf("%.40q %q: %q %t", c.in.Stdout, c.in.Error, o.Signal, o.Truncated)
		}
	}
}

// TestForget keeps the newest of what is over, for an hour, and all that runs.
func TestForget(t *testing.T) {
	now := time.Now()
	s := newSession(&server{}, "")
	put := func(id string, ended time.Time) {
		r := &run{id: id, done: make(chan struct{}), ended: ended}
		if !ended.IsZero() {
			close(r.done)
		}
		s.runs = append(s.runs, r)
	}
	put("runs", time.Time{})
	put("old", now.Add(-keptFor-time.Second))
	put("too many", now)
	for range maxKept {
		put("new", now)
	}
	s.forget(now)
	var left []string
	for _, r := range s.runs {
		left = append(left, r.id)
	}
	if len(left) != maxKept+1 || left[0] != "runs" || slices.Contains(left, "old") || slices.Contains(left, "too many") {
		t.Error(left)
	}
	if _, err := s.find("old"); !errors.Is(err, errNoRun) {
		t.Error(err)
	}
}

//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
)

// ruledAgents are agents by their names, each with what the rules for tools say of
// it, and the verdict on `printf hi`, which an entry allows.
var ruledAgents = []struct {
	name, rules string
	want        approval.Verdict
}{
	{"free", `{}`, "allow"},
	{"denied", `{"deny": ["bash_execute"]}`, "deny"},
	{"reader", `{"allow": ["file_read"]}`, "deny"},
	{"secured", `{"rules": {"bash_execute": {"security": "deny"}}}`, "deny"},
	{"git-only", `{"rules": {"bash_execute": {"argRestrictions": {"command": {"pattern": "git .*"}}}}}`, "deny"},
	{"printing", `{"rules": {"bash_execute": {"argRestrictions": {"command": {"pattern": "printf [a-z]+"}}}}}`, "allow"},
	{"asked", `{"rules": {"bash_execute": {"ask": "always"}}}`, "ask"},
}

// hookDialects are what agents write to their hooks about a command.
var hookDialects = map[string]func(command string) map[string]any{
	"claude-code": func(command string) map[string]any {
		return map[string]any{"session_id": "s", "cwd": "/", "hook_event_name": "PermissionRequest", "tool_name": "Bash", "permission_mode": "default", "tool_input": map[string]any{"command": command}}
	},
	"codex": func(command string) map[string]any {
		return map[string]any{"session_id": "s", "turn_id": "t", "cwd": "/", "hook_event_name": "PermissionRequest", "model": "m", "permission_mode": "default", "tool_name": "Bash", "tool_input": map[string]any{"command": command}}
	},
	"gemini": func(command string) map[string]any {
		return map[string]any{"session_id": "s", "cwd": "/", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command", "tool_input": map[string]any{"command": command}}
	},
	"cursor": func(command string) map[string]any {
		return map[string]any{"conversation_id": "s", "generation_id": "g", "hook_event_name": "beforeShellExecution", "workspace_roots": []string{"/"}, "cwd": "/", "command": command}
	},
	"copilot": func(command string) map[string]any {
		return map[string]any{"sessionId": "s", "timestamp": 1, "cwd": "/", "toolName": "bash", "toolArgs": map[string]any{"command": command}}
	},
	"vscode": func(command string) map[string]any {
		return map[string]any{"sessionId": "s", "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/", "hookEventName": "PreToolUse", "tool_name": "run_in_terminal", "tool_use_id": "u", "tool_input": map[string]any{"command": command}}
	},
	"opencode": func(command string) map[string]any {
		return map[string]any{"id": "per_1", "sessionID": "s", "permission": "bash", "patterns": []string{command}, "metadata": map[string]any{"command": command}, "directory": "/", "call": map[string]any{"tool": "bash", "input": map[string]any{"command": command}}}
	},
	"generic": func(command string) map[string]any {
		return map[string]any{"version": 1, "tool": "bash_execute", "args": map[string]any{"command": command}, "cwd": "/"}
	},
}

// TestToolRulesAtEachDoor: what the rules for tools say of an agent's commands
// holds for `countersign run`, MCP, the hooks of every agent, a node and a gateway
// alike.
func TestToolRulesAtEachDoor(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	agents := map[string]json.RawMessage{}
	for _, a := range ruledAgents {
		agents[a.name] = json.RawMessage(a.rules)
	}
	for _, w := range []*world{f.machine, f.agents} { // what it adds tightens, and holds at once
		var doc map[string]any
		text, err := os.ReadFile(w.state.Approvals())
		if err != nil || json.Unmarshal(text, &doc) != nil {
			t.Fatal(err)
		}
		doc["tools"] = map[string]any{"agents": agents}
		doc["agents"].(map[string]any)["*"] = map[string]any{"allowlist": []any{map[string]any{"pattern": "printf", "id": "p"}}}
		if text, err = json.Marshal(doc); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(w.state.Approvals(), text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := w.startHost(nil, "host", "run", "--ask=nobody", "--operate=anyone"); err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range ruledAgents {
		doors := 0
		check := func(door string, w *world, ran bool) {
			t.Helper()
			rows := w.rows(t)
			last := slices.IndexFunc(rows, func(r history.Row) bool { return r.AgentID == a.name })
			if doors++; last < 0 || rows[last].Judged != a.want {
				t.Errorf("%s by %s: row %d of %+v, want %s", a.name, door, last, rows, a.want)
			}
			if ran != (a.want == "allow") {
				t.Errorf("%s by %s: it ran: %v", a.name, door, ran)
			}
		}
		for _, words := range [][]string{{"printf", "hi"}, {"bash", "-c", "printf hi"}} {
			out, _ := f.machine.asks(append([]string{"--agent", a.name, "--"}, words...)...).Output()
			check(fmt.Sprintf("run %q", words), f.machine, string(out) == "hi")
		}
		client := f.machine.mcp(t, "test", "--agent", a.name)
		for _, arguments := range []string{`{"command": "printf hi"}`, `{"command": ["printf", "hi"]}`} {
			got, err := client.try(t.Context(), "exec", json.RawMessage(arguments))
			if err != nil {
				t.Fatal(err)
			}
			check("mcp "+arguments, f.machine, !got.IsError)
		}
		for dialect, event := range hookDialects {
			input, _ := json.Marshal(event("printf hi"))
			got := finish(t, inTerminal(f.machine.command("hook", dialect, "--agent", a.name)), string(input))
			check("the hook of "+dialect, f.machine, runsAfter(got))
		}
		params := `{"command": "printf hi", "agentId": "` + a.name + `"`
		check("a node", f.machine, strings.Contains(f.exec(params+`}`), `"stdout":"hi"`))
		check("a gateway", f.agents, strings.Contains(f.exec(params+`, "host": "gateway"}`), `"stdout":"hi"`))
		if n := len(slices.DeleteFunc(f.machine.rows(t), func(r history.Row) bool { return r.AgentID != a.name })); n != doors-1 {
			t.Errorf("%s: %d requests came by %d doors", a.name, n, doors-1)
		}
	}
}

// runsAfter reports whether an agent may run the command after this answer.
func runsAfter(got ended) bool {
	var said bytes.Buffer
	if json.Compact(&said, []byte(got.stdout)) != nil {
		return false // silence, or a text
	}
	for _, yes := range []string{`"behavior":"allow"`, `"decision":"allow"`, `"permission":"allow"`, `"permissionDecision":"allow"`, `"reply":"once"`, `"verdict":"allow"`} {
		if strings.Contains(said.String(), yes) {
			return true
		}
	}
	return false
}

package verbs

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		args, verb string
		mark       Mark
		rest       string
	}{
		{"", "", None, ""},
		{"--help", "", None, ""},
		{"policy", "", None, ""},
		{"policy show --agent x", "policy show", Reads, "--agent x"},
		{"--state-dir policy set security full", "", Unknown, ""}, // "set" is no verb
		{"--state-dir /x policy set security full", "policy set", Denied, "security full"},
		{"--signer run policy set security full", "policy set", Denied, "security full"},
		{"policy --json set security full", "policy set", Denied, "security full"},
		{"-- policy set", "policy set", Denied, ""},
		{"run ls", "run", Asks, "ls"},
		{"running list", "running list", Reads, ""},
		{"hook claude-code", "hook run", Asks, "claude-code"},
		{"hook install claude-code", "hook install", Denied, "claude-code"},
		{"hook status --test", "hook status", Asks, "--test"},
		{"mcp", "mcp serve", Asks, ""},
		{"doctor", "doctor", Reads, ""},
		{"doctor --takeover=true", "doctor", Denied, "--takeover=true"},
		{"gateway policy", "gateway policy", Denied, ""},
		{"policy accept", "policy accept", Denied, ""},
		{"policy skills list --agent x", "policy skills list", Reads, "--agent x"},
		{"policy skills --json accept talk", "policy skills accept", Denied, "talk"},
		{"policy skills drop talk", "policy skills drop", Denied, "talk"},
		{"policy skills", "", Unknown, ""},
		{"policy skills nonsense", "", Unknown, ""},
		{"policy accept abc", "policy accept", Denied, "abc"},
		{"approvals add --deny x", "approvals add", Denied, "--deny x"},
		{"nonsense", "", Unknown, ""},
		{"policy nonsense", "", Unknown, ""},
	} {
		verb, mark, rest := Find(strings.Fields(c.args))
		if verb.Words != c.verb || mark != c.mark || strings.Join(rest, " ") != c.rest {
			t.Errorf("%q: %q is %q, then %q", c.args, verb.Words, mark, rest)
		}
	}
}

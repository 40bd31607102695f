//go:build linux || darwin

package gate_test

import (
	"context"
	"os"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// doors are the ways by which a command comes, each with the verdict on it, where
// a person says no.
var doors = []struct {
	name  string
	judge func(b *bench, session, text string, words ...string) string
}{
	{"words", func(b *bench, session, _ string, words ...string) string { return b.runs(session, words...) }},
	{"a text for bash", func(b *bench, session, text string, _ ...string) string { return b.runs(session, "bash", "-c", text) }},
	{"a text for sh", func(b *bench, session, text string, _ ...string) string {
		return b.runs(session, "/bin/sh", "-lc", text)
	}},
	{"a question of who runs it", func(b *bench, session, text string, _ ...string) string {
		req := approval.Request{Text: text, Cwd: b.dir, Who: approval.Theirs, AgentID: "main", SessionKey: session}
		d, _ := b.Decide(context.Background(), req, nil)
		if d == approval.AllowOnce {
			return "allow"
		}
		return "deny"
	}},
	{"a tool", func(b *bench, session, text string, _ ...string) string {
		call := b.call("bash", "command", text)
		call.Cwd, call.SessionKey = b.dir, session
		return firstWord(b.evaluate(call))
	}},
	{"a tool that is ours to run", func(b *bench, session, text string, _ ...string) string {
		call := b.call("bash_execute", "command", text)
		call.Cwd, call.SessionKey, call.Who = b.dir, session, approval.Ours
		o, err := b.Evaluate(context.Background(), call, approval.Peer{})
		if err != nil || o.Approved == "" {
			return "deny"
		}
		return firstWord(outcome(b.RunApproved(context.Background(), o.Approved)))
	}},
	{"explain", func(b *bench, session, _ string, words ...string) string {
		req := b.request(words...)
		req.SessionKey = session
		_, j, err := b.Explain(context.Background(), req)
		if err != nil || j.Verdict != approval.VerdictAllow {
			return "deny"
		}
		return "allow"
	}},
}

func (b *bench) runs(session string, words ...string) string {
	req := b.request(words...)
	req.SessionKey = session
	return firstWord(outcome(b.Run(context.Background(), req)))
}

// firstWord is what a door said, for all doors in the same words.
func firstWord(said string) string {
	switch {
	case len(said) > 4 && said[:4] == "code":
		return "allow"
	case len(said) > 4 && said[:4] == "deny", len(said) > 6 && said[:6] == "denied":
		return "deny"
	}
	return said
}

// TestOneRuleOneAct: what the rules for tools say of bash_execute is said of a
// command, whichever door it comes by.
func TestOneRuleOneAct(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules string
		want  string
		asks  bool // the person, who says no
	}{
		{`{}`, "allow", false},
		{`{"deny": ["bash_execute"]}`, "deny", false},
		{`{"deny": ["Bash"]}`, "deny", false},
		{`{"deny": ["group:runtime"]}`, "deny", false},
		{`{"deny": ["file_write"]}`, "allow", false},
		{`{"allow": ["file_read"]}`, "deny", false},
		{`{"allow": ["profile:reader"]}`, "deny", false},
		{`{"allow": []}`, "deny", false},
		{`{"allow": ["file_read", "exec"]}`, "allow", false},
		{`{"agents": {"main": {"allow": ["file_read"]}}}`, "deny", false},
		{`{"agents": {"*": {"deny": ["*"]}}}`, "deny", false},
		{`{"agents": {"other": {"allow": ["file_read"]}}}`, "allow", false},
		{`{"sessions": {"s*": {"deny": ["bash"]}}}`, "deny", false},
		{`{"sessions": {"review-*": {"deny": ["bash"]}}}`, "allow", false},
		{`{"rules": {"bash_execute": {"security": "deny"}}}`, "deny", false},
		{`{"rules": {"*": {"security": "deny"}}}`, "deny", false},
		{`{"rules": {"bash_execute": {"ask": "always"}}}`, "deny", true},
		{`{"rules": {"bash_execute": {"security": "allowlist"}}}`, "allow", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"command": {"pattern": "hello( .*)?"}}}}}`, "allow", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"command": {"pattern": "git .*"}}}}}`, "deny", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"Command": {"oneOf": ["hello you"]}}}}}`, "allow", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"command": {"oneOf": ["hello"]}}}}}`, "deny", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"command": {"maxLength": 8}}}}}`, "deny", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"command": {"forbidden": true}}}}}`, "deny", false},
		{`{"rules": {"bash_execute": {"argRestrictions": {"reason": {"required": true}}}}}`, "deny", false},
	} {
		b := newBench(t, approval.Entry{Pattern: "hello"})
		b.script("hello", "echo hello $1")
		b.person(no, nil)
		b.edit(func(d *store.Document) error { d.Extra = store.Extra{"tools": []byte(c.rules)}; return nil })
		for _, door := range doors {
			before := b.asked.Load()
			if got := door.judge(b, "s1", "hello you", "hello", "you"); got != c.want {
				t.Errorf("%s by %s: %s, want %s", c.rules, door.name, got, c.want)
			}
			if asked := b.asked.Load() > before; asked != c.asks && door.name != "explain" {
				t.Errorf("%s by %s: a person was asked: %v", c.rules, door.name, asked)
			}
		}
	}
}

// TestDeniedTool: a rule of the denylist that names the tool is about commands too,
// and so is a charter. Both hold in a sandbox.
func TestDeniedTool(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*bench){
		"denylist": func(b *bench) {
			b.edit(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "tool:bash_execute"}); return nil })
		},
		"the name that agents show": func(b *bench) {
			b.edit(func(d *store.Document) error { d.Deny("main", approval.DenyRule{Pattern: "tool:Bash"}); return nil })
		},
		"charter":          func(b *bench) { b.charter(`{alwaysReject: ["group:runtime"]}`, true) },
		"charter, a child": func(b *bench) { b.charter(`{alwaysReject: ["bash_*"]}`, true) },
	} {
		b := newBench(t, approval.Entry{Pattern: "hello"})
		b.script("hello", "echo hello $1")
		b.person(once, nil)
		change(b)
		for _, door := range doors {
			if got := door.judge(b, "s1", "hello you", "hello", "you"); got != "deny" {
				t.Errorf("%s by %s: %s", name, door.name, got)
			}
		}
		if n := b.asked.Load(); n > 0 {
			t.Errorf("%s: a person was asked %d times", name, n)
		}
		if f, err := b.Denylisted(context.Background(), b.request("hello", "you")); err != nil || f.Reason != approval.ReasonDenylisted {
			t.Errorf("%s, in a sandbox: %+v %v", name, f, err)
		}
		if p, err := b.Prepare(context.Background(), b.request("hello", "you")); err == nil {
			t.Errorf("%s: prepared as %+v", name, p)
		}
	}
	b := newBench(t)
	b.script("hello", "echo hello $1")
	b.charter(`{escalate: ["bash_execute"]}`, true)
	b.edit(func(d *store.Document) error { d.Agent("main").Security = approval.SecurityFull; return nil })
	if _, j, err := b.Explain(context.Background(), b.request("hello")); err != nil || j.Verdict != approval.VerdictAsk || !j.Escalate {
		t.Errorf("escalated: %+v %v", j, err)
	}
	if f, err := b.Denylisted(context.Background(), b.request("hello")); err != nil || f.Reason != approval.ReasonNone {
		t.Errorf("asked about and not denied, in a sandbox: %+v %v", f, err)
	}
}

// TestDeclaredRisk: what a rule calls the tool that takes commands, a command is.
func TestDeclaredRisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		risk string
		want approval.Risk
	}{{"low", approval.RiskMedium}, {"high", approval.RiskHigh}, {"critical", approval.RiskHigh}} {
		b := newBench(t)
		b.script("hello", "echo hello")
		b.edit(func(d *store.Document) error {
			d.Extra = store.Extra{"tools": []byte(`{"rules": {"bash_execute": {"risk": "` + c.risk + `"}}}`)}
			return nil
		})
		_, j, err := b.Explain(context.Background(), b.request("hello"))
		if err != nil || j.Risk.Level != c.want || c.want == approval.RiskHigh && j.Risk.Reasons[0].Sentence != "a rule calls it "+c.risk {
			t.Errorf("%s: %+v %v", c.risk, j.Risk, err)
		}
	}
}

// TestOneTextOneWord: no way to write a command makes it another one for a rule.
func TestOneTextOneWord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("hello", "echo hello $1")
	if err := os.Mkdir(b.path("bin/evil"), 0o755); err != nil {
		t.Fatal(err)
	}
	evil := b.script("evil/bash", "echo evil")
	b.edit(func(d *store.Document) error {
		d.Agent("main").Security = approval.SecurityFull
		d.Extra = store.Extra{"tools": []byte(`{"rules": {"bash_execute": {"argRestrictions": {"command": {"pattern": "hello( [a-z]+)?"}}}}}`)}
		return nil
	})
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"hello", "you"}, "allow"},
		{[]string{"bash", "-c", "hello you"}, "allow"},
		{[]string{"sh", "-ec", "hello you"}, "allow"},
		{[]string{"hello", "you; x"}, "deny"},
		{[]string{"hello you"}, "deny"},
		{[]string{"hello", "a b"}, "deny"},
		{[]string{"env", "hello"}, "deny"},
		{[]string{"bash", "-c", "hello you", "x"}, "deny"},
		{[]string{"bash", "-c", "hello you\nx"}, "deny"},
		{[]string{"bash", "-c", " hello"}, "deny"},
		{[]string{"bash", "hello"}, "deny"},
		{[]string{evil, "-c", "hello you"}, "deny"},
		{[]string{"./bin/evil/bash", "-c", "hello you"}, "deny"},
		{[]string{b.path("bin/hello")}, "deny"},
	} {
		if got := b.runs("s1", c.words...); got != c.want {
			t.Errorf("%q: %s, want %s", c.words, got, c.want)
		}
	}
}

// TestRuleHoldsToTheEnd: a command whose words only the run can tell is judged by
// the rule that holds for the whole of its text.
func TestRuleHoldsToTheEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ security, rule, text, want string }{
		{"full", `"security": "allowlist"`, `cat "$(cat names)"`, "denied protected-state"},
		{"full", `"security": "allowlist"`, `cat "$(echo notes)"`, `code 0 "notes\n"`},
		{"allowlist", `"argRestrictions": {"command": {"pattern": "for .*"}}`, `for x in "$(echo notes)"; do cat "$x"; done`, `code 0 "notes\n"`},
	} {
		b := newBench(t, approval.Entry{Pattern: "cat"})
		b.canAsk.Store(false)
		for name, text := range map[string]string{".env": "secret", "notes": "notes\n", "names": ".env"} {
			if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		b.edit(func(d *store.Document) error {
			d.Extra = store.Extra{"tools": []byte(`{"rules": {"bash_execute": {` + c.rule + `}}}`)}
			return d.Set("main", "security", c.security)
		})
		b.want([]string{"bash", "-c", c.text}, c.want)
		call := b.call("bash", "command", c.text)
		call.Cwd, call.Who = b.dir, approval.Ours
		o, err := b.Evaluate(context.Background(), call, approval.Peer{})
		if err != nil || o.Approved == "" {
			t.Fatalf("%s: %+v %v", c.text, o, err)
		}
		if got := outcome(b.RunApproved(context.Background(), o.Approved)); got != c.want {
			t.Errorf("%s, as a tool: %s, want %s", c.text, got, c.want)
		}
	}
}

package gate_test

import (
	"context"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/store"
)

// TestInstead names what of a text would pass by itself, and only that.
func TestInstead(t *testing.T) {
	two := 2
	b := newBench(t, approval.Entry{Pattern: "ls"}, approval.Entry{Pattern: "cat"}, approval.Entry{Pattern: "stat", UsesLeft: &two})
	b.edit(func(d *store.Document) error {
		d.Deny("", approval.DenyRule{Pattern: "uname", Reason: "not here"})
		return nil
	})
	b.put("a", "a")
	for text, want := range map[string]string{
		"ls -l; uname":                         "ls -l",
		"ls; ls; cat a && uname":               "ls ; cat a",
		"cat a | wc; uname":                    "cat a", // safe bins need what comes before them
		"ls a; ls -l; ls -a; ls -la; uname":    "ls a ; ls -l ; ls -a",
		"cd /; ls; uname":                      "", // somewhere else
		"A=a; cat $A; uname":                   "", // with what is set before
		"cat a >/dev/null; uname":              "",
		"stat a; uname":                        "", // it would cost a use
		"env ls; uname":                        "",
		"cat \\\n a; ls; uname":                "ls", // it would be told in other words
		"uname":                                "",
		"echo; uname":                          "",
		"for f in a; do cat a; done; uname -a": "cat a",
	} {
		got := b.Run(context.Background(), b.request("bash", "-c", text))
		if got.Denied == nil {
			t.Errorf("%s: %s", text, outcome(got))
			continue
		}
		r := gate.Receipt(*got.Denied)
		if r.Instead != want || r.Reason != approval.ReasonDenylisted || r.RunID == "" || r.Rule != "uname" || r.Segment == "" || r.Message != gate.Message(*got.Denied) {
			t.Errorf("%s: %+v, want %q", text, r, want)
		}
	}
}

// TestInsteadOfWhole names nothing where what speaks against a text would speak
// against its parts too.
func TestInsteadOfWhole(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "ls"})
	b.nobody()
	b.edit(func(d *store.Document) error {
		d.Deny("", approval.DenyRule{Pattern: "uname"})
		d.Deny("noshell", approval.DenyRule{Pattern: "bash"})
		d.Extra = store.Extra{"tools": []byte(`{"agents": {"notool": {"deny": ["bash_execute"]}, "short": {"rules": {"bash_execute": {"argRestrictions": {"command": {"maxLength": 1}}}}}}}`)}
		return nil
	})
	for agent, want := range map[string]string{"main": "ls", "notool": "", "short": ""} {
		for _, text := range []string{"ls; stat a", "ls; uname"} {
			call := b.call("bash_execute", "command", text)
			call.AgentID = agent
			if o, err := b.Evaluate(context.Background(), call, approval.Peer{}); err != nil || o.Verdict != approval.VerdictDeny || o.Receipt.Instead != want {
				t.Errorf("%s: %s: %v %+v, want %q", agent, text, err, o, want)
			}
		}
	}
	for name, change := range map[string]func(*approval.Request){
		"the shell is denied": func(r *approval.Request) { r.AgentID = "noshell" },
		"it claims a program": func(r *approval.Request) { r.Claim.ResolvedPath = "/bin/x" },
	} {
		req := b.request("bash", "-c", "ls; stat a")
		change(&req)
		if got := b.Run(context.Background(), req); got.Denied == nil || got.Denied.Instead != "" {
			t.Errorf("%s: %s, %+v", name, outcome(got), got.Denied)
		}
	}
}

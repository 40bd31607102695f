//go:build linux || darwin

package gate_test

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
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
		r := judge.Receipt(*got.Denied)
		if r.Instead != want || r.Reason != approval.ReasonDenylisted || r.RunID == "" || r.Rule != "uname" || r.Segment == "" || r.Message != judge.Message(*got.Denied) {
			t.Errorf("%s: %+v, want %q", text, r, want)
		}
	}
}

// TestDenialsSayWhatHelps: a charter's denial names the charter and the rule, and one
// of a missing program says that no policy stands against it.
func TestDenialsSayWhatHelps(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "true")
	b.charter(`{alwaysReject: ["tool --force", "github/delete_*"]}`, true)
	for _, c := range []struct {
		words          []string
		sentence, rule string
		ending         approval.Ending
	}{
		{[]string{"tool", "x", "--force"}, "the charter careful forbids tool --force", "tool --force", approval.EndingPolicy},
		{[]string{"bash", "-c", "true; tool --force"}, "the charter careful forbids tool --force", "tool --force", approval.EndingPolicy},
		{[]string{"nothere"}, `"nothere" is not installed or not in PATH: name its whole path if it is elsewhere`, "", approval.EndingMistake},
		{[]string{"/nowhere/x"}, `there is no program "/nowhere/x"`, "", approval.EndingMistake},
	} {
		r := b.Run(t.Context(), b.request(c.words...))
		if r.Denied == nil || r.Denied.Sentence != c.sentence || r.Denied.Rule != c.rule || !strings.HasSuffix(judge.Message(*r.Denied), string(c.ending)) {
			t.Errorf("%q: %+v", c.words, r.Denied)
		}
	}
	call := b.call("delete_repo")
	call.Server = "github"
	o, err := b.Evaluate(t.Context(), call, approval.Peer{})
	if want := "github/delete_repo is denied (rule github/delete_* of charter careful)"; err != nil || o.Receipt.Sentence != want || o.Receipt.Rule != "github/delete_*" {
		t.Errorf("%+v %v", o.Receipt, err)
	}
}

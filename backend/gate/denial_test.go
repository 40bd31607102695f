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

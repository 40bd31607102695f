//go:build linux || darwin

package gate_test

import (
	"context"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
)

// TestReceipts: one receipt for a command, whichever door it comes by and whatever
// becomes of it.
func TestReceipts(t *testing.T) {
	for _, c := range []struct {
		name, program string
		say           approval.Answer
		want          approval.Receipt // without id, sentence and message
	}{
		{"an entry", "hello", no, approval.Receipt{Verdict: "allow", Rule: "hello"}},
		{"a yes", "other", once, approval.Receipt{Verdict: "allow", By: "terminal", Decision: "allow-once"}},
		{"a yes for good", "other", always, approval.Receipt{Verdict: "allow", By: "terminal", Decision: "allow-always"}},
		{"a no", "other", no, approval.Receipt{Verdict: "deny", Reason: "user-denied", By: "terminal", Decision: "deny", Note: "not now"}},
		{"nobody", "other", approval.Answer{By: "nobody", Decision: "deny", Finding: approval.Finding{Reason: "prompt-expired"}}, approval.Receipt{Verdict: "deny", Reason: "prompt-expired", By: "nobody", AskAgain: true}},
	} {
		b := newBench(t, approval.Entry{Pattern: "hello"})
		b.script("hello", "exit 3")
		b.script("other", "exit 3")
		b.person(c.say, nil)
		request := b.request(c.program)
		request.SessionKey = "s1"
		got := b.Run(context.Background(), request)
		ran := receiptOf(t, got)
		if got.Denied == nil && (got.ExitCode == nil || *got.ExitCode != 3) {
			t.Errorf("%s: %s", c.name, outcome(got))
		}
		call := b.call("bash", "command", c.program)
		call.Cwd, call.Who = b.dir, approval.Ours
		o, err := b.Evaluate(context.Background(), call, approval.Peer{})
		if err != nil {
			t.Fatal(err)
		}
		told := map[string]approval.Receipt{"run": ran, "tool": o.Receipt}
		if o.Approved != "" {
			told["approved"] = receiptOf(t, b.RunApproved(context.Background(), o.Approved))
		}
		for door, r := range told {
			if r.RunID == "" || (r.Verdict == "deny") != (r.Message != "") {
				t.Errorf("%s by %s: %+v", c.name, door, r)
			}
			want := c.want
			if c.name == "a yes for good" && door != "run" {
				want = approval.Receipt{Verdict: "allow", Rule: b.path("bin/other")} // it was written
			}
			if r.RunID, r.Sentence, r.Segment, r.Message = "", "", "", ""; r != want {
				t.Errorf("%s by %s: %+v, want %+v", c.name, door, r, want)
			}
		}
	}
}

func receiptOf(t *testing.T, r approval.Result) approval.Receipt {
	t.Helper()
	switch {
	case r.Denied != nil && r.Receipt == nil:
		return judge.Receipt(*r.Denied)
	case r.Denied == nil && r.Receipt != nil:
		return *r.Receipt
	}
	t.Errorf("%+v has no receipt", r)
	return approval.Receipt{}
}

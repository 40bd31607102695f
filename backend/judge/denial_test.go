package judge_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
)

func TestMessage(t *testing.T) {
	tests := []struct {
		denial approval.Denial
		want   string
	}{
		{approval.Denial{Finding: approval.Finding{Reason: approval.ReasonAllowlistMiss, Sentence: "no entry covers /x"}, Segment: "x y"},
			"SYSTEM_RUN_DENIED: allowlist miss: no entry covers /x. It is about: x y. " + string(approval.EndingPolicy)},
		{approval.Denial{Finding: approval.Finding{Reason: approval.ReasonUserDenied, Sentence: "the person said no"}, Note: "not\x1b now"},
			`SYSTEM_RUN_DENIED: user denied. They say: not\u{1B} now. ` + string(approval.EndingPersonSaidNo)},
		{approval.Denial{Finding: approval.Finding{Reason: approval.ReasonRuntimeValue, Sentence: "no \x1b[2J\n/x"}, Segment: "cat \x1b[1A\u202e"},
			`SYSTEM_RUN_DENIED: runtime-value: no \u{1B}[2J\u{A}/x. It is about: cat \u{1B}[1A\u{202E}. ` + string(approval.EndingPolicy)},
		{approval.Denial{Finding: approval.Finding{Reason: approval.ReasonDenylisted, Sentence: "no"}, Segment: "y", Instead: "x"},
			"SYSTEM_RUN_DENIED: denylisted: no. It is about: y. By itself this passes: x. " + string(approval.EndingPolicy)},
		{approval.Denial{Finding: approval.Finding{Reason: approval.ReasonPromptExpired}},
			"SYSTEM_RUN_DENIED: prompt-expired. " + string(approval.EndingNobody)},
		{approval.Denial{Finding: approval.Finding{Reason: approval.ReasonInvalid, Sentence: "rawCommand mismatch"}}, "rawCommand mismatch"},
	}
	for _, test := range tests {
		if got := judge.Message(test.denial); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

package approval_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestWordsAreClosed(t *testing.T) {
	type words struct {
		Host     approval.Host
		Security approval.Security
		Ask      approval.Ask
		Decision approval.Decision
		Verdict  approval.Verdict
		Who      approval.Who
		Risk     approval.Risk
	}
	tests := []struct {
		in, unknown string
	}{
		{`{"Host":"node","Security":"full","Ask":"off","Decision":"deny","Verdict":"allow","Who":"ours","Risk":"low"}`, ""},
		{`{}`, ""},
		{`{"Host":"laptop"}`, "host"},
		{`{"Security":"FULL"}`, "security"},
		{`{"Security":""}`, "security"},
		{`{"Ask":"on_miss"}`, "ask"},
		{`{"Decision":"allow"}`, "decision"},
		{`{"Verdict":"allow-once"}`, "verdict"},
		{`{"Who":"mine"}`, "who"},
		{`{"Risk":"none"}`, "risk"},
	}
	for _, test := range tests {
		var got words
		err := json.Unmarshal([]byte(test.in), &got)
		var unknown *approval.UnknownWordError
		switch {
		case test.unknown == "" && err != nil:
			t.Errorf("%s: %v", test.in, err)
		case test.unknown != "" && !errors.As(err, &unknown):
			t.Errorf("%s: got %v and %+v, want it refused", test.in, err, got)
		case test.unknown != "" && (unknown.Word != test.unknown || len(unknown.Known) == 0):
			t.Errorf("%s: refused as %+v", test.in, unknown)
		}
	}
}

func TestStricter(t *testing.T) {
	security := []struct{ a, b, want approval.Security }{
		{"full", "allowlist", "allowlist"},
		{"allowlist", "deny", "deny"},
		{"full", "", "full"},
		{"", "", ""},
		{"full", "nonsense", "deny"},
		{"nonsense", "", "deny"},
	}
	for _, test := range security {
		if got := approval.StricterSecurity(test.a, test.b); got != test.want {
			t.Errorf("stricter of %q and %q is %q, want %q", test.a, test.b, got, test.want)
		}
		if got := approval.StricterSecurity(test.b, test.a); got != test.want {
			t.Errorf("stricter of %q and %q is %q, want %q", test.b, test.a, got, test.want)
		}
	}
	if got := approval.StricterAsk("off", "nonsense"); got != approval.AskAlways {
		t.Errorf("an unknown ask counts as %q, want always", got)
	}
	if got := approval.HigherRisk("low", "nonsense"); got != approval.RiskHigh {
		t.Errorf("an unknown risk counts as %q, want high", got)
	}
	if got := approval.StricterPresence("risky", "nonsense"); got != approval.PresenceAlways {
		t.Errorf("an unknown presence counts as %q, want always", got)
	}
	for level, high := range map[approval.Risk]bool{"low": false, "medium": false, "high": true, "": true, "none": true} {
		if level.High() != high {
			t.Errorf("risk %q is high: %v", level, !high)
		}
	}
	if got := approval.StricterVerdict("ask", "allow"); got != approval.VerdictAsk {
		t.Errorf("stricter verdict is %q, want ask", got)
	}
	if got := approval.StricterVerdict("ask", "nonsense"); got != approval.VerdictDeny {
		t.Errorf("an unknown verdict counts as %q, want deny", got)
	}
}

// Each reason that reaches an agent ends in one of the three sentences, and
// only the third invites it to ask again.
func TestEndings(t *testing.T) {
	tests := map[approval.Ending][]approval.Reason{
		approval.EndingPersonSaidNo: {approval.ReasonUserDenied},
		approval.EndingNobody:       {approval.ReasonPromptExpired, approval.ReasonAskFallback, approval.ReasonRateLimited, approval.ReasonTimeout},
		approval.EndingMistake:      {approval.ReasonNotFound, approval.ReasonCwdUnavailable},
		approval.EndingPolicy:       {approval.ReasonDenylisted, approval.ReasonAllowlistMiss, approval.ReasonNone, "new-reason"},
	}
	for want, reasons := range tests {
		for _, r := range reasons {
			if got := approval.EndingFor(r); got != want {
				t.Errorf("%q ends in %q", r, got)
			}
			if got := approval.CanAskAgain(r); got != (want == approval.EndingNobody) {
				t.Errorf("%q: asking again may help: %v", r, got)
			}
		}
	}
}

func TestFileSame(t *testing.T) {
	seen := approval.File{Path: "/bin/x", Dev: 1, Ino: 2, Size: 3, Mode: 0o755, UID: 0, Changed: 4, Mod: 5}
	tests := []struct {
		name   string
		change func(*approval.File)
		same   bool
	}{
		{"nothing", func(*approval.File) {}, true},
		{"path", func(f *approval.File) { f.Path = "/usr/bin/x" }, true},
		{"device", func(f *approval.File) { f.Dev++ }, false},
		{"inode", func(f *approval.File) { f.Ino++ }, false},
		{"size", func(f *approval.File) { f.Size++ }, false},
		{"mode", func(f *approval.File) { f.Mode++ }, false},
		{"owner", func(f *approval.File) { f.UID++ }, false},
		{"change time", func(f *approval.File) { f.Changed++ }, false},
		{"modification time", func(f *approval.File) { f.Mod++ }, false},
	}
	for _, test := range tests {
		now := seen
		test.change(&now)
		if got := seen.Same(now); got != test.same {
			t.Errorf("after a change of %s: same is %v", test.name, got)
		}
	}
}

// When a yes needs the person themselves.
func TestPresence(t *testing.T) {
	for _, row := range []struct {
		presence           approval.Presence
		low, high, strange bool
	}{
		{"", false, false, false},
		{"never", false, false, false},
		{"risky", false, true, true},
		{"always", true, true, true},
		{"nonsense", true, true, true},
	} {
		for risk, want := range map[approval.Risk]bool{"low": row.low, "medium": row.low, "high": row.high, "": row.strange, "none": row.strange} {
			if got := row.presence.For(risk); got != want {
				t.Errorf("presence %q, risk %q: %v", row.presence, risk, got)
			}
		}
	}
}

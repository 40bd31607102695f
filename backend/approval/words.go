package approval

import (
	"fmt"
	"slices"
	"strings"
)

// Host says where a command runs.
type Host string

const (
	HostUnset   Host = ""
	HostSandbox Host = "sandbox"
	HostGateway Host = "gateway"
	HostNode    Host = "node"
)

// Security says what may run without a question. Its values are ordered:
// deny is stricter than allowlist, allowlist is stricter than full.
type Security string

const (
	SecurityUnset Security = ""
	SecurityDeny  Security = "deny"
	SecurityList  Security = "allowlist"
	SecurityFull  Security = "full"
)

// Ask says when a person is asked. Its values are ordered: always is
// stricter than on-miss, on-miss is stricter than off.
type Ask string

const (
	AskUnset  Ask = ""
	AskOff    Ask = "off"
	AskOnMiss Ask = "on-miss"
	AskAlways Ask = "always"
)

// Presence says for which yes a person has to show that it is them, with Touch
// ID or their password.
type Presence string

const (
	PresenceUnset  Presence = ""
	PresenceNever  Presence = "never"
	PresenceRisky  Presence = "risky" // where the risk is high
	PresenceAlways Presence = "always"
)

var presences = []Presence{PresenceNever, PresenceRisky, PresenceAlways}

func (p *Presence) UnmarshalText(b []byte) error { return closed(p, "presence", b, presences) }

// For reports whether a yes to a question of this risk needs it. An unknown
// word needs it always.
func (p Presence) For(risk Risk) bool {
	switch p {
	case PresenceUnset, PresenceNever:
		return false
	case PresenceRisky:
		return risk.High()
	}
	return true
}

// Decision is what a person answers.
type Decision string

const (
	DecisionUnset Decision = ""
	AllowOnce     Decision = "allow-once"
	AllowAlways   Decision = "allow-always"
	DecisionDeny  Decision = "deny"
)

// Verdict is what the machine concludes.
type Verdict string

const (
	VerdictUnset Verdict = ""
	VerdictAllow Verdict = "allow"
	VerdictAsk   Verdict = "ask"
	VerdictDeny  Verdict = "deny"
)

// Who says who runs the command: we do, or the caller's own shell does.
type Who string

const (
	WhoUnset Who = ""
	Ours     Who = "ours"
	Theirs   Who = "theirs"
)

// From loosest to strictest; the order is what Stricter compares.
var (
	hosts      = []Host{HostSandbox, HostGateway, HostNode}
	securities = []Security{SecurityFull, SecurityList, SecurityDeny}
	asks       = []Ask{AskOff, AskOnMiss, AskAlways}
	decisions  = []Decision{AllowOnce, AllowAlways, DecisionDeny}
	verdicts   = []Verdict{VerdictAllow, VerdictAsk, VerdictDeny}
	whos       = []Who{Ours, Theirs}
)

func (h *Host) UnmarshalText(b []byte) error     { return closed(h, "host", b, hosts) }
func (s *Security) UnmarshalText(b []byte) error { return closed(s, "security", b, securities) }
func (a *Ask) UnmarshalText(b []byte) error      { return closed(a, "ask", b, asks) }
func (d *Decision) UnmarshalText(b []byte) error { return closed(d, "decision", b, decisions) }
func (v *Verdict) UnmarshalText(b []byte) error  { return closed(v, "verdict", b, verdicts) }
func (w *Who) UnmarshalText(b []byte) error      { return closed(w, "who", b, whos) }

// UnknownWordError says that a closed word had a value nobody knows.
type UnknownWordError struct {
	Word  string   // which word, such as "security"
	Value string   // what was said
	Known []string // what could have been said
}

func (e *UnknownWordError) Error() string {
	return fmt.Sprintf("%s cannot be %q: use one of %s", e.Word, e.Value, strings.Join(e.Known, ", "))
}

func closed[T ~string](to *T, word string, value []byte, known []T) error {
	if !slices.Contains(known, T(value)) {
		names := make([]string, len(known))
		for i, k := range known {
			names[i] = string(k)
		}
		return &UnknownWordError{word, string(value), names}
	}
	*to = T(value)
	return nil
}

// StricterSecurity returns the stricter of two; one that is unset does not
// count, an unknown one counts as deny.
func StricterSecurity(a, b Security) Security { return stricter(a, b, securities, SecurityDeny) }

// StricterPresence returns the one that needs more; one that is unset does not
// count, an unknown one counts as always.
func StricterPresence(a, b Presence) Presence { return stricter(a, b, presences, PresenceAlways) }

// StricterAsk returns the one that asks more; one that is unset does not
// count, an unknown one counts as always.
func StricterAsk(a, b Ask) Ask { return stricter(a, b, asks, AskAlways) }

// StricterVerdict returns the stricter of two; one that is unset does not
// count, an unknown one counts as deny.
func StricterVerdict(a, b Verdict) Verdict { return stricter(a, b, verdicts, VerdictDeny) }

func stricter[T ~string](a, b T, order []T, strictest T) T {
	rank := func(x T) int {
		if x == "" {
			return -1
		}
		if i := slices.Index(order, x); i >= 0 {
			return i
		}
		return len(order)
	}
	worst := a
	if rank(b) > rank(a) {
		worst = b
	}
	if rank(worst) == len(order) {
		return strictest
	}
	return worst
}

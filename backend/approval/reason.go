package approval

// Reason is the machine-readable code of a verdict. The codes are stable:
// they travel on the wire and are stored in history. The sentence that
// explains one to a person is kept beside it, never inside it.
type Reason string

const (
	ReasonNone              Reason = ""
	ReasonSecurityDeny      Reason = "security=deny"
	ReasonDenylisted        Reason = "denylisted"
	ReasonFloor             Reason = "floor"
	ReasonAllowlistMiss     Reason = "allowlist-miss"
	ReasonAskAlways         Reason = "ask-always"
	ReasonUserDenied        Reason = "user-denied"
	ReasonApprovalRequired  Reason = "approval-required"
	ReasonApprovalCancelled Reason = "approval-cancelled"
	ReasonPromptExpired     Reason = "prompt-expired"
	ReasonAskFallback       Reason = "ask-fallback"
	ReasonUnreadable        Reason = "unreadable"
	ReasonTooComplex        Reason = "too-complex"
	ReasonNotFound          Reason = "not-found"
	ReasonUntrustedPath     Reason = "untrusted-path"
	ReasonWrapperUnclear    Reason = "wrapper-unclear"
	ReasonInlineCode        Reason = "inline-code"
	ReasonStartsProgram     Reason = "starts-program"
	ReasonWritesFile        Reason = "writes-file"
	ReasonDeletes           Reason = "deletes"
	ReasonOutsideFolder     Reason = "outside-folder"
	ReasonUploads           Reason = "uploads"
	ReasonNetwork           Reason = "uses-network"
	ReasonChangesConfig     Reason = "changes-config"
	ReasonChangesSystem     Reason = "changes-system"
	ReasonSteersScreen      Reason = "steers-screen"
	ReasonRuntimeValue      Reason = "runtime-value"
	ReasonEvaluates         Reason = "evaluates"
	ReasonEnvRefused        Reason = "env-refused"
	ReasonEnvAsks           Reason = "env-asks"
	ReasonProtectedState    Reason = "protected-state"
	ReasonBinaryChanged     Reason = "binary-changed"
	ReasonDrifted           Reason = "drifted"
	ReasonLeaseEnded        Reason = "lease-ended"
	ReasonInvalid           Reason = "invalid"
	ReasonCompanion         Reason = "companion-unavailable"
	ReasonScreenRecording   Reason = "permission:screenRecording"
	ReasonRateLimited       Reason = "rate-limited"
	ReasonReplay            Reason = "replay"
	ReasonPolicyBroken      Reason = "policy-broken"
	ReasonCwdUnavailable    Reason = "cwd-unavailable"
	ReasonTimeout           Reason = "timeout"
	// ReasonInternal is for what made us fail: it is no answer of a person or of
	// policy, and the same request fails again.
	ReasonInternal Reason = "internal-error"
)

// Finding is a reason with what it is about: the code for machines, the
// sentence for people. A sentence says what was seen and, where there is a
// way out, what to do. It holds no secrets and no control characters.
type Finding struct {
	Reason   Reason `json:"reason"`
	Sentence string `json:"sentence,omitempty"`
	// Allowed is the word of Entry.Allows with which an entry lets it pass; empty
	// where none can. Value is what the entry must name besides: the host of
	// AllowNetworkReads and AllowNetworkSends, "" for one that nobody knows, which
	// only an entry covers that says nothing of hosts; and the SHA-256 of the input of AllowThisCode, "" for
	// code in the arguments.
	Allowed Allowed `json:"-"`
	Value   string  `json:"-"`
}

// Ending is one of the four sentences that end an agent's search for a way
// around a refusal.
type Ending string

const (
	EndingPersonSaidNo Ending = "The person said no: stop here and ask them in the conversation."
	EndingPolicy       Ending = "Policy does not allow this: do not look for another way to do the same; say what you need and why."
	EndingMistake      Ending = "Nothing was denied by policy: correct the command and ask again."
	EndingNobody       Ending = "You may ask again later, or continue without it."
)

// EndingFor picks the ending for a refusal with this reason.
func EndingFor(r Reason) Ending {
	switch r {
	case ReasonUserDenied:
		return EndingPersonSaidNo
	case ReasonApprovalCancelled, ReasonPromptExpired, ReasonAskFallback,
		ReasonCompanion, ReasonRateLimited, ReasonTimeout,
		ReasonDrifted, ReasonReplay: // a yes that came to nothing
		return EndingNobody
	case ReasonNotFound, ReasonCwdUnavailable: // no rule and no person had a part in it
		return EndingMistake
	}
	return EndingPolicy
}

// CanAskAgain reports whether the same request may get another answer later
// without anything being changed first.
func CanAskAgain(r Reason) bool { return EndingFor(r) == EndingNobody }

// Package policy decides whether a plan may run. It is pure: it gets the
// plan, the rules and the time, and returns a verdict with a reason for every
// segment. It keeps nothing, and reads files only through the functions that it is
// handed.
//
// The order: security deny, then the floor and the denylist, then protected
// state, then entries, safe bins and skills, then what the programs could do,
// then asking. The strictest segment decides for the whole request.
package policy

import (
	"fmt"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Input is everything that one judgement looks at beside the rules.
type Input struct {
	Plan       *approval.Plan
	Who        approval.Who
	SessionKey string
	Claim      approval.Claim
	// EnvRefused are the names of the variables that a request may not set, and
	// Env those that it sets and that are not harmless (package environ).
	EnvRefused []string
	Env        []approval.Variable
	Now        time.Time
	// Hash returns the SHA-256 of a file, and Signer who surely signed it, ""
	// for nobody. Both are called only for what was recorded.
	Hash   func(approval.File) (string, error)
	Signer func(approval.File) string
	// Packaged reports whether only a package manager changes this file.
	Packaged func(approval.File) bool
	// Whole is the plan of the request, where Plan is a command of it whose words
	// only the run could tell; nil where Plan is all of it.
	Whole *approval.Plan
	// Tool is what package toolpolicy found of a command; nil where nothing is said
	// of the tool that takes commands.
	Tool *approval.Judgement
	// Waits reports whether what was allowed to this agent waits to be run under an
	// id; nil where nothing does.
	Waits func(id string) bool
	// Paid are the ids of entries of which this request has already used up
	// one use: it may be their last.
	Paid []string
	// Nobody tells that asking is due and nobody can be asked, so that
	// askFallback holds.
	Nobody bool
}

// Evaluate judges one request.
func (r *Rules) Evaluate(in Input) approval.Judgement {
	j, about := r.evaluate(in)
	j.Risk = weigh(in, j, about)
	return j
}

// evaluate returns the judgement, and the reasons to ask that are about the
// whole of the request.
func (r *Rules) evaluate(in Input) (j approval.Judgement, about []approval.Finding) {
	j = approval.Judgement{
		Security: approval.StricterSecurity(r.policy.Security, in.Claim.Security),
		Ask:      approval.StricterAsk(r.policy.Ask, in.Claim.Ask),
	}
	if in.Claim.Source == "ask-fallback" {
		j.Security = approval.StricterSecurity(j.Security, r.policy.AskFallback)
	}
	if refused := r.refuse(in, j.Security); refused.Reason != approval.ReasonNone {
		j.Verdict, j.Finding = approval.VerdictDeny, refused
		return j, nil
	}
	if in.Tool != nil {
		j.Security = approval.StricterSecurity(j.Security, in.Tool.Security)
		j.Ask = approval.StricterAsk(j.Ask, in.Tool.Ask)
		if in.Tool.Verdict != approval.VerdictAllow {
			take(&j, in.Tool.Verdict, in.Tool.Finding)
			j.Whole = true
		}
	}
	if outer := in.Plan.Outer; outer != nil {
		if rule := r.denies(&approval.Segment{Argv: in.Plan.Argv, Program: outer}); rule != nil {
			take(&j, approval.VerdictDeny, rule.finding())
			j.Whole = true
		}
	}
	if tooComplex := tooComplex(in.Plan); tooComplex.Reason != approval.ReasonNone {
		take(&j, approval.VerdictAsk, tooComplex) // what is said of its parts may only follow from this
	}
	for i := range in.Plan.Segments {
		s := r.segment(in, &in.Plan.Segments[i], j.Security)
		j.Segments = append(j.Segments, s)
		take(&j, s.Verdict, s.Finding)
	}
	about = r.whole(in, j.Security)
	for _, f := range about {
		take(&j, approval.VerdictAsk, f)
		j.Whole = true
	}
	if j.Verdict == approval.VerdictUnset && (in.Plan.Root != nil || j.Security == approval.SecurityFull) {
		j.Verdict = approval.VerdictAllow // it only sets variables, or a shell is to read what we cannot
	}
	if j.Verdict == approval.VerdictUnset {
		take(&j, approval.VerdictDeny, say(approval.ReasonInvalid, "there is nothing to run"))
	}
	return r.asking(in, j), about
}

// maxRequested bounds the variables of a request that are not harmless: each is
// compared for each part of it.
const maxRequested = 500

// refuse says why a request is refused whatever it would run.
func (r *Rules) refuse(in Input, security approval.Security) approval.Finding {
	switch {
	case r.policy.Broken != "":
		return say(approval.ReasonPolicyBroken, "the policy cannot be read: "+r.policy.Broken)
	case in.Plan.Invalid != "":
		return say(approval.ReasonInvalid, in.Plan.Invalid)
	case in.Claim.Decision == approval.DecisionDeny:
		return say(approval.ReasonUserDenied, "the caller says that a person denied it")
	case security == approval.SecurityUnset || security == approval.SecurityDeny:
		return say(approval.ReasonSecurityDeny, "this agent may run nothing here")
	case len(in.EnvRefused) > 0:
		return say(approval.ReasonEnvRefused, "these variables may not be set: "+list(in.EnvRefused))
	case len(in.Env) > maxRequested:
		return say(approval.ReasonEnvRefused, fmt.Sprintf("it sets more than %d variables", maxRequested))
	}
	for _, f := range in.Plan.Findings {
		if f.Reason == approval.ReasonCwdUnavailable || f.Reason == approval.ReasonEnvRefused {
			return f
		}
	}
	return approval.Finding{}
}

// Denylisted returns why the floor or the denylist forbids a request, none if
// they do not. It is all that holds for a command in a sandbox: security, ask
// and the entries are not looked at. What a denylist cannot see is forbidden,
// as nobody is asked.
func (r *Rules) Denylisted(in Input) approval.Finding {
	switch {
	case r.policy.Broken != "":
		return say(approval.ReasonPolicyBroken, "the policy cannot be read: "+r.policy.Broken)
	case in.Plan.Invalid != "":
		return say(approval.ReasonInvalid, in.Plan.Invalid)
	}
	if outer := in.Plan.Outer; outer != nil {
		if rule := r.denies(&approval.Segment{Argv: in.Plan.Argv, Program: outer}); rule != nil {
			return rule.finding()
		}
	}
	for i := range in.Plan.Segments {
		s := &in.Plan.Segments[i]
		if s.Floor != "" {
			return say(approval.ReasonFloor, s.Floor)
		}
		if rule := r.denies(s); rule != nil {
			return rule.finding()
		}
	}
	if len(r.denied.list) == 0 {
		return approval.Finding{}
	}
	for _, f := range r.hidden(in) {
		return say(f.Reason, "the denylist cannot tell what this runs: "+f.Sentence)
	}
	return approval.Finding{}
}

// whole returns the reasons to ask that are about the request and not about
// one of its segments.
func (r *Rules) whole(in Input, security approval.Security) []approval.Finding {
	if security == approval.SecurityFull {
		return r.hidden(in)
	}
	found := slices.Clone(in.Plan.Findings) // others judge the same plan at the same time
	if in.Plan.Root == nil && len(found) == 0 {
		found = append(found, say(approval.ReasonApprovalRequired, "it is not understood well enough to run without a shell"))
	}
	if said := in.Claim.ResolvedPath; said != "" && !leads(in.Plan, said) {
		found = append(found, say(approval.ReasonUntrustedPath, "the caller would run "+said+", which is not what we found"))
	}
	if len(in.Env) > 0 && !slices.ContainsFunc(in.Plan.Segments, carries) {
		found = append(found, say(approval.ReasonEnvAsks, "it sets "+variables(in.Env)))
	}
	return found
}

// leads reports whether the first program of a plan is the file that the
// caller says it would run.
func leads(plan *approval.Plan, said string) bool {
	if len(plan.Segments) == 0 || plan.Segments[0].Program == nil {
		return false
	}
	p := plan.Segments[0].Program
	return said == p.Path || said == p.Link || said == p.File.Path
}

// hidden asks under full about what the floor and, where one holds, the denylist
// cannot see.
func (r *Rules) hidden(in Input) []approval.Finding {
	if tooComplex := tooComplex(in.Plan); tooComplex.Reason != approval.ReasonNone {
		return []approval.Finding{tooComplex}
	}
	if len(r.denied.list) == 0 {
		return nil
	}
	for _, f := range in.Plan.Findings {
		switch f.Reason {
		case approval.ReasonUnreadable, approval.ReasonWrapperUnclear:
			return []approval.Finding{f}
		}
	}
	for i := range in.Plan.Segments {
		s := &in.Plan.Segments[i]
		if len(s.Open) > 0 && r.denied.words {
			return []approval.Finding{say(approval.ReasonRuntimeValue, "what it tells "+s.Argv[0]+" is known only when it runs, and the denylist names words")}
		}
		starts := s.Kind == approval.KindWrapper || s.Kind == approval.KindShell || s.Kind == approval.KindMultiplexer
		if (s.Program != nil || s.Builtin != "") && !starts {
			continue
		}
		for _, f := range s.Findings {
			if f.Reason != approval.ReasonNotFound {
				return []approval.Finding{f}
			}
		}
	}
	return nil
}

// tooComplex returns the limit that a plan went over, if it did.
func tooComplex(plan *approval.Plan) approval.Finding {
	i := slices.IndexFunc(plan.Findings, func(f approval.Finding) bool { return f.Reason == approval.ReasonTooComplex })
	if i < 0 {
		return approval.Finding{}
	}
	return plan.Findings[i]
}

// take keeps the strictest verdict and the first reason for it.
func take(j *approval.Judgement, v approval.Verdict, f approval.Finding) {
	if approval.StricterVerdict(j.Verdict, v) != j.Verdict {
		j.Verdict, j.Finding = v, f
	}
}

func say(reason approval.Reason, sentence string) approval.Finding {
	return approval.Finding{Reason: reason, Sentence: sentence}
}

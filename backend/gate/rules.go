package gate

import (
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/toolpolicy"
)

// rules are those of one agent, for commands and for tools.
type rules struct {
	*policy.Rules
	tools *toolpolicy.Rules
	// charters is the stamp of those that the rules come from, "" for none.
	charters string
	own      *rules // those of approval.Policy.Own, nil for none
}

// prepare reads the patterns of a policy with its charters. One that cannot be
// read, or is not the one that was accepted, breaks it: it may have forbidden
// anything.
func (g *Gate) prepare(p approval.Policy) *rules {
	stamp, own := "", (*rules)(nil)
	if p.Own != nil {
		own = g.prepare(*p.Own)
	}
	if len(p.Charters) > 0 {
		stamp = g.Charters.Stamp() // before they are read
	}
	for _, ref := range p.Charters {
		charter, sum, err := g.Charters.Read(ref.Name)
		if err == nil && sum != ref.SHA256 {
			err = fmt.Errorf("the charter %s is not the one that was accepted: look at it, then run `countersign charters accept %s`", ref.Name, ref.Name)
		}
		if err != nil {
			p.Broken = err.Error()
			break
		}
		p = charter.On(p, ref.Name)
	}
	return &rules{policy.Prepare(p, g.Home, realPath), toolpolicy.Prepare(p, g.Home), stamp, own}
}

// Evaluate judges a request: a command, a tool call, or a tool call that is a
// command, for which both must agree.
func (r *rules) Evaluate(in policy.Input) approval.Judgement {
	if r.own != nil {
		if j := r.own.Evaluate(in); j.Verdict == approval.VerdictDeny {
			return j
		}
	}
	t := in.Plan.Tool
	if t == nil || in.Plan.Invalid != "" {
		return r.Rules.Evaluate(in)
	}
	found := r.tools.Evaluate(toolpolicy.Input{
		Tool: t, Args: toolpolicy.ArgsOf(t), Cwd: in.Plan.Cwd.Path, SessionKey: in.SessionKey, Now: in.Now, Paid: in.Paid,
	})
	if !t.Command {
		return r.Rules.Tool(in, found)
	}
	in.Tool = &found
	j := r.Rules.Evaluate(in)
	j.Escalate = found.Escalate
	if beside := toolpolicy.Beside(t); beside != "" { // the question shows the command alone
		j.Risk.Reasons = append(j.Risk.Reasons, approval.Finding{Sentence: "the call also says " + shorten(display.Line(beside))})
	}
	if t.DefaultToNo {
		j.Risk.Level, j.Risk.Score = approval.RiskHigh, max(j.Risk.Score, approval.HighFrom)
	}
	if t.NoAlways {
		j.Writes, j.Offers = nil, nil
		j.Choices = slices.DeleteFunc(j.Choices, func(d approval.Decision) bool { return d == approval.AllowAlways })
	}
	return j
}

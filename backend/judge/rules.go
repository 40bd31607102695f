package judge

import (
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
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
	// projects are what a person said of folders.
	projects []approval.Project
}

// prepare reads the patterns of a policy with its charters. One that cannot be
// read, or is not the one that was accepted, breaks it: it may have forbidden
// anything.
func (j *Judge) prepare(p approval.Policy) *rules {
	stamp, own := "", (*rules)(nil)
	if p.Own != nil {
		own = j.prepare(*p.Own)
	}
	if len(p.Charters) > 0 {
		stamp = j.reads.Charters.Stamp() // before they are read
	}
	for _, ref := range p.Charters {
		charter, sum, err := j.reads.Charters.Read(ref.Name)
		if err == nil && sum != ref.SHA256 {
			err = fmt.Errorf("the charter %s is not the one that was accepted: look at it, then run `countersign charters accept %s`", ref.Name, ref.Name)
		}
		if err != nil {
			p.Broken = err.Error()
			break
		}
		p = charter.On(p, ref.Name)
	}
	return &rules{policy.Prepare(p, j.reads.Home, realPath), toolpolicy.Prepare(p, j.reads.Home), stamp, own, p.Projects}
}

// Evaluate judges a request: a command or a tool call. What the rules for tools
// say of bash_execute holds for every command, whichever door it came by, and both
// must agree. Nothing tells a person's own `countersign run` from that of an agent,
// so they hold for it as well: it asks for the agent it names, or for main.
func (r *rules) Evaluate(in policy.Input) approval.Judgement {
	if r.own != nil {
		if j := r.own.Evaluate(in); j.Verdict == approval.VerdictDeny {
			return j
		}
	}
	t, found := r.ofTool(in)
	if t == nil {
		return r.Rules.Evaluate(in)
	}
	if !t.Command {
		return r.Rules.Tool(in, found)
	}
	in.Tool = &found
	j := r.Rules.Evaluate(in)
	j.Escalate = found.Escalate
	if found.Verdict != approval.VerdictDeny && found.Risk.Level.High() && !j.Risk.Level.High() { // a rule or the agent calls it so
		j.Risk.Level, j.Risk.Score = found.Risk.Level, found.Risk.Score
		j.Risk.Reasons = slices.Concat(found.Risk.Reasons[len(found.Risk.Reasons)-1:], j.Risk.Reasons)
	}
	if beside := toolpolicy.Beside(t); beside != "" { // the question shows the command alone
		j.Risk.Reasons = append(j.Risk.Reasons, approval.Finding{Sentence: "the call also says " + display.Short(display.Line(beside))})
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

// ofTool is the call of a tool that a request is, and what is found of it; nil for
// a command of whose tool nothing is said.
func (r *rules) ofTool(in policy.Input) (t *approval.Tool, found approval.Judgement) {
	plan := in.Plan
	if in.Whole != nil {
		plan = in.Whole
	}
	var args []toolpolicy.Arg
	switch t = plan.Tool; {
	case in.Plan.Invalid != "":
		return nil, found
	case t != nil:
		args = toolpolicy.ArgsOf(t)
	case !r.tools.OfCommands():
		return nil, found
	default:
		t, args = toolpolicy.ForCommand(commandText(plan))
	}
	return t, r.tools.Evaluate(toolpolicy.Input{
		Tool: t, Args: args, Cwd: plan.Cwd.Path, SessionKey: in.SessionKey, Now: in.Now, Paid: in.Paid,
	})
}

// commandText is what rules take for the command of a request: the text that a
// shell is given, and all words of any other program. A shell that somebody brought
// along may do anything with a text, so its words count as others do.
func commandText(plan *approval.Plan) string {
	if plan.Shell == "" || plan.Outer != nil && (plan.Outer.Bare || command.Kept(plan.Outer.File)) {
		return plan.Text
	}
	return command.Quote(plan.Argv)
}

// Denylisted tells why a command is forbidden wherever it runs: also what the rules
// for tools refuse is.
func (r *rules) Denylisted(in policy.Input) approval.Finding {
	f := r.Rules.Denylisted(in)
	if f.Reason != approval.ReasonNone {
		return f
	}
	if t, found := r.ofTool(in); t != nil && found.Verdict == approval.VerdictDeny {
		return found.Finding
	}
	return f
}

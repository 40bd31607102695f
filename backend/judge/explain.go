package judge

import (
	"context"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// Explain judges a request as its run would be.
func (j *Judge) Explain(ctx context.Context, req approval.Request) (approval.Plan, approval.Judgement, error) {
	c, err := j.Open(ctx, req)
	if err != nil {
		return approval.Plan{}, approval.Judgement{}, err
	}
	c.examine(ctx)
	return c.Plan, c.Judgement, nil
}

// ExplainTool judges a tool call as it would be when it is made.
func (j *Judge) ExplainTool(ctx context.Context, call approval.ToolCall, peer approval.Peer) (approval.Plan, approval.Judgement, error) {
	return j.Explain(ctx, RequestFor(call, peer))
}

// Suppose judges a request under another policy.
func (j *Judge) Suppose(ctx context.Context, p approval.Policy, req approval.Request) (approval.Judgement, error) {
	c, rules, err := j.supposed(ctx, p, req)
	if err != nil {
		return approval.Judgement{}, err
	}
	return c.under(rules), nil
}

// supposed is the case of a request under another policy, and its rules.
func (j *Judge) supposed(ctx context.Context, p approval.Policy, req approval.Request) (Case, *rules, error) {
	c, err := j.Open(ctx, req)
	if err != nil {
		return c, nil, err
	}
	rules := j.prepare(p)
	c.Plan = j.plan(ctx, rules, c.machine, &c.Req)
	return c, rules, nil
}

// Denylisted tells why the floor, the denylist or a rule for tools forbids a request
// wherever it runs, in a sandbox too; no reason where they do not.
func (j *Judge) Denylisted(ctx context.Context, req approval.Request) (approval.Finding, error) {
	c, err := j.Open(ctx, req)
	if err != nil {
		return approval.Finding{}, err
	}
	rules, _ := j.rulesFor(c.Req.AgentID)
	c.Plan = j.plan(ctx, rules, c.machine, &c.Req)
	return rules.Denylisted(c.input()), nil
}

// DeniesTool reports whether an agent may not call a tool in a session, whatever
// it tells it.
func (j *Judge) DeniesTool(agentID, session, server, tool string) bool {
	rules, _ := j.rulesFor(store.AgentID(agentID))
	return rules.Shut() || rules.tools.Denies(session, server, tool)
}

// Covered is the answer that the policy of this moment has to a question: a new entry
// covers it, or a new rule denies it. known is false where it has none. The plan of a
// request whose folder has become a project since is made anew, as long as ctx goes
// on; req is nil where it is not known any more.
func (j *Judge) Covered(ctx context.Context, p approval.Prompt, req *approval.Request) (verdict approval.Judgement, known bool) {
	rules, _ := j.rulesFor(p.AgentID)
	in := j.input(p.AgentID)
	in.Plan, in.Who, in.SessionKey, in.Claim = &p.Plan, p.Who, p.SessionKey, p.Claim
	for _, change := range p.Env {
		if change.Asks {
			in.Env = append(in.Env, approval.Variable{Name: change.Name, Value: change.Value, Unknown: change.Secret})
		}
	}
	if plan := j.inProject(ctx, rules, &p, req); plan != nil {
		in.Plan = plan
		if ctx.Err() != nil {
			return verdict, false // nobody waits for the rest of it
		}
	}
	verdict = rules.Evaluate(in)
	return verdict, verdict.Verdict != approval.VerdictAsk
}

// inProject makes the plan of a question anew where its folder was no project and is
// one now; nil elsewhere.
func (j *Judge) inProject(ctx context.Context, rules *rules, p *approval.Prompt, req *approval.Request) *approval.Plan {
	if req == nil || p.Plan.Folder.Path != "" || len(rules.projects) == 0 || ctx.Err() != nil {
		return nil
	}
	m, err := j.reads.Machine(ctx) // there is one: something waits
	if err != nil {
		return nil
	}
	folder := rules.folder(m, req)
	if folder.Path == "" {
		return nil
	}
	plan := j.analyze(ctx, m, req, folder)
	return &plan
}

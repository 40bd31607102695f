package judge

import (
	"cmp"
	"context"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/project"
	"github.com/countersign-app/countersign/backend/store"
)

// Case is one request, judged. A copy is a case of its own, but for Paid, which one
// of them alone may add to.
type Case struct {
	Req       approval.Request
	Plan      approval.Plan
	Judgement approval.Judgement
	// Generation is that of the policy when it was judged, and Judged when that was.
	Generation uint64
	Judged     time.Time
	// Paid are the ids of the counted entries that were used for it.
	Paid []string

	judge   *Judge
	machine *Machine
	whole   *approval.Plan // of which Plan is a command, nil where it is all of it
	past    bool           // it is made of the record, without the values of its variables
}

// Open makes the case of a request, which is not judged yet. It waits for the
// machine, and its error says why nothing can be judged.
func (j *Judge) Open(ctx context.Context, req approval.Request) (Case, error) {
	m, err := j.reads.Machine(ctx)
	if err != nil {
		return Case{Req: req}, err
	}
	req.AgentID = store.AgentID(req.AgentID)
	return Case{Req: req, judge: j, machine: m}, nil
}

// Machine is that by which the case is judged.
func (c *Case) Machine() *Machine { return c.machine }

// examine analyses and judges the request as things are now. Its plan is Invalid if
// ctx ends before the end.
func (c *Case) examine(ctx context.Context) {
	if c.Analyze(ctx); ctx.Err() != nil {
		c.Unfinish()
	}
	c.Evaluate(false)
}

// Analyze makes the plan of the request as things are now.
func (c *Case) Analyze(ctx context.Context) {
	rules, _ := c.judge.rulesFor(c.Req.AgentID)
	c.Plan = c.judge.plan(ctx, rules, c.machine, &c.Req)
}

// Unfinish says that nobody waits for the plan any more.
func (c *Case) Unfinish() { c.Plan.Root, c.Plan.Invalid = nil, command.Unfinished }

// Evaluate judges the plan by the policy of this moment. nobody says that there is
// nobody to ask.
func (c *Case) Evaluate(nobody bool) {
	rules, generation := c.judge.rulesFor(c.Req.AgentID)
	in := c.input()
	in.Paid, in.Nobody = c.Paid, nobody
	c.Generation, c.Judged = generation, in.Now
	c.Judgement = rules.Evaluate(in)
}

// under judges the plan under other rules, as if nothing was paid for it yet.
func (c *Case) under(r *rules) approval.Judgement { return r.Evaluate(c.input()) }

// input is what the request is judged by, beside the rules.
func (c *Case) input() policy.Input {
	env := environ.Check(c.Req.Env)
	for i := range env.Asks {
		env.Asks[i].Unknown = c.past
	}
	in := c.judge.input(c.Req.AgentID)
	in.Plan, in.Whole, in.Who, in.SessionKey, in.Claim = &c.Plan, c.whole, c.Req.Who, c.Req.SessionKey, c.Req.Claim
	in.EnvRefused, in.Env = env.Refused, env.Asks
	return in
}

// input is what every request of an agent is judged by.
func (j *Judge) input(agentID string) policy.Input {
	return policy.Input{
		Now: j.reads.Now(), Hash: j.reads.Hashes.Of, Signer: j.reads.Signers.Of, Packaged: machine.Packaged,
		Waits: func(id string) bool { return j.reads.Waits != nil && j.reads.Waits(id, agentID) },
	}
}

// Became is the case of a command of the text whose words only the run could tell.
// It is not judged yet, and what was paid for it is for the caller to say.
func (c *Case) Became(ctx context.Context, seg int, argv []string, dir string) Case {
	part := Case{Req: c.Req, judge: c.judge, machine: c.machine, whole: &c.Plan}
	part.Plan = c.machine.Analyzer.Final(ctx, &c.Plan, &c.Plan.Segments[seg], argv, dir)
	return part
}

// Output judges a file of the plan anew that a redirection writes.
func (c *Case) Output(ctx context.Context, r approval.Redirect) (approval.Redirect, *approval.Denial) {
	again, why := c.machine.Analyzer.Output(ctx, &c.Plan, r, c.judge.wrote(&c.Req))
	if why.Reason == approval.ReasonNone {
		return again, nil
	}
	return again, Deny(approval.ReasonDrifted, why.Sentence)
}

// wrote are the files that commands of a request's session made in the temp folder.
func (j *Judge) wrote(req *approval.Request) []approval.File {
	if j.reads.Wrote == nil || req.SessionKey == "" {
		return nil
	}
	return j.reads.Wrote(req.AgentID, req.SessionKey)
}

// Denied is the denial for a judgement that is not a yes.
func (c *Case) Denied() *approval.Denial { return Denied(c.Plan, c.Judgement) }

// folder works out the session's folder of a request, as things are now. An agent
// that says none works in the home folder, which is none.
func (r *rules) folder(m *Machine, req *approval.Request) approval.Folder {
	return r.projectOf(m, cmp.Or(req.Cwd, m.Analyzer.Home))
}

func (r *rules) projectOf(m *Machine, dir string) approval.Folder {
	a := m.Analyzer
	return project.Find(dir, project.Person{Home: a.Home, UID: a.UID}, r.projects, a.World)
}

// plan makes the plan of a request under these rules.
func (j *Judge) plan(ctx context.Context, r *rules, m *Machine, req *approval.Request) approval.Plan {
	return j.analyze(ctx, m, req, r.folder(m, req))
}

// analyze makes the plan of a request. A text that the runner cannot run from
// its plan is one that needs its shell, and so a person's yes.
func (j *Judge) analyze(ctx context.Context, m *Machine, req *approval.Request, folder approval.Folder) approval.Plan {
	if req.Tool != nil {
		return j.analyzeTool(ctx, m, req, folder)
	}
	asked := *req
	asked.Wrote = j.wrote(req)
	if j.reads.Began != nil {
		asked.Began = func(pid int) (approval.ProcessID, bool) { return j.reads.Began(req, pid) }
	}
	if j.reads.Policies != nil { // where no host runs, no other project counts
		asked.ProjectOf = func(dir string) approval.Folder {
			rules, _ := j.rulesFor(req.AgentID)
			return rules.projectOf(m, dir)
		}
	}
	plan := m.Analyzer.Analyze(ctx, &asked, folder)
	if plan.Shell != "" && plan.Root != nil && !j.reads.Able(&plan) {
		plan.Root = nil
		plan.Findings = append(plan.Findings, approval.Finding{Reason: approval.ReasonApprovalRequired, Sentence: "it cannot be run without its shell yet"})
	}
	return plan
}

package judge

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/store"
)

// replayed is how many recorded requests of an agent are judged again.
const replayed = 1000

// Replay tells what entries would have meant for the latest requests of an
// agent, judged by the policy and the files of today.
type Replay struct {
	// Looked is how many requests were judged again; Skipped how many could not
	// be, because secrets were taken out of what was kept of them.
	Looked  int `json:"looked"`
	Skipped int `json:"skipped,omitempty"`
	// Allowed is how many pass with the entries and not without; Saved how many
	// of these were a question, and Denied how many a person said no to.
	Allowed int `json:"allowed"`
	Saved   int `json:"saved"`
	Denied  int `json:"denied,omitempty"`
	// Yes is how many of these a person allowed.
	Yes int `json:"yes,omitempty"`
	// Riskiest is the text of that among the allowed which could do most harm,
	// one that was denied first; "" where none can do any.
	Riskiest string `json:"riskiest,omitempty"`
	// Complete is false when time ran out first.
	Complete bool `json:"complete"`

	rank int // of Riskiest
}

// past is a recorded request as it would be judged today. Rows that ask for
// the same share one.
type past struct {
	judged *Case
	rows   []history.Row
}

// Replay tells for each set of entries what adding it would have meant. When ctx
// ends it tells it of the requests that it came to.
func (j *Judge) Replay(ctx context.Context, agentID string, sets [][]approval.Entry) ([]Replay, error) {
	agentID = store.AgentID(agentID)
	list, skipped, complete, err := j.past(ctx, agentID)
	if err != nil {
		return nil, err
	}
	rules := make([]*rules, len(sets))
	own := j.reads.Policies.Current().Policy(agentID)
	for i, set := range sets {
		rules[i] = j.prepare(own.Listing(slices.Concat(own.Allowlist, set)))
	}
	results := make([]Replay, len(sets))
	for _, p := range list {
		passed := p.judged.Judgement.Verdict == approval.VerdictAllow
		for i := range results {
			if ofTools(sets[i]) {
				continue // what a tool was told is not kept in full
			}
			results[i].Looked += len(p.rows)
			if !passed && p.judged.under(rules[i]).Verdict == approval.VerdictAllow {
				results[i].take(p)
			}
		}
	}
	for i := range results {
		results[i].Skipped, results[i].Complete = skipped, complete
	}
	return results, nil
}

// Answered tells what a person said to the latest requests of an agent that pass under
// these entries alone: Looked, Allowed, Yes and Denied of a Replay.
func (j *Judge) Answered(ctx context.Context, agentID string, entries []approval.Entry) (r Replay, err error) {
	agentID = store.AgentID(agentID)
	list, skipped, complete, err := j.past(ctx, agentID)
	if err != nil {
		return r, err
	}
	alone := j.prepare(j.reads.Policies.Current().Policy(agentID).Listing(entries))
	for _, p := range list {
		r.Looked += len(p.rows)
		if p.judged.under(alone).Verdict == approval.VerdictAllow {
			r.take(p)
		}
	}
	r.Skipped, r.Complete = skipped, complete
	return r, nil
}

func ofTools(set []approval.Entry) bool {
	return slices.ContainsFunc(set, func(e approval.Entry) bool {
		_, tool := approval.ToolPattern(e.Pattern)
		return tool
	})
}

// take counts a request that would have been allowed.
func (r *Replay) take(p past) {
	r.Allowed += len(p.rows)
	rank := harm(&p.judged.Plan)
	for _, row := range p.rows {
		if !row.Asked.IsZero() {
			r.Saved++
		}
		if allowedByPerson(row) {
			r.Yes++
		}
		if deniedByPerson(row) {
			r.Denied++
			rank += 100
		}
	}
	if rank > r.rank {
		r.rank, r.Riskiest = rank, p.rows[0].Command
	}
}

// deniedByPerson reports whether a person, and no clock and no rule, said no.
func deniedByPerson(row history.Row) bool {
	return row.Decision == approval.DecisionDeny && row.Reason == approval.ReasonUserDenied
}

// harm orders what passes without a question by what it could spoil.
func harm(plan *approval.Plan) (worst int) {
	for _, s := range plan.Segments {
		n := 0
		for _, e := range s.Effects {
			n += map[approval.Effect]int{approval.EffectDeletes: 4, approval.EffectNetwork: 2, approval.EffectProject: 1}[e]
		}
		if s.Kind == approval.KindChanger {
			n += 3
		}
		worst = max(worst, n)
	}
	return worst
}

// past returns the latest requests of an agent, the same ones together, judged
// by the policy of today; complete is false if ctx ended before all were.
func (j *Judge) past(ctx context.Context, agentID string) (list []past, skipped int, complete bool, err error) {
	m, err := j.reads.Machine(ctx)
	if err != nil {
		return nil, 0, false, err
	}
	none := ""
	rows, err := j.reads.Records.List(ctx, history.Query{AgentID: agentID, Parent: &none, Limit: replayed})
	if err != nil {
		return nil, 0, false, err
	}
	at := map[string]int{}
	for _, row := range rows {
		req, kept := requestOf(row)
		if !kept {
			skipped++
			continue
		}
		key := strings.Join(slices.Concat(req.Command, []string{"", req.Text, req.Cwd, req.SessionKey, string(req.Who)}, row.EnvNames), "\x00")
		if i, seen := at[key]; seen {
			list[i].rows = append(list[i].rows, row)
			continue
		}
		if ctx.Err() != nil {
			return list, skipped, false, nil
		}
		c := &Case{Req: req, judge: j, machine: m, past: true}
		if c.examine(ctx); c.Plan.Invalid == command.Unfinished {
			return list, skipped, false, nil
		}
		at[key] = len(list)
		list = append(list, past{c, []history.Row{row}})
	}
	return list, skipped, true, nil
}

// requestOf is the request that a row tells of; kept is false where not all of
// its words were stored.
func requestOf(row history.Row) (req approval.Request, kept bool) {
	req = approval.Request{
		Command: row.Argv, Cwd: row.Cwd, Who: row.Who, AgentID: row.AgentID, SessionKey: row.SessionKey, Env: map[string]string{},
	}
	if _, tool := approval.ToolPattern(row.Program); tool || strings.Contains(row.Cwd, "***") {
		return req, false
	}
	for _, name := range row.EnvNames {
		if !envnames.MayBeHarmless(name) { // else it was, or is asked about again
			req.Env[name] = "" // values are not stored
		}
	}
	if len(row.Argv) == 0 {
		req.Text = row.Command
		return req, row.Who == approval.Theirs && row.Command != "" && !strings.Contains(row.Command, "***")
	}
	return req, true
}

package judge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/history"
)

// Offered are the ways to allow from now on what a recorded request ran.
type Offered struct {
	AgentID string
	Offers  []approval.Offer
	// Leases are the ids of the entries with an end that let it pass today.
	Leases []string
}

// Offered judges a recorded request again, by the files and the policy of today
// without its leases, as if it were asked about. Its errors say why nothing is
// offered, for a person.
func (j *Judge) Offered(ctx context.Context, id string) (Offered, error) {
	rows, err := j.reads.Records.List(ctx, history.Query{ID: id, Limit: 1})
	if err != nil {
		return Offered{}, err
	}
	if id == "" || len(rows) == 0 {
		return Offered{}, errors.New("this request is not in the history any more")
	}
	row := rows[0]
	if !row.Ran() {
		return Offered{}, errors.New("it did not run, so there is nothing to allow from now on: answer it when it is asked again")
	}
	req, kept := requestOf(row)
	if !kept {
		return Offered{}, errors.New("it cannot be made an entry: its secrets were taken out when it was recorded")
	}
	m, err := j.reads.Machine(ctx)
	if err != nil {
		return Offered{}, err
	}
	c := &Case{Req: req, judge: j, machine: m, past: true}
	c.examine(ctx)
	o := Offered{AgentID: row.AgentID}
	own := j.reads.Policies.Current().Policy(row.AgentID)
	for _, e := range own.Allowlist {
		under := func(s approval.SegmentJudgement) bool { return s.EntryID == e.ID && s.Verdict == approval.VerdictAllow }
		if e.Leased() && slices.ContainsFunc(c.Judgement.Segments, under) {
			o.Leases = append(o.Leases, e.ID)
		}
	}
	own = own.Listing(slices.DeleteFunc(slices.Clone(own.Allowlist), approval.Entry.Leased))
	c.Judgement = c.under(j.prepare(own))
	switch {
	case c.Judgement.Verdict == approval.VerdictAllow:
		return Offered{}, errors.New("it passes already, and not only for a while")
	case c.Judgement.Verdict == approval.VerdictDeny:
		return Offered{}, errors.New("it would be denied now: " + c.Judgement.Sentence)
	case c.changedSince(row):
		return Offered{}, errors.New("its program changed since it ran: answer it when it is asked again")
	}
	c.Offer()
	if len(c.Judgement.Offers) == 0 {
		return Offered{}, errors.New("it cannot be made an entry: " + c.Judgement.Sentence)
	}
	o.Offers = c.Judgement.Offers
	return o, nil
}

// changedSince reports whether a program of the request changed after the person
// answered it or, where nobody was asked, after it came. What only the system's
// package manager changes does not count.
func (c *Case) changedSince(row history.Row) bool {
	since := row.Answered
	if since.IsZero() {
		since = row.Arrived
	}
	for _, s := range c.Plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			if !command.Kept(at.File) && time.Unix(0, at.File.Changed).After(since) {
				return true
			}
		}
	}
	return false
}

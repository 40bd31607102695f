package history

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Bounds of the requests of one day that were denied without an answer of a
// person and are kept one by one: of each agent, and of all of them together.
// Agents name themselves, so the first bound alone would be none. Of the second a
// family has no more than is free, so that one with many names leaves some for
// others. Else who may run nothing could fill the history until all that was
// allowed is gone from it.
const (
	agentRows, agentBytes = 1000, 8 << 20
	allRows, allBytes     = 10_000, 32 << 20
)

// everyAgent stands for the agents that come when those of a day are full, or those
// of their family.
const everyAgent = "*"

// quota counts what was denied on one day.
type quota struct {
	day    int64 // since 1970, in UTC
	all    tally
	agents map[string]*tally
	// families are those of what is kept, "" for all that no door settled.
	families map[string]*tally
	texts    map[string]bool // long texts of this day, by hash: each counts once
}

// tally is what was kept of an agent, how many more there were, and of these how
// many the last row that counts them says.
type tally struct{ rows, bytes, more, said int }

func (t *tally) full(rows, bytes int) bool { return t.rows >= rows || t.bytes >= bytes }

// take reports whether a row is beyond the quota, and returns the rows to write
// that count such ones. Those of one agent say 1, 2, 4 and so on, and at the end
// of the day, or of the host, how many there were.
func (q *quota) take(row *Row, now int64) (beyond bool, counting []Row) {
	if row.State != Denied || row.Parent != "" || row.refused() {
		return false, nil
	}
	if day := now / (24 * time.Hour).Milliseconds(); day != q.day || q.agents == nil {
		counting = q.rest(now)
		*q = quota{day: day, agents: map[string]*tally{}, families: map[string]*tally{}, texts: map[string]bool{}}
	}
	over := q.over(row.Family)
	name := row.AgentID
	if q.agents[name] == nil && over {
		name = everyAgent
	}
	t := tallyOf(q.agents, name)
	if !over && !t.full(agentRows, agentBytes) {
		size := q.size(row)
		for _, t := range []*tally{t, tallyOf(q.families, row.Family), &q.all} {
			t.rows, t.bytes = t.rows+1, t.bytes+size
		}
		return false, counting
	}
	if t.more++; t.more&(t.more-1) == 0 {
		counting = append(counting, t.count(name, now))
	}
	return true, counting
}

// over reports whether nothing more of a family is kept.
func (q *quota) over(family string) bool {
	t := q.families[family]
	return q.all.full(allRows, allBytes) || family != "" && t != nil && t.full(allRows-q.all.rows, allBytes-q.all.bytes)
}

func tallyOf(all map[string]*tally, name string) *tally {
	if all[name] == nil {
		all[name] = &tally{}
	}
	return all[name]
}

// size is what a row adds to the file: a text that it has in common with another
// one of the day nothing.
func (q *quota) size(row *Row) int {
	s, texts, err := split(*row)
	if err != nil {
		return row.size() // and the write says why
	}
	size := s.size()
	for hash, text := range texts {
		if !q.texts[hash] {
			size += len(text)
		}
		q.texts[hash] = true
	}
	return size
}

// refused reports whether a person here was asked and said no. A question that nobody
// answered, or the program that asked it, has an end too, and comes as often as an
// agent likes; so does what is denied by a no of before.
func (r *Row) refused() bool {
	return !r.Asked.IsZero() && r.Reason == approval.ReasonUserDenied && r.Decision == approval.DecisionDeny && !strings.HasPrefix(r.AnsweredBy, approval.ByClient)
}

// rest returns the rows that count what none says yet.
func (q *quota) rest(now int64) (counting []Row) {
	for _, name := range slices.Sorted(maps.Keys(q.agents)) {
		if t := q.agents[name]; t.more > t.said {
			counting = append(counting, t.count(name, now))
		}
	}
	return counting
}

// count is a row that says how many more there were.
func (t *tally) count(agentID string, now int64) Row {
	t.said = t.more
	at := time.UnixMilli(now)
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", now, t.more, agentID))
	return Row{
		ID: fmt.Sprintf("more-%x", sum[:12]), State: Denied, AgentID: agentID, Verdict: approval.VerdictDeny,
		Command:  fmt.Sprintf("(%d more requests)", t.more),
		Sentence: fmt.Sprintf("%d more requests of this day were denied and are not kept one by one", t.more),
		Arrived:  at, Ended: at,
	}
}

// slim is what is kept of a row beyond the quota whose beginning was written
// already: all but its texts, of which the longest is named by its hash.
func (r Row) slim() Row {
	sum := sha256.Sum256([]byte(r.Command))
	return Row{
		ID: r.ID, State: r.State, AgentID: r.AgentID, PeerPID: r.PeerPID, Who: r.Who,
		Command: fmt.Sprintf("(%d bytes, sha256 %x)", len(r.Command), sum), Judged: r.Judged, JudgedReason: r.JudgedReason,
		Verdict: r.Verdict, Reason: cmp.Or(r.Reason, r.JudgedReason), Security: r.Security, Ask: r.Ask, Risk: r.Risk,
		Arrived: r.Arrived, Asked: r.Asked, Ended: r.Ended,
	}
}

package judge

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/store"
)

const (
	// maxCandidates bounds the entries that are tried for suggestions, and
	// maxSuggestions how many are made: nobody reads more.
	maxCandidates  = 24
	maxSuggestions = 3
	// leastSaved is how many questions an entry must have saved to be worth
	// another one, and mostEntries how many of them a person reads at a glance.
	leastSaved  = 3
	mostEntries = 4
	// turnsDown is how often a person who is told of a suggestion on the panel
	// allows the same once until it is not told any more.
	turnsDown = 3
)

// Suggestion is an offer that would have saved questions which a person
// answered with yes each time.
type Suggestion struct {
	// Offer holds in its folder alone where the panel would choose that.
	Offer  approval.Offer `json:"offer"`
	Replay Replay         `json:"replay"`
	// Example is the text of one of these requests.
	Example string `json:"example"`
}

// candidate is an offer that came of recorded requests.
type candidate struct {
	Suggestion
	from  past
	asked int
}

// Suggest looks for entries that an agent should have, by what it was allowed
// lately. Nothing is suggested that is wide or for a high risk, and nothing that
// would have allowed what a person denied, nor anything unwanted, which may be nil.
func (j *Judge) Suggest(ctx context.Context, agentID string, unwanted func([]approval.Entry) bool) ([]Suggestion, error) {
	agentID = store.AgentID(agentID)
	list, _, _, err := j.past(ctx, agentID)
	if err != nil {
		return nil, err
	}
	tried := candidates(list, unwanted)
	sets := make([][]approval.Entry, len(tried))
	for i, c := range tried {
		sets[i] = c.Offer.Writes
	}
	told, err := j.Replay(ctx, agentID, sets)
	if err != nil {
		return nil, err
	}
	for i := range tried {
		tried[i].Replay = told[i]
	}
	tried = slices.DeleteFunc(tried, func(c candidate) bool { return c.Replay.Saved < leastSaved || c.Replay.Denied > 0 })
	slices.SortStableFunc(tried, func(a, b candidate) int { return cmp.Compare(b.Replay.Saved, a.Replay.Saved) })
	var best []Suggestion
	for _, c := range tried {
		if len(best) < maxSuggestions && !slices.ContainsFunc(best, c.meets) && c.complete() {
			best = append(best, c.Suggestion)
		}
	}
	return best, nil
}

// meets reports whether another suggestion is about one of the same programs.
func (c *candidate) meets(other Suggestion) bool {
	return slices.ContainsFunc(c.Offer.Writes, func(e approval.Entry) bool {
		return slices.ContainsFunc(other.Offer.Writes, func(o approval.Entry) bool { return o.Pattern == e.Pattern })
	})
}

// candidates are the narrow offers for what a person allowed, those for the
// most questions first. Narrower ones stand before wider ones.
func candidates(list []past, unwanted func([]approval.Entry) bool) []candidate {
	var found []candidate
	at := map[string]int{}
	for _, p := range list {
		asked := 0
		for _, row := range p.rows {
			if allowedByPerson(row) {
				asked++
			}
		}
		if asked == 0 || p.judged.Judgement.Risk.Level.High() {
			continue
		}
		for _, o := range p.judged.Judgement.Offers {
			if o.Wide == approval.WideChanges || o.Wide == approval.WideUnknown || len(o.Writes) > mostEntries || slices.ContainsFunc(o.Writes, isThere) {
				continue
			}
			if o.Writes = o.Entries(o.Here); unwanted != nil && unwanted(o.Writes) {
				continue
			}
			key, _ := json.Marshal(o.Writes) // plain fields cannot fail
			i, known := at[string(key)]
			if !known {
				i = len(found)
				at[string(key)] = i
				found = append(found, candidate{Suggestion: Suggestion{Offer: o, Example: p.rows[0].Command}, from: p})
			}
			found[i].asked += asked
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.asked, a.asked) })
	return found[:min(len(found), maxCandidates)]
}

// isThere reports whether an entry is one that the agent has, and that would only
// accept other files.
func isThere(e approval.Entry) bool { return e.ID != "" }

// allowedByPerson reports whether a person, and neither a changed policy nor an
// MCP client, said yes.
func allowedByPerson(row history.Row) bool {
	return !strings.HasPrefix(row.AnsweredBy, approval.ByClient) && (row.Decision == approval.AllowOnce || row.Decision == approval.AllowAlways) && row.AnsweredBy != ByPolicy
}

// complete hashes the files of the entries, as a question about them would. A
// file that changed since a person last said yes is not what they meant.
func (c *candidate) complete() bool {
	last := slices.IndexFunc(c.from.rows, allowedByPerson) // they come newest first
	c.Offer.Writes = slices.Clone(c.Offer.Writes)
	for i := range c.Offer.Writes {
		for _, id := range slices.Concat(c.Offer.Writes[i].Identity, c.Offer.Writes[i].Interpreters) {
			file, there := c.from.judged.seen(id.Path)
			if !there || last < 0 || time.Unix(0, file.Changed).After(c.from.rows[last].Answered) {
				return false
			}
		}
		if c.from.judged.complete(&c.Offer.Writes[i]) != nil {
			return false
		}
	}
	return true
}

package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Stops are the requests since some time that did not simply run, and why.
type Stops struct {
	// Commands is how many requests there were. About Asked of them a question was
	// put, and Denied were denied without one.
	Commands int64 `json:"commands"`
	Asked    int64 `json:"asked"`
	Denied   int64 `json:"denied"`
	// Kept is how many of those asked about had an answer that could be remembered.
	Kept int64 `json:"couldBeRemembered"`
	// Reasons and Programs are those of most stops.
	Reasons  []Cause `json:"reasons"`
	Programs []Cause `json:"programs"`
}

// few is how many requests tell nothing of how often one is stopped.
const few = 20

// Few reports whether there were too few requests to tell anything.
func (s Stops) Few() bool { return s.Commands < few }

// Cause is a reason or a program, and the requests that it stopped.
type Cause struct {
	Name  string `json:"name"`
	Stops int64  `json:"stops"`
}

// maxCauses bounds the causes that are told.
const maxCauses = 15

// stopsSince counts requests by what came of them. Those that passed are one group.
// A row that says how many more were denied (see quota) is no request.
const stopsSince = `SELECT stop, kept,
	CASE stop WHEN '' THEN '' WHEN 'asked' THEN coalesce(nullif(judged_reason, ''), reason) ELSE reason END AS why,
	CASE stop WHEN '' THEN '' ELSE program END AS what, count(*)
FROM (SELECT CASE WHEN asked IS NOT NULL THEN 'asked' WHEN state = 'denied' THEN 'denied' ELSE '' END AS stop,
		asked IS NOT NULL AND instr(coalesce(choices, ''), '"allow-always"') > 0 AS kept, judged_reason, reason, program
	FROM runs INDEXED BY runs_time WHERE parent = '' AND queued >= ? AND id NOT LIKE 'more-%')
GROUP BY stop, kept, why, what`

// Stops counts the requests that were queued since a time, in unix milliseconds, by
// what came of them.
func (d *DB) Stops(ctx context.Context, since int64) (Stops, error) {
	f, err := d.synced(ctx)
	if err != nil {
		return Stops{}, err
	}
	s, err := f.stops(ctx, since)
	if err != nil {
		return Stops{}, fmt.Errorf("cannot count in the history: %w", err)
	}
	return s, nil
}

func (f *file) stops(ctx context.Context, since int64) (s Stops, err error) {
	found, err := f.reader.QueryContext(ctx, stopsSince, since)
	if err != nil {
		return s, err
	}
	defer found.Close()
	reasons, programs := map[string]int64{}, map[string]int64{}
	for found.Next() {
		var stop, why, what string
		var kept bool
		var n int64
		if err := found.Scan(&stop, &kept, &why, &what, &n); err != nil {
			return s, err
		}
		s.Commands += n
		switch {
		case stop == "asked":
			s.Asked += n
		case stop == "" || approval.EndingFor(approval.Reason(why)) == approval.EndingMistake:
			continue // no rule and no person stopped it
		default:
			s.Denied += n
		}
		if kept {
			s.Kept += n
		}
		reasons[why] += n
		if what != "" {
			programs[nameOf(what)] += n
		}
	}
	s.Reasons, s.Programs = most(reasons), most(programs)
	return s, found.Err()
}

// nameOf is how people call a program or a tool.
func nameOf(program string) string {
	if tool, ok := approval.ToolPattern(program); ok {
		return tool
	}
	return program[strings.LastIndexByte(program, '/')+1:]
}

func most(counts map[string]int64) []Cause {
	list := []Cause{}
	for name, n := range counts {
		list = append(list, Cause{name, n})
	}
	slices.SortFunc(list, func(a, b Cause) int { return cmp.Or(cmp.Compare(b.Stops, a.Stops), cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), maxCauses)]
}

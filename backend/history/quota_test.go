package history

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestDenialsFlushNothing puts 1,500 denied requests of 230 KB, under one name and
// under many, as the gate does: first as waiting, then as denied. What was allowed
// before them stays, and how many came is told.
func TestDenialsFlushNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a hundred megabytes")
	}
	const requests = 1500
	text := strings.Repeat("x", 230<<10)
	for name, agent := range map[string]func(i int) string{
		"one agent":   func(int) string { return "main" },
		"many agents": func(i int) string { return fmt.Sprint(i) },
	} {
		t.Run(name, func(t *testing.T) {
			// A third of what such requests take.
			const most = requests * 230 << 10 / 3
			opt := Options{Path: path(t), MaxBytes: most}
			if name == "many agents" {
				opt.MaxBytes = 3 * allBytes // their bound is that of all
			}
			d := open(t, opt)
			put(t, d, done("kept"))
			for i := range requests {
				row := Row{ID: fmt.Sprint(i), State: Waiting, AgentID: agent(i), Command: text}
				put(t, d, row)
				row.State, row.Verdict = Denied, approval.VerdictDeny
				put(t, d, row)
				if i%20 == 0 {
					if err := d.Sync(within(t)); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			d = open(t, opt)
			if got := list(t, d, Query{ID: "kept"}); len(got) != 1 {
				t.Error("what was allowed before is gone")
			}
			if left, err := d.Unfinished(within(t)); err != nil || len(left) > 0 {
				t.Errorf("%d rows wait forever, %v", len(left), err)
			}
			if r := verified(t, d, ""); r.Broken != nil || r.Removed != 0 {
				t.Errorf("%+v %+v", r, r.Broken)
			}
			kept, more := 0, 0
			for before := int64(0); ; {
				rows := list(t, d, Query{Limit: 50, Before: before})
				for _, row := range rows {
					before = row.N
					n := 0
					if _, err := fmt.Sscanf(row.Command, "(%d more requests)", &n); err == nil {
						more = max(more, n)
					} else if row.Command == text {
						kept++
					}
				}
				if len(rows) == 0 {
					break
				}
			}
			if kept == 0 || kept+more != requests {
				t.Errorf("%d are kept and %d more counted, of %d", kept, more, requests)
			}
		})
	}
}

// TestQuota counts what is beyond it, of each day anew, and nothing that a person
// answered or that ran.
func TestQuota(t *testing.T) {
	var c clock
	c.pass(1000 * 24 * time.Hour)
	d := open(t, Options{Path: path(t), Now: c.now})
	for day := range 2 {
		for i := range agentRows + 3 {
			put(t, d, Row{ID: fmt.Sprint(day, "-", i), State: Denied, AgentID: "a"})
		}
		put(t, d, Row{ID: fmt.Sprint(day, " expired"), State: Denied, AgentID: "a", Asked: c.now(), Answered: c.now(), Reason: approval.ReasonApprovalCancelled},
			Row{ID: fmt.Sprint(day, " its own no"), State: Denied, AgentID: "a", Reason: approval.ReasonUserDenied, Decision: approval.DecisionDeny, AnsweredBy: approval.ByClient},
			Row{ID: fmt.Sprint(day, " no of before"), State: Denied, AgentID: "a", Answered: c.now(), Reason: approval.ReasonUserDenied, Decision: approval.DecisionDeny, AnsweredBy: "panel (earlier)"})
		put(t, d, Row{ID: fmt.Sprint(day, " answered"), State: Denied, AgentID: "a", Asked: c.now(), Reason: approval.ReasonUserDenied, Decision: approval.DecisionDeny, AnsweredBy: "panel"},
			Row{ID: fmt.Sprint(day, " ran"), State: Done, AgentID: "a"}, Row{ID: fmt.Sprint(day, " other"), State: Denied, AgentID: "b"})
		c.pass(24 * time.Hour)
	}
	put(t, d, Row{ID: "next", State: Denied, AgentID: "a"})
	var more []string
	for _, row := range list(t, d, Query{Limit: maxLimit}) {
		if strings.HasPrefix(row.ID, "more-") {
			more = append(more, row.Command)
		}
	}
	if want := "(6 more requests) (4 more requests) (2 more requests) (1 more requests)"; strings.Join(more, " ") != want {
		t.Errorf("%q", more)
	}
	s, err := d.Size(t.Context())
	if want := int64(2*(agentRows+3+4) + 1); err != nil || s.Rows != want {
		t.Errorf("%d rows, want %d, %v", s.Rows, want, err)
	}
	if r := verified(t, d, ""); r.Broken != nil {
		t.Errorf("%+v", r.Broken)
	}
}

// TestQuotaOfFamilies lets one family ask under many names until nothing more of it
// is kept: what another one is denied is still kept, one by one.
func TestQuotaOfFamilies(t *testing.T) {
	for name, c := range map[string]Row{
		"rows":  {State: Denied},
		"bytes": {State: Denied, Command: strings.Repeat("x", inRow)},
	} {
		var q quota
		kept := func(family string, i int) bool {
			row := c
			row.ID, row.AgentID, row.Family = fmt.Sprint(family, i), fmt.Sprint("agent ", i), family
			beyond, _ := q.take(&row, 0)
			return !beyond
		}
		kinds := map[string]int{}
		for i := range 3 * allRows {
			if kept("many names", i) {
				kinds["many names"]++
			}
		}
		for i := range 100 {
			if kept("another", i) {
				kinds["another"]++
			}
		}
		if kinds["another"] != 100 || kinds["many names"] == 0 || kinds["many names"] > allRows/2 {
			t.Errorf("%s: %v are kept", name, kinds)
		}
		if len(q.agents) > allRows {
			t.Errorf("%s: %d agents are remembered", name, len(q.agents))
		}
	}
}

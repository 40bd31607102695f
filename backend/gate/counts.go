package gate

import (
	"cmp"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/metrics"
	"github.com/countersign-app/countersign/backend/rescue"
)

// counts are what Metrics tells. None of it names an agent, a session, a tool or a
// command: reasons are a closed list.
type counts struct {
	set                   metrics.Set
	allowed, denied       *metrics.Counters
	questions, remembered *metrics.Counter
	waited                *metrics.Histogram
}

// measure makes the counts.
func (g *Gate) measure() {
	c := &g.counts
	c.allowed = c.set.Counters("countersign_allowed_total", "Requests that were let through, by what their judgement had said.", "reason")
	c.denied = c.set.Counters("countersign_denied_total", "Requests that were denied.", "reason")
	c.questions = c.set.Counter("countersign_questions_total", "Questions that were put to a person.")
	c.remembered = c.set.Counter("countersign_remembered_total", "Requests that an entry or a rule let through without a question.")
	c.waited = c.set.Histogram("countersign_answer_seconds", "How long a person took to answer.", 1, 2, 5, 10, 30, 60, 300, 600)
	c.set.Tally("countersign_panics_total", "Mistakes in Countersign that were caught while it served somebody.", rescue.Caught)
	c.set.Gauge("countersign_waiting", "Questions that wait.", func() float64 { return float64(g.Pending.Waiting()) })
}

// Metrics is what was counted since the gate began, in the text format that
// Prometheus reads.
func (g *Gate) Metrics() []byte { return g.counts.set.Text() }

// count counts the end of a request.
func (f *flight) count(d *approval.Denial) {
	c := &f.gate.counts
	if !f.row.Asked.IsZero() {
		c.questions.Inc()
		if !f.row.Answered.IsZero() {
			c.waited.Observe(f.row.Answered.Sub(f.row.Asked).Seconds())
		}
	}
	if d != nil {
		c.denied.Inc(string(cmp.Or(d.Reason, "none")))
		return
	}
	c.allowed.Inc(string(cmp.Or(f.row.JudgedReason, "none")))
	byEntry := func(s approval.SegmentJudgement) bool { return s.EntryID != "" }
	if f.row.Asked.IsZero() && slices.ContainsFunc(f.judged.Judgement.Segments, byEntry) {
		c.remembered.Inc()
	}
}

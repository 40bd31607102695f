package gate

import (
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/store"
)

// Keep writes entries of an offer for what ran into an agent's allowlist, for as long as
// keep says, in the place of the leases that let the request pass.
func Keep(d *store.Document, o judge.Offered, entries []approval.Entry, keep approval.Keep, now time.Time) {
	d.EndLeases(func(agentID string, e approval.Entry) bool {
		return agentID == o.AgentID && slices.Contains(o.Leases, e.ID)
	})
	for _, e := range entries {
		e.AddedAt, e.AddedBy = now.UnixMilli(), "activity"
		d.Add(o.AgentID, keep.On(e, "", now))
	}
}

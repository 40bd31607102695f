package gate

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/rescue"
)

const (
	// approvedLife is how long what was allowed may wait to be run.
	approvedLife = 2 * time.Minute
	// maxApproved bounds how many wait, and maxOfOne how many of one agent.
	maxApproved = 500
	maxOfOne    = 200
)

// approved holds what was allowed and is to be run under an id, once: an agent
// that lets its hook rewrite what it runs is given that id.
type approved struct {
	mu   sync.Mutex
	list map[string]*ticket
}

type ticket struct {
	flight *flight
	shown  judge.Shown
	timer  *time.Timer
}

// hold keeps a request that was let through, and returns the id to run it by.
func (f *flight) hold() (id string, d *approval.Denial) {
	var secret [16]byte
	rand.Read(secret[:])
	id = strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(secret[:]))
	t := &ticket{flight: f, shown: f.judged.Shown()} // it reads files, which others do not wait for
	a := &f.gate.approved
	a.mu.Lock()
	defer a.mu.Unlock()
	mine := 0
	for _, other := range a.list {
		if other.flight.judged.Req.AgentID == f.judged.Req.AgentID {
			mine++
		}
	}
	if mine >= maxOfOne || len(a.list) >= maxApproved {
		return "", judge.Deny(approval.ReasonRateLimited, "too much that was allowed waits to be run")
	}
	if a.list == nil {
		a.list = map[string]*ticket{}
	}
	t.timer = time.AfterFunc(approvedLife, func() {
		defer rescue.Catch(f.gate.Log, "what waits to be run", nil)
		if f.gate.approved.take(id) == t {
			f.refused(judge.Deny(approval.ReasonApprovalCancelled, "it was allowed, and the agent did not run it"))
		}
	})
	a.list[id] = t
	return id, nil
}

// take returns what waits under an id, and nil where nothing does. It is had
// once.
func (a *approved) take(id string) *ticket {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.list[id]
	delete(a.list, id)
	return t
}

// waits reports whether something of an agent waits under an id.
func (a *approved) waits(id, agentID string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.list[id]
	return t != nil && t.flight.judged.Req.AgentID == agentID
}

// RunApproved runs what was allowed under this id, once. What it would run is
// looked at and judged again. When ctx is cancelled the caller has gone and the
// command ends.
func (g *Gate) RunApproved(ctx context.Context, id string) (result approval.Result) {
	t := g.approved.take(id)
	if t == nil {
		return approval.Result{Denied: judge.Deny(approval.ReasonReplay, "nothing waits to be run under this id: it was run, or waited too long")}
	}
	t.timer.Stop()
	f := t.flight
	defer g.pause.started(f)
	defer rescue.Catch(g.Log, "a request", func() { result = f.refused(failed()) })
	d := f.confirm(ctx, t.shown, "since it was allowed")
	if d == nil {
		d = f.grants()
	}
	if d != nil {
		return f.refused(d)
	}
	return f.run(ctx)
}

// DropApproved ends what waits to be run, when the host closes.
func (g *Gate) DropApproved() {
	g.approved.mu.Lock()
	list := g.approved.list
	g.approved.list = nil
	g.approved.mu.Unlock()
	for _, t := range list {
		t.timer.Stop()
		t.flight.refused(judge.Deny(approval.ReasonApprovalCancelled, "the host is closing"))
	}
}

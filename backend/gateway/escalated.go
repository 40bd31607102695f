package gateway

import (
	"context"
	"encoding/json"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// methodEscalated is the one method of nodes that waits, for operators.
const methodEscalated = "node.approval.request"

// escalatedParams are those of node.approval.request that count here.
type escalatedParams struct {
	ID        string `json:"id"`
	Command   string `json:"command"`
	DenyOnly  bool   `json:"denyOnly"`
	TimeoutMs int64  `json:"timeoutMs"`
}

// askForNode puts a question to the operators that waits on a node, and answers
// it with what they said. What that is worth is for the host there. It is over
// when the node takes it back or leaves.
func askForNode(p *peer, ctx context.Context, params json.RawMessage) (any, error) {
	if len(params) > maxParams {
		return nil, link.Refuse(link.CodeInvalid, "invalid params: the question is too long")
	}
	var asked escalatedParams
	if err := read(params, &asked); err != nil {
		return nil, err
	}
	if asked.Command == "" || !isName(asked.ID) || asked.TimeoutMs <= 0 {
		return nil, link.Refuse(link.CodeInvalid, "invalid params: a question needs an id, a command and timeoutMs")
	}
	life := min(questionTime, time.Duration(min(asked.TimeoutMs, questionTime.Milliseconds()))*time.Millisecond)
	about, err := shown(params, p, asked.DenyOnly)
	if err != nil {
		return nil, err
	}
	q := &question{
		ID: escalatedID(p, asked.ID), Request: about, device: p.device.ID, Created: time.Now(), Expires: time.Now().Add(life),
		forbidden: forbidden(asked.DenyOnly), done: make(chan struct{}),
	}
	if !p.reviewed() {
		return map[string]any{"id": asked.ID, "decision": nil, "terminalReason": "no-route"}, nil
	}
	if err := p.approvals.add(q); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(life, rescue.Guarded(p.opt.Log, "the end of a question", func() { p.approvals.end(q, "", "", "expired") }))
	defer timer.Stop()
	defer p.takeBack(q, "withdrawn")
	p.tell(scopeApprovals, "exec.approval.requested", q.view())
	return p.approvals.wait(ctx, q)
}

// shown is what operators are shown: what the node said, and which one it is.
func shown(params json.RawMessage, p *peer, denyOnly bool) (json.RawMessage, error) {
	about := map[string]any{}
	if err := read(params, &about); err != nil {
		return nil, err
	}
	about["host"], about["nodeId"], about["escalated"] = approval.HostNode, p.device.ID, true
	about["unavailableDecisions"] = forbidden(denyOnly)
	return json.Marshal(about)
}

func forbidden(denyOnly bool) []approval.Decision {
	if denyOnly {
		return []approval.Decision{approval.AllowOnce, approval.AllowAlways}
	}
	return []approval.Decision{approval.AllowAlways}
}

// escalatedID is the name of a question of a node here: two nodes may use the
// same one.
func escalatedID(p *peer, id string) string {
	return id + "@" + p.device.ID[:min(12, len(p.device.ID))]
}

// withdrawForNode ends a question that was answered on its node, or is over.
func withdrawForNode(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var about idParams
	if err := read(params, &about); err != nil {
		return nil, err
	}
	q, err := p.approvals.get(escalatedID(p, about.ID))
	if err != nil || q.device != p.device.ID {
		return nil, link.Refuse(link.CodeInvalid, "unknown or expired approval id")
	}
	p.takeBack(q, "answered-elsewhere")
	return map[string]bool{"ok": true}, nil
}

// takeBack ends a question that nobody answered here, and tells operators.
func (p *peer) takeBack(q *question, why string) {
	if p.approvals.end(q, "", "", why) {
		p.tell(scopeApprovals, "exec.approval.resolved", map[string]any{
			"id": q.ID, "decision": nil, "resolvedBy": p.device.ID, "ts": time.Now().UnixMilli(), "request": q.Request,
		})
	}
}

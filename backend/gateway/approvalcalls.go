package gateway

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// askApproval puts a question to the operators.
func askApproval(p *peer, ctx context.Context, params json.RawMessage) (any, error) {
	q := &question{Request: params, device: p.device.ID, Created: time.Now(), done: make(chan struct{})}
	if err := q.parse(params); err != nil {
		return nil, err
	}
	life := questionTime
	if q.asks.TimeoutMs > 0 {
		life = min(life, time.Duration(q.asks.TimeoutMs)*time.Millisecond)
	}
	route := "approval-client"
	if !p.reviewed() {
		route, life = "none", 0
	}
	q.Expires = q.Created.Add(life)
	if err := p.approvals.add(q); err != nil {
		return nil, err
	}
	if route == "none" {
		p.approvals.end(q, "", "", "no-route")
	} else {
		time.AfterFunc(life, rescue.Guarded(p.opt.Log, "the end of a question", func() { p.approvals.end(q, "", "", "expired") }))
		p.tell(scopeApprovals, "exec.approval.requested", q.view())
	}
	if q.asks.TwoPhase {
		return map[string]any{"status": "accepted", "id": q.ID, "deliveryRoute": route, "createdAtMs": q.Created.UnixMilli(), "expiresAtMs": q.Expires.UnixMilli()}, nil
	}
	return p.approvals.wait(ctx, q)
}

func (q *question) parse(params json.RawMessage) error {
	if len(params) > maxParams {
		return link.Refuse(link.CodeInvalid, "invalid params: the request is too long")
	}
	if err := read(params, &q.asks); err != nil {
		return err
	}
	a := &q.asks
	if len(a.Plan) > 0 && string(a.Plan) != "null" {
		if err := read(a.Plan, &q.plan); err != nil {
			return err
		}
		a.Argv = q.plan.Argv
	}
	switch {
	case strings.HasPrefix(a.ID, "plugin:") || a.ID != "" && !isName(a.ID):
		return link.Refuse(link.CodeInvalid, "invalid params: id is reserved, too long or cannot be shown")
	case a.Command == "" && len(a.Argv) == 0:
		return link.Refuse(link.CodeInvalid, "MISSING_COMMAND: command required")
	case utf8.RuneCountInString(a.Command) > maxShown:
		return link.Refuse(link.CodeInvalid, "the command is too long to be asked about")
	case a.Host == approval.HostNode && a.NodeID == "":
		return link.Refuse(link.CodeInvalid, "nodeId is required for host=node")
	case a.Host == approval.HostNode && (q.plan == nil || len(q.plan.Argv) == 0):
		return link.Refuse(link.CodeInvalid, "systemRunPlan is required for host=node")
	}
	q.forbidden = a.Unavailable
	if q.ID = a.ID; q.ID == "" {
		q.ID = uuid.NewString()
	}
	return nil
}

// reviewed reports whether somebody looks at questions.
func (g *Gateway) reviewed() bool {
	return slices.ContainsFunc(g.all(), func(p *peer) bool {
		return p.role == link.RoleOperator && p.may(scopeApprovals) && len(common(p.caps, capApprovals)) > 0
	})
}

type idParams struct {
	ID string `json:"id"`
}

func (p *peer) questionOf(params json.RawMessage) (*question, error) {
	var q idParams
	if err := read(params, &q); err != nil {
		return nil, err
	}
	return p.approvals.get(q.ID)
}

func waitApproval(p *peer, ctx context.Context, params json.RawMessage) (any, error) {
	q, err := p.questionOf(params)
	if err != nil {
		return nil, err
	}
	return p.approvals.wait(ctx, q)
}

func getApproval(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	q, err := p.questionOf(params)
	if err != nil {
		return nil, err
	}
	return q.view(), nil
}

func listApprovals(p *peer, _ context.Context, _ json.RawMessage) (any, error) {
	p.approvals.mu.Lock()
	defer p.approvals.mu.Unlock()
	list := []map[string]any{}
	for _, q := range p.approvals.list {
		if !q.over() {
			list = append(list, q.view())
		}
	}
	slices.SortFunc(list, func(a, b map[string]any) int { return int(a["createdAtMs"].(int64) - b["createdAtMs"].(int64)) })
	return list, nil
}

// operator is who answers over a connection: the name of its device, and the
// beginning of its id, which no other one has.
func (p *peer) operator() string {
	return strings.TrimSpace(p.device.Name + " " + p.device.ID[:min(12, len(p.device.ID))])
}

// resolveApproval answers a question.
func resolveApproval(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		idParams
		Decision approval.Decision `json:"decision"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	asked, err := p.approvals.get(q.ID)
	if err != nil {
		return nil, err
	}
	if q.Decision == "" || slices.Contains(asked.forbidden, q.Decision) {
		return nil, link.Refuse(link.CodeInvalid, "invalid params: this decision is not offered")
	}
	if p.approvals.end(asked, q.Decision, p.operator(), "") {
		p.opt.Log.Info("an approval was answered", "id", asked.ID, "decision", q.Decision, "device", p.device.ID)
		p.tell(scopeApprovals, "exec.approval.resolved", map[string]any{
			"id": asked.ID, "decision": q.Decision, "resolvedBy": p.device.ID, "ts": time.Now().UnixMilli(), "request": asked.Request,
		})
		return map[string]bool{"ok": true}, nil
	}
	p.approvals.mu.Lock()
	defer p.approvals.mu.Unlock()
	switch asked.decision {
	case q.Decision:
		return map[string]bool{"ok": true}, nil
	case "":
		return nil, link.Refuse(link.CodeInvalid, "unknown or expired approval id")
	}
	return nil, link.Refuse(link.CodeInvalid, "approval already resolved")
}

package proxy

import (
	"context"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// elicit shows the question of a call in a form of the client, where a person
// switched that on, and hands the answer to the host, which says whether it
// counts. It ends with ctx, which ends with the question.
func (p *proxy) elicit(ctx context.Context, ticket string) {
	select {
	case p.forms.room <- struct{}{}:
		defer func() { <-p.forms.room }()
	case <-ctx.Done():
		return
	}
	var own struct {
		Prompt  approval.Prompt     `json:"prompt"`
		Choices []approval.Decision `json:"choices"`
	}
	err := p.opt.Host.Call(ctx, "pending.own", map[string]string{"ticket": ticket}, &own)
	if err != nil || !slices.Contains(own.Choices, approval.DecisionDeny) {
		return
	}
	mayAllow := slices.Contains(own.Choices, approval.AllowOnce)
	message, err := formText(own.Prompt, mayAllow)
	if err != nil {
		return // the panel has it
	}
	id, answer := p.forms.begin()
	defer p.forms.end(id)
	if p.out.put(newForm(id, message, mayAllow)) != nil {
		return
	}
	select {
	case m := <-answer:
		p.answer(ctx, own.Prompt, ticket, formAnswer(m))
	case <-ctx.Done():
		_ = p.out.put(withdraw(id)) // a client that reads nothing shows nothing
	}
}

// answer hands an answer to the host.
func (p *proxy) answer(ctx context.Context, q approval.Prompt, ticket string, d approval.Decision) {
	if d == approval.DecisionUnset {
		return
	}
	said := map[string]any{"id": q.ID, "digest": q.Digest(), "ticket": ticket, "decision": d}
	if err := p.opt.Host.Call(ctx, "pending.elicited", said, nil); err != nil && ctx.Err() == nil {
		p.opt.Log.Warn("an answer of the client does not count", "error", display.Line(err.Error()))
	}
}

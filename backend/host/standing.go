package host

import (
	"errors"
	"fmt"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/store"
)

// What follows are a person's answers that hold for requests to come.

// DenyFor denies a question, and for as long as life, or with 0 for the
// session, each identical request.
func (h *Host) DenyFor(id string, a approval.Answer, life time.Duration) error {
	return h.gate.DenyFor(id, a, life)
}

// DenyRules are the rules that DenyAlways may write for a question, narrowest
// first; none where it is not offered.
func (h *Host) DenyRules(p approval.Prompt) []approval.DenyRule {
	return policy.Denials(p.AgentID, &p.Plan, p.Judgement)
}

// DenyAlways denies a question and writes the nth of its DenyRules for its
// agent. The denial holds also where the rule cannot be saved.
func (h *Host) DenyAlways(id string, n int, a approval.Answer) error {
	p, _, ok := h.pending.Find(id)
	if !ok {
		return pending.ErrUnknown
	}
	rules := h.DenyRules(p)
	if n < 0 || n >= len(rules) {
		return pending.ErrNotOffered
	}
	a.Decision = approval.DecisionDeny
	if err := h.pending.Answer(id, pending.Shown{}, a); err != nil && !errors.Is(err, pending.ErrGone) {
		return err
	}
	if _, err := h.Update(func(d *store.Document) error { d.Deny(p.AgentID, rules[n]); return nil }); err != nil {
		return fmt.Errorf("it was denied this once, because the rule cannot be saved: %w", err)
	}
	return nil
}

// AllowAgain keeps one yes for the identical request of a caller that has
// gone, for ten minutes.
func (h *Host) AllowAgain(id string, shown pending.Shown, a approval.Answer) error {
	if err := h.confirm(id); err != nil {
		return err
	}
	return h.gate.AllowAgain(id, shown, a)
}

// Standing returns the answers that stand for requests to come.
func (h *Host) Standing() []gate.Standing { return h.gate.Standing() }

// Forget ends an answer that stands, and reports whether it was there.
func (h *Host) Forget(id string) bool { return h.gate.Forget(id) }

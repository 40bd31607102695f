package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/ipc"
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

// How long a denial stands that comes over the socket, beside a duration.
const (
	denyOnce    = "once"    // not at all
	denySession = "session" // as long as its session
)

// DeniedUntil is what `pending.answer` returns for a denial.
type DeniedUntil struct {
	// Until is when identical requests are asked about again, in unix milliseconds;
	// 0 for at once.
	Until int64 `json:"until,omitempty"`
}

// denied gives a question a no from outside the window, which stands for a while
// unless its person says otherwise.
func (h *Host) denied(id string, a approval.Answer, long string) (d DeniedUntil, err error) {
	if long == denyOnce {
		if err = h.Answer(id, pending.Shown{}, a); err != nil {
			err = fmt.Errorf("cannot answer %s: %w", display.Escape(id), err)
		}
		return d, err
	}
	life, err := denyLife(long)
	if err != nil {
		return d, err
	}
	if err := h.DenyFor(id, a, life); err != nil {
		return d, fmt.Errorf("cannot answer %s: %w", display.Escape(id), err)
	}
	if life > 0 {
		d.Until = time.Now().Add(life).UnixMilli()
	}
	return d, nil
}

// denyLife reads how long a denial stands; 0 is for its session.
func denyLife(long string) (time.Duration, error) {
	switch long {
	case "":
		return gate.DenyLife, nil
	case denySession:
		return 0, nil
	}
	life, err := time.ParseDuration(long)
	if err != nil || life <= 0 || life > approval.LeaseLimit {
		return 0, fmt.Errorf("a denial stands for a time of at most 30 days, such as 10m, for the %s, or %s, not for %q", denySession, denyOnce, long)
	}
	return life, nil
}

func standingList(h *Host, _ context.Context, _ ipc.Call) (any, error) { return h.Standing(), nil }

// standingForget ends an answer that stands. To end a denial takes the person: it
// is they who are asked again then.
func standingForget(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID string `json:"id"`
	}](c)
	if err != nil {
		return nil, err
	}
	list := h.Standing() // once: answers come and go
	i := slices.IndexFunc(list, func(s gate.Standing) bool { return s.ID == params.ID })
	if i < 0 {
		return nil, fmt.Errorf("no answer %s stands: see `countersign approvals standing`", display.Escape(params.ID))
	}
	if one := list[i]; one.Decision == approval.DecisionDeny {
		line := fmt.Sprintf("Asks again, for agent %s, about: %s", one.AgentID, one.Command)
		if _, err := h.person(ctx, c, difference{lines: sentences(line)}); err != nil {
			return nil, err
		}
	}
	h.Forget(params.ID) // one that is gone has ended already
	return struct{}{}, nil
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

package pending

import (
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
)

// Reply is the answer to one of several questions that were shown together.
type Reply struct {
	ID string
	Shown
	Decision approval.Decision
}

// ErrTogether says that questions cannot be answered together.
var ErrTogether = errors.New("only allow once and deny can be given to several questions together, and only to those of one agent")

// AnswerMany answers several questions together; a is who answers, and the
// note. Each is answered as by Answer, on its own, and the errors are in the
// order of the replies. Where they are of more than one agent, or one is for
// always, none is answered: what that writes is not shown in a list.
func (b *Book) AnswerMany(replies []Reply, a approval.Answer) []error {
	errs := make([]error, len(replies))
	if err := b.together(replies); err != nil {
		for i := range errs {
			errs[i] = err
		}
		return errs
	}
	for i, r := range replies {
		a.Decision = r.Decision
		errs[i] = b.Answer(r.ID, r.Shown, a)
	}
	return errs
}

func (b *Book) together(replies []Reply) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	agents := map[string]bool{}
	for _, r := range replies {
		if r.Decision != approval.AllowOnce && r.Decision != approval.DecisionDeny {
			return ErrTogether
		}
		if q := b.find(r.ID); q != nil { // the others are over
			agents[q.prompt.AgentID] = true
		}
	}
	if len(agents) > 1 || len(replies) > PerAgent {
		return ErrTogether
	}
	return nil
}

// AllowOne lets the first of those who share a question run once and denies
// the others, however many they are by now. Its errors are those of Answer.
func (b *Book) AllowOne(id string, shown Shown, a approval.Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	a.Decision = approval.AllowOnce
	q, err := b.answerable(id, shown, a)
	if err != nil {
		return err
	}
	if len(q.waiters) > 1 {
		first := q.waiters[0]
		q.waiters = q.waiters[1:]
		first.timer.Stop()
		first.answer <- a
		a.Decision = approval.DecisionDeny
	}
	return b.give(q, a)
}

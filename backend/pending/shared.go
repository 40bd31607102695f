package pending

import (
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
)

// MaxShared is how many agents may share one answer: a person reads who each of
// them is.
const MaxShared = 5

// ErrApart says that questions cannot share an answer, or no longer.
var ErrApart = errors.New("who asks this has changed: look again")

// CanShare reports whether one answer can be given to these questions: each is of
// another agent with a name, one request waits for it, all ask the same, and little
// is at stake.
func CanShare(list []approval.Prompt) bool {
	if len(list) < 2 || len(list) > MaxShared {
		return false
	}
	agents := map[string]bool{}
	for i, p := range list {
		if p.AgentID == "" || p.CallerGone || p.Count != 1 || !little(p) || i > 0 && !p.AsksSame(list[0]) {
			return false
		}
		agents[p.AgentID] = true
	}
	return len(agents) == len(list)
}

// little reports whether little is at stake: the risk is low, or what makes it medium
// is only that the agent runs the command itself, as its commands all are run.
func little(p approval.Prompt) bool {
	risk := p.Judgement.Risk
	return risk.Level == approval.RiskLow || risk.Level == approval.RiskMedium && p.Who == approval.Theirs && len(risk.Reasons) == 1
}

// AnswerShared gives one answer to the questions of several agents that were shown
// as one, by id, or to none of them: ErrApart says that they are not what was
// shown any more. Its other errors are those of Answer.
func (b *Book) AnswerShared(shown map[string]Shown, a approval.Answer) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []*question
	var prompts []approval.Prompt
	for id, saw := range shown {
		q, err := b.answerable(id, saw, a)
		if err != nil {
			return err
		}
		list, prompts = append(list, q), append(prompts, q.prompt)
	}
	if !CanShare(prompts) {
		return ErrApart
	}
	for _, q := range list {
		_ = b.give(q, a) // somebody waits for each of them
	}
	return nil
}

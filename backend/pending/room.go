package pending

import (
	"errors"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// room refuses a further question of an agent that has too many, or of a family that
// has more than it leaves for others, and drops the oldest one that nobody waits for
// where the book is full.
func (b *Book) room(p approval.Prompt) error {
	mine := 0
	var all, ours held
	bytes := size(p)
	for _, q := range b.questions {
		bytes += size(q.prompt)
		if len(q.waiters) == 0 {
			continue
		}
		all.add(q.prompt)
		if q.prompt.AgentID == p.AgentID {
			mine++
		}
		if Family(q.prompt.Peer, q.prompt.AgentID) == Family(p.Peer, p.AgentID) {
			ours.add(q.prompt)
		}
	}
	switch {
	case mine >= PerAgent:
		return ErrTooMany
	case all.questions >= Total:
		return ErrFull
	case ours.questions >= Total-all.questions:
		return ErrFamily
	case ours.bytes+size(p) > Bytes-all.bytes:
		return ErrTooLong
	}
	for len(b.questions) >= Total || bytes > Bytes {
		i := slices.IndexFunc(b.questions, func(q *question) bool { return len(q.waiters) == 0 })
		if i < 0 {
			return ErrFull
		}
		bytes -= size(b.questions[i].prompt)
		b.remove(b.questions[i])
	}
	return nil
}

// NotPut reports whether an error of Ask says that there was no room for the question.
func NotPut(err error) bool {
	return errors.Is(err, ErrTooMany) || errors.Is(err, ErrFamily) || errors.Is(err, ErrTooLong) || errors.Is(err, ErrFull)
}

// held is how many questions there are that somebody waits for, and how much text.
type held struct{ questions, bytes int }

func (h *held) add(p approval.Prompt) {
	h.questions++
	h.bytes += size(p)
}

// Family is as whose a question counts: an agent can make up as many ids as it
// likes, but not where it came from. Where no door settled that it is the agent.
func Family(peer approval.Peer, agentID string) string {
	if peer.Family == "" {
		return "agent " + agentID
	}
	return peer.Family
}

// size is how much of a question is text of the caller's, in bytes.
func size(p approval.Prompt) int {
	n := len(p.Plan.Text) + len(p.AgentID) + len(p.SessionKey)
	for _, e := range p.Env {
		n += len(e.Name) + len(e.Value)
	}
	return n
}

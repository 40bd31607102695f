package shown

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Sharer is one of the agents that ask the same on one panel.
type Sharer struct {
	// ID is that of its question.
	ID      string `json:"id"`
	Agent   Agent  `json:"agent"`
	Session string `json:"session,omitempty"`
	// Claims is what it says about policy, Peer the program that connected.
	Claims     []string `json:"claims"`
	Peer       string   `json:"peer,omitempty"`
	PeerPID    int      `json:"peerPid,omitempty"`
	PeerSigner string   `json:"peerSigner,omitempty"`
	// Expires is in unix milliseconds. Ended tells that it waits no more: no
	// answer is for it.
	Expires int64 `json:"expires"`
	Ended   bool  `json:"ended,omitempty"`
	// Confirms tells that a yes needs the person to show that it is them.
	Confirms bool `json:"confirms,omitempty"`
}

// SharedBy makes the question of one agent that of all who ask the same, of whom
// it is one. An answer is for those of them that still wait.
func (q Question) SharedBy(rows []approval.Prompt, in Person) Question {
	var live []approval.Prompt
	q.Sharers = nil
	for _, p := range rows {
		q.Sharers = append(q.Sharers, newSharer(p, in))
		if !p.CallerGone {
			live = append(live, p)
		}
	}
	if len(live) < 2 {
		return q
	}
	q.Seen, q.Together, q.Denials = in.SharedSeen(live), 0, nil
	q.clocks(live)
	if slices.ContainsFunc(live, func(p approval.Prompt) bool { return p.SessionKey == "" }) {
		q.Keeps = slices.DeleteFunc(q.Keeps, func(k approval.Keep) bool { return k == approval.KeepSession })
	}
	return q
}

// clocks shows the time of the one that ends first. It can be stopped where all can.
func (q *Question) clocks(live []approval.Prompt) {
	q.Held = true
	for i, p := range live {
		if i == 0 || p.Expires < q.Expires {
			q.Asked, q.Expires = p.Asked, p.Expires
		}
		if i == 0 || p.Latest < q.Latest {
			q.Latest = p.Latest
		}
		q.Held = q.Held && p.Held
	}
}

func newSharer(p approval.Prompt, in Person) Sharer {
	return Sharer{
		ID: p.ID, Agent: in.agent(p.AgentID), Session: display.Escape(p.SessionKey), Claims: escaped(p.Claim.Said()),
		Peer: display.Escape(p.Peer.Exe), PeerPID: p.Peer.PID, PeerSigner: display.Escape(p.Peer.Signer),
		Expires: p.Expires, Ended: p.CallerGone,
	}
}

// SharedSeen names what is shown of several prompts as one question: which they
// are, and what is shown of each.
func (in Person) SharedSeen(list []approval.Prompt) string {
	var parts []string
	for _, p := range list {
		parts = append(parts, p.ID+"="+in.Seen(p))
	}
	return strings.Join(parts, ",")
}

// SeenParts splits what SharedSeen made into what was seen of each question, by
// id; nil for the Seen of a single one.
func SeenParts(seen string) map[string]string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(seen, ",") {
		id, of, ok := strings.Cut(part, "=")
		if !ok {
			return nil
		}
		parts[id] = of
	}
	return parts
}

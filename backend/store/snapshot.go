package store

import (
	"maps"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// Snapshot is the policy at one moment. Nothing in it may be changed.
type Snapshot struct {
	// Hash names the version of Document: SHA-256 of the text of the file, in
	// hexadecimal, and "missing:" with that of nothing when there is no file.
	Hash string
	// Document is the accepted version, also while another one is held. It is
	// empty while the file is broken.
	Document *Document
	// Broken says why the file cannot be used. Everything is denied then.
	Broken error
	// Held is an edit from outside that waits for a person; nil when none does.
	Held *Held
	// SocketPath, absolute, and SocketToken are those of the last start. Both
	// are empty if the file was broken then and nothing was known from before.
	SocketPath  string
	SocketToken string
	// Generation changes whenever a policy may have changed. While it is the
	// same, Policy returns the same slices.
	Generation uint64

	view *view
}

// Held is an edit that permits more than the accepted version does.
type Held struct {
	// Hash names what a person is shown and answers: the accepted version and the
	// one that waits. It is another one as soon as either of them is.
	Hash    string
	Loosens []string // what it would permit, in sentences
	Lines   []Line   // the same in parts, and by what it is tighter, which holds already
	// Back is what would be permitted again if it were turned down.
	Back []Line
}

// Policy returns what holds for an agent. While an edit is held that is the
// stricter of the accepted and the waiting version, field by field.
func (s Snapshot) Policy(agentID string) approval.Policy {
	if s.Broken != nil {
		return closed(agentID, s.Broken.Error())
	}
	return s.view.policy(agentID)
}

// Entries are those in force, by agent: while an edit is held, of the version that
// waits those that permit no more than an accepted one.
func (s Snapshot) Entries() map[string][]approval.Entry {
	list := map[string][]approval.Entry{}
	switch {
	case s.Broken != nil:
	case s.view.waiting != nil:
		for id, kept := range s.view.kept {
			if len(kept) > 0 {
				list[id] = kept
			}
		}
	default:
		for id, agent := range s.view.accepted.Agents {
			for _, e := range agent.Allowlist {
				list[id] = append(list[id], e.Entry)
			}
		}
	}
	return list
}

// AcceptsGateway reports whether a person lets the answers of a gateway count for
// an agent. None has the name that stands for the agent's own MCP client.
func (s Snapshot) AcceptsGateway(agentID, gateway string) bool {
	return gateway != approval.MCPClient && slices.Contains(s.AcceptAnswersFrom(agentID), gateway)
}

// AcceptsClient reports the same of the agent's own MCP client.
func (s Snapshot) AcceptsClient(agentID string) bool {
	return slices.Contains(s.AcceptAnswersFrom(agentID), approval.MCPClient)
}

// AcceptAnswersFrom returns the gateways whose answers a person lets count
// for an agent, and MCPClient where those of its MCP client do.
func (s Snapshot) AcceptAnswersFrom(agentID string) []string {
	if s.Broken != nil {
		return nil
	}
	list := s.view.accepted.acceptAnswersFrom(agentID)
	if s.view.waiting != nil {
		list = common(list, s.view.waiting.acceptAnswersFrom(agentID))
	}
	return list
}

// Present reports whether some agent's yes needs the person themselves.
func (s Snapshot) Present() bool {
	if s.Broken != nil {
		return false // nothing runs
	}
	return s.Document.Present() || slices.ContainsFunc(s.view.sources(), func(from PolicySource) bool {
		f, ok := s.view.federated[from.Key]
		return ok && f.doc.Present()
	})
}

// view makes policies from documents, each of them once.
type view struct {
	home     string
	accepted *Document
	// waiting is the version that is held, and kept are those of its entries
	// that permit no more than an accepted one.
	waiting *Document
	kept    map[string][]approval.Entry
	// federated are the policies of gateways, by the key that signed them.
	federated map[string]federated
	ready     sync.Map // agent → approval.Policy
	// others are the agents that only "tools", "charters", "projects" and gateways name.
	others map[string]bool
	named  sync.Once
}

func (v *view) policy(agentID string) approval.Policy {
	// All agents that nobody names share one policy, so that a caller who
	// invents names fills no memory.
	key := agentID
	if key == Every || !v.knows(key) {
		key = ""
	}
	ready, ok := v.ready.Load(key)
	if !ok {
		ready, _ = v.ready.LoadOrStore(key, v.resolve(key))
	}
	p := ready.(approval.Policy)
	p.AgentID = agentID
	return p
}

func (v *view) knows(agentID string) bool {
	v.named.Do(func() {
		v.others = v.accepted.named()
		if v.waiting != nil {
			maps.Copy(v.others, v.waiting.named())
		}
		for _, f := range v.federated {
			maps.Copy(v.others, f.doc.named())
			for id := range f.doc.Agents {
				v.others[id] = true
			}
		}
	})
	return v.accepted.Agents[agentID] != nil || v.waiting != nil && v.waiting.Agents[agentID] != nil || v.others[agentID]
}

func (v *view) resolve(agentID string) approval.Policy { return v.follow(v.own(agentID)) }

// own is what the documents of this machine say.
func (v *view) own(agentID string) approval.Policy {
	p := v.accepted.policy(agentID, v.home)
	if v.waiting != nil {
		p = stricter(p, v.waiting.policy(agentID, v.home))
		return p.Listing(slices.Concat(v.kept[Every], v.kept[agentID]))
	}
	for _, id := range []string{Every, agentID} {
		if agent := v.accepted.Agents[id]; agent != nil {
			p.Allowlist = slices.Grow(p.Allowlist, len(agent.Allowlist))
			for _, e := range agent.Allowlist {
				p.Allowlist = append(p.Allowlist, e.Entry)
			}
		}
	}
	return p
}

// socketAt returns the absolute path of a socket.
func socketAt(s Socket, home string) string { return paths.Expand(s.Path, home) }

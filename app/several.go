package main

import (
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// Reply is the page's answer to one question of a list: "allow-once" or
// "deny", and what was shown of it.
type Reply struct {
	ID       string `json:"id"`
	Seen     string `json:"seen"`
	Decision string `json:"decision"`
}

// Together returns the small questions of one agent, whole, to be shown in a
// list. The page calls Ready with shown.ListMark and the agent's id when they
// are there, and this again whenever the questions change.
func (a *Approvals) Together(agentID string) []shown.Question {
	list := smallOf(a.app.host.Waiting(), agentID, a.app.names())
	ids := []string{}
	for _, q := range list {
		ids = append(ids, q.ID)
	}
	a.app.on(stage.Listed{IDs: ids})
	return list
}

// smallOf are the small questions of an agent.
func smallOf(waiting []approval.Prompt, agentID string, in shown.Person) []shown.Question {
	list := []shown.Question{}
	for _, p := range waiting {
		if p.AgentID != agentID || p.CallerGone || len(p.Plan.Text) > shown.MaxSmall {
			continue
		}
		if q := shown.NewQuestion(p, in); q.Small() {
			list = append(list, q)
		}
	}
	return list
}

// lookedAtList reports whether a question has been on the list in sight for
// long enough.
func (a *app) lookedAtList(agentID, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stage.Looked(shown.ListMark+agentID, a.clock()) && a.stage.LookedAtList(id, a.clock())
}

// AnswerMany answers the questions of one agent that the list shows, each as
// Decide would. The results are in the order of the replies.
func (a *Approvals) AnswerMany(agentID string, list []Reply, note string) []Answered {
	results := make([]Answered, len(list))
	var replies []pending.Reply
	var places []int
	for i, r := range list {
		reply, message := a.reply(agentID, r)
		if message != "" {
			results[i].Message = message
			continue
		}
		replies, places = append(replies, reply), append(places, i)
	}
	for i, err := range a.app.host.AnswerMany(replies, approval.Answer{By: "panel", Note: shorten(note)}) {
		results[places[i]] = answered(err)
	}
	return results
}

// reply reads one of the answers, or says why it does not count.
func (a *Approvals) reply(agentID string, r Reply) (reply pending.Reply, message string) {
	reply.ID = r.ID
	if reply.Decision.UnmarshalText([]byte(r.Decision)) != nil {
		return reply, unknown
	}
	waiting, found := a.waiting(r.ID)
	switch in := a.app.names(); {
	case !found || waiting.AgentID != agentID:
		return reply, sentence(pending.ErrUnknown)
	case !shown.NewQuestion(waiting, in).Small():
		return reply, notSmall
	case reply.Decision != approval.DecisionDeny && !a.app.lookedAtList(agentID, r.ID):
		return reply, tooEarly
	default:
		reply.Digest, reply.Count = in.Unseen(r.Seen, waiting)
	}
	return reply, ""
}

// notSmall says that a question is for the panel alone.
const notSmall = "This question is answered on its own: look at it first."

// AllowOne lets one of the identical requests of a question run once and
// denies the others.
func (a *Approvals) AllowOne(id, seen, note string) Answered {
	return a.answer(id, seen, approval.AllowOnce, func(shown pending.Shown) error {
		return a.app.host.AllowOne(id, shown, approval.Answer{By: "panel", Note: shorten(note)})
	})
}

// answer gives an answer to a question that the page shows. A yes counts only
// when it was in sight for long enough.
func (a *Approvals) answer(id, seen string, d approval.Decision, give func(pending.Shown) error) Answered {
	waiting, found := a.waiting(id)
	if !found {
		return Answered{Message: sentence(pending.ErrUnknown)}
	}
	if d != approval.DecisionDeny && !a.app.looked(id) {
		return Answered{Message: tooEarly}
	}
	digest, count := a.app.names().Unseen(seen, waiting)
	return answered(give(pending.Shown{Digest: digest, Count: count}))
}

func answered(err error) Answered {
	if err != nil {
		return Answered{Message: sentence(err)}
	}
	return Answered{OK: true}
}

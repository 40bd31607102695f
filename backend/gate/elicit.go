package gate

import (
	"errors"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/policy"
)

// MayElicit says why the MCP client of an agent may not give a question this
// answer, in a form of its own: a person must have switched that on. Whoever sits
// there shows us nothing, so a yes counts once, for a call that the client's
// server makes, and not where the person here is wanted: for what is protected,
// a high risk, asked about always or escalated, or has to be confirmed.
func (g *Gate) MayElicit(p approval.Prompt, d approval.Decision) error {
	now := g.Store.Current()
	switch {
	case !now.AcceptsClient(p.AgentID):
		return errors.New("the answers of its MCP client are not accepted here: a person adds " + approval.MCPClient + " to acceptAnswersFrom")
	case d == approval.DecisionDeny:
		return nil
	case d != approval.AllowOnce:
		return errors.New("an MCP client may allow once or deny")
	case wantsPerson(p) || now.Policy(p.AgentID).Presence.For(p.Judgement.Risk.Level):
		return errors.New("only the person here may allow this")
	}
	return nil
}

// wantsPerson reports whether a yes to a question must be given where all of it
// is shown.
func wantsPerson(p approval.Prompt) bool {
	j, tool := p.Judgement, p.Plan.Tool
	return tool == nil || tool.DefaultToNo || p.Who != approval.Theirs || j.Risk.Level.High() || j.Ask == approval.AskAlways ||
		policy.HoldsProtected(j) || escalates(j) || !slices.Contains(j.Choices, approval.AllowOnce)
}

package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// approvals are the questions that operators may answer here. An answer is a
// claim on the road: what it is worth is for the host that runs the command.
type approvals struct {
	mu   sync.Mutex
	list map[string]*question // by id
}

// question is one of them. Its answer holds for just what it binds.
type question struct {
	ID      string
	Request json.RawMessage // as it was asked
	Created time.Time
	Expires time.Time

	asks      askParams
	plan      *planned
	device    string // of who asked
	forbidden []approval.Decision

	done     chan struct{}
	decision approval.Decision // unset until it is answered, and when it expired
	by       string
	answered time.Time
	reason   string // why it ended without an answer
	used     bool   // allow-once ran
}

// askParams are those of exec.approval.request that bind the answer.
type askParams struct {
	ID          string              `json:"id"`
	Command     string              `json:"command"`
	Argv        []string            `json:"commandArgv"`
	Plan        json.RawMessage     `json:"systemRunPlan"`
	Host        approval.Host       `json:"host"`
	NodeID      string              `json:"nodeId"`
	Env         map[string]string   `json:"env"`
	TimeoutMs   int64               `json:"timeoutMs"`
	TwoPhase    bool                `json:"twoPhase"`
	Unavailable []approval.Decision `json:"unavailableDecisions"`
}

// planned is what of a plan decides what runs.
type planned struct {
	Argv       []string `json:"argv"`
	Cwd        string   `json:"cwd"`
	AgentID    string   `json:"agentId"`
	SessionKey string   `json:"sessionKey"`
	Text       string   `json:"commandText"`
}

const (
	// questionTime is how long a question waits at most.
	questionTime = 30 * time.Minute
	// lateTime is how long an answer may still be used after its question would
	// have expired, as at a gateway of OpenClaw.
	lateTime     = 15 * time.Second
	maxQuestions = 1000
	// maxShown is the longest command that is asked about, in characters.
	maxShown = 16_384
	// maxParams is the longest request that is kept, in bytes.
	maxParams = 256_000
)

// capApprovals are the caps of connections where somebody looks at questions.
var capApprovals = []string{"approvals", "exec-approvals"}

func (l *approvals) add(q *question) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		l.list = map[string]*question{}
	}
	now := time.Now()
	for id, have := range l.list {
		if have.over() && now.After(have.Expires.Add(lateTime)) && now.After(have.answered.Add(questionTime)) {
			delete(l.list, id)
		}
	}
	switch {
	case l.list[q.ID] != nil:
		return link.Refuse(link.CodeInvalid, "approval id is taken")
	case len(l.list) >= maxQuestions:
		return &link.Error{Code: link.CodeUnavailable, Message: "too many approvals wait", Retryable: true}
	}
	l.list[q.ID] = q
	return nil
}

func (q *question) over() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// end ends a question. The first answer wins.
func (l *approvals) end(q *question, decision approval.Decision, by, reason string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.over() {
		return false
	}
	q.decision, q.by, q.reason, q.answered = decision, by, reason, time.Now()
	close(q.done)
	return true
}

// get returns the question whose id begins like this, if there is just one.
func (l *approvals) get(id string) (*question, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if q := l.list[id]; q != nil {
		return q, nil
	}
	var found []*question
	for have, q := range l.list {
		if len(id) >= minPrefix && strings.HasPrefix(have, id) {
			found = append(found, q)
		}
	}
	if len(found) != 1 {
		return nil, link.Refuse(link.CodeInvalid, "unknown or expired approval id")
	}
	return found[0], nil
}

// wait waits for the answer.
func (l *approvals) wait(ctx context.Context, q *question) (any, error) {
	select {
	case <-q.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	answer := map[string]any{"id": q.ID, "decision": nil, "createdAtMs": q.Created.UnixMilli(), "expiresAtMs": q.Expires.UnixMilli()}
	if q.decision != "" {
		answer["decision"] = q.decision
	}
	if q.by != "" {
		answer["operator"] = q.by
	}
	if q.reason != "" {
		answer["terminalReason"] = q.reason
	}
	return answer, nil
}

func (q *question) view() map[string]any {
	return map[string]any{"id": q.ID, "request": q.Request, "createdAtMs": q.Created.UnixMilli(), "expiresAtMs": q.Expires.UnixMilli()}
}

// asked shows operators that a person is asked on a host. They may deny there
// and then; a yes is for who is asked.
func (g *Gateway) asked(u *run) {
	about := map[string]any{
		"command": u.Command, "host": u.Host, "nodeId": u.NodeID, "agentId": u.key.Agent, "sessionKey": u.key.Session,
		"unavailableDecisions": []approval.Decision{approval.AllowOnce, approval.AllowAlways},
	}
	text, _ := json.Marshal(about) // words and names, which are always written
	q := &question{ID: u.ID, Request: text, Created: time.Now(), Expires: time.Now().Add(asking), done: make(chan struct{})}
	q.forbidden = []approval.Decision{approval.AllowOnce, approval.AllowAlways}
	if err := g.approvals.add(q); err != nil {
		g.opt.Log.Warn("operators are not shown a question", "run", u.ID, "error", err)
		return
	}
	g.tell(scopeApprovals, "exec.approval.requested", q.view())
	go func() {
		defer rescue.Catch(g.opt.Log, "a question about a command", u.cancel)
		select {
		case <-u.done:
			g.approvals.end(q, "", "", "answered-elsewhere")
			return
		case <-q.done:
		}
		u.mu.Lock()
		u.refusal = &link.Error{Code: link.CodeUnavailable, Message: "SYSTEM_RUN_DENIED: an operator of the gateway said no", Details: []byte(`{"reason":"user-denied"}`)}
		u.mu.Unlock()
		u.cancel()
	}()
}

// claimed are the parameters of a run that says that it was approved.
type claimed struct {
	Approved bool              `json:"approved"`
	Decision approval.Decision `json:"approvalDecision"`
	RunID    string            `json:"runId"`
}

// approved turns what a run claims into what was really answered for it, and
// the run into what was asked about: whatever else the caller sends does not
// count.
func (p *peer) approved(node *peer, params json.RawMessage, asked *link.RunParams) error {
	var c claimed
	if err := read(params, &c); err != nil {
		return err
	}
	if !c.Approved && (c.Decision == "" || c.Decision == approval.DecisionDeny) {
		asked.Decision = c.Decision
		return nil
	}
	refuse := func(code, text string) error {
		details, _ := json.Marshal(map[string]string{"code": code}) // a string is always written
		return &link.Error{Code: link.CodeInvalid, Message: code + ": " + text, Details: details}
	}
	if c.RunID == "" {
		return refuse("MISSING_RUN_ID", "an approved run names its approval as runId")
	}
	p.approvals.mu.Lock()
	defer p.approvals.mu.Unlock()
	q := p.approvals.list[c.RunID]
	switch {
	case q == nil:
		return refuse("UNKNOWN_APPROVAL_ID", "unknown or expired approval id")
	case !q.over():
		return refuse("APPROVAL_REQUIRED", "the approval was not answered")
	case q.decision != approval.AllowOnce && q.decision != approval.AllowAlways || q.used:
		return refuse("APPROVAL_REQUIRED", "the approval does not allow this run, or was used")
	case time.Now().After(q.Expires.Add(lateTime)):
		return refuse("APPROVAL_EXPIRED", "the approval expired")
	case q.asks.Host != approval.HostNode || q.asks.NodeID != node.device.ID:
		return refuse("APPROVAL_NODE_MISMATCH", "the approval is for another node")
	case q.device != p.device.ID:
		return refuse("APPROVAL_DEVICE_MISMATCH", "another device asked for the approval")
	case !slices.Equal(asked.Command, q.plan.Argv):
		return refuse("APPROVAL_REQUEST_MISMATCH", "the approval is for another command")
	case envHash(q.asks.Env) == "" && envHash(asked.Env) != "":
		return refuse("APPROVAL_ENV_BINDING_MISSING", "the approval was asked for without an environment")
	case envHash(q.asks.Env) != envHash(asked.Env):
		return refuse("APPROVAL_ENV_MISMATCH", "the approval is for another environment")
	}
	q.used = q.decision == approval.AllowOnce
	asked.Command, asked.RawCommand, asked.Cwd, asked.Plan = q.plan.Argv, "", q.plan.Cwd, q.asks.Plan
	asked.AgentID, asked.SessionKey = q.plan.AgentID, q.plan.SessionKey
	asked.RunID, asked.Decision, asked.Operator = q.ID, q.decision, q.by
	return nil
}

// envHash names an environment, and is empty for none.
func envHash(env map[string]string) string {
	if len(env) == 0 {
		return ""
	}
	text, _ := json.Marshal(env) // a map of strings, which is written in order
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

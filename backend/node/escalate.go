package node

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// turn is a question, as it is now, that is or will be put to the operators of a
// gateway: one that changes or that more share is another question to them.
type turn struct {
	id, url, digest string
	count           int
}

// lookAgain is how long to wait after a host or a gateway did not answer, or
// nobody was there.
const lookAgain = 5 * time.Second

// escalate puts the questions of the host to the operators of gateways when it
// is their turn, until ctx ends. It judges no answer: that is for the host.
func (n *Node) escalate(ctx context.Context, conn *link.Conn) {
	asking := map[turn]context.CancelFunc{}
	var cursor uint64
	for ctx.Err() == nil {
		watch, err := n.road.Watch(ctx, cursor)
		if cursor = watch.Cursor; err != nil {
			cursor = 0
			pause(ctx, lookAgain)
		}
		open := map[turn]bool{}
		for _, p := range watch.Waiting {
			if p.CallerGone || p.Held { // somebody here looks at what is held
				continue
			}
			for _, t := range p.Turns {
				at := turn{p.ID, t.URL, p.Digest(), p.Count}
				open[at] = true
				if asking[at] == nil {
					one, cancel := context.WithCancel(ctx)
					asking[at] = cancel
					n.work.Go(func() {
						defer rescue.Catch(n.opt.Log, "a question for a gateway", nil)
						n.takeTurn(one, conn, p, t)
					})
				}
			}
		}
		for at, cancel := range asking {
			if !open[at] {
				cancel()
				delete(asking, at)
			}
		}
	}
	for _, cancel := range asking {
		cancel()
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, long time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(long):
	}
}

// takeTurn waits until it is the turn of a gateway, asks there and hands the
// answer to the host. It tries again where nobody could be asked, until ctx ends
// with the question; operators who answered are not asked again.
func (n *Node) takeTurn(ctx context.Context, conn *link.Conn, p approval.Prompt, t approval.Turn) {
	pause(ctx, time.Until(time.UnixMilli(t.From)))
	for ctx.Err() == nil {
		there, err := n.askThere(ctx, conn, p, t)
		answered := err == nil && there.Decision != approval.DecisionUnset
		if answered {
			said := host.Escalated{
				ID: p.ID, Digest: p.Digest(), Count: p.Count, Gateway: approval.GatewayName(t.URL), Operator: there.Operator, Decision: there.Decision,
			}
			err = n.road.Call(ctx, "pending.escalated", said, nil)
		}
		if err != nil && ctx.Err() == nil {
			n.opt.Log.Warn("a question could not be answered at a gateway", "gateway", approval.GatewayName(t.URL), "error", display.Escape(err.Error()))
		}
		if answered || refusedForGood(err) {
			return
		}
		pause(ctx, lookAgain)
	}
}

// refusedForGood reports whether a gateway will not take this question later
// either: it does not know how, or the question is too long for it.
func refusedForGood(err error) bool {
	var refused *link.Error
	return errors.As(err, &refused) && refused.Code == link.CodeInvalid && refused.Detail() != link.PairingRequired
}

// askThere puts a question to the operators of one gateway: over the connection
// that there is, or one of its own to another gateway.
func (n *Node) askThere(ctx context.Context, conn *link.Conn, p approval.Prompt, t approval.Turn) (answer, error) {
	if approval.GatewayName(t.URL) == n.gateway {
		return askOperators(ctx, conn, p, t)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	other, _, err := link.Dial(ctx, link.Options{
		URL: t.URL, Device: n.device.Device,
		Connect: link.Connect{
			Client: link.Client{ID: client, DisplayName: n.opt.Name, Version: n.opt.Version, Platform: platform, DeviceFamily: family, Mode: link.RoleNode},
			Role:   link.RoleNode, Scopes: []string{}, Caps: []string{}, Commands: []string{}, Auth: &link.Auth{DeviceToken: n.device.token(t.URL)},
		},
	})
	if err != nil {
		return answer{}, n.explained(err)
	}
	served := make(chan error, 1)
	go func() { served <- other.Serve(ctx, deaf{}) }() // which catches its own panics
	there, err := askOperators(ctx, other, p, t)
	cancel()
	<-served
	return there, err
}

// deaf serves a gateway that is only asked: it may ask nothing of this machine.
type deaf struct{}

func (deaf) Request(link.Request) {}
func (deaf) Event(link.Event)     {}

// question is what operators are told of one (exec.approval.requested).
type question struct {
	ID        string               `json:"id"`      // of this asking
	Command   string               `json:"command"` // a tool with all its arguments
	Tool      string               `json:"tool,omitempty"`
	Cwd       string               `json:"cwd,omitempty"`
	AgentID   string               `json:"agentId,omitempty"`
	Session   string               `json:"sessionKey,omitempty"`
	Who       approval.Who         `json:"who"`
	Env       []approval.EnvChange `json:"environment,omitempty"`
	Reason    approval.Reason      `json:"reason,omitempty"`
	Sentence  string               `json:"sentence,omitempty"`
	Risk      approval.Weighed     `json:"risk"`
	Count     int                  `json:"count"`
	DenyOnly  bool                 `json:"denyOnly,omitempty"`
	TimeoutMs int64                `json:"timeoutMs"`
}

// answer is what operators said, and which of them, as the gateway tells.
type answer struct {
	Decision approval.Decision `json:"decision"`
	Operator string            `json:"operator"`
}

// askOperators asks on one connection. The decision is unset where nobody
// answered. The question is taken back when ctx ends.
func askOperators(ctx context.Context, conn *link.Conn, p approval.Prompt, t approval.Turn) (there answer, err error) {
	q := question{
		ID: uuid.NewString(), Command: p.Plan.Text, Cwd: p.Plan.Cwd.Path, AgentID: p.AgentID, Session: p.SessionKey, Who: p.Who, Env: p.Env,
		Reason: p.Judgement.Reason, Sentence: p.Judgement.Sentence, Risk: p.Judgement.Risk, Count: p.Count, DenyOnly: t.DenyOnly,
		TimeoutMs: max(1, time.Until(time.UnixMilli(p.Expires)).Milliseconds()),
	}
	if tool := p.Plan.Tool; tool != nil {
		q.Tool = tool.FullName()
	}
	err = conn.Call(ctx, "node.approval.request", q, &there)
	if ctx.Err() != nil {
		brief, done := context.WithTimeout(context.WithoutCancel(ctx), lookAgain)
		defer done()
		_ = conn.Call(brief, "node.approval.withdraw", map[string]string{"id": q.ID}, nil) // a gateway that is gone has forgotten it
	}
	return there, err
}

package node

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
)

// turn is a question that is or will be put to the operators of a gateway.
type turn struct{ id, url string }

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
				at := turn{p.ID, t.URL}
				open[at] = true
				if asking[at] == nil {
					one, cancel := context.WithCancel(ctx)
					asking[at] = cancel
					n.work.Go(func() { n.takeTurn(one, conn, p, t) })
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
// answer to the host, until ctx ends with the question.
func (n *Node) takeTurn(ctx context.Context, conn *link.Conn, p approval.Prompt, t approval.Turn) {
	pause(ctx, time.Until(time.UnixMilli(t.From)))
	for ctx.Err() == nil {
		decision, err := n.askThere(ctx, conn, p, t)
		if err == nil && decision != approval.DecisionUnset {
			said := host.Escalated{ID: p.ID, Digest: p.Digest(), Count: p.Count, Gateway: approval.GatewayName(t.URL), Decision: decision}
			if err = n.road.Call(ctx, "pending.escalated", said, nil); err == nil {
				return
			}
		}
		if err != nil && ctx.Err() == nil {
			n.opt.Log.Warn("a question could not be answered at a gateway", "gateway", approval.GatewayName(t.URL), "error", display.Escape(err.Error()))
		}
		pause(ctx, lookAgain)
	}
}

// askThere puts a question to the operators of one gateway: over the connection
// that there is, or one of its own to another gateway.
func (n *Node) askThere(ctx context.Context, conn *link.Conn, p approval.Prompt, t approval.Turn) (approval.Decision, error) {
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
		return "", n.explained(err)
	}
	served := make(chan error, 1)
	go func() { served <- other.Serve(ctx, deaf{other}) }()
	decision, err := askOperators(ctx, other, p, t)
	cancel()
	<-served
	return decision, err
}

// deaf serves a gateway that is only asked: it may ask nothing of this machine.
type deaf struct{ conn *link.Conn }

func (d deaf) Request(r link.Request) {
	go d.conn.Reply(context.Background(), r.ID, nil, link.Refuse(link.CodeInvalid, "unknown method"))
}

func (deaf) Event(link.Event) {}

// question is what operators are told of one (exec.approval.requested).
type question struct {
	ID        string               `json:"id"`
	Command   string               `json:"command"`
	Tool      string               `json:"tool,omitempty"`
	Args      json.RawMessage      `json:"args,omitempty"`
	Argv      []string             `json:"commandArgv,omitempty"`
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

// askOperators asks on one connection. The decision is unset where nobody
// answered. The question is taken back when ctx ends.
func askOperators(ctx context.Context, conn *link.Conn, p approval.Prompt, t approval.Turn) (approval.Decision, error) {
	q := question{
		ID: p.ID, Command: p.Plan.Text, Argv: p.Plan.Argv, Cwd: p.Plan.Cwd.Path, AgentID: p.AgentID, Session: p.SessionKey, Who: p.Who, Env: p.Env,
		Reason: p.Judgement.Reason, Sentence: p.Judgement.Sentence, Risk: p.Judgement.Risk, Count: p.Count, DenyOnly: t.DenyOnly,
		TimeoutMs: max(1, time.Until(time.UnixMilli(p.Expires)).Milliseconds()),
	}
	if tool := p.Plan.Tool; tool != nil {
		q.Tool, q.Args = tool.FullName(), tool.Args
	}
	var answer struct {
		Decision approval.Decision `json:"decision"`
	}
	err := conn.Call(ctx, "node.approval.request", q, &answer)
	if errors.Is(err, context.Canceled) {
		brief, done := context.WithTimeout(context.WithoutCancel(ctx), lookAgain)
		defer done()
		_ = conn.Call(brief, "node.approval.withdraw", map[string]string{"id": p.ID}, nil) // a gateway that is gone has forgotten it
	}
	return answer.Decision, err
}

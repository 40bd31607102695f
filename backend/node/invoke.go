package node

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// invocation is one command of a gateway.
type invocation struct {
	ID         string  `json:"id"`
	NodeID     string  `json:"nodeId"`
	Command    string  `json:"command"`
	ParamsJSON *string `json:"paramsJSON"`
	TimeoutMs  int64   `json:"timeoutMs"`
	SessionKey string  `json:"sessionKey"`

	progress func(approval.EventKind) // tells the gateway
}

// maxRunning is how many invocations a node serves at once.
const maxRunning = 1000

// reply is what a gateway is told about an invocation.
type reply struct {
	ID      string      `json:"id"`
	NodeID  string      `json:"nodeId"`
	OK      bool        `json:"ok"`
	Payload any         `json:"payload,omitempty"`
	Error   *link.Error `json:"error,omitempty"`
}

// serve does one command. Its error is an *ipc.Error or *link.Error for a
// refusal.
type serve func(n *Node, ctx context.Context, i invocation, params []byte) (any, error)

var serves = map[string]serve{
	"system.run":         systemRun,
	"system.run.prepare": systemPrepare,
	"system.which":       systemWhich,
	"system.notify":      systemNotify,

	"system.execApprovals.get": approvalsGet,
	"system.execApprovals.set": approvalsSet,
}

// maxParams is how long the parameters of a command may be, in bytes: the local
// socket takes no more.
const maxParams = 256_000

// maxID is how long the id and the name of an invocation may be, in bytes.
const maxID = 200

// invoke serves an invocation beside others.
func (s *session) invoke(i invocation) {
	if len(i.ID) > maxID || len(i.Command) > maxID {
		s.strange.Do(func() { s.opt.Log.Warn("the gateway sends invocations that cannot be read") })
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	if refusal := s.note(i, cancel); refusal != nil {
		i.ParamsJSON = nil // it is kept until the gateway takes the refusal
		s.begin(func() { s.answer(s.conn, i, nil, refusal) })
		return
	}
	var told atomic.Int64
	i.progress = func(state approval.EventKind) { s.progress(i, told.Add(1)-1, state) }
	s.begin(func() {
		defer s.cancel(i.ID, context.Canceled)
		if i.TimeoutMs > 0 {
			var done context.CancelFunc
			ctx, done = context.WithTimeout(ctx, time.Duration(i.TimeoutMs)*time.Millisecond)
			defer done()
		}
		params := []byte("{}")
		if i.ParamsJSON != nil {
			params = []byte(*i.ParamsJSON)
		}
		payload, err := s.serve(ctx, i, params)
		s.answer(s.conn, i, payload, err)
		s.board.called()
	})
}

func (n *Node) serve(ctx context.Context, i invocation, params []byte) (payload any, err error) {
	defer rescue.Catch(n.opt.Log, "an invocation", func() {
		payload, err = nil, &link.Error{Code: link.CodeUnavailable, Message: "Countersign failed at this: its log says where", Details: []byte(`{"reason":"internal-error"}`)}
	})
	return serves[i.Command](n, ctx, i, params)
}

// progress tells the gateway how far an invocation is, and never what it
// printed. Nobody waits for that, and one that finds no room is left out.
func (s *session) progress(i invocation, seq int64, state approval.EventKind) {
	select {
	case s.busy <- struct{}{}:
	default:
		return
	}
	s.work.Go(func() {
		defer func() { <-s.busy }()
		defer rescue.Catch(s.opt.Log, "what the gateway is told", nil)
		_ = s.conn.Call(context.Background(), "node.invoke.progress", map[string]any{
			"invokeId": i.ID, "nodeId": s.device.Device.ID(), "seq": seq, "chunk": `{"state":"` + string(state) + `"}`,
		}, nil)
	})
}

// note keeps an invocation, or says why it is not served.
func (n *Node) note(i invocation, cancel context.CancelCauseFunc) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	_, twice := n.running[i.ID]
	switch {
	case serves[i.Command] == nil:
		return link.Refuse(link.CodeInvalid, "this node does not offer the command")
	case i.NodeID != "" && i.NodeID != n.device.Device.ID():
		return link.Refuse(link.CodeInvalid, "this is for another node")
	case i.ParamsJSON != nil && len(*i.ParamsJSON) > maxParams:
		return link.Refuse(link.CodeInvalid, "the parameters of the command are too long")
	case twice:
		return link.Refuse(link.CodeInvalid, "an invocation with this id is running")
	case len(n.running) >= maxRunning:
		return &link.Error{Code: link.CodeUnavailable, Message: "this node serves too many commands at once: try again later", Retryable: true}
	}
	n.running[i.ID] = cancel
	return nil
}

// cancel ends an invocation.
func (n *Node) cancel(id string, cause error) {
	n.mu.Lock()
	cancel, is := n.running[id]
	delete(n.running, id)
	n.mu.Unlock()
	if is {
		cancel(cause)
	}
}

// endAll ends all invocations and waits until nothing runs for them.
func (n *Node) endAll(cause error) {
	n.mu.Lock()
	list := n.running
	n.running = map[string]context.CancelCauseFunc{}
	n.mu.Unlock()
	for _, cancel := range list {
		cancel(cause)
	}
	n.work.Wait()
}

// answer tells the gateway what came of an invocation, and waits until it was
// taken: what is not taken counts as busy. A gateway that is gone has cancelled
// it.
func (n *Node) answer(conn *link.Conn, i invocation, payload any, err error) {
	r := reply{ID: i.ID, NodeID: n.device.Device.ID(), OK: err == nil, Payload: payload}
	if err != nil {
		r.Error = refusal(err)
	}
	if err := conn.Call(context.Background(), "node.invoke.result", r, nil); err != nil && !errors.Is(err, link.ErrClosed) {
		n.opt.Log.Warn("the gateway did not take a result", "error", err)
	}
}

// refusal is an error as gateways know them.
func refusal(err error) *link.Error {
	var ours *ipc.Error
	var theirs *link.Error
	switch {
	case errors.As(err, &ours):
		return &link.Error{Code: ours.Code, Message: ours.Message}
	case errors.As(err, &theirs):
		return theirs
	case errors.Is(err, context.DeadlineExceeded):
		return link.Refuse(link.CodeTimeout, "the time for this command is over")
	case errors.Is(err, context.Canceled):
		return link.Refuse(link.CodeUnavailable, "it was cancelled")
	}
	return link.Refuse(link.CodeUnavailable, "%v", err)
}

// read reads the parameters of a command.
func read(params []byte, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		return link.Refuse(link.CodeInvalid, "the parameters of the command cannot be read")
	}
	return nil
}

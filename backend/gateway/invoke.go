package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/link"
)

// invokes are the commands that nodes were given and have not answered.
type invokes struct {
	mu   sync.Mutex
	list map[string]*invoke // by id
	keys map[string]*invoke // by who asked, and its idempotency key
}

// invoke is one command of one node.
type invoke struct {
	id       string
	node     *peer
	progress func(state string) // nil for nobody

	done    chan struct{}
	ended   time.Time
	payload json.RawMessage
	err     error
}

// call is what a node is asked to do.
type call struct {
	Command    string
	Params     any
	Timeout    time.Duration // 0 for none
	SessionKey string
	Progress   func(state string)
}

// shortTime is how long a node may take to answer where nobody said it.
const shortTime = 30 * time.Second

// invoke has a node do something and waits for its answer. A node that is not
// waited for is told so.
func (g *Gateway) invoke(ctx context.Context, node *peer, c call) (json.RawMessage, error) {
	g.invokes.mu.Lock()
	i := g.invokes.add(node, c.Progress)
	g.invokes.mu.Unlock()
	return g.dispatch(ctx, i, c)
}

func (g *Gateway) dispatch(ctx context.Context, i *invoke, c call) (json.RawMessage, error) {
	text, err := json.Marshal(c.Params)
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = shortTime
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	params := string(text)
	err = i.node.conn.Send(ctx, "node.invoke.request", request{
		ID: i.id, NodeID: i.node.device.ID, Command: c.Command, ParamsJSON: &params, TimeoutMs: c.Timeout.Milliseconds(), Key: i.id, SessionKey: c.SessionKey,
	})
	if err != nil {
		g.invokes.end(i, nil, link.Refuse(link.CodeUnavailable, "the node cannot be reached"))
	}
	select {
	case <-i.done:
		return i.payload, i.err
	case <-i.node.ctx.Done():
		g.invokes.end(i, nil, errNodeGone)
	case <-ctx.Done():
		err := link.Refuse(link.CodeTimeout, "node invoke timed out")
		if ctx.Err() == context.Canceled {
			err = link.Refuse(link.CodeUnavailable, "it was cancelled")
		}
		g.invokes.end(i, nil, err)
		i.node.begin(func(ctx context.Context) {
			_ = i.node.conn.Send(ctx, "node.invoke.cancel", map[string]string{"invokeId": i.id, "nodeId": i.node.device.ID}) // one that is gone has stopped
		})
	}
	<-i.done
	return i.payload, i.err
}

var errNodeGone = link.Refuse(link.CodeUnavailable, "the node disconnected")

// request is how a node is told.
type request struct {
	ID         string  `json:"id"`
	NodeID     string  `json:"nodeId"`
	Command    string  `json:"command"`
	ParamsJSON *string `json:"paramsJSON"`
	TimeoutMs  int64   `json:"timeoutMs"`
	Key        string  `json:"idempotencyKey"`
	SessionKey string  `json:"sessionKey,omitempty"`
}

// add notes that a node is asked. The lock is held.
func (l *invokes) add(node *peer, progress func(state string)) *invoke {
	if l.list == nil {
		l.list, l.keys = map[string]*invoke{}, map[string]*invoke{}
	}
	i := &invoke{id: rand.Text(), node: node, progress: progress, done: make(chan struct{})}
	l.list[i.id] = i
	return i
}

// end ends an invoke. What comes second is dropped.
func (l *invokes) end(i *invoke, payload json.RawMessage, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list[i.id] != i {
		return false
	}
	delete(l.list, i.id)
	i.payload, i.err, i.ended = payload, err, time.Now()
	close(i.done)
	return true
}

// of returns what a node was asked. Another node's matter is nobody's.
func (l *invokes) of(node *peer, id string) *invoke {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := l.list[id]; i != nil && i.node == node {
		return i
	}
	return nil
}

// gone ends everything that a node was asked.
func (l *invokes) gone(node *peer) {
	l.mu.Lock()
	var list []*invoke
	for _, i := range l.list {
		if i.node == node {
			list = append(list, i)
		}
	}
	l.mu.Unlock()
	for _, i := range list {
		l.end(i, nil, errNodeGone)
	}
}

const (
	// keepKey is how long a second call with the same key gets the answer of
	// the first one, and maxKeys how many are kept.
	keepKey = 5 * time.Minute
	maxKeys = 10_000
)

// once returns the invoke that has a key, and whether it is new.
func (l *invokes) once(key string, node *peer) (i *invoke, fresh bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if have := l.keys[key]; have != nil {
		return have, false, nil
	}
	if len(l.keys) >= maxKeys {
		return nil, false, &link.Error{Code: link.CodeUnavailable, Message: "too many calls: try again later", Retryable: true}
	}
	i = l.add(node, nil)
	l.keys[key] = i
	return i, true, nil
}

func (l *invokes) forget(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, i := range l.keys {
		if l.list[i.id] == nil && now.Sub(i.ended) > keepKey {
			delete(l.keys, key)
		}
	}
}

// nodeInvoke has a node do something for an operator.
func nodeInvoke(p *peer, ctx context.Context, params json.RawMessage) (any, error) {
	var q struct {
		NodeID     string          `json:"nodeId"`
		Command    string          `json:"command"`
		Params     json.RawMessage `json:"params"`
		TimeoutMs  int64           `json:"timeoutMs"`
		Key        string          `json:"idempotencyKey"`
		SessionKey string          `json:"sessionKey"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	node := p.node(q.NodeID)
	switch {
	case q.Key == "" || len(q.Key) > maxName:
		return nil, link.Refuse(link.CodeInvalid, "invalid params: idempotencyKey must have from 1 to %d bytes", maxName)
	case node == nil:
		return nil, &link.Error{Code: link.CodeUnavailable, Message: "node not connected", Details: []byte(`{"code":"NOT_CONNECTED"}`)}
	case !slices.Contains(node.offered(), q.Command):
		return nil, link.Refuse(link.CodeInvalid, "node command not allowed: the node does not offer it, or nobody approved that")
	case changes(q.Command) && !p.may(scopeAdmin):
		return nil, link.Refuse(link.CodeInvalid, "missing scope: %s", scopeAdmin)
	case len(q.Params) == 0:
		q.Params = json.RawMessage("{}")
	}
	c := call{Command: q.Command, Params: q.Params, Timeout: time.Duration(min(max(q.TimeoutMs, 0), maxTimeout.Milliseconds())) * time.Millisecond, SessionKey: q.SessionKey}
	if q.Command == link.CommandRun || q.Command == link.CommandRun+".prepare" {
		asked, err := p.sanitize(node, q.Params)
		if err != nil {
			return nil, err
		}
		c.Params = asked
	}
	i, fresh, err := p.invokes.once(p.device.ID+" "+q.Key, node)
	if err != nil {
		return nil, err
	}
	if fresh {
		_, _ = p.dispatch(ctx, i, c)
	}
	select {
	case <-i.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if i.err != nil {
		return nil, nodeError(i.err)
	}
	return map[string]any{"ok": true, "nodeId": q.NodeID, "command": q.Command, "payload": i.payload, "payloadJSON": string(i.payload)}, nil
}

// changes tells the commands that change what may run.
func changes(command string) bool { return command == "system.execApprovals.set" }

// nodeError is the refusal of a node, as its caller gets it.
func nodeError(err error) error {
	e, ok := err.(*link.Error)
	if !ok || e == errNodeGone || e.Code == link.CodeTimeout && e.Details == nil {
		return err
	}
	details, _ := json.Marshal(map[string]any{"nodeError": e, "nodeCommandDispatched": true}) // it came as JSON
	return &link.Error{Code: link.CodeUnavailable, Message: e.Code + ": " + e.Message, Details: details}
}

// invokeResult takes the answer of a node. One for which nobody waits may be
// late, and is dropped.
func invokeResult(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		ID          string          `json:"id"`
		NodeID      string          `json:"nodeId"`
		OK          bool            `json:"ok"`
		Payload     json.RawMessage `json:"payload"`
		PayloadJSON *string         `json:"payloadJSON"`
		Error       *link.Error     `json:"error"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	if q.NodeID != p.device.ID {
		return nil, link.Refuse(link.CodeInvalid, "nodeId mismatch")
	}
	i := p.invokes.of(p, q.ID)
	if i == nil {
		return map[string]any{"ok": true, "ignored": true}, nil
	}
	var err error
	switch {
	case !q.OK && q.Error == nil:
		err = link.Refuse(link.CodeUnavailable, "the node refused without a reason")
	case !q.OK:
		err = q.Error
	case q.PayloadJSON != nil && !json.Valid([]byte(*q.PayloadJSON)):
		err = link.Refuse(link.CodeUnavailable, "the answer of the node cannot be read")
	case q.PayloadJSON != nil:
		q.Payload = json.RawMessage(*q.PayloadJSON)
	}
	if q.Payload == nil {
		q.Payload = json.RawMessage("null")
	}
	return map[string]any{"ok": true, "ignored": !p.invokes.end(i, q.Payload, err)}, nil
}

// maxChunk is the longest progress that a node may tell, in bytes.
const maxChunk = 16384

func invokeProgress(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		ID     string `json:"invokeId"`
		NodeID string `json:"nodeId"`
		Chunk  string `json:"chunk"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	switch {
	case q.NodeID != p.device.ID:
		return nil, link.Refuse(link.CodeInvalid, "nodeId mismatch")
	case len(q.Chunk) > maxChunk:
		return nil, link.Refuse(link.CodeInvalid, "progress chunk too large")
	}
	var told struct {
		State string `json:"state"`
	}
	i := p.invokes.of(p, q.ID)
	if i == nil || i.progress == nil || json.Unmarshal([]byte(q.Chunk), &told) != nil {
		return map[string]any{"ok": true, "ignored": true}, nil
	}
	i.progress(told.State)
	return map[string]any{"ok": true, "ignored": false}, nil
}

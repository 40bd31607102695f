package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// peer is one connection, of a node or of an operator.
type peer struct {
	*Gateway
	conn   *link.Conn
	id     string
	role   string
	scopes []string
	device device
	client link.Client
	caps   []string
	offers []string // commands that a node says it runs
	ip     string
	since  time.Time

	ctx     context.Context // done when the connection is over
	cancel  context.CancelFunc
	busy    chan struct{} // holds a value for everything that is done for it
	ticking atomic.Bool
	over    chan struct{}
	strange sync.Once
	left    sync.Once

	mu       sync.Mutex
	commands []string // of a node, which a person approved
}

// Scopes of operators.
const (
	scopeNone      = "" // everybody may
	scopeRead      = "operator.read"
	scopeWrite     = "operator.write"
	scopeApprovals = "operator.approvals"
	scopePairing   = "operator.pairing"
	scopeAdmin     = "operator.admin"
)

var scopes = []string{scopeRead, scopeWrite, scopeApprovals, scopePairing, scopeAdmin}

// may reports whether the connection has a scope. Who may do everything may
// do this.
func (p *peer) may(scope string) bool {
	return scope == scopeNone || slices.Contains(p.scopes, scope) || slices.Contains(p.scopes, scopeAdmin) ||
		scope == scopeRead && slices.Contains(p.scopes, scopeWrite)
}

// maxBusy is how many requests of one connection are served at once. One that
// sends more is left.
const maxBusy = 2000

// maxRequest is how long the parameters of an operator's request may be, in
// bytes.
const maxRequest = 1 << 20

// begin does something for the connection beside everything else.
func (p *peer) begin(do func(ctx context.Context)) {
	select {
	case p.busy <- struct{}{}:
		go func() {
			defer func() { <-p.busy }()
			defer rescue.Catch(p.opt.Log, "what is done for a connection", nil)
			do(p.ctx)
		}()
	default:
		p.left.Do(func() { go rescue.Guarded(p.opt.Log, "the end of a connection", p.conn.Drop)() }) // who sends this much does not read why
	}
}

// hangUp ends the connection and tells the other end why, which waits for its
// answer.
func (p *peer) hangUp(why string) {
	defer rescue.Catch(p.opt.Log, "the end of a connection", p.conn.Drop)
	p.conn.Close(why)
}

// pingTime is how long a connection may take to show that it lives.
const pingTime = 20 * time.Second

// tick shows the other end that we live, and ends a line whose other end does
// not.
func (p *peer) tick() {
	if !p.ticking.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer p.ticking.Store(false)
		defer rescue.Catch(p.opt.Log, "a tick", p.conn.Drop)
		ctx, cancel := context.WithTimeout(p.ctx, p.life)
		defer cancel()
		if p.conn.Send(ctx, link.EventTick, map[string]int64{"ts": time.Now().UnixMilli()}) != nil || p.conn.Ping(ctx) != nil {
			p.conn.Drop() // nobody is there to be told why
		}
	}()
}

// Event takes nothing: whoever connects asks by requests.
func (p *peer) Event(link.Event) {}

// Request serves one method.
func (p *peer) Request(r link.Request) {
	if p.role == link.RoleNode && r.Method != methodEscalated { // no other of its methods waits, and another goroutine would cost more than they do
		p.take(p.ctx, r)
		return
	}
	if len(r.Params) > maxRequest { // a connection may have many requests at once
		r.Params = json.RawMessage("null")
		p.begin(func(ctx context.Context) {
			_ = p.conn.Reply(ctx, r.ID, nil, link.Refuse(link.CodeInvalid, "invalid params: they are too long"))
		})
		return
	}
	p.begin(func(ctx context.Context) { p.take(ctx, r) })
}

func (p *peer) take(ctx context.Context, r link.Request) {
	p.counts.requests.Inc()
	defer rescue.Catch(p.opt.Log, "a request of a connection", func() { _ = p.conn.Reply(ctx, r.ID, nil, errFailed) })
	payload, err := p.serve(ctx, r)
	if err != nil {
		p.counts.refused.Inc()
	}
	_ = p.conn.Reply(ctx, r.ID, payload, refusal(err)) // who is gone needs no answer
}

// errFailed is told where a mistake of ours made us fail.
var errFailed = &link.Error{Code: link.CodeUnavailable, Message: "Countersign failed at this: its log says where", Details: []byte(`{"reason":"internal-error"}`)}

// method is what a connection may call.
type method struct {
	role  string // "" for both
	scope string
	serve func(p *peer, ctx context.Context, params json.RawMessage) (any, error)
}

// errUnknown is told for a method that there is not, and for one that is not
// for this connection: what exists is nobody else's matter.
func errUnknown(name string) error {
	return link.Refuse(link.CodeInvalid, "unknown method: %s", display.Escape(name[:min(len(name), 100)]))
}

func (p *peer) serve(ctx context.Context, r link.Request) (any, error) {
	m, ok := methods[r.Method]
	switch {
	case !ok || m.role != "" && m.role != p.role:
		p.strange.Do(func() {
			p.opt.Log.Warn("a connection calls what is not for it", "conn", p.id, "role", p.role, "method", display.Escape(r.Method[:min(len(r.Method), 100)]))
		})
		return nil, errUnknown(r.Method)
	case p.role == link.RoleOperator && !p.may(m.scope):
		return nil, &link.Error{Code: link.CodeInvalid, Message: "missing scope: " + m.scope, Details: []byte(`{"code":"MISSING_SCOPE"}`)}
	}
	if len(r.Params) == 0 {
		r.Params = json.RawMessage("{}")
	}
	return m.serve(p, ctx, r.Params)
}

// read reads the parameters of a method.
func read(params json.RawMessage, into any) error {
	if err := json.Unmarshal(params, into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return link.Refuse(link.CodeInvalid, "invalid params: %s is no %s", display.Escape(wrong.Field), wrong.Type)
		}
		return link.Refuse(link.CodeInvalid, "invalid params")
	}
	return nil
}

// refusal is an error as the wire knows it.
func refusal(err error) *link.Error {
	var theirs *link.Error
	var ours *ipc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &theirs):
		return theirs
	case errors.As(err, &ours):
		details, _ := json.Marshal(map[string]string{"reason": string(ours.Reason)}) // a map of strings is always written
		return &link.Error{Code: ours.Code, Message: ours.Message, Details: details}
	case errors.Is(err, context.DeadlineExceeded):
		return link.Refuse(link.CodeTimeout, "the time for this is over")
	case errors.Is(err, context.Canceled):
		return link.Refuse(link.CodeUnavailable, "it was cancelled")
	}
	return link.Refuse(link.CodeUnavailable, "%v", err)
}

// serveLine takes a connection from its first byte to its end.
func (g *Gateway) serveLine(w http.ResponseWriter, r *http.Request) {
	ip := remote(r)
	ctx, end := context.WithCancel(r.Context())
	defer end()
	shakes, ok := g.guard.enter(ip, end)
	if !ok {
		http.Error(w, "too many connections or wrong tokens: try again later", http.StatusTooManyRequests)
		return
	}
	defer g.guard.leave()
	defer g.guard.shook(ip, shakes)
	defer rescue.Catch(g.opt.Log, "a connection", nil)
	p := &peer{Gateway: g, ip: ip, since: time.Now(), busy: make(chan struct{}, maxBusy), over: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	defer p.cancel()
	defer close(p.over)
	conn, connect, err := link.Accept(w, r.WithContext(ctx), p.admit)
	g.guard.shook(ip, shakes)
	if err != nil {
		g.counts.turnedAway.Inc()
		g.opt.Log.Info("a connection was not let in", "ip", ip, "error", display.Escape(err.Error()))
		return
	}
	p.conn, p.client = conn, connect.Client
	if !g.enter(p) {
		conn.Close("the gateway stops")
		return
	}
	level := slog.LevelInfo
	if p.role == link.RoleOperator { // a command line comes and goes all the time
		level = slog.LevelDebug
	}
	defer g.leave(p)
	defer conn.Drop()
	g.opt.Log.Log(p.ctx, level, "connected", "conn", p.id, "role", p.role, "device", p.device.ID, "name", display.Escape(p.device.Name), "ip", ip)
	err = conn.Serve(p.ctx, p)
	g.opt.Log.Log(context.Background(), level, "connection ended", "conn", p.id, "role", p.role, "device", p.device.ID, "why", display.Escape(err.Error()))
}

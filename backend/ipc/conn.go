package ipc

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/fair"
	"github.com/countersign-app/countersign/backend/rescue"
)

// conn is one connection of a peer. One goroutine reads it; each frame that
// reaches the handler has its own.
type conn struct {
	s       *Server
	id      uint64
	nc      *net.UnixConn
	ctx     context.Context
	cancel  context.CancelFunc
	who     *caller
	peer    approval.Peer
	at      holder // as the kernel told it when peer connected
	foreign bool   // of another user
	// ours tells that the peer ran our program when it connected: one that
	// connects and then becomes our program must not pass the door.
	ours bool
	// challenge is what a hello told our program. The reading goroutine alone
	// uses it.
	challenge string
	// family is that of the peer, "" while nobody looked, or for the host itself. The
	// reading goroutine alone uses it.
	family string
	looked bool

	writing sync.Mutex
	frames  sync.WaitGroup

	mu      sync.Mutex
	waiting int       // frames with the handler
	busy    string    // who has the place of a connection with such frames
	asker   string    // the family of whom our program asks for, "" for none
	idle    time.Time // when the last of them was answered, or it connected
	ending  bool      // nothing more is read; the last answer closes
}

// serve lives as long as the connection and all its frames.
func (c *conn) serve() {
	c.live()
	c.kill()
	c.frames.Wait()
	if c.who != nil {
		c.s.callers.leave(c, c.who)
	}
}

func (c *conn) live() {
	defer rescue.Catch(c.s.log, "a connection to the socket", nil)
	if c.identify() && c.read() {
		c.linger()
	}
}

// kill ends the connection and everything that its frames do.
func (c *conn) kill() {
	c.cancel()
	c.nc.Close()
}

// identify reads once who is at the other end. A process of our own user that
// cannot be seen is nobody that we talk to.
func (c *conn) identify() bool {
	var err error
	if c.at, err = c.s.peerOf(c.nc); err != nil {
		return false
	}
	if c.foreign = c.at.uid != c.s.uid; c.foreign {
		c.s.log.Warn("a process of another user is at the socket", "uid", c.at.uid, "pid", c.at.pid)
		return true
	}
	if c.peer, err = c.s.look(c.at); err != nil {
		return false
	}
	c.ours = c.s.door.programs.run(c.at.pid)
	most := c.s.maxConns / 2
	if c.ours {
		most = max(most, c.s.forOurs())
	}
	c.mu.Lock()
	c.idle = time.Now()
	c.mu.Unlock()
	var ok bool
	c.who, ok = c.s.callers.enter(c, c.peer, most)
	return ok
}

// read takes frames until the peer stops sending. It reports false when the
// connection must not live on.
func (c *conn) read() bool {
	in := lines{nc: c.nc, from: c.at, patience: c.s.patience}
	for {
		line, err := in.next()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if c.ctx.Err() != nil {
			return true // we are stopping: what waits may still be answered
		}
		if !c.pace() || !c.take(line) {
			return false
		}
	}
}

// pace reads a peer that sends too much later; nothing is refused.
func (c *conn) pace() bool {
	if c.foreign {
		return true
	}
	wait := c.s.callers.pace(c.who)
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// take handles one line up to the point where the handler takes over. It
// reports false when the connection must not live on.
func (c *conn) take(line []byte) (on bool) {
	var f frame
	defer rescue.Catch(c.s.log, "the reading of a frame", func() { on = f.id != "" && c.refuse(f, failed()) })
	f, err := parseFrame(line)
	if err != nil {
		return false
	}
	if c.foreign {
		if f.kind == kindRequest {
			c.send(refusal(f, nil))
		}
		return false
	}
	switch f.kind {
	case kindExec:
		return c.exec(f)
	case kindCall:
		return c.call(f)
	case kindHello:
		return c.hello(f)
	}
	return c.request(f)
}

func (c *conn) exec(f frame) bool {
	if _, e := c.verify(f); e != nil {
		return c.refuse(f, e)
	}
	x, e := decodeExec(f.requestJSON)
	if e != nil {
		return c.refuse(f, e)
	}
	if !c.remember(x.Request.AgentID) {
		return false
	}
	x.Request.Arrived, x.Request.Peer = c.s.now(), c.asking()
	if x.Request.Claim.Gateway != "" && c.passesOn(x.challenge) != nil {
		x.Request.Claim.Gateway, x.Request.Claim.Operator = "", "" // anybody could say so
	}
	if !x.Progress {
		return c.begin(f, func() any { return execReply(f.id, c.s.handler.Exec(c.ctx, x)) })
	}
	p := &progress{c: c, id: f.id}
	x.Request.Progress = p.tell
	return c.begin(f, func() any {
		defer p.end()
		return execReply(f.id, c.s.handler.Exec(c.ctx, x))
	})
}

func (c *conn) request(f frame) bool {
	token := c.s.token()
	if token == "" || !same(token, f.token) {
		c.send(refusal(f, nil))
		return c.failed()
	}
	q, err := decodeRequest(f.request)
	if f.mistyped || err != nil {
		return c.refuse(f, nil)
	}
	if !c.remember(q.Request.AgentID) {
		return false
	}
	q.Request.Arrived, q.Request.Peer = c.s.now(), c.asking()
	return c.begin(f, func() any {
		d, answered := c.s.handler.Decide(c.ctx, q)
		if !answered {
			return nil
		}
		if d != approval.AllowOnce && d != approval.AllowAlways {
			d = approval.DecisionDeny
		}
		return decisionReply{answerRequest, f.id, d}
	})
}

func (c *conn) call(f frame) bool {
	by, e := c.verify(f)
	if e != nil {
		return c.refuse(f, e)
	}
	k, e := decodeCall(f.requestJSON)
	if e != nil {
		return c.refuse(f, e)
	}
	needed := methods[k.Method]
	if by < needed {
		return c.refuse(f, invalidAuth())
	}
	if by == byKey {
		err := c.operates(k.challenge)
		if k.Operator = err == nil; err != nil && needed == byKey {
			c.s.log.Warn("a process may not operate", "method", k.Method, "pid", c.peer.PID, "program", c.peer.Exe, "why", err)
			return c.refuse(f, &Error{Code: CodeForbidden, Message: err.Error(), Reason: approval.ReasonInvalid})
		}
	}
	if bridges[k.Method] && c.passesOn(k.challenge) != nil {
		return c.refuse(f, &Error{Code: CodeForbidden, Message: "only Countersign's own programs may say what somebody said elsewhere", Reason: approval.ReasonInvalid})
	}
	if k.Method == MethodAskers {
		return c.begin(f, func() any { return callReply(f.id, c.addAskers(k.Params)) })
	}
	if asks[k.Method] && !c.remember(agentIn(k.Params)) {
		return false
	}
	k.Peer, k.Conn = c.asking(), c.id
	return c.beginWith(f, k.Operator && needed == byKey, func() any { return callReply(f.id, c.s.handler.Call(c.ctx, k)) })
}

// begin hands a frame over. It reports false when too many wait already, or too
// many of one family.
func (c *conn) begin(f frame, answer func() any) bool { return c.beginWith(f, false, answer) }

// beginWith is begin; who operates finds room where those who only ask took all.
func (c *conn) beginWith(f frame, operates bool, answer func() any) bool {
	who := c.asking().Family
	from := c.wait(who, operates)
	if from == nil {
		c.s.log.Warn("too many frames wait", "pid", c.peer.PID, "program", c.peer.Exe, "family", who)
		return false
	}
	c.frames.Add(1)
	go func() {
		defer c.frames.Done()
		defer rescue.Catch(c.s.log, "the end of a frame", c.kill)
		answered := c.answer(f, answer)
		from.Leave(who)
		c.end(!answered)
	}()
	return true
}

// wait takes the place of a waiting frame, and of a connection with such frames for
// the first one. Only an idle connection makes room for others, so these are what a
// family could keep others out with. It returns whose place that is, nil for none.
func (c *conn) wait(who string, operates bool) *fair.Places {
	c.mu.Lock()
	defer c.mu.Unlock()
	from := c.s.waiting
	if !from.Take(who, 0) {
		if from = c.s.operating; !operates || !from.Take(who, 0) {
			return nil
		}
	}
	if c.waiting == 0 {
		own := 0
		if c.ours {
			own = c.s.forOurs()
		}
		if !c.s.busy.Take(who, own) {
			from.Leave(who)
			return nil
		}
		c.busy = who
	}
	c.waiting++
	return from
}

// answer sends what a frame is answered, and reports whether it is. One that
// makes us panic is refused.
func (c *conn) answer(f frame, answer func() any) (answered bool) {
	defer rescue.Catch(c.s.log, "a frame of kind "+f.kind, func() {
		c.send(refusal(f, failed()))
		answered = true
	})
	a := answer()
	if a != nil {
		c.send(a)
	}
	return a != nil
}

// idleSince is since when nothing of a connection waits, and whether that is so.
// One that is being closed is not idle: its place is given away already.
func (c *conn) idleSince() (time.Time, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.idle, c.waiting == 0 && !c.idle.IsZero() && c.ctx.Err() == nil
}

// end counts a frame as done. The last one closes a connection on which
// nothing more is read, or one whose question got no answer.
func (c *conn) end(unanswered bool) {
	c.mu.Lock()
	if c.waiting--; c.waiting == 0 {
		c.s.busy.Leave(c.busy)
	}
	c.idle = time.Now()
	c.ending = c.ending || unanswered
	last := c.ending && c.waiting == 0
	c.mu.Unlock()
	if last {
		c.nc.Close()
	}
}

// linger waits, after the peer stopped sending, until the last answer was
// given or the peer closed fully.
func (c *conn) linger() {
	c.mu.Lock()
	c.ending = true
	idle := c.waiting == 0
	c.mu.Unlock()
	if idle {
		return
	}
	if raw, err := c.nc.SyscallConn(); err == nil {
		// The runtime wakes the reader when the other end closes; nothing polls.
		raw.Read(hungUp)
	}
}

// send writes one answer. A peer that does not take it within its patience
// is gone.
func (c *conn) send(v any) {
	line, err := encodeLine(v)
	if err != nil {
		c.s.log.Error("cannot encode an answer", "why", err)
		c.kill()
		return
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	limit := c.s.patience
	if c.ctx.Err() != nil {
		limit = min(limit, time.Second) // we are stopping
	}
	c.nc.SetWriteDeadline(time.Now().Add(limit))
	if _, err := c.nc.Write(line); err != nil {
		c.kill()
	}
}

package ipc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/fair"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

const (
	// maxWaiting is how many frames may wait, and reservedFrames how many more of those
	// who operate: else who may only ask could keep a person from denying and stopping.
	// A family has no more of them than there is place for more, see package fair.
	maxWaiting     = 5_000
	reservedFrames = 64
	// maxConns is how many connections there may be where nobody said less. One
	// process gets half of them, one of our program nearly all, and the last
	// reservedConns, an eighth of few, are for those who may operate: else any
	// other one could keep the operator out by connecting and saying nothing.
	maxConns      = 1_000
	reservedConns = 32
	// defaultRate is how many frames one process may send a second before it is
	// read later.
	defaultRate = 500
)

// Options says where to listen and with which secrets. Handler, Path, Lock
// and Token are required.
type Options struct {
	// Path is the socket, absolute. Its folder is made 0700.
	Path string
	// Also is a second socket, absolute, for clients of others that the policy file
	// leads there; "" for none. Ours never ask it.
	Also string
	// Lock is the file that is held for the whole life of the server. It lies in
	// the state folder that the server says to clients is its own.
	Lock string
	// Held is that lock, where the caller has taken it with Hold before it
	// touched anything else. It stays the caller's.
	Held *Lock
	// Token returns the request token; it is read for every frame. While it
	// is empty nothing verifies.
	Token func() string
	// OperatorKey returns the operator key; nil or empty: nobody operates.
	OperatorKey func() []byte
	Handler     Handler
	// Programs are paths of further programs of ours that may operate, beside
	// the one that this process runs.
	Programs []string
	// Responsible tells which process macOS holds responsible for another one;
	// nil where nobody tells.
	Responsible func(pid int) (int, error)
	// Troubled is told when there is something new in Troubles, unless it is nil.
	// It must not block.
	Troubled func()
	// Now is the clock, time.Now when nil.
	Now func() time.Time
	// Log gets what a person should know, never a secret. Nil: nothing.
	Log *slog.Logger
	// Connections is how many there may be, 1 000 when zero.
	Connections int
	// FramesPerSecond is how much of one process is read without delay, 500
	// when zero.
	FramesPerSecond int
}

// Server is the listening end of the socket.
type Server struct {
	token       func() string
	operatorKey func() []byte
	handler     Handler
	now         func() time.Time
	log         *slog.Logger

	sockets   []socket
	taking    sync.Mutex // one connection at a time gets a place
	folder    folderWire // in which the lock is
	lock      *Lock
	ours      bool // the lock goes with the server
	watcher   watcher
	uid       int
	peerOf    func(*net.UnixConn) (holder, error) // tests alone set another
	started   time.Time
	door      *Door
	callers   callers
	nonces    nonces
	waiting   *fair.Places // frames with the handler, of families
	operating *fair.Places // further ones of who operates
	busy      *fair.Places // connections with such frames
	// connected counts connections.
	connected atomic.Uint64

	patience time.Duration
	maxConns int
	reserved int // of them, for who may operate

	ctx    context.Context
	cancel context.CancelFunc

	mu     sync.Mutex
	conns  map[*conn]struct{}
	closed bool
	done   sync.WaitGroup // Serve and all connections
	once   sync.Once
}

// socket is one that we made.
type socket struct {
	path     string
	file     os.FileInfo
	listener *net.UnixListener
}

// Listen takes the lock and the path and opens the socket. It never takes a
// path from a process that listens on it: the error is ErrLive then. Call
// Serve to take connections, and Close in any case.
func Listen(o Options) (*Server, error) {
	s, err := newServer(o)
	if err == nil {
		if err = s.open(o); err == nil {
			return s, nil
		}
		s.release()
	}
	return nil, fmt.Errorf("cannot listen on the local socket: %w", err)
}

func newServer(o Options) (*Server, error) {
	switch {
	case o.Handler == nil || o.Token == nil:
		return nil, errors.New("internal error: a handler and a token are required")
	case o.Token() == "":
		return nil, errors.New("there is no request token: run `countersign doctor`, which writes one into exec-approvals.json")
	}
	most := o.Connections
	if most <= 0 {
		most = maxConns
	}
	s := &Server{
		token: o.Token, operatorKey: o.OperatorKey, handler: o.Handler, now: o.Now, log: o.Log,
		uid: os.Geteuid(), peerOf: peerOf,
		nonces:  nonces{max: maxNonces},
		waiting: fair.New(maxWaiting), operating: fair.New(reservedFrames), busy: fair.New(most),
		patience: patience, maxConns: most, reserved: min(reservedConns, most/8),
		conns: map[*conn]struct{}{},
	}
	if s.operatorKey == nil {
		s.operatorKey = func() []byte { return nil }
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	rate := o.FramesPerSecond
	if rate <= 0 {
		rate = defaultRate
	}
	s.callers = callers{known: map[process]*caller{}, now: s.now, rate: rate}
	s.watcher = watcher{every: watchEvery, lock: o.Lock, count: map[string]int{}, changed: o.Troubled}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func (s *Server) open(o Options) (err error) {
	places := []string{o.Path}
	if o.Also != "" && o.Also != o.Path {
		places = append(places, o.Also)
	}
	for _, path := range places {
		if err = checkPath(path); err != nil {
			return err
		}
		if err = ownFolder(path); err != nil {
			return err
		}
	}
	if s.lock = o.Held; s.lock == nil {
		f, err := holdLock(o.Lock)
		if err != nil {
			return err
		}
		s.lock, s.ours = &Lock{f}, true
	}
	if s.folder, err = folderOf(o.Lock); err != nil {
		return err
	}
	if s.door, err = NewDoor(o.Programs...); err != nil {
		return err
	}
	s.door.responsible = o.Responsible
	// Nobody else takes frames any more. One that was signed up to now may
	// have been used; the pause keeps honest ones out of this millisecond.
	s.started = s.now()
	time.Sleep(time.Millisecond)
	for i, path := range places {
		if now, err := os.Stat(path); i > 0 && err == nil && os.SameFile(now, s.sockets[0].file) {
			break // another way of writing the same
		}
		if err = clearPath(path); err != nil {
			return err
		}
		listener, file, err := bind(path)
		if err != nil {
			return err
		}
		s.sockets = append(s.sockets, socket{path, file, listener})
	}
	return nil
}

// Serve takes connections until ctx is done or Close is called, and meanwhile
// puts back socket and lock where somebody removes or replaces them. It ends with
// an error where the state folder is not there any more.
func (s *Server) Serve(ctx context.Context) error {
	if !s.hold() {
		return net.ErrClosed
	}
	defer s.done.Done()
	defer context.AfterFunc(ctx, rescue.Guarded(s.log, "the end of the socket", s.stop))()
	for _, at := range s.sockets {
		s.listen(at.listener)
	}
	return s.watch()
}

func (s *Server) accept(listener *net.UnixListener) {
	pause := time.Duration(0)
	for {
		nc, err := listener.AcceptUnix()
		if s.ctx.Err() != nil {
			if err == nil {
				nc.Close()
			}
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of descriptors, most likely: others will close some.
			pause = min(max(2*pause, 10*time.Millisecond), time.Second)
			s.log.Warn("cannot take a connection", "why", err)
			s.sleep(pause)
			continue
		}
		pause = 0
		s.take(nc)
	}
}

func (s *Server) sleep(d time.Duration) {
	select {
	case <-time.After(d):
	case <-s.ctx.Done():
	}
}

// take starts a connection, or closes it when there is no place for it.
func (s *Server) take(nc *net.UnixConn) {
	c := &conn{s: s, id: s.connected.Add(1), nc: nc}
	c.ctx, c.cancel = context.WithCancel(s.ctx)
	defer rescue.Catch(s.log, "the taking of a connection", c.kill)
	s.taking.Lock()
	defer s.taking.Unlock()
	if !s.room(nc) || !s.add(c) {
		c.kill()
		return
	}
	go func() {
		defer s.done.Done()
		defer s.forget(c)
		defer rescue.Catch(s.log, "the end of a connection", c.kill)
		c.serve()
	}()
}

// Askers are the families of those that asked, the last one first.
func (s *Server) Askers() []family.Asker { return s.door.families.List() }

// Seat tells from which shell of a terminal the peer of a call was started.
func (s *Server) Seat(peer approval.Peer) (family.Seat, error) { return s.door.Seat(peer) }

// hold counts one more goroutine that Close waits for.
func (s *Server) hold() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.done.Add(1)
	}
	return !s.closed
}

// stop cancels everything. What waits may still say so: no connection reads
// any more, each closes after its last answer.
func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.cancel()
	for _, l := range s.sockets {
		l.listener.Close()
	}
	for c := range s.conns {
		c.nc.CloseRead()
		c.nc.SetWriteDeadline(time.Now().Add(time.Second))
	}
}

// Close ends all frames, waits until every goroutine is done, removes the
// socket if it is still ours, and then lets go of the lock.
func (s *Server) Close() {
	s.stop()
	s.done.Wait()
	s.once.Do(s.release)
}

func (s *Server) release() {
	s.cancel()
	for _, l := range s.sockets {
		l.listener.Close()
		if sameFile(l.path, l.file) {
			os.Remove(l.path)
		}
	}
	if s.door != nil {
		s.door.Close()
	}
	if s.ours {
		s.lock.Close()
	}
}

// credential tells which secret verifies a frame. Only calls may use the
// operator key, and one that equals the token is none.
func (s *Server) credential(f frame) credential {
	token := s.token()
	if verified([]byte(token), f) {
		return byToken
	}
	if f.kind != kindCall {
		return byNothing
	}
	if key := s.operatorKey(); !same(string(key), token) && verified(key, f) {
		return byKey
	}
	return byNothing
}

// look reads who a process is. The ancestors of one that was here before are
// kept as they were then: parents can end, and later looks see less.
func (s *Server) look(who holder) (approval.Peer, error) {
	p, err := proc.Stat(who.pid)
	if err != nil {
		return approval.Peer{}, err
	}
	peer := approval.Peer{UID: who.uid, PID: who.pid, Started: p.Started}
	if k, ok := s.callers.find(process{PID: who.pid, Started: p.Started}); ok {
		peer.Ancestors = k.ancestors
	} else {
		up, err := proc.Ancestors(who.pid)
		if err != nil {
			return approval.Peer{}, err
		}
		for _, a := range up {
			peer.Ancestors = append(peer.Ancestors, a.PID)
		}
	}
	_, peer.Exe, _ = proc.Exe(who.pid)
	return peer, nil
}

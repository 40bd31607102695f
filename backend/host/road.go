package host

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Road leads to the exec host of a state folder: to the app or whoever else
// answers at its socket, else to a host of our own, which listens there too.
// Its methods may be called by many at once.
type Road struct {
	opt   RoadOptions
	turns chan struct{} // holds a value for each connection in use
	fresh chan struct{} // holds a value for each command that begins

	mu      sync.Mutex
	idle    []*lane
	started *Host     // ours
	leaving bool      // it gives way
	after   time.Time // before this it is not started again
}

// lane is a connection to the host that serves one frame at a time, so that
// closing it ends just that.
type lane struct {
	*ipc.Client
	token string
}

const (
	// maxLanes is how many connections are used at once, below what the socket
	// lets our program have. Who comes then waits for a turn.
	maxLanes = 900
	// maxFresh is how many commands begin at once: a host refuses what goes beyond
	// its room, and most commands are over soon. One that a person is asked about
	// has begun; who waits for freshTime goes on in any case.
	maxFresh  = 200
	freshTime = 2 * time.Second
	// maxIdle is how many connections are kept for later.
	maxIdle = 64
)

// RoadOptions say which host is looked for.
type RoadOptions struct {
	State paths.State
	Home  string
	// Own starts an exec host in this process, for when no other answers at the
	// socket. It calls giveWay when the app wants to be the host. Nil: the app is
	// required.
	Own func(giveWay func()) (*Host, error)
	Log *slog.Logger
}

// NewRoad connects to nobody yet.
func NewRoad(opt RoadOptions) *Road {
	return &Road{opt: opt, turns: make(chan struct{}, maxLanes), fresh: make(chan struct{}, maxFresh)}
}

// errCompanion is told where the app is required and does not answer.
var errCompanion = &ipc.Error{
	Code: ipc.CodeUnavailable, Message: "COMPANION_APP_UNAVAILABLE: Countersign is not running on this machine", Reason: approval.ReasonCompanion,
}

// Exec has a command judged and run. A refusal is an *ipc.Error.
func (r *Road) Exec(ctx context.Context, x ipc.Exec) (answer ipc.ExecAnswer, err error) {
	begun, err := r.begin(ctx)
	if err != nil {
		return answer, err
	}
	defer begun()
	if tell := x.Request.Progress; tell != nil {
		x.Request.Progress = func(state approval.EventKind) {
			if state == approval.EventAsked {
				begun()
			}
			tell(state)
		}
	}
	err = r.use(ctx, func(l *lane) error {
		answer, err = l.Exec(ctx, l.token, x)
		return err
	})
	return answer, err
}

// begin waits until few commands begin, or for freshTime: what runs for that
// long fills the host for good, and it is for the host to say so.
func (r *Road) begin(ctx context.Context) (begun func(), err error) {
	begun = sync.OnceFunc(func() { <-r.fresh })
	select {
	case r.fresh <- struct{}{}:
		return begun, nil
	default:
	}
	wait := time.NewTimer(freshTime)
	defer wait.Stop()
	select {
	case r.fresh <- struct{}{}:
		return begun, nil
	case <-wait.C:
		return func() {}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Call calls a reading method of the host.
func (r *Road) Call(ctx context.Context, method string, params, out any) error {
	return r.use(ctx, func(l *lane) error { return l.Call(ctx, []byte(l.token), method, params, out) })
}

// Watch waits until other questions wait than at a cursor. It starts no host:
// where none is, nobody asks.
func (r *Road) Watch(ctx context.Context, cursor uint64) (w Watch, err error) {
	l, err := r.take(false)
	if err != nil {
		return w, err
	}
	if err := l.Call(ctx, []byte(l.token), "pending.watch", map[string]uint64{"cursor": cursor}, &w); err != nil {
		l.Close()
		return w, err
	}
	r.put(l)
	return w, nil
}

func (r *Road) use(ctx context.Context, do func(*lane) error) error {
	select {
	case r.turns <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.turns }()
	l, err := r.take(true)
	if err != nil {
		return err
	}
	again := false
	defer func() {
		if again {
			r.put(l)
		} else { // what runs for it ends
			l.Close()
		}
	}()
	err = do(l)
	var refused *ipc.Error
	again = err == nil || errors.As(err, &refused) && refused.Reason != "hmac" // of a token that is old
	return err
}

// take returns a connection that nobody uses. It starts a host where none is, if
// it may.
func (r *Road) take(start bool) (*lane, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.idle) > 0 {
		l := r.idle[len(r.idle)-1]
		r.idle = r.idle[:len(r.idle)-1]
		if l.Alive() {
			return l, nil
		}
		l.Close()
	}
	l, err := r.dial()
	if errors.Is(err, ErrNobody) || errors.Is(err, ErrNoPolicy) {
		if !start || r.opt.Own == nil || time.Now().Before(r.after) {
			return nil, errCompanion
		}
		if err := r.start(); err != nil {
			return nil, err
		}
		l, err = r.dial()
	}
	return l, err
}

func (r *Road) dial() (*lane, error) {
	client, doc, err := Dial(r.opt.State, r.opt.Home)
	if err != nil {
		return nil, err
	}
	if doc == nil {
		client.Close()
		_, err := ReadDocument(r.opt.State, r.opt.Home)
		return nil, errors.Join(errors.New("everything is denied while the policy cannot be read"), err)
	}
	return &lane{client, doc.Socket.Token}, nil
}

// start starts the host of our own. Another one that was faster is as good.
func (r *Road) start() error {
	if r.started != nil { // its socket was taken away
		r.started.Close()
		r.started = nil
	}
	h, err := r.opt.Own(r.giveWay)
	if err != nil && !errors.Is(err, ipc.ErrLive) {
		return err
	}
	if err == nil {
		r.opt.Log.Info("no host answered, so this program judges and runs by itself; nobody can be asked")
	}
	r.started = h
	return nil
}

const (
	// finishing is how long what our host runs may go on when the app wants to
	// be the host.
	finishing = 10 * time.Second
	lookAgain = 50 * time.Millisecond
	// taking is how long the app may take to be the host.
	taking = 15 * time.Second
)

// giveWay ends our host soon, for the app. A frame of its socket may wait for
// us, so nothing here waits.
func (r *Road) giveWay() { go rescue.Guarded(r.opt.Log, "the leaving of the host", r.leave)() }

func (r *Road) leave() {
	r.mu.Lock()
	h := r.started
	leaves := h != nil && !r.leaving
	r.leaving = r.leaving || leaves
	r.mu.Unlock()
	if !leaves {
		return
	}
	for end := time.Now().Add(finishing); (len(r.turns) > 0 || h.Status().Running > 0) && time.Now().Before(end); {
		time.Sleep(lookAgain)
	}
	r.mu.Lock()
	if leaves = r.started == h; leaves {
		r.started, r.after = nil, time.Now().Add(taking)
	}
	r.leaving = false
	r.mu.Unlock()
	if leaves {
		h.Close()
	}
}

func (r *Road) put(l *lane) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.idle) < maxIdle {
		r.idle = append(r.idle, l)
		return
	}
	l.Close()
}

// Close ends the connections, and the host of our own.
func (r *Road) Close() {
	r.mu.Lock()
	idle, own := r.idle, r.started
	r.idle, r.started = nil, nil
	r.mu.Unlock()
	for _, l := range idle {
		l.Close()
	}
	if own != nil {
		own.Close()
	}
}

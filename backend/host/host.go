// Package host wires one exec host: store, history, questions, gate, runner
// and socket on one state folder. The headless host, the app and the node
// service all run this same host; they differ only in who shows the
// questions.
//
// One folder has one host. It holds the socket's lock for its whole life, and
// only then touches what an earlier host left behind.
package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/descriptors"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/preview"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
	"github.com/countersign-app/countersign/backend/vault"
)

// Options say what a host needs. State, Home and Log are required.
type Options struct {
	State paths.State
	// Home, User and Shell are the person's; the login environment is read
	// with them.
	Home, User, Shell string
	// Environ is used where the login shell does not tell an environment.
	Environ []string
	// OperateAnyone lets whoever passes the door answer and loosen, too: no person
	// is asked for.
	OperateAnyone bool
	// OperatorKeys is a file of root's with further keys that sign as the
	// passphrase does; empty for none.
	OperatorKeys string
	// WaitForAnswers lets questions wait even when nobody is seen to be
	// looking: a terminal is about to, or the command line may.
	WaitForAnswers bool
	// Terminal tells that questions are answered at the terminal of this process.
	// It is for the status alone.
	Terminal bool
	// Panel tells that a person is asked in a panel of this process. The
	// command line may then deny and tighten; to allow is for the panel, and what
	// loosens is asked about there, except while FromTerminal returns true.
	Panel        bool
	FromTerminal func() bool
	// AskPerson shows a change of the command line in that panel and returns the
	// ID of the change that the person accepted, "" for a no. It ends with ctx: the
	// command line has gone, or the time is over. Its error says why the change
	// could not be shown. nil: the panel cannot, and the settings are for that.
	AskPerson func(ctx context.Context, c Change) (accepted string, err error)
	// AskFolder asks in that panel whether a folder is a project, until ctx ends. Its
	// error says why that could not be shown. nil where nobody can be asked.
	AskFolder func(ctx context.Context, q FolderQuestion) (FolderAnswer, error)
	// Accepted is told of the policy before and after such a change was made, unless
	// it is nil: it can be taken back. It must not block.
	Accepted func(before, after *store.Document)
	// Programs are paths of further programs of ours, such as the command line
	// beside the app: they may operate, and commands must not touch them.
	Programs []string
	// Responsible tells which process macOS holds responsible for another one;
	// nil where nobody tells. Those that this process is responsible for may not
	// operate.
	Responsible func(pid int) (int, error)
	// PolicyChanged is told of every change of the policy or of its use, and of
	// what is done to the socket (Troubles), unless it is nil. It must not block.
	PolicyChanged func()
	// Event is told of everything that happens to runs, unless it is nil. It
	// must not block.
	Event func(approval.Event)
	// Screen tells whether commands may record the screen; nil where nobody can.
	Screen func() bool
	// OpenWindow shows the window to a person who looks for it, unless it is
	// nil. It must not block.
	OpenWindow func()
	// GiveWay ends this host for the sake of the app that a person starts,
	// unless it is nil. It must not block.
	GiveWay func()
	// Confirm has the person show that it is them, where the policy wants that
	// before a yes or a loosening counts. what completes "Countersign is trying
	// to"; it is for these agents, "*" for the policy. It may wait for them. nil
	// for a host that cannot: such a yes is refused.
	Confirm func(what string, agents []string) error
	// KeepHistory is how long a row of the history is kept at most; 0 for as
	// long as package history does by itself.
	KeepHistory time.Duration
	Version     string
	Log         *slog.Logger
}

// Host is a running exec host.
type Host struct {
	patience  time.Duration // of StopEverything; tests alone change it
	opt       Options
	log       *slog.Logger
	store     *store.Store
	history   *history.DB
	pending   *pending.Book
	runner    *runner.Runner
	looker    *preview.Looker
	hashes    machine.Hashes
	gate      *gate.Gate
	lock      *ipc.Lock
	server    *ipc.Server
	started   time.Time
	untidy    bool // rows of an earlier host are still open
	askers    askers
	verifying sync.Mutex
	// keys tell the person's signature; passphrase tells that one of them is that
	// of the passphrase, and keyChanged when another one was found (see notice).
	keys       []operator.Key
	passphrase bool
	keyChanged int64
	confirms   confirms
	tightened  tightenings
	unwanted   unwanted
	seat       func(approval.Peer) (family.Seat, error) // tests alone set another

	machine     atomic.Pointer[judge.Machine]
	machineDone chan struct{}
	environment atomic.Int64 // when it was read, in unix milliseconds
	cancel      context.CancelFunc
	work        sync.WaitGroup
}

// Start opens the state folder, takes its lock and begins to answer on the
// socket. A folder whose host is alive gives ipc.ErrLive.
func Start(opt Options) (*Host, error) {
	h := &Host{opt: opt, log: opt.Log, patience: stopPatience, looker: preview.New(), started: time.Now(), machineDone: make(chan struct{})}
	h.askers.always = opt.WaitForAnswers
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	if err := h.open(); err != nil {
		h.Close()
		return nil, err
	}
	h.work.Go(func() { h.readMachine(ctx) })
	first := h.store.Snapshot() // before anybody is answered, who could change it
	h.work.Go(func() { h.follow(ctx, first) })
	if h.untidy {
		h.work.Go(func() {
			defer rescue.Catch(h.log, "what an earlier host left", nil)
			h.tidyLater(ctx)
		})
	}
	h.work.Go(func() {
		defer rescue.Catch(h.log, "the local socket", nil)
		if err := h.server.Serve(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("the local socket stopped", "error", err)
		}
	})
	return h, nil
}

func (h *Host) open() (err error) {
	// The lock comes first: a second host of the folder touches nothing.
	if err = os.MkdirAll(h.opt.State.Dir, 0o700); err != nil {
		return fmt.Errorf("cannot make the state folder: %w", err)
	}
	if h.lock, err = ipc.Hold(h.opt.State.Lock()); err != nil {
		return fmt.Errorf("cannot start a host in %s: %w", h.opt.State.Dir, err)
	}
	if h.store, err = store.Open(store.Options{
		State: h.opt.State, Home: h.opt.Home, Log: h.log,
		Vault: vault.Open(h.opt.State.Dir),
	}); err != nil {
		return err
	}
	if err = h.readKeys(); err != nil {
		return err
	}
	snap := h.store.Snapshot()
	key, err := operatorKey(h.opt.State.OperatorKey())
	if err != nil {
		return err
	}
	socket := snap.SocketPath
	if socket == "" {
		return fmt.Errorf("cannot listen: %w; mend the file and start again", snap.Broken)
	}
	shares, err := descriptors.Share()
	if err != nil {
		return fmt.Errorf("cannot start a host: %w", err)
	}
	if h.server, err = ipc.Listen(ipc.Options{
		Path: h.opt.State.Socket(), Also: socket, Lock: h.opt.State.Lock(), Held: h.lock, Handler: doors{h}, Log: h.log,
		Token:       func() string { return h.store.Snapshot().SocketToken },
		OperatorKey: func() []byte { return key }, Programs: h.opt.Programs, Responsible: h.opt.Responsible, Connections: shares.Connections,
		Troubled: h.opt.PolicyChanged,
	}); err != nil {
		return err
	}
	h.seat = h.server.Seat
	if h.history, err = history.Open(history.Options{Path: h.opt.State.History(), MaxAge: h.opt.KeepHistory, Log: h.log}); err != nil {
		return err
	}
	if h.runner, err = runner.New(runner.Options{Log: h.log, Descriptors: shares.Commands}); err != nil {
		return err
	}
	if err = h.tidy(); err != nil {
		return err
	}
	h.pending = pending.New()
	askProject := h.askProject
	if h.opt.AskFolder == nil {
		askProject = nil
	}
	h.gate = gate.New(gate.Config{
		Machine: h.ready, Home: h.opt.Home, Store: h.store, History: h.history, Pending: h.pending,
		Charters: config.Charters{Dir: h.opt.State.Charters()}, Hashes: &h.hashes, Signers: &machine.Signers{}, Asker: &h.askers, Runner: h.runner, Events: events{h.log, h.opt.Event},
		NewID: h.newID, Now: time.Now, Log: h.log, Screen: h.opt.Screen, AskProject: askProject,
	})
	return nil
}

// Close ends everything: questions are denied, commands end, rows are
// written.
func (h *Host) Close() {
	h.cancel()
	if h.pending != nil {
		h.pending.Close()
	}
	if h.gate != nil {
		h.gate.DropApproved()
	}
	if h.server != nil {
		h.server.Close()
	}
	if h.runner != nil {
		h.runner.Close()
	}
	h.work.Wait()
	if h.history != nil {
		if err := h.history.Close(); err != nil {
			h.log.Error("the history was not written to its end", "error", err)
		}
	}
	if h.store != nil {
		if err := h.store.Close(); err != nil {
			h.log.Error("the policy was not written to its end", "error", err)
		}
	}
	if h.lock != nil {
		h.lock.Close()
	}
}

// Held tells of an edit of the policy file that waits for a person's yes.
func (h *Host) Held() *store.Held { return h.store.Snapshot().Held }

// Defaults is the policy for an agent that nobody named.
func (h *Host) Defaults() approval.Policy { return h.store.Snapshot().Policy("") }

// Troubles are sentences on what was done to the socket, its lock and the state
// folder while this host ran.
func (h *Host) Troubles() []string { return h.server.Troubles() }

// SocketPath is where the host listens.
func (h *Host) SocketPath() string { return h.store.Snapshot().SocketPath }

// ours are the files that a command must not touch unasked.
func (h *Host) ours() []string { return h.oursAt(h.store.Snapshot().SocketPath) }

// oursAt are the same with a socket at this path, "" for none.
func (h *Host) oursAt(socket string) []string {
	list := []string{h.opt.State.Dir}
	if socket != "" {
		list = append(list, socket)
	}
	if dir, err := (machine.Disk{}).Look(h.opt.State.Dir); err == nil {
		list = append(list, dir.Path)
	}
	return append(list, h.programs()...)
}

// programs are those of Countersign that are known here.
func (h *Host) programs() []string {
	exe, err := os.Executable()
	if err != nil {
		return h.opt.Programs
	}
	return append([]string{exe}, h.opt.Programs...)
}

// ready waits until the login environment is known.
func (h *Host) ready(ctx context.Context) (*judge.Machine, error) {
	select {
	case <-h.machineDone:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if m := h.machine.Load(); m != nil {
		return m, nil
	}
	return nil, errors.New("it is closing")
}

// tag begins every run id of this folder's hosts, so that what a dead host
// left running can be told from the commands of other folders.
func (h *Host) tag() string {
	sum := sha256.Sum256([]byte(h.opt.State.Dir))
	return hex.EncodeToString(sum[:4]) + "-"
}

func (h *Host) newID() string {
	var b [8]byte
	rand.Read(b[:])
	return h.tag() + hex.EncodeToString(b[:])
}

// askers knows whether a question would be seen. An asker that watches the
// questions with the operator key counts while it looks, and for a few
// seconds after, so that the moment between two looks is not "nobody".
type askers struct {
	always  bool
	looking atomic.Int64
	seen    atomic.Int64 // unix milliseconds
}

const askerStays = 5 * time.Second

func (a *askers) CanAsk() bool {
	return a.always || a.looking.Load() > 0 || time.Since(time.UnixMilli(a.seen.Load())) < askerStays
}

// look counts an asker until the function that it returns is called.
func (a *askers) look() (away func()) {
	a.looking.Add(1)
	return func() {
		a.seen.Store(time.Now().UnixMilli())
		a.looking.Add(-1)
	}
}

// events writes what happens to the log, and tells whoever shows it.
type events struct {
	log  *slog.Logger
	tell func(approval.Event)
}

func (e events) Event(ev approval.Event) {
	if e.tell != nil {
		e.tell(ev)
	}
	attrs := []any{"run", ev.RunID, "agent", ev.AgentID}
	if ev.Reason != "" {
		attrs = append(attrs, "reason", ev.Reason)
	}
	if ev.ExitCode != nil {
		attrs = append(attrs, "code", *ev.ExitCode)
	}
	e.log.Info("exec."+string(ev.Kind), attrs...)
}

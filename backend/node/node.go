// Package node is the node side of the road: it joins a gateway, offers what
// agents may ask of this machine, and leads every command to the exec host of
// its state folder, which judges, asks and runs.
//
// It may touch the gateway's connection, the local socket and its own identity
// file. It judges nothing and runs nothing, and what a gateway says about
// approvals is passed on as a claim.
package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Options say which gateway to join, and as whom.
type Options struct {
	URL   string // ws:// or wss://
	Token string // shared with the gateway; empty: the one this device was given
	// Name is how people see this machine.
	Name string
	// Plaintext lets the token travel to another machine without TLS.
	Plaintext bool
	Road      host.RoadOptions // to the host that judges and runs
	Version   string
	Log       *slog.Logger
}

// Node is the node service of one machine.
type Node struct {
	opt    Options
	device *identity
	// gateway is its name where a person lets its answers count.
	gateway string
	road    *host.Road
	outbox  *outbox
	board   *board
	notes   notes
	rest    *time.Timer

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // invocations, by id
	work    sync.WaitGroup
}

// New reads the identity of the machine, and makes it at the first time.
func New(opt Options) (*Node, error) {
	id, err := readIdentity(opt.Road.State.Node())
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(opt.URL)
	if err != nil {
		return nil, errors.New("the address of a gateway is ws://HOST:PORT or wss://HOST:PORT")
	}
	rest := time.AfterFunc(restTime, debug.FreeOSMemory)
	rest.Stop() // until there is something to give back
	return &Node{
		rest: rest, opt: opt, gateway: at.Host, device: id, outbox: newOutbox(opt.Log), running: map[string]context.CancelCauseFunc{},
		road: host.NewRoad(opt.Road), board: newBoard(opt.Road.State.NodeStatus(), opt.URL),
	}, nil
}

// Waits between two tries to join.
const (
	firstWait = time.Second
	longWait  = 30 * time.Second
)

// Run joins the gateway again and again until ctx is done. Then it ends what
// runs for the gateway, and waits for that.
func (n *Node) Run(ctx context.Context) error {
	defer n.road.Close()
	defer os.Remove(n.opt.Road.State.NodeStatus())
	wait := firstWait
	for {
		joined, err := n.join(ctx)
		n.endAll(errGone)
		if ctx.Err() != nil {
			return nil
		}
		if joined {
			wait = firstWait
		}
		// Many nodes that lost one gateway do not come back at the same moment.
		pause := wait/2 + rand.N(wait)
		n.board.away(err)
		n.opt.Log.Warn("not connected to the gateway", "error", display.Escape(err.Error()), "again", pause.Round(time.Millisecond))
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		wait = min(2*wait, longWait)
	}
}

// Why an invocation ends before its command does.
var (
	errGone      = errors.New("the connection to the gateway ended")
	errCancelled = errors.New("the gateway cancelled it")
)

// client is how a headless node names itself on the wire.
const client = "node-host"

// join connects once and serves until that ends. joined tells whether the
// gateway let us in.
func (n *Node) join(ctx context.Context) (joined bool, err error) {
	defer rescue.Catch(n.opt.Log, "the connection to the gateway", func() { err = errors.New("Countersign failed at it: its log says where") })
	conn, hello, err := link.Dial(ctx, link.Options{
		URL: n.opt.URL, Plaintext: n.opt.Plaintext, Device: n.device.Device,
		Connect: link.Connect{
			Client: link.Client{
				ID: client, DisplayName: n.opt.Name, Version: n.opt.Version, Platform: platform, DeviceFamily: family, Mode: link.RoleNode,
			},
			Role: link.RoleNode, Scopes: []string{}, Caps: []string{link.CapCaution, "system"}, Commands: slices.Sorted(maps.Keys(serves)), Auth: n.auth(),
		},
	})
	if err != nil {
		return false, n.explained(err)
	}
	if token := hello.Auth.DeviceToken; token != "" {
		if err := n.device.keep(n.opt.URL, token); err != nil {
			n.opt.Log.Error("the token of this device cannot be kept", "error", err)
		}
	}
	n.board.connected()
	n.opt.Log.Info("connected to the gateway", "gateway", n.opt.URL, "version", display.Escape(hello.Server.Version))
	ctx, cancel := context.WithCancel(ctx)
	var sender sync.WaitGroup
	defer sender.Wait()
	defer cancel()
	sender.Go(func() {
		rescue.Again(ctx, n.opt.Log, "the events for the gateway", func() { n.outbox.drain(ctx, conn) })
	})
	sender.Go(func() { rescue.Again(ctx, n.opt.Log, "the questions for gateways", func() { n.escalate(ctx, conn) }) })
	s := &session{Node: n, conn: conn, busy: make(chan struct{}, maxBusy), policy: make(chan struct{}, 1)}
	sender.Go(func() { rescue.Again(ctx, n.opt.Log, "the policy of the gateway", func() { s.pull(ctx) }) })
	return true, conn.Serve(ctx, s)
}

// auth is what lets us in: the token that we were started with, or the one
// that the gateway gave to this device.
func (n *Node) auth() *link.Auth {
	if n.opt.Token != "" {
		return &link.Auth{Token: n.opt.Token}
	}
	return &link.Auth{DeviceToken: n.device.token(n.opt.URL)}
}

// explained says what to do about a refusal.
func (n *Node) explained(err error) error {
	var refused *link.Error
	if errors.As(err, &refused) && refused.Detail() == link.PairingRequired {
		return fmt.Errorf("this device waits to be approved at the gateway: %s: %w", n.device.Device.ID(), err)
	}
	return err
}

// session is one connection.
type session struct {
	*Node
	conn    *link.Conn
	busy    chan struct{} // holds a value for everything that is done for the gateway
	policy  chan struct{} // holds a value when the gateway has another policy
	strange sync.Once
	left    sync.Once
}

// maxBusy is how much is done for one gateway at once, answers that it does not
// take and what was cancelled and has not ended yet included. A gateway that
// wants more is left.
const maxBusy = 2 * maxRunning

// Where more than manyBusy is done at once, the memory for that is given back
// once it is restTime ago: a node runs all day, and mostly does nothing.
const (
	manyBusy = 100
	restTime = 5 * time.Second
)

func (s *session) begin(do func()) {
	select {
	case s.busy <- struct{}{}:
		if len(s.busy) > manyBusy {
			s.rest.Reset(restTime)
		}
		s.work.Go(func() {
			defer func() { <-s.busy }()
			defer rescue.Catch(s.opt.Log, "what is done for the gateway", nil)
			do()
		})
	default:
		s.left.Do(func() { go rescue.Guarded(s.opt.Log, "the end of a connection", s.conn.Drop)() }) // who sends this much does not read why
	}
}

// Request refuses: a gateway asks a node by events.
func (s *session) Request(r link.Request) {
	s.begin(func() {
		_ = s.conn.Reply(context.Background(), r.ID, nil, link.Refuse(link.CodeInvalid, "unknown method")) // a gateway that is gone needs none
	})
}

// Event takes invocations and their cancellation. Everything else a gateway
// tells is for others.
func (s *session) Event(e link.Event) {
	defer rescue.Catch(s.opt.Log, "an event of the gateway", nil)
	switch e.Name {
	case "node.invoke.request":
		var i invocation
		if json.Unmarshal(e.Payload, &i) != nil || i.ID == "" {
			s.strange.Do(func() { s.opt.Log.Warn("the gateway sends invocations that cannot be read") })
			return
		}
		s.invoke(i)
	case eventPolicy:
		select {
		case s.policy <- struct{}{}:
		default: // it is about to be pulled
		}
	case "node.invoke.cancel":
		var c struct {
			ID string `json:"invokeId"`
		}
		if json.Unmarshal(e.Payload, &c) == nil {
			s.cancel(c.ID, errCancelled)
		}
	}
}

// Package gateway is the agents' side of the road: it lets nodes and operators
// in, knows which nodes can be reached, and leads every command of an agent to
// the host where it belongs, which is a sandbox, this machine or a node.
//
// It may touch its connections, the two files in which it keeps who may come
// in, the way to the exec host of this machine, and a sandbox. It never judges
// a command and starts none itself: hosts and sandboxes do. It can ask hosts for
// more caution than they have, never for less.
package gateway

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/metrics"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/sandbox"
	"github.com/countersign-app/countersign/backend/webdoor"
)

// Options say what a gateway is made of.
type Options struct {
	State paths.State
	// Token lets its holder in, with every scope.
	Token string
	// Names are those by which it is called, beside its addresses and localhost.
	Names []string
	// Road leads to the exec host of this machine.
	Road host.RoadOptions
	// DockerSockets are where engines for sandboxes may listen, and Private are
	// folders that no sandbox may reach, beside our own.
	DockerSockets, Private []string
	Version                string
	Log                    *slog.Logger
}

// Gateway serves nodes and operators. Its methods may be called by many at
// once.
type Gateway struct {
	opt       Options
	config    *config.File
	devices   *devices
	road      *host.Road
	sandbox   *sandbox.Sandbox
	guard     guard
	counts    counts
	invokes   invokes
	runs      runs
	sessions  sessions
	approvals approvals
	metrics   *metrics.Set
	broken    said // what was logged about the configuration
	// policySeen is the policy for the nodes when they were told of it last. Only
	// the tick uses it.
	policySeen fs.FileInfo

	life time.Duration // in which a connection must answer a ping

	mu    sync.Mutex
	peers map[*peer]bool
	nodes map[string]*peer // those that are connected, by id
	over  bool
}

// minToken is the shortest token in bytes.
const minToken = 16

// New reads who may come in. It listens nowhere.
func New(opt Options) (*Gateway, error) {
	if len(opt.Token) < minToken {
		return nil, errors.New("the token of a gateway is too short to be a secret")
	}
	known, err := openDevices(opt.State.Pairing())
	if err != nil {
		return nil, err
	}
	g := &Gateway{
		opt: opt, config: config.NewFile(opt.State.Gateway()), devices: known, road: host.NewRoad(opt.Road),
		peers: map[*peer]bool{}, nodes: map[string]*peer{}, life: pingTime,
	}
	g.sandbox = sandbox.New(sandbox.Options{
		Owner: opt.State.Dir, Home: opt.Road.Home, Private: append([]string{opt.State.Dir}, opt.Private...), Sockets: opt.DockerSockets, Log: opt.Log,
	})
	g.metrics = g.measure()
	return g, g.sessions.open(opt.State.Sessions())
}

// Bounds of the HTTP side.
const (
	headerTime  = 10 * time.Second
	idleTime    = time.Minute
	headerBytes = 16 << 10
	maxUnasked  = 512 // connections that are no WebSocket yet
	closeTime   = 5 * time.Second
)

// Run serves a listener until ctx is done. Then it ends what runs for agents,
// and waits for that.
func (g *Gateway) Run(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler: g.handler(), ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog:  slog.NewLogLogger(g.opt.Log.Handler(), slog.LevelDebug),
		ConnState: webdoor.Room(maxUnasked),
	}
	over := make(chan error, 1)
	go func() {
		defer rescue.Catch(g.opt.Log, "the listener", func() { over <- errFailed })
		over <- server.Serve(l)
	}()
	go rescue.Again(ctx, g.opt.Log, "what is looked after", func() { g.sweep(ctx) })
	tick := time.NewTicker(link.TickInterval)
	defer tick.Stop()
	var err error
	for serves := true; serves; {
		select {
		case <-ctx.Done():
			serves = false
		case err = <-over:
			serves = false
		case now := <-tick.C:
			g.tick(now)
		}
	}
	closing, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = server.Shutdown(closing) // connections that were taken over are ended below
	g.close()
	return err
}

// tick tells everybody that the line is alive, and forgets what is old.
func (g *Gateway) tick(now time.Time) {
	defer rescue.Catch(g.opt.Log, "a tick", nil)
	for _, p := range g.all() {
		p.tick()
	}
	g.tellPolicy()
	g.invokes.forget(now)
	g.runs.forget(now)
	g.sessions.forget(now)
	go func() { // an engine may take its time
		defer rescue.Catch(g.opt.Log, "the end of sandboxes", nil)
		g.sandbox.Forget(now.Add(-sessionTime))
	}()
}

// all are the connections of this moment.
func (g *Gateway) all() (list []*peer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for p := range g.peers {
		list = append(list, p)
	}
	return list
}

func (g *Gateway) close() {
	g.mu.Lock()
	g.over = true
	g.mu.Unlock()
	g.runs.endAll()
	g.sandbox.Close()
	var all sync.WaitGroup
	for _, p := range g.all() {
		all.Go(func() { p.hangUp("the gateway stops") })
	}
	all.Wait()
	for _, p := range g.all() {
		<-p.over
	}
	g.road.Close()
}

// enter adds a connection. A node that is connected already is replaced: its
// old line may be dead.
func (g *Gateway) enter(p *peer) bool {
	g.mu.Lock()
	if g.over {
		g.mu.Unlock()
		return false
	}
	g.peers[p] = true
	var old *peer
	if p.role == link.RoleNode {
		old = g.nodes[p.device.ID]
		g.nodes[p.device.ID] = p
	}
	g.mu.Unlock()
	if old != nil {
		go old.hangUp("this device connected again")
	}
	return true
}

func (g *Gateway) leave(p *peer) {
	g.mu.Lock()
	delete(g.peers, p)
	if g.nodes[p.device.ID] == p {
		delete(g.nodes, p.device.ID)
	}
	g.mu.Unlock()
	g.invokes.gone(p)
}

// node returns a connected node.
func (g *Gateway) node(id string) *peer {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.nodes[id]
}

// tell sends an event to the operators that have a scope.
func (g *Gateway) tell(scope, name string, payload any) {
	for _, p := range g.all() {
		if p.role == link.RoleOperator && p.may(scope) {
			p.begin(func(ctx context.Context) { _ = p.conn.Send(ctx, name, payload) })
		}
	}
}

// configuration is what the file says. One that is broken is logged once.
func (g *Gateway) configuration() config.Config {
	c, bad := g.config.Current()
	if g.broken.news(bad) && bad != nil {
		g.opt.Log.Error("the configuration cannot be used, what it said before holds", "error", bad)
	}
	return c
}

// said keeps what was said last, so that it is said once.
type said struct {
	mu   sync.Mutex
	last string
}

func (s *said) news(err error) bool {
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := text != s.last
	s.last = text
	return fresh
}

// Package opencode answers the permission requests of a running opencode over
// its HTTP server: it follows the stream of events, has each request decided,
// and sends the reply.
//
// It talks to one server on this machine and to nobody else, and decides
// nothing: that is for the function it is given. What must never happen here: a
// reply that nobody decided, two replies to one request, or one that belongs to
// another. Where it is not sure it sends nothing, and the request stays pending
// in opencode, where a person can answer it.
//
// Tried against opencode 1.18.33, both generations of requests.
package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Options say which server is followed, and who decides. All but Password are
// required.
type Options struct {
	// URL is where the server listens, on this machine: http://127.0.0.1:4096.
	URL string
	// Password is what the server wants (OPENCODE_SERVER_PASSWORD), "" for none.
	Password string
	// Decide decides one call. Its context ends when somebody else answered, or
	// when the server is gone. An error leaves the request pending, and it is
	// decided again later. It is called by many at once. The processes are the
	// server: those that hold the other end of the stream of events.
	Decide func(context.Context, approval.ToolCall, []proc.ID) (approval.Outcome, error)
	Log    *slog.Logger
}

// Bounds of what is taken from a server.
const (
	maxEvent  = 1 << 20 // bytes of one event
	maxAnswer = 8 << 20 // bytes of one answer to a request of ours
	maxAsked  = 64      // requests that are decided at once
	maxDone   = 512     // ids that are remembered as answered
	maxDirs   = 64      // folders whose requests are looked for
)

// errURL says what may be followed.
var errURL = errors.New("the URL must be that of an opencode on this machine, such as http://127.0.0.1:4096")

// Follow answers requests until ctx ends, and returns nil then. It connects
// again whenever the server is gone. Its error says that it did not begin.
func Follow(ctx context.Context, opt Options) error {
	f, err := newFollower(opt)
	if err != nil {
		return err
	}
	f.run(ctx)
	return nil
}

// follower follows one server.
type follower struct {
	Options
	agent  hook.Agent
	server *server
	asks   *asks
	pace   pace
}

// pace is how long is waited before something is tried again.
type pace struct {
	first, last time.Duration // to connect again: doubled from the one to the other
	again       time.Duration // to decide what was left over
}

func newFollower(opt Options) (*follower, error) {
	u, err := url.Parse(opt.URL)
	if err != nil || !local(u) {
		return nil, errURL
	}
	agent, err := hook.Find("opencode")
	if err != nil {
		return nil, err
	}
	return &follower{
		Options: opt, agent: agent, asks: newAsks(), pace: pace{250 * time.Millisecond, 30 * time.Second, 15 * time.Second},
		server: newServer("http://"+u.Host, opt.Password),
	}, nil
}

// local reports whether a URL is that of a server on this machine and nothing
// else.
func local(u *url.URL) bool {
	if u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Path != "" && u.Path != "/" || u.Host == "" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

func (f *follower) run(ctx context.Context) {
	wait := f.pace.first
	for ctx.Err() == nil {
		connected, err := f.follow(ctx)
		if connected {
			wait = f.pace.first
		}
		if ctx.Err() != nil {
			return
		}
		f.Log.Warn("the opencode server is not followed", "error", display.Line(err.Error()), "again", wait)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, f.pace.last)
	}
}

// follow follows one connection to its end. What is being decided then is given
// up: whoever asks again gets it decided again.
func (f *follower) follow(ctx context.Context) (connected bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := f.server.events(ctx)
	if err != nil {
		cancel()
		return false, err
	}
	defer stream.Close()
	defer f.asks.wait()
	defer cancel()
	f.Log.Info("the opencode server is followed")
	f.asks.begin(func() { rescue.Again(ctx, f.Log, "what waits in opencode", func() { f.lists(ctx) }) })
	return true, readEvents(stream, f.Log, func(e event) { f.take(ctx, e) })
}

// lists finds what waits already: at once, and again from time to time while
// something was left over.
func (f *follower) lists(ctx context.Context) {
	tick := time.NewTicker(f.pace.again)
	defer tick.Stop()
	for {
		for _, r := range f.server.waiting(ctx, f.asks.folders(), f.Log) {
			f.ask(ctx, r)
		}
		for left := false; !left; left = f.asks.leftOver() {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// take takes one event of the stream.
func (f *follower) take(ctx context.Context, e event) {
	defer rescue.Catch(f.Log, "an event of opencode", nil)
	switch e.Type {
	case "permission.asked", "permission.v2.asked", "permission.updated":
		if r, ok := readRequest(e.body(), e.Directory); ok {
			f.ask(ctx, r)
			return
		}
		f.Log.Warn("a request of opencode cannot be read, so it stays pending")
	case "permission.replied", "permission.v2.replied":
		f.asks.withdraw(e.replied())
	}
}

// ask has a request decided, unless that is being done or is done.
func (f *follower) ask(ctx context.Context, r request) {
	f.asks.put(ctx, r, func(ctx, own context.Context) {
		defer rescue.Catch(f.Log, "a request of opencode", nil) // it stays pending
		if err := f.answer(ctx, own, r); err != nil {
			f.Log.Warn("a request of opencode stays pending", "error", display.Line(err.Error()))
		}
	})
}

// answer decides a request and sends the reply. The context of its own ends when
// the request is answered elsewhere.
func (f *follower) answer(ctx, own context.Context, r request) error {
	e, err := f.agent.Read(f.server.complete(own, r))
	if own.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	peers, err := f.server.peers()
	if err != nil {
		return err
	}
	o, err := f.Decide(own, e.Call, peers)
	if own.Err() != nil {
		return nil
	}
	if err != nil {
		f.asks.again(r.id)
		return err
	}
	body := e.Reply(o, "").Stdout
	if len(body) == 0 {
		if hindered(o) {
			f.asks.again(r.id)
		}
		return fmt.Errorf("nobody decided: %s", cmp.Or(string(o.Receipt.Reason), "no reason is given"))
	}
	if !f.asks.answered(r.id) { // somebody else was faster
		return nil
	}
	if err := f.server.reply(ctx, r, body); err != nil {
		f.asks.again(r.id)
		return err
	}
	return nil
}

// hindered reports whether nobody decided because of what passes: the host was
// closing, or had too many questions. What a person saw and left alone is not
// put to them again.
func hindered(o approval.Outcome) bool {
	switch o.Receipt.Reason {
	case approval.ReasonApprovalCancelled, approval.ReasonRateLimited, approval.ReasonCompanion:
		return o.Unanswered()
	}
	return false
}

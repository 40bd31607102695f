//go:build linux || darwin

package ipc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/fair"
)

const good = `{"command":["ls"]}`

func TestHalfCloseIsNoCancel(t *testing.T) {
	release := make(chan struct{})
	s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
		select {
		case <-release:
		case <-ctx.Done():
			t.Error("cancelled by a half-close")
		}
		return echo(ctx, x)
	}})
	for _, end := range []string{"\n", ""} { // a line may end with the stream
		p := connect(t, s)
		p.say(execLine(good) + end)
		p.CloseWrite()
		eventually(t, "the frame waits", func() bool { return s.waiting.Taken() == 1 })
		go func() { release <- struct{}{} }()
		if got := p.line(); !strings.Contains(got, `"ok":true`) {
			t.Errorf("got %q", got)
		}
		if got := p.line(); got != closed {
			t.Errorf("then %q, want the end", got)
		}
	}
	eventually(t, "no connection is left", func() bool { return s.count() == 0 })
}

// count counts the connections.
func (s *Server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func TestFullCloseCancels(t *testing.T) {
	for name, end := range map[string]func(raw){
		"close":                   func(p raw) { p.Close() },
		"half-close, later close": func(p raw) { p.CloseWrite(); time.Sleep(20 * time.Millisecond); p.Close() },
		"close with a line begun": func(p raw) { p.say(`{"type":`); p.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			u := &until{}
			s := start(t, handler{exec: u.exec})
			p := connect(t, s)
			for range 3 {
				p.say(execLine(good) + "\n")
			}
			eventually(t, "three frames wait", func() bool { return u.begun.Load() == 3 })
			end(p)
			eventually(t, "all are cancelled", func() bool { return u.ended.Load() == 3 })
			eventually(t, "the connection is gone", func() bool { return s.count() == 0 && s.waiting.Taken() == 0 })
		})
	}
}

func TestStopAnswersWhatWaits(t *testing.T) {
	u := &until{}
	o := testOptions(shortDir(t), handler{exec: u.exec})
	before := runtime.NumGoroutine()
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	waits, half, idle := connect(t, s), connect(t, s), connect(t, s)
	waits.say(execLine(good) + "\n")
	half.say(execLine(good) + "\n")
	half.CloseWrite()
	eventually(t, "both wait", func() bool { return u.begun.Load() == 2 })
	eventually(t, "all are taken", func() bool { return s.count() == 3 })
	cancel()
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	for _, p := range []raw{waits, half} {
		if got := p.line(); !strings.Contains(got, "approval-cancelled") {
			t.Errorf("got %q", got)
		}
	}
	if got := idle.line(); got != closed {
		t.Errorf("the idle one got %q", got)
	}
	s.Close()
	s.Close() // twice is once
	if err := s.Serve(context.Background()); err == nil {
		t.Error("a closed server serves")
	}
	eventually(t, "every goroutine is gone", func() bool { return runtime.NumGoroutine() <= before })
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	o := testOptions(shortDir(t), handler{exec: echo})
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(context.Background())
	for range 50 {
		c := dialServer(t, s)
		if _, err := c.Exec(t.Context(), testToken, command("ls")); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	s.Close()
	eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= before })
}

func TestSlowLoris(t *testing.T) {
	s := start(t, forbidden(t), func(s *Server) { s.patience = 50 * time.Millisecond })
	p := connect(t, s)
	stop := time.Now().Add(generous)
	for time.Now().Before(stop) { // a byte now and then does not help
		if _, err := p.Write([]byte("{")); err != nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if got := p.line(); got != closed {
		t.Errorf("got %q", got)
	}
}

// A connection that has sent a frame may stay open while nothing has begun.
func TestKeptConnectionStays(t *testing.T) {
	s := start(t, handler{exec: echo}, func(s *Server) { s.patience = 30 * time.Millisecond })
	p := connect(t, s)
	for range 3 {
		line := execLine(good)
		p.say(line[:10])
		if got := p.ask(line[10:]); !strings.Contains(got, `"ok":true`) {
			t.Fatalf("got %q", got)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func TestPeerThatNeverReads(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	s := start(t, handler{exec: func(context.Context, Exec) ExecAnswer { return ExecAnswer{Stdout: big} }},
		func(s *Server) { s.patience = 100 * time.Millisecond })
	p := connect(t, s)
	for range 8 {
		p.say(execLine(good) + "\n")
	}
	eventually(t, "the connection is ended", func() bool { return s.count() == 0 && s.waiting.Taken() == 0 })
}

func TestLineLength(t *testing.T) {
	s := start(t, handler{exec: echo})
	pad := func(n int) string {
		line := execLine(good)
		return line[:len(line)-1] + `,"pad":"` + strings.Repeat("x", n-len(line)-9) + `"}`
	}
	for _, end := range []string{"\n", ""} {
		p := connect(t, s)
		p.say(pad(maxLine) + end)
		p.CloseWrite()
		if got := p.line(); !strings.Contains(got, `"ok":true`) {
			t.Errorf("exactly as long as allowed, end %q: %q", end, got)
		}
		p = connect(t, s)
		io.WriteString(p, pad(maxLine+1)+end) // the server may close while we write
		p.CloseWrite()
		if got := p.line(); got != closed {
			t.Errorf("one byte too long, end %q: %q", end, got)
		}
	}
	p := connect(t, s)
	io.WriteString(p, strings.Repeat("x", 4*maxLine))
	if got := p.line(); got != closed {
		t.Errorf("no end: %q", got)
	}
}

func TestLinesInAnyPieces(t *testing.T) {
	s := start(t, handler{exec: echo})
	sizes := []int{1, 5000, 10, 200_000, 1, 4000, 4096}
	for _, piece := range []int{701, 4096, 1 << 20} {
		var text strings.Builder
		for i, n := range sizes {
			text.WriteString(execLine(fmt.Sprintf(`{"command":["%d"],"cwd":%q}`, i, strings.Repeat("x", n))) + "\n")
		}
		p := connect(t, s)
		go func() {
			for rest := text.String(); rest != ""; {
				n := min(piece, len(rest))
				if _, err := io.WriteString(p, rest[:n]); err != nil {
					return
				}
				rest = rest[n:]
			}
		}()
		got := map[string]bool{}
		for range sizes {
			got[p.line()] = true
		}
		if len(got) != len(sizes) || got[closed] {
			t.Errorf("pieces of %d: %d of %d answers", piece, len(got), len(sizes))
		}
	}
}

// One process does not get all places; another one still comes in.
func TestConnectionLimit(t *testing.T) {
	s := start(t, handler{exec: echo}, func(s *Server) { s.maxConns = 4 * reservedConns })
	var open []raw
	for range 2 * reservedConns {
		p := connect(t, s)
		if got := p.ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
			t.Fatalf("got %q", got)
		}
		open = append(open, p)
	}
	if got := connect(t, s).line(); got != closed {
		t.Errorf("one too many got %q", got)
	}
	if err := helperCommand(t, task{Ask: true, Socket: s.sockets[0].path}).Run(); err != nil {
		t.Errorf("another process: %v", err)
	}
	open[0].Close()
	eventually(t, "one has left", func() bool { return s.count() == 2*reservedConns-1 })
	if got := connect(t, s).ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("after one left: %q", got)
	}
}

func TestWaitingLimit(t *testing.T) {
	u := &until{}
	s := start(t, handler{exec: u.exec}, func(s *Server) { s.waiting = fair.New(10) })
	p, q := connect(t, s), connect(t, s)
	for range 10 {
		p.say(execLine(good) + "\n")
	}
	eventually(t, "ten wait", func() bool { return u.begun.Load() == 10 })
	if got := q.ask(execLine(good)); got != closed {
		t.Errorf("one too many got %q", got)
	}
	if u.ended.Load() != 0 {
		t.Error("the others were ended for it")
	}
}

// Who operates is heard where those who ask took all room.
func TestWaitingLeavesRoomToOperate(t *testing.T) {
	u := &until{}
	s := start(t, handler{exec: u.exec, call: func(context.Context, Call) CallAnswer { return CallAnswer{} }}, func(s *Server) { s.waiting = fair.New(10) })
	p, q := connect(t, s), connect(t, s)
	for range 10 {
		p.say(execLine(good) + "\n")
	}
	eventually(t, "ten wait", func() bool { return u.begun.Load() == 10 })
	if got := q.operate(testKey, "stop"); !strings.Contains(got, `"ok":true`) {
		t.Errorf("who stops everything got %q", got)
	}
}

// A flood is read later: nothing is lost, nothing refused, and another
// process would not notice.
func TestFloodIsReadLater(t *testing.T) {
	o := testOptions(shortDir(t), handler{exec: echo})
	o.FramesPerSecond = 100
	s := serve(t, o)
	const frames = 130 // thirty more than the bucket holds
	p := connect(t, s)
	go func() {
		for range frames {
			if _, err := io.WriteString(p, execLine(good)+"\n"); err != nil {
				return
			}
		}
	}()
	for i := range frames {
		if got := p.line(); !strings.Contains(got, `"ok":true`) {
			t.Fatalf("frame %d: %q", i, got)
		}
	}
}

func TestBucket(t *testing.T) {
	table := callers{known: map[process]*caller{}, now: time.Now, rate: 10}
	flood, calm := &caller{}, &caller{}
	for i := range 10 {
		if wait := table.pace(flood); wait > 0 {
			t.Errorf("frame %d of a full bucket waits %v", i, wait)
		}
	}
	for range 100 {
		table.pace(flood)
	}
	if wait := table.pace(flood); wait <= 0 || wait > 11*time.Second {
		t.Errorf("a hundred frames too many wait %v", wait)
	}
	if wait := table.pace(calm); wait > 0 {
		t.Errorf("another process waits %v", wait)
	}
}

func TestTenFailuresShutOut(t *testing.T) {
	c := &clock{at: time.Now()}
	o := testOptions(shortDir(t), handler{exec: echo})
	o.Now = c.now
	s := serve(t, o)
	c.add(time.Second)
	line := func(key string) string { return signedLine(key, kindExec, good, c.now().UnixMilli()) }
	other, p := connect(t, s), connect(t, s)
	for i := range maxFailures - 1 {
		if got := p.ask(line("wrong")); got != no("invalid auth", "hmac") {
			t.Fatalf("failure %d: %q", i, got)
		}
	}
	if got := p.ask(line(testToken)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("a valid one after nine failures: %q", got)
	}
	if got := p.ask(`{"type":"request","id":"i1","token":"wrong","request":{"command":"ls"}}`); got != deny {
		t.Errorf("the tenth: %q", got)
	}
	for name, q := range map[string]raw{"the connection": p, "another of the process": other, "a new one": connect(t, s)} {
		if got := q.line(); got != closed {
			t.Errorf("%s: %q", name, got)
		}
	}
	c.add(failureSpan)
	if got := connect(t, s).ask(line(testToken)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("a minute later: %q", got)
	}
	for range maxFailures - 1 {
		connect(t, s).ask(line("wrong"))
		c.add(failureSpan / (maxFailures - 1)) // never ten in one minute
	}
	if got := connect(t, s).ask(line(testToken)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("slow failures: %q", got)
	}
}

func TestCallersAreForgotten(t *testing.T) {
	c := &clock{at: time.Now()}
	table := callers{known: map[process]*caller{}, now: c.now, rate: 1}
	visit := func(pid int) (*conn, *caller) {
		nc := &conn{}
		k, ok := table.enter(nc, approval.Peer{PID: pid, Started: 1}, 1)
		if !ok {
			t.Fatalf("%d may not enter", pid)
		}
		return nc, k
	}
	_, stays := visit(1)
	for pid := 2; pid < 5*maxIdle; pid++ {
		nc, k := visit(pid)
		if pid%2 == 0 {
			for range maxFailures {
				table.failed(k)
			}
		}
		table.leave(nc, k)
	}
	if n := len(table.known); n > 2*maxIdle+1 {
		t.Errorf("%d are remembered", n)
	}
	c.add(2 * failureSpan)
	for pid := range maxIdle + 1 {
		nc, k := visit(1_000_000 + pid)
		table.leave(nc, k)
	}
	if n := len(table.known); n > maxIdle+2 {
		t.Errorf("%d are remembered after a while", n)
	}
	if k, ok := table.find(process{PID: 1, Started: 1}); !ok || k != stays {
		t.Error("one with a connection was forgotten")
	}
}

func TestUnencodableAnswerCloses(t *testing.T) {
	s := start(t, handler{call: func(context.Context, Call) CallAnswer { return CallAnswer{Payload: func() {}} }})
	if err := dialServer(t, s).Call(t.Context(), []byte(testToken), "status", nil, nil); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("%v", err)
	}
}

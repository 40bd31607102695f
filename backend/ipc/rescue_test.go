//go:build linux || darwin

package ipc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// bomb panics where it is encoded.
type bomb struct{}

func (bomb) MarshalJSON() ([]byte, error) { panic("a bomb") }

// TestPanics: each frame whose handler panics is refused, the next frames of
// the same connection and of others are served, and nothing is counted as
// waiting for ever.
func TestPanics(t *testing.T) {
	var broken bool
	boom := func() {
		if broken {
			var m map[string]int
			m["secret"] = 1
		}
	}
	s := start(t, handler{
		exec: func(ctx context.Context, x Exec) ExecAnswer { boom(); return echo(ctx, x) },
		decide: func(context.Context, DecisionRequest) (approval.Decision, bool) {
			boom()
			return approval.AllowOnce, true
		},
		call: func(_ context.Context, c Call) CallAnswer {
			if broken && c.Method == "status" {
				return CallAnswer{Payload: bomb{}}
			}
			boom()
			return CallAnswer{Payload: c.Method}
		},
	})
	request := `{"type":"request","token":` + quote(testToken) + `,"id":"i1","request":{"command":"ls"}}`
	frames := map[string]struct {
		line      func() string
		bad, fine string
	}{
		"exec":                  {func() string { return execLine(good) }, "UNAVAILABLE", `"ok":true`},
		"request":               {func() string { return request }, `"decision":"deny"`, `"decision":"allow-once"`},
		"call":                  {func() string { return callLine("policy.get") }, "UNAVAILABLE", `"ok":true`},
		"an answer not written": {func() string { return callLine("status") }, "UNAVAILABLE", `"ok":true`},
	}
	for name, f := range frames {
		t.Run(name, func(t *testing.T) {
			one, other := connect(t, s), connect(t, s)
			before := rescue.Caught()
			broken = true
			for range 3 {
				if got := one.ask(f.line()); !strings.Contains(got, f.bad) || !strings.Contains(got, `"i1"`) || strings.Contains(got, "secret") {
					t.Errorf("it panicked, and the answer is %q", got)
				}
			}
			broken = false
			if rescue.Caught() != before+3 {
				t.Errorf("%d were counted", rescue.Caught()-before)
			}
			for _, p := range []raw{one, other, connect(t, s)} {
				if got := p.ask(f.line()); !strings.Contains(got, f.fine) {
					t.Errorf("then %q", got)
				}
			}
			eventually(t, "nothing waits", func() bool { return s.waiting.Taken() == 0 })
		})
	}
}

func callLine(method string) string {
	return signedLine(testToken, kindCall, `{"method":`+quote(method)+`}`, nowMs())
}

// TestPanicsBeforeTheHandler: what panics while a frame is checked or a peer is
// looked at ends at most that connection.
func TestPanicsBeforeTheHandler(t *testing.T) {
	var broken atomic.Value
	broken.Store("")
	o := testOptions(shortDir(t), handler{exec: echo})
	o.Token = func() string {
		if broken.Load() == "token" {
			panic(errors.New("no token"))
		}
		return testToken
	}
	s := serve(t, o, func(s *Server) {
		look := s.peerOf
		s.peerOf = func(nc *net.UnixConn) (holder, error) {
			if broken.Load() == "peer" {
				panic("nobody")
			}
			return look(nc)
		}
	})
	p := connect(t, s)
	broken.Store("token")
	if got := p.ask(execLine(good)); !strings.Contains(got, "UNAVAILABLE") || !strings.Contains(got, string(approval.ReasonInternal)) {
		t.Errorf("a frame that could not be checked got %q", got)
	}
	broken.Store("peer")
	lost := connect(t, s)
	if got := lost.line(); got != closed {
		t.Errorf("a peer that could not be looked at got %q", got)
	}
	broken.Store("")
	for _, p := range []raw{p, connect(t, s)} {
		if got := p.ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
			t.Errorf("then %q", got)
		}
	}
	lost.Close()
	eventually(t, "the lost one is forgotten", func() bool { return s.count() == 2 })
}

// FuzzDoor sends lines to a real socket: whatever they are, the next connection
// is served, and only what is signed reaches the handler.
func FuzzDoor(f *testing.F) {
	for _, line := range []string{
		execLine(good), callLine("status"), "{}", "null", "\x00", `{"type":"exec","id":"i"}`, `{"type":"call","id":"i","ts":1,"nonce":"x","hmac":"","requestJson":"{}"}`,
		`{"type":"request","id":"i","token":"t","request":[]}`, "{}\n{}\n", strings.Repeat("[", 2000), `{"type":"exec","id":"i","ts":1e999}`,
	} {
		f.Add([]byte(line), true)
		f.Add([]byte(line), false)
	}
	s := start(f, handler{exec: func(context.Context, Exec) ExecAnswer { return ExecAnswer{Success: true} }}, startedEarlier, func(s *Server) {
		var far atomic.Int64 // failures are long ago, and nothing waits
		s.callers.now = func() time.Time { return time.Unix(3600*far.Add(1), 0) }
		s.callers.rate = 1_000_000
	})
	f.Fuzz(func(t *testing.T, text []byte, signed bool) {
		if signed { // what comes behind the signature
			if !json.Valid(text) && strings.ContainsAny(string(text), "\n\r") {
				return
			}
			text = []byte(signedLine(testToken, kindCall, string(text), nowMs()))
		}
		before := rescue.Caught()
		nc, err := net.Dial("unix", s.sockets[0].path)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write(append(text, '\n'))
		nc.(*net.UnixConn).CloseWrite()
		for buf := make([]byte, 4096); err == nil; {
			_, err = nc.Read(buf)
		}
		nc.Close()
		if rescue.Caught() != before {
			t.Errorf("%q made us panic", text)
		}
	})
}

// TestSilence: who connects and says nothing is left, and who said something
// may stay.
func TestSilence(t *testing.T) {
	s := start(t, handler{exec: echo}, func(s *Server) { s.patience = 300 * time.Millisecond })
	silent, spoke := connect(t, s), connect(t, s)
	if got := spoke.ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
		t.Fatal(got)
	}
	if got := silent.line(); got != closed {
		t.Errorf("the silent one got %q", got)
	}
	time.Sleep(2 * s.patience)
	if got := spoke.ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
		t.Errorf("who had spoken got %q", got)
	}
}

// TestIdleMakeRoom: processes that connect and send nothing keep no other one
// out, and a connection on which something waits is kept.
func TestIdleMakeRoom(t *testing.T) {
	u := &until{}
	waits := func(ctx context.Context, x Exec) ExecAnswer {
		if len(x.Request.Command) > 0 && x.Request.Command[0] == "ls" {
			return u.exec(ctx, x)
		}
		return echo(ctx, x)
	}
	s := start(t, handler{exec: waits}, func(s *Server) { s.maxConns = reservedConns + 10 })
	busy := connect(t, s)
	busy.say(execLine(good) + "\n")
	eventually(t, "one is busy", func() bool { return u.begun.Load() == 1 })
	dir := shortDir(t)
	exe := filepath.Join(dir, "other") // not our program
	copyExe(t, exe)
	there := func(name string, k *exec.Cmd) func() bool {
		return func() bool {
			_, err := os.Stat(filepath.Join(dir, fmt.Sprint(name, k.Process.Pid)))
			return err == nil
		}
	}
	for range 3 {
		k, err := task{Exe: exe, Idle: 2 * s.maxConns, Stay: "end", Dir: dir}.start(s.sockets[0].path)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Wait()
		defer os.WriteFile(filepath.Join(dir, "end"), nil, 0o600)
		eventually(t, "they are all connected", there("idle", k))
	}
	k, err := task{Exe: exe, Ask: true, Dir: dir}.start(s.sockets[0].path)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Wait(); err != nil || !there("asked", k)() {
		t.Errorf("another process is kept out: %v", err)
	}
	if n := s.count(); n > s.maxConns {
		t.Errorf("%d connections", n)
	}
	if u.ended.Load() != 0 {
		t.Error("the busy one was ended")
	}
}

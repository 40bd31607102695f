//go:build linux || darwin

package ipc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	testToken = "b2NsaXZlLXRva2VuLTAxMjM0NTY3ODk"
	testKey   = "the operator key"
	// generous is when a test gives up waiting.
	generous = 20 * time.Second
)

// TestMain lets the test binary also be the other processes of a test.
func TestMain(m *testing.M) {
	watchEvery = time.Second
	if text := os.Getenv(helperEnv); text != "" {
		os.Exit(helper(text))
	}
	os.Exit(m.Run())
}

// handler is a Handler made of functions; what is not set says no.
type handler struct {
	exec   func(context.Context, Exec) ExecAnswer
	decide func(context.Context, DecisionRequest) (approval.Decision, bool)
	call   func(context.Context, Call) CallAnswer
}

func (h handler) Exec(ctx context.Context, x Exec) ExecAnswer {
	if h.exec == nil {
		return ExecAnswer{Refused: &Error{CodeUnavailable, "no", approval.ReasonUserDenied, nil, nil}}
	}
	return h.exec(ctx, x)
}

func (h handler) Decide(ctx context.Context, q DecisionRequest) (approval.Decision, bool) {
	if h.decide == nil {
		return approval.DecisionDeny, true
	}
	return h.decide(ctx, q)
}

func (h handler) Call(ctx context.Context, c Call) CallAnswer {
	if h.call == nil {
		return CallAnswer{Payload: c.Method}
	}
	return h.call(ctx, c)
}

// echo answers every exec with success and its command as output.
func echo(_ context.Context, x Exec) ExecAnswer {
	zero := 0
	return ExecAnswer{ExitCode: &zero, Success: true, Stdout: strings.Join(x.Request.Command, " ")}
}

// until blocks a frame until its context ends, and counts both.
type until struct {
	begun, ended atomic.Int64
}

func (u *until) exec(ctx context.Context, _ Exec) ExecAnswer {
	u.begun.Add(1)
	<-ctx.Done()
	u.ended.Add(1)
	return ExecAnswer{Refused: &Error{CodeUnavailable, "cancelled", approval.ReasonApprovalCancelled, nil, nil}}
}

// clock is a time that a test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.at }
func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = t
}
func (c *clock) add(d time.Duration) { c.set(c.now().Add(d)) }

// dialAt connects to the host that listens at a socket.
func dialAt(socket string) (*Client, error) { return Dial(paths.State{Dir: filepath.Dir(socket)}) }

func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ipc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func testOptions(dir string, h Handler) Options {
	path := filepath.Join(dir, "s", "exec-approvals.sock")
	return Options{
		Path: path, Lock: path + ".lifecycle.lock", Handler: h,
		Token: func() string { return testToken }, OperatorKey: func() []byte { return []byte(testKey) },
	}
}

// serve starts a server whose limits tune may change, and stops it at the end.
func serve(t testing.TB, o Options, tune ...func(*Server)) *Server {
	t.Helper()
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range tune {
		f(s)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background()) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-served; err != nil && !errors.Is(err, net.ErrClosed) { // closed before it served
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// startedEarlier lets frames pass that were signed before the server began.
func startedEarlier(s *Server) { s.started = s.started.Add(-time.Minute) }

func start(t testing.TB, h Handler, tune ...func(*Server)) *Server {
	t.Helper()
	return serve(t, testOptions(shortDir(t), h), tune...)
}

// raw is a peer that speaks bytes.
type raw struct {
	*net.UnixConn
	t  testing.TB
	in *bufio.Reader
}

func connect(t testing.TB, s *Server) raw {
	t.Helper()
	nc, err := net.Dial("unix", s.sockets[0].path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetReadDeadline(time.Now().Add(generous))
	return raw{nc.(*net.UnixConn), t, bufio.NewReader(nc)}
}

func (r raw) say(text string) {
	r.t.Helper()
	if _, err := io.WriteString(r, text); err != nil {
		r.t.Fatalf("write: %v", err)
	}
}

// line returns the next answer, "" when the server closed.
func (r raw) line() string {
	r.t.Helper()
	line, err := r.in.ReadString('\n')
	if os.IsTimeout(err) {
		r.t.Fatal("no answer and no end")
	}
	return line
}

// ask sends one line and returns what comes back.
func (r raw) ask(line string) string {
	r.t.Helper()
	r.say(line + "\n")
	return r.line()
}

// operate sends a call of the operator with the challenge of its connection.
func (r raw) operate(key, method string) string {
	r.t.Helper()
	var hello struct{ Challenge string }
	if err := json.Unmarshal([]byte(r.ask(`{"type":"hello","id":"h"}`)), &hello); err != nil {
		r.t.Fatal(err)
	}
	return r.ask(signedLine(key, kindCall, `{"method":"`+method+`","challenge":"`+hello.Challenge+`"}`, nowMs()))
}

var nonceCount atomic.Int64

// signedLine makes a frame as an honest client would, then lets edits spoil
// it: each is a top-level field and its JSON text, "" to leave it out.
func signedLine(key, kind, requestJSON string, ts int64, edits ...[2]string) string {
	nonce := fmt.Sprintf("nonce%027d", nonceCount.Add(1))
	fields := []([2]string){
		{"type", quote(kind)}, {"id", `"i1"`}, {"nonce", quote(nonce)}, {"ts", strconv.FormatInt(ts, 10)},
		{"hmac", quote(sign([]byte(key), nonce, strconv.FormatInt(ts, 10), requestJSON))},
		{"requestJson", quote(requestJSON)},
	}
	var parts []string
	for _, f := range fields {
		for _, e := range edits {
			if e[0] == f[0] {
				f[1] = e[1]
			}
		}
		if f[1] != "" {
			parts = append(parts, quote(f[0])+":"+f[1])
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func quote(s string) string {
	text, err := encodeText(s)
	if err != nil {
		panic(err)
	}
	return text
}

func nowMs() int64 { return time.Now().UnixMilli() }

func execLine(requestJSON string, edits ...[2]string) string {
	return signedLine(testToken, kindExec, requestJSON, nowMs(), edits...)
}

// eventually waits for something that will become true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(generous); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("never: %s", what)
}

func readJSON(t testing.TB, path string, to any) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, to); err != nil {
		t.Fatal(err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

//go:build linux || darwin

package proxy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// generous is when a test gives up waiting.
const generous = 20 * time.Second

// TestMain lets the test binary also be the MCP servers of its tests.
func TestMain(m *testing.M) {
	if kind := os.Getenv(helperEnv); kind != "" {
		os.Exit(misbehave(kind))
	}
	os.Exit(m.Run())
}

// testHost is a host: it gets each call, and answers by the name of the tool.
//
//	allow…   is allowed
//	deny…    is denied by policy
//	ask…     waits for answer, or for its caller to go
//	others   get a broken answer
type testHost struct {
	mu     sync.Mutex
	calls  []approval.ToolCall
	asked  chan approval.ToolCall
	answer chan approval.Verdict
	ended  chan string // tools whose caller went
	gone   error       // when it does not answer
	// choices are what the client may answer, and said what it did.
	tickets map[string]chan approval.ToolCall
	looked  chan string // tickets whose question was looked at
	choices []approval.Decision
	said    chan map[string]any
	refuses error // an answer
}

func newHost() *testHost {
	return &testHost{asked: make(chan approval.ToolCall, 100), answer: make(chan approval.Verdict), ended: make(chan string, 100), said: make(chan map[string]any, 100), looked: make(chan string, 100), tickets: map[string]chan approval.ToolCall{}}
}

func (h *testHost) Call(ctx context.Context, method string, params, out any) error {
	h.mu.Lock()
	gone := h.gone
	h.mu.Unlock()
	if gone != nil {
		return gone
	}
	if call, is := params.(approval.ToolCall); is && strings.HasPrefix(call.Tool, "panic") {
		panic("secret")
	}
	switch method {
	case "tools.denied":
		denied := []string{}
		for _, name := range params.(map[string]any)["tools"].([]string) {
			if strings.HasPrefix(name, "deny") {
				denied = append(denied, name)
			}
		}
		return recode(map[string]any{"denied": denied}, out)
	case "pending.own":
		select {
		case call := <-h.ticketed(params.(map[string]string)["ticket"]):
			h.looked <- call.Ticket
			return recode(map[string]any{"prompt": questionOf(call), "choices": h.choices}, out)
		case <-ctx.Done():
			return ctx.Err()
		}
	case "pending.elicited":
		h.said <- params.(map[string]any)
		return h.refuses
	case "tool.decide":
		return h.decide(ctx, params.(approval.ToolCall), out)
	}
	return errors.New("no such method")
}

// ticketed gets the call with a ticket, once.
func (h *testHost) ticketed(ticket string) chan approval.ToolCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tickets[ticket] == nil {
		h.tickets[ticket] = make(chan approval.ToolCall, 1)
	}
	return h.tickets[ticket]
}

// questionOf is what the host asks about a call.
func questionOf(c approval.ToolCall) approval.Prompt {
	return approval.Prompt{
		ID: "q-" + c.Tool, AgentID: c.AgentID, Who: c.Who,
		Plan: approval.Plan{Tool: &approval.Tool{Name: c.Tool, Server: c.Server, Args: c.Args}, Cwd: approval.File{Path: c.Cwd}},
		Judgement: approval.Judgement{
			Verdict: approval.VerdictAsk, Security: approval.SecurityList, Ask: approval.AskOnMiss,
			Finding: approval.Finding{Sentence: "nobody allowed it"}, Risk: approval.Weighed{Level: approval.RiskMedium},
		},
	}
}

func (h *testHost) decide(ctx context.Context, call approval.ToolCall, out any) error {
	h.mu.Lock()
	h.calls = append(h.calls, call)
	h.mu.Unlock()
	verdict := approval.VerdictAllow
	switch {
	case strings.HasPrefix(call.Tool, "deny"):
		verdict = approval.VerdictDeny
	case strings.HasPrefix(call.Tool, "ask"):
		if call.Ticket != "" {
			h.ticketed(call.Ticket) <- call
		}
		h.asked <- call
		select {
		case verdict = <-h.answer:
		case <-ctx.Done():
			h.ended <- call.Tool
			return ctx.Err()
		}
	case strings.HasPrefix(call.Tool, "undecided"):
		verdict = approval.VerdictAsk
	case strings.HasPrefix(call.Tool, "silent"):
		return nil
	}
	o := approval.Outcome{Verdict: verdict, Receipt: approval.Receipt{RunID: "run", Verdict: verdict}}
	if verdict == approval.VerdictDeny {
		o.Receipt.Reason, o.Receipt.Message = approval.ReasonDenylisted, "SYSTEM_RUN_DENIED: denylisted. "+string(approval.EndingPolicy)
	}
	return recode(o, out)
}

func recode(from, to any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// stage is a client and a server, both played by the test, with a proxy between.
type stage struct {
	*testing.T
	host   *testHost
	send   *io.PipeWriter // to the proxy, as the client
	out    *bufio.Reader  // what the client reads
	log    *record
	server *played
	over   chan error
	cancel context.CancelFunc
}

// played is a server that a test plays.
type played struct {
	got  chan string
	say  chan string
	end  chan error
	done chan struct{}
	once sync.Once
}

func (s *played) Send(m Message) error {
	select {
	case s.got <- string(m.Raw):
		return nil
	case <-s.done:
		return errors.New("it is gone")
	}
}

func (s *played) Receive(take func([]byte) error) error {
	for {
		select {
		case line := <-s.say:
			if err := take([]byte(line)); err != nil {
				return err
			}
		case err := <-s.end:
			return err
		case <-s.done:
			return nil
		}
	}
}

func (s *played) Close() { s.once.Do(func() { close(s.done) }) }

func newStage(t *testing.T, tune ...func(*pace)) *stage {
	s := &stage{T: t, host: newHost(), log: &record{}, over: make(chan error, 1), server: &played{
		got: make(chan string, 1000), say: make(chan string), end: make(chan error, 1), done: make(chan struct{}),
	}}
	s.start(s.server, tune...)
	return s
}

// stageOf is a stage with a real server.
func stageOf(t *testing.T, server Server) *stage {
	s := &stage{T: t, host: newHost(), log: &record{}, over: make(chan error, 1)}
	s.start(server)
	return s
}

func (s *stage) start(server Server, tune ...func(*pace)) {
	in, send := io.Pipe()
	back, out := io.Pipe()
	s.send, s.out = send, bufio.NewReaderSize(back, 1<<20)
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	opt := Options{
		Name: "srv", AgentID: "main", SessionKey: "s1", Cwd: "/p", Wait: time.Minute, Host: s.host, In: in, Out: out,
		Log: slog.New(slog.NewTextHandler(s.log, nil)),
	}
	opened := usualPace()
	for _, f := range tune {
		f(&opened)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := run(ctx, opt, server, opened)
		out.Close()
		s.over <- err
	}()
	s.Cleanup(func() {
		cancel()
		send.Close()
		back.Close()
		select {
		case <-done:
		case <-time.After(generous):
			s.Error("the proxy does not end")
		}
	})
}

// client says something as the client.
func (s *stage) client(lines ...string) {
	s.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(s.send, line+"\n"); err != nil {
			s.Fatal(err)
		}
	}
}

// reads expects this line at the client.
func (s *stage) reads(want string) {
	s.Helper()
	if got := s.line(); got != want {
		s.Fatalf("the client reads\n%.600s, want\n%.600s", got, want)
	}
}

func (s *stage) line() string {
	s.Helper()
	got := make(chan string, 1)
	go func() {
		line, err := s.out.ReadString('\n')
		if err != nil {
			line = "! " + err.Error()
		}
		got <- strings.TrimSuffix(line, "\n")
	}()
	select {
	case line := <-got:
		return line
	case <-time.After(generous):
		s.Fatal("the client reads nothing")
		return ""
	}
}

// gets expects this message at the server.
func (s *stage) gets(want string) {
	s.Helper()
	select {
	case got := <-s.server.got:
		if got != want {
			s.Fatalf("the server gets\n%.600s, want\n%.600s", got, want)
		}
	case <-time.After(generous):
		s.Fatalf("the server gets nothing, want\n%.600s", want)
	}
}

// getsNothing makes sure that what the server got was all: a ping comes next.
func (s *stage) getsNothing() {
	s.Helper()
	ping := `{"jsonrpc":"2.0","id":"nothing","method":"ping"}`
	s.client(ping)
	s.gets(ping)
	pong := `{"jsonrpc":"2.0","id":"nothing","result":{}}`
	s.says(pong)
	s.reads(pong)
}

// says has the server say something.
func (s *stage) says(lines ...string) {
	s.Helper()
	for _, line := range lines {
		select {
		case s.server.say <- line:
		case <-time.After(generous):
			s.Fatal("the proxy does not listen to the server")
		}
	}
}

// ends waits for the end of the proxy.
func (s *stage) ends() error {
	s.Helper()
	select {
	case err := <-s.over:
		s.over <- err
		return err
	case <-time.After(generous):
		s.Fatal("the proxy does not end")
		return nil
	}
}

// logs waits for words in the log, which may come after what the client gets.
func (s *stage) logs(words string) {
	s.Helper()
	for end := time.Now().Add(generous); !strings.Contains(s.log.String(), words); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.Fatalf("the log says %s", s.log)
		}
	}
}

// record is a log.
type record struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.b.String()
}

// after waits for something that comes.
func after[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(generous):
		t.Fatal("it does not come")
	}
	return v
}

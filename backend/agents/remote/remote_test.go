package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// book is the host's own book of questions, without a host around it.
type book struct{ *pending.Book }

func (b book) Watch(ctx context.Context, cursor uint64) (uint64, []approval.Prompt, error) {
	next, list := b.Book.Watch(ctx, cursor)
	return next, list, ctx.Err()
}

func (b book) Answer(_ context.Context, p approval.Prompt, d approval.Decision, note string) error {
	return b.Book.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: p.Count}, approval.Answer{Decision: d, By: "remote", Note: note})
}

type world struct {
	t    *testing.T
	book book
	addr string
	n    atomic.Int32
}

const token = "a-token-of-a-test-that-is-long"

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldOf(t, func(b book) Host { return b })
}

// newWorldOf is a world whose host is made of its book.
func newWorldOf(t *testing.T, host func(book) Host) *world {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, book: book{pending.New()}, addr: l.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	server := New(Options{Host: host(w.book), Token: token, Origins: []string{"http://localhost:3000"}})
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		w.book.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return w
}

// ask puts a question in a session and returns its id and where its answer comes.
func (w *world) ask(session string) (id string, answer <-chan approval.Answer) {
	return w.asks(fmt.Sprintf("q%d", w.n.Add(1)), session)
}

// asks puts the same question once more, where it waits already.
func (w *world) asks(id, session string) (_ string, answer <-chan approval.Answer) {
	p := approval.Prompt{
		ID: id, AgentID: "main", SessionKey: session, Expires: time.Now().Add(time.Minute).UnixMilli(), Count: 1,
		Plan:      approval.Plan{Text: "file_write x", Tool: &approval.Tool{Name: "file_write", Args: json.RawMessage(`{"path":"x"}`)}},
		Judgement: approval.Judgement{Verdict: approval.VerdictAsk, Choices: []approval.Decision{approval.AllowOnce, approval.DecisionDeny}},
	}
	to := make(chan approval.Answer, 1)
	go func() {
		a, err := w.book.Ask(context.Background(), p, id, time.Now().Add(time.Minute))
		if err != nil {
			w.t.Error(err)
		}
		to <- a
	}()
	return id, to
}

type peer struct {
	t  *testing.T
	ws *websocket.Conn
}

func (w *world) connect() *peer {
	w.t.Helper()
	ws, _, err := websocket.Dial(w.t.Context(), "ws://"+w.addr+"/approvals", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { ws.CloseNow() })
	return &peer{w.t, ws}
}

// next reads a message of a type.
func (p *peer) next(kind string) map[string]any {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	for {
		_, text, err := p.ws.Read(ctx)
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", kind, err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			p.t.Fatal(err)
		}
		if m["type"] == kind {
			return m
		}
	}
}

func (p *peer) say(text string) {
	p.t.Helper()
	if err := p.ws.Write(p.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

func (w *world) answerOf(from <-chan approval.Answer) approval.Answer {
	w.t.Helper()
	select {
	case a := <-from:
		return a
	case <-time.After(patience):
		w.t.Fatal("no answer came")
	}
	return approval.Answer{}
}

// TestOneAnswer: two clients see a question, one answer counts, and the other
// client is told.
func TestOneAnswer(t *testing.T) {
	w := newWorld(t)
	one, two := w.connect(), w.connect()
	id, answer := w.ask("s")
	m := one.next("approval_required")
	request, _ := m["request"].(map[string]any)
	if m["requestId"] != id || m["sessionId"] != "s" || m["expiresAt"] == nil || request["tool"] != "file_write" || request["text"] != "file_write x" {
		t.Errorf("%v", m)
	}
	two.next("approval_required")
	one.say(`{"type":"approval_response","sessionId":"s","requestId":"` + id + `","decision":"allow-once"}`)
	if a := w.answerOf(answer); a.Decision != approval.AllowOnce {
		t.Errorf("%+v", a)
	}
	if m := two.next("approval_withdrawn"); m["requestId"] != id {
		t.Errorf("%v", m)
	}
	two.say(`{"type":"approval_response","sessionId":"s","requestId":"` + id + `","decision":"deny"}`)
	if m := two.next("approval_error"); m["requestId"] != id {
		t.Errorf("%v", m)
	}
}

// TestBothAtOnce: of two answers at the same moment one counts.
func TestBothAtOnce(t *testing.T) {
	w := newWorld(t)
	for range 20 {
		one, two := w.connect(), w.connect()
		id, answer := w.ask("s")
		for _, p := range []*peer{one, two} { // they may be told of the one before
			for p.next("approval_required")["requestId"] != id {
			}
		}
		for _, p := range []*peer{one, two} {
			go p.ws.Write(t.Context(), websocket.MessageText, []byte(`{"type":"approval_response","sessionId":"s","requestId":"`+id+`","decision":"allow-once"}`))
		}
		if a := w.answerOf(answer); a.Decision != approval.AllowOnce {
			t.Errorf("%+v", a)
		}
		one.ws.CloseNow()
		two.ws.CloseNow()
	}
}

func TestResponses(t *testing.T) {
	for _, c := range []struct {
		name, say string
		other     bool // another question waits in the session
		decision  approval.Decision
		note      string
		fails     string
	}{
		{name: "with a reason", say: `{"type":"approval_response","sessionId":"s","requestId":"q1","decision":"deny","reason":"not now"}`, decision: "deny", note: "not now"},
		{name: "without an id", say: `{"type":"approval_response","sessionId":"s","decision":"allow-once"}`, decision: "allow-once"},
		{name: "without an id, of two", say: `{"type":"approval_response","sessionId":"s","decision":"allow-once"}`, other: true, fails: "2 questions wait"},
		{name: "without an id, other session", say: `{"type":"approval_response","sessionId":"x","decision":"allow-once"}`, fails: "0 questions wait"},
		{name: "id of another session", say: `{"type":"approval_response","sessionId":"x","requestId":"q1","decision":"allow-once"}`, fails: "no such question"},
		{name: "other arguments", say: `{"type":"approval_response","sessionId":"s","requestId":"q1","decision":"allow-once","modifiedArgs":{"path":"y"}}`, decision: "deny", note: `"path":"y"`},
		{name: "not offered", say: `{"type":"approval_response","sessionId":"s","requestId":"q1","decision":"allow-always"}`, fails: "not offered"},
		{name: "unknown decision", say: `{"type":"approval_response","sessionId":"s","requestId":"q1","decision":"yes"}`, fails: "cannot be read"},
		{name: "no decision", say: `{"type":"approval_response","sessionId":"s","requestId":"q1"}`, fails: "decision is missing"},
		{name: "unknown field", say: `{"type":"approval_response","sessionId":"s","requestId":"q1","decision":"allow-once","force":true}`, fails: "cannot be read"},
		{name: "other type", say: `{"type":"approval_required"}`, fails: "only approval_response"},
		{name: "two values", say: `{"type":"approval_response"} {}`, fails: "one message"},
		{name: "no JSON", say: `{`, fails: "cannot be read"},
		{name: "long reason", say: `{"type":"approval_response","sessionId":"s","requestId":"q1","decision":"deny","reason":"` + strings.Repeat("x", 3000) + `"}`, fails: "longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.connect()
			_, answer := w.ask("s")
			p.next("approval_required")
			if c.other {
				w.ask("s")
				p.next("approval_required")
			}
			p.say(c.say)
			if c.fails != "" {
				if m := p.next("approval_error"); !strings.Contains(fmt.Sprint(m["error"]), c.fails) {
					t.Errorf("%v, want %q", m, c.fails)
				}
				select {
				case a := <-answer:
					t.Errorf("it counted: %+v", a)
				default:
				}
				return
			}
			if a := w.answerOf(answer); a.Decision != c.decision || !strings.Contains(a.Note, c.note) {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestDoor: nobody without the token gets in, no page of somebody else, and
// nobody who comes by another name.
func TestDoor(t *testing.T) {
	w := newWorld(t)
	bearer := "Bearer " + token
	for _, c := range []struct {
		name, auth, origin, host, path string
		want                           int
	}{
		{"no token", "", "", "", "/approvals", http.StatusUnauthorized},
		{"wrong token", "Bearer x", "", "", "/approvals", http.StatusUnauthorized},
		{"token alone", token, "", "", "/approvals", http.StatusUnauthorized},
		{"foreign page", bearer, "https://evil.example", "", "/approvals", http.StatusForbidden},
		{"page of nowhere", bearer, "null", "", "/approvals", http.StatusForbidden},
		{"foreign name", bearer, "", "evil.example", "/approvals", http.StatusForbidden},
		{"other port", bearer, "", "localhost:1", "/approvals", http.StatusForbidden},
		{"other path", bearer, "", "", "/", http.StatusNotFound},
		{"no WebSocket", bearer, "", "", "/approvals", http.StatusUpgradeRequired},
		{"own page, no WebSocket", bearer, "http://localhost:3000", "", "/approvals", http.StatusUpgradeRequired},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.addr+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": c.auth, "Origin": c.origin} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		if c.host != "" {
			req.Host = c.host
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != c.want {
			t.Errorf("%s: %d", c.name, res.StatusCode)
		}
	}
}

// TestSilentClients: clients that never answer keep no other one out, and put
// none out that did.
func TestSilentClients(t *testing.T) {
	w := newWorld(t)
	works := w.connect()
	w.answered(works)
	for range maxClients + 10 {
		w.connect()
	}
	w.answered(w.connect())
	w.answered(works)
}

// answered has a client answer a question.
func (w *world) answered(p *peer) {
	w.t.Helper()
	id, answer := w.ask("s")
	for p.next("approval_required")["requestId"] != id {
	}
	p.say(`{"type":"approval_response","sessionId":"s","requestId":"` + id + `","decision":"deny"}`)
	if a := w.answerOf(answer); a.Decision != approval.DecisionDeny {
		w.t.Errorf("%+v", a)
	}
}

func TestTooLong(t *testing.T) {
	w := newWorld(t)
	p := w.connect()
	_, answer := w.ask("s")
	p.next("approval_required")
	p.say(`{"type":"approval_response","sessionId":"s","decision":"allow-once","reason":"` + strings.Repeat("x", maxMessage) + `"}`)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, _, err := p.ws.Read(ctx); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		t.Error("the connection stays open")
	}
	select {
	case a := <-answer:
		t.Errorf("it counted: %+v", a)
	default:
	}
}

// TestTooMany: where all clients work, there is no room for one more.
func TestTooMany(t *testing.T) {
	w := newWorld(t)
	for range maxClients {
		w.answered(w.connect())
	}
	_, res, err := websocket.Dial(t.Context(), "ws://"+w.addr+"/approvals", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	if err == nil || res == nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one more was let in: %v", err)
	}
}

func TestOnlyHere(t *testing.T) {
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	err = New(Options{Host: book{pending.New()}, Token: token}).Serve(t.Context(), l)
	if err == nil || errors.Is(err, http.ErrServerClosed) {
		t.Error("others can reach it")
	}
}

// TestHostLost: without a host nobody is left to believe that answers count.
func TestHostLost(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	err = New(Options{Host: lost{}, Token: token}).Serve(t.Context(), l)
	if err == nil || !strings.Contains(err.Error(), "no such host") {
		t.Errorf("%v", err)
	}
}

type lost struct{}

func (lost) Watch(context.Context, uint64) (uint64, []approval.Prompt, error) {
	return 0, nil, errors.New("no such host")
}

func (lost) Answer(context.Context, approval.Prompt, approval.Decision, string) error { return nil }

// TestLateAnswer: an answer without an id that was meant for a question that is
// gone is not taken for the next one.
func TestLateAnswer(t *testing.T) {
	w := newWorld(t)
	p := w.connect()
	first, over := w.ask("s")
	p.next("approval_required")
	if err := w.book.Book.Answer(first, pending.Shown{Count: 1}, approval.Answer{Decision: approval.DecisionDeny, By: "another"}); err != nil {
		t.Fatal(err)
	}
	w.answerOf(over)
	_, next := w.ask("s")
	p.next("approval_required")
	p.say(`{"type":"approval_response","sessionId":"s","decision":"allow-once"}`)
	p.next("approval_error")
	p.say(`{"type":"approval_response","sessionId":"s","decision":"deny"}`) // it was told, and means this one
	if a := w.answerOf(next); a.Decision != approval.DecisionDeny {
		t.Error(a.Decision)
	}
}

// TestAnswerForOne: an answer is for as many identical requests as were shown with
// it, and not for one that came meanwhile.
func TestAnswerForOne(t *testing.T) {
	w := newWorld(t)
	slow, other := w.connect(), w.connect()
	id, first := w.ask("s")
	slow.next("approval_required")
	other.next("approval_required")
	_, second := w.asks(id, "s")
	both := other.next("approval_required")
	for _, named := range []string{"", `"requestId":"` + id + `",`} { // it has not read on
		slow.say(`{"type":"approval_response","sessionId":"s",` + named + `"decision":"allow-once"}`)
		slow.next("approval_error")
	}
	other.say(fmt.Sprintf(`{"type":"approval_response","sessionId":"s","requestId":%q,"decision":"allow-once"}`, both["requestId"]))
	for _, answer := range []<-chan approval.Answer{first, second} {
		if a := w.answerOf(answer); a.Decision != approval.AllowOnce {
			t.Error(a.Decision)
		}
	}
}

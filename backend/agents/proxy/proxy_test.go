//go:build linux || darwin

package proxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// toolCall is a call with odd spelling, which must stay.
func toolCall(id, tool string) string {
	return fmt.Sprintf(`{ "params":{"arguments":{"n":1.50,"s":"\u0061"} , "name":%q, "x":[]}, "id":%s,"method":"tools/call","jsonrpc":"2.0","more":true}`, tool, id)
}

func answerTo(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0", "id":%s,"result":{"ok":1.0}}`, id)
}

// TestTransparent: what is not judged passes as it is, both ways, and so does a
// call that is allowed.
func TestTransparent(t *testing.T) {
	s := newStage(t)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2030-01-01","capabilities":{"x":{}},"clientInfo":{"name":"c","version":"1"}}}`,
		` {"method":"notifications/initialized" ,"jsonrpc":"2.0"} `,
		`{"jsonrpc":"2.0","id":"\u0041","method":"x-vendor/what","params":[1,2,3],"unknown":1e2}`,
		`{"jsonrpc":"2.0","id":1.50,"method":"completion/complete","params":{"a":1,"a":2}}`,
		`{"jsonrpc":"2.0","id":-9007199254740993,"method":"logging/setLevel"}`,
		`{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}`,
		toolCall("12345678901234567890123", "allow"), toolCall(`"i d"`, "allow_more"), toolCall("0.10", "allow"),
		`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"file:///a b"}}`,
		`{"jsonrpc":"2.0","id":3,"method":"prompts/get","params":{"name":"p","arguments":{"k":"v"}}}`,
	} {
		s.client(line)
		s.gets(line)
	}
	s.client(`{"jsonrpc":"2.0","id":"crlf","method":"ping"}` + "\r")
	s.gets(`{"jsonrpc":"2.0","id":"crlf","method":"ping"}`)
	for _, line := range []string{
		answerTo("0"), answerTo(`"A"`), answerTo("1.5"), answerTo("-9007199254740993"), answerTo("12345678901234567890123"), answerTo(`"i d"`), answerTo("0.10"),
		` {"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"x","data":[1.0]},"z":0}`, answerTo("3"),
		`{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[]}}`, `{"jsonrpc":"2.0","id":0,"method":"elicitation/create"}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}`,
	} {
		s.says(line)
		s.reads(line)
	}
	var judged []string
	for _, c := range s.host.calls {
		judged = append(judged, fmt.Sprintf("%s %s", c.Tool, c.Args))
		if c.Server != "srv" || c.AgentID != "main" || c.SessionKey != "s1" || c.Cwd != "/p" || c.Source != "proxy" || c.Who != approval.Theirs || c.JudgeOnly {
			t.Errorf("judged %+v", c)
		}
		if left := time.Until(time.UnixMilli(c.Deadline)); left <= 0 || left > time.Minute {
			t.Errorf("the deadline is in %s", left)
		}
	}
	want := []string{
		`allow {"n":1.50,"s":"\u0061"}`, `allow_more {"n":1.50,"s":"\u0061"}`, `allow {"n":1.50,"s":"\u0061"}`,
		`resource_read {"uri":"file:///a b"}`, `prompt_get {"arguments":{"k":"v"},"name":"p"}`,
	}
	if !slices.Equal(judged, want) {
		t.Errorf("judged\n%s, want\n%s", strings.Join(judged, "\n"), strings.Join(want, "\n"))
	}
	if s.log.String() != "" {
		t.Errorf("the log says %s", s.log)
	}
}

// TestDenied: the server never sees a call that is not allowed, and the client
// gets an answer that its model can read.
func TestDenied(t *testing.T) {
	s := newStage(t)
	for _, tool := range []string{"deny", "undecided", "silent"} {
		s.client(toolCall("1.0", tool))
		var got struct {
			ID     json.RawMessage
			Result struct {
				IsError           bool
				Content           []struct{ Type, Text string }
				StructuredContent struct{ Receipt approval.Receipt }
			}
		}
		line := s.line()
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		r := got.Result
		if string(got.ID) != "1.0" || !r.IsError || len(r.Content) != 1 || r.Content[0].Type != "text" || !strings.Contains(r.Content[0].Text, "DENIED") ||
			r.StructuredContent.Receipt.Verdict != approval.VerdictDeny || strings.Contains(line, "resultType") {
			t.Errorf("%s: %s", tool, line)
		}
	}
	s.client(`{"jsonrpc":"2.0","id":"r","method":"prompts/get","params":{"name":"x"}}`)
	s.gets(`{"jsonrpc":"2.0","id":"r","method":"prompts/get","params":{"name":"x"}}`)
	modern := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"deny","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	s.client(modern)
	if line := s.line(); !strings.Contains(line, `"resultType":"complete"`) {
		t.Error(line)
	}
	s.getsNothing()
}

// TestDeniedShape: clients hold structured content against the form that the
// server gave for a tool, also when it says that there was an error.
func TestDeniedShape(t *testing.T) {
	s := newStage(t)
	s.client(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	s.gets(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	s.says(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"ask","outputSchema":{"type":"object"}}]}}`)
	s.line()
	s.client(toolCall("2", "ask"))
	after(t, s.host.asked)
	s.host.answer <- approval.VerdictDeny
	if line := s.line(); strings.Contains(line, "structuredContent") || !strings.Contains(line, `"_meta":{"countersign/receipt":{"runId":"run"`) {
		t.Error(line)
	}
}

// TestRefused: what is no clear message never reaches the server, and is answered
// in the words of JSON-RPC.
func TestRefused(t *testing.T) {
	s := newStage(t)
	huge := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", maxMessage) + `"}}`
	for _, c := range []struct{ line, want string }{
		{`{`, `"id":null,"error":{"code":-32700`}, {`[` + toolCall("1", "allow") + `]`, `"id":null,"error":{"code":-32600,"message":"batches`}, {`[]`, `"id":null,"error":{"code":-32600`},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\xff\"}", `-32700`}, {"\x00", `-32700`}, {huge, `"id":null,"error":{"code":-32600,"message":"the message is longer`},
		{`{"jsonrpc":"1.0","id":4,"method":"ping"}`, `"id":4,"error":{"code":-32600`}, {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/call"}`, `"id":5,"error":{"code":-32602`}, {`{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"allow","Name":"deny"}}`, `"id":6,"error":{"code":-32602`},
		{`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"arguments":{}}}`, `"id":7,"error":{"code":-32602,"message":"name is missing"`},
		{`{"jsonrpc":"2.0","id":8,"method":"resources/read","params":{"name":"x"}}`, `"id":8,"error":{"code":-32602,"message":"uri is missing"`},
		{`{"jsonrpc":"2.0","id":9,"method":"tools/CALL","params":{"name":"allow"}}`, `"id":9,"error":{"code":-32600`},
		{`{"jsonrpc":"2.0","id":10,"method":"tools/call","params":{"name":"allow","arguments":{"x":"` + strings.Repeat("x", 300_000) + `"}}}`, `"id":10,"result":{"content":[{"type":"text","text":"TOOL_CALL_DENIED: too-complex`},
	} {
		s.client(c.line)
		if got := s.line(); !strings.Contains(got, c.want) || !json.Valid([]byte(got)) {
			t.Errorf("%.100s: %.300s, want %s", c.line, got, c.want)
		}
	}
	s.client(`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"allow"}}`, `{"jsonrpc":"2.0","method":"x","Method":"tools/call"}`)
	s.getsNothing()
	if n := strings.Count(s.log.String(), "was not passed on"); n != 2 {
		t.Errorf("%d notifications were reported: %s", n, s.log)
	}
	if len(s.host.calls) != 0 {
		t.Errorf("judged %+v", s.host.calls)
	}
}

// TestHostGone: without a host no call is made, and everything else goes on.
func TestHostGone(t *testing.T) {
	for _, gone := range []error{
		errors.New("dial: no such file"), ipc.ErrNoAnswer, &ipc.Error{Code: ipc.CodeUnavailable, Message: "COMPANION_APP_UNAVAILABLE", Reason: approval.ReasonCompanion},
	} {
		s := newStage(t)
		s.host.gone = gone
		s.client(toolCall("1", "allow"))
		if line := s.line(); !strings.Contains(line, `"reason":"companion-unavailable"`) || !strings.Contains(line, string(approval.EndingNobody)) {
			t.Error(line)
		}
		list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		s.client(list)
		s.gets(list)
		all := `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"deny"},{"name":"allow"}]}}`
		s.says(all)
		s.reads(all)
	}
	s := newStage(t)
	s.host.gone = &ipc.Error{Code: ipc.CodeInvalid, Message: "the argument is bad", Reason: approval.ReasonInvalid}
	s.client(toolCall("1", "allow"))
	if line := s.line(); !strings.Contains(line, `"reason":"invalid"`) || !strings.Contains(line, "the argument is bad") {
		t.Error(line)
	}
	s.getsNothing()
}

// TestList: the tools that are denied are left out of a list.
func TestList(t *testing.T) {
	s := newStage(t)
	for _, line := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":2,"method":"prompts/list"}`} {
		s.client(line)
		s.gets(line)
	}
	s.says(`{"result": {"tools":[{"name":"allow","x":1.0}, {"name":"deny_a"}], "nextCursor":"n"},"id":1,"jsonrpc":"2.0"}`)
	s.reads(`{"result": {"tools":[{"name":"allow","x":1.0}], "nextCursor":"n"},"id":1,"jsonrpc":"2.0"}`)
	other := `{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"deny_a"}]}}`
	s.says(other)
	s.reads(other)
}

// TestAsked: a call that waits for a person holds up nothing, and its client
// hears that it waits.
func TestAsked(t *testing.T) {
	s := newStage(t, func(p *pace) { p.first, p.again = time.Millisecond, time.Millisecond })
	asks := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","_meta":{"progressToken":"t\u006f"}}}`
	s.client(asks)
	after(t, s.host.asked)
	s.reads(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\u006f","progress":0.000001,"message":"Countersign asks a person whether this may be done"}}`)
	if line := s.line(); !strings.Contains(line, `"progress":0.000002`) {
		t.Error(line)
	}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	s.client(ping)
	s.gets(ping)
	s.client(toolCall("3", "allow"))
	s.gets(toolCall("3", "allow"))
	s.host.answer <- approval.VerdictAllow
	s.gets(asks)
	s.says(answerTo("1"))
	for line := s.line(); line != answerTo("1"); line = s.line() {
		if !strings.Contains(line, `"notifications/progress"`) {
			t.Fatal(line)
		}
	}
}

// TestCancelled: a client that does not want a call any more ends its question;
// the server hears of it only if it has the call.
func TestCancelled(t *testing.T) {
	s := newStage(t)
	cancelled := func(id string) string {
		return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`
	}
	s.client(toolCall("1", "ask_me"))
	after(t, s.host.asked)
	s.client(cancelled("1.0"))
	if got := after(t, s.host.ended); got != "ask_me" {
		t.Errorf("%s was ended", got)
	}
	s.getsNothing()
	s.client(toolCall("1", "allow")) // the id is free again
	s.gets(toolCall("1", "allow"))
	s.client(cancelled("1"))
	s.gets(cancelled("1"))
	s.client(cancelled("99"), cancelled(`{}`), `{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	s.getsNothing()
	s.client(toolCall("1", "allow")) // the server need not answer what was cancelled
	s.gets(toolCall("1", "allow"))
	s.says(answerTo("1"))
	s.reads(answerTo("1"))
	if s.log.String() != "" {
		t.Errorf("the log says %s", s.log)
	}
}

// TestIDs: an id of the client is open once, and is another one than the same id
// of the server.
func TestIDs(t *testing.T) {
	s := newStage(t)
	s.client(toolCall("1", "ask"))
	after(t, s.host.asked)
	for _, line := range []string{toolCall("1", "allow"), `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`} {
		s.client(line)
		if got := s.line(); !strings.Contains(got, "is still open") {
			t.Error(got)
		}
	}
	s.says(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	s.reads(`{"jsonrpc":"2.0","id":1,"method":"roots/list"}`)
	s.client(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
	s.gets(`{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}`)
	s.says(answerTo("1")) // it does not have this call yet
	s.host.answer <- approval.VerdictAllow
	s.gets(toolCall("1", "ask"))
	s.says(answerTo("2"), answerTo(`"1"`), answerTo("1"), answerTo("1"), answerTo("1"))
	s.reads(answerTo("1"))
	s.getsNothing()
	if n := strings.Count(s.log.String(), "such answers are dropped"); n != 1 {
		t.Errorf("reported %d times: %s", n, s.log)
	}
}

// TestOrder: calls that nobody is asked about reach the server in their order.
func TestOrder(t *testing.T) {
	s := newStage(t, func(p *pace) { p.inTurn = time.Hour })
	const n = 300
	for i := range n {
		s.client(toolCall(fmt.Sprint(i), "allow"))
	}
	for i := range n {
		s.gets(toolCall(fmt.Sprint(i), "allow"))
	}
}

// TestServerGone: whoever waits for the server hears that it is gone.
func TestServerGone(t *testing.T) {
	s := newStage(t)
	s.client(toolCall("1", "allow"), `{"jsonrpc":"2.0","id":"two","method":"ping"}`)
	s.client(toolCall("3", "ask"))
	after(t, s.host.asked)
	<-s.server.got
	<-s.server.got
	s.server.end <- &Ended{Code: 7, Why: "it died"}
	var ids []string
	for range 3 {
		var got struct {
			ID    json.RawMessage
			Error struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(s.line()), &got); err != nil || got.Error.Message != "it died" || got.Error.Code != codeClosed {
			t.Errorf("%+v %v", got, err)
		}
		ids = append(ids, string(got.ID))
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{`"two"`, "1", "3"}) {
		t.Errorf("answered %v", ids)
	}
	var ended *Ended
	if err := s.ends(); !errors.As(err, &ended) || ended.Code != 7 {
		t.Errorf("%v", err)
	}
	after(t, s.host.ended)
}

// TestClientGone: when the client goes, what is judged soon is still passed on,
// and questions end.
func TestClientGone(t *testing.T) {
	s := newStage(t)
	s.client(toolCall("1", "allow"), toolCall("2", "ask"))
	s.send.Close()
	s.gets(toolCall("1", "allow"))
	if err := s.ends(); err != nil {
		t.Error(err)
	}
	after(t, s.host.ended)
	if rest, err := io.ReadAll(s.out); err != nil || len(rest) != 0 {
		t.Errorf("the client was told %q %v", rest, err)
	}
}

// TestGarbage: a server may write some lines that are no messages.
func TestGarbage(t *testing.T) {
	s := newStage(t)
	for i := range maxGarbage {
		s.says([]string{"Listening on \x1b[31m8080", "[]", `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`, "\xff"}[i%4])
	}
	s.getsNothing()
	s.says("once more")
	var ended *Ended
	if err := s.ends(); !errors.As(err, &ended) || ended.Code != 1 || !strings.Contains(ended.Why, "more than 100 lines") {
		t.Errorf("%v", err)
	}
	if log := s.log.String(); strings.ContainsAny(log, "\x1b\xff") || strings.Count(log, "it was dropped") != maxGarbage {
		t.Errorf("the log says %s", log)
	}
}

// TestManyOpen: a client that never waits for answers is told when it is enough.
func TestManyOpen(t *testing.T) {
	l := newCalls()
	open := func(i int, s state) error {
		_, err := l.begin(t.Context(), Message{Raw: make([]byte, 1000), ID: json.RawMessage(fmt.Sprint(i)), Method: "ping"}, s)
		return err
	}
	for i := range maxJudged {
		if err := open(i, judged); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(maxJudged, judged); !errors.Is(err, errManyOpen) {
		t.Error(err)
	}
	for i := maxJudged; i < maxOpen; i++ {
		if err := open(i, passed); err != nil {
			t.Fatal(err)
		}
	}
	if err := open(maxOpen, passed); !errors.Is(err, errManyOpen) {
		t.Error(err)
	}
	key, _ := keyOf(json.RawMessage(fmt.Sprint(maxOpen - 1)))
	if !l.revoke(key) { // the server has it
		t.Error("the server is not told")
	}
	if err := open(maxOpen, passed); err != nil { // what was cancelled makes room
		t.Error(err)
	}
	if l.answered(key) != nil {
		t.Error("it was not forgotten")
	}
}

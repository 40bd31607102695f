//go:build linux || darwin

package ipc

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestVectorHMACs(t *testing.T) {
	var file struct {
		Cases []struct {
			Token, Nonce, RequestJSON, HMAC string
			TS                              int64
		}
	}
	readJSON(t, "testdata/socket-hmac.json", &file)
	if len(file.Cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range file.Cases {
		if got := sign([]byte(c.Token), c.Nonce, strconv.FormatInt(c.TS, 10), c.RequestJSON); got != c.HMAC {
			t.Errorf("token %q ts %d: %s, want %s", c.Token, c.TS, got, c.HMAC)
		}
	}
}

// Every frame of the real client verifies, decodes, reaches the handler and
// is answered.
func TestVectorFrames(t *testing.T) {
	var file struct {
		Token  string
		Frames []json.RawMessage
	}
	readJSON(t, "testdata/socket-frames.json", &file)
	var execs []Exec
	var asks []DecisionRequest
	h := handler{
		exec: func(ctx context.Context, x Exec) ExecAnswer { execs = append(execs, x); return echo(ctx, x) },
		decide: func(_ context.Context, q DecisionRequest) (approval.Decision, bool) {
			asks = append(asks, q)
			return approval.AllowOnce, true
		},
	}
	first := int64(math.MaxInt64)
	for _, f := range file.Frames {
		var at struct{ TS int64 }
		if json.Unmarshal(f, &at); at.TS > 0 {
			first = min(first, at.TS)
		}
	}
	c := &clock{at: time.UnixMilli(first - 1)}
	o := testOptions(shortDir(t), h)
	o.Token, o.Now = func() string { return file.Token }, c.now
	s := serve(t, o)
	for i, f := range file.Frames {
		var at struct {
			ID string
			TS int64
		}
		if err := json.Unmarshal(f, &at); err != nil {
			t.Fatal(err)
		}
		if at.TS > 0 {
			c.set(time.UnixMilli(at.TS))
		}
		var line bytes.Buffer
		if err := json.Compact(&line, f); err != nil {
			t.Fatal(err)
		}
		p := connect(t, s)
		p.say(line.String() + "\n")
		p.CloseWrite() // as the real client does
		got := p.line()
		if !strings.Contains(got, `"ok":true`) && !strings.Contains(got, `"decision":"allow-once"`) || !strings.Contains(got, at.ID) {
			t.Errorf("frame %d: %q", i, got)
		}
	}
	if len(execs) == 0 || len(execs)+len(asks) != len(file.Frames) {
		t.Fatalf("%d exec and %d request of %d frames reached the handler", len(execs), len(asks), len(file.Frames))
	}
	r := execs[0].Request
	if r.Who != approval.Ours || r.ID != "" || r.Claim.Decision != approval.AllowOnce || r.Cwd != "/tmp" ||
		r.AgentID != "main" || r.SessionKey != "agent:main:main" || r.RawCommand != "/usr/bin/uname -s" ||
		!slices.Equal(r.Command, []string{"/usr/bin/uname", "-s"}) || len(execs[0].PolicySnapshot) == 0 {
		t.Errorf("first exec: %+v", execs[0])
	}
	q := asks[0].Request
	want := approval.Claim{Host: approval.HostGateway, Security: approval.SecurityList, Ask: approval.AskOnMiss, ResolvedPath: "/bin/echo"}
	if q.Who != approval.Theirs || q.Text != "echo hi" || q.Claim != want {
		t.Errorf("request: %+v", q)
	}
}

func TestAnswersByteForByte(t *testing.T) {
	three, oops := 3, ExecAnswer{Error: "cannot start"}
	refused := &Error{CodeUnavailable, "SYSTEM_RUN_DENIED: user denied", approval.ReasonUserDenied, nil, nil}
	for _, c := range []struct {
		answer any
		want   string
	}{
		{execReply("a", ExecAnswer{ExitCode: &three, Stdout: "<>&\n", Stderr: "e"}),
			`{"type":"exec-res","id":"a","ok":true,"payload":{"exitCode":3,"timedOut":false,"success":false,"stdout":"<>&\n","stderr":"e","error":null}}`},
		{execReply("a", oops),
			`{"type":"exec-res","id":"a","ok":true,"payload":{"exitCode":null,"timedOut":false,"success":false,"stdout":"","stderr":"","error":"cannot start"}}`},
		{execReply("a", ExecAnswer{Refused: refused}),
			`{"type":"exec-res","id":"a","ok":false,"error":{"code":"UNAVAILABLE","message":"SYSTEM_RUN_DENIED: user denied","reason":"user-denied"}}`},
		{callReply("a", CallAnswer{}), `{"type":"call-res","id":"a","ok":true,"payload":null}`},
		{callReply("a", CallAnswer{Payload: map[string]int{"n": 1}}), `{"type":"call-res","id":"a","ok":true,"payload":{"n":1}}`},
		{callReply("a", CallAnswer{Refused: refused}),
			`{"type":"call-res","id":"a","ok":false,"error":{"code":"UNAVAILABLE","message":"SYSTEM_RUN_DENIED: user denied","reason":"user-denied"}}`},
		{decisionReply{answerRequest, "a", approval.AllowAlways}, `{"type":"decision","id":"a","decision":"allow-always"}`},
	} {
		line, err := encodeLine(c.answer)
		if err != nil || string(line) != c.want+"\n" {
			t.Errorf("%s\nwant %s (%v)", line, c.want, err)
		}
	}
	line, _ := encodeLine(execReply("a", ExecAnswer{Stdout: "a\xffb"}))
	var back struct{ Payload struct{ Stdout string } }
	if err := json.Unmarshal(line, &back); err != nil || back.Payload.Stdout != "a\uFFFDb" {
		t.Errorf("broken UTF-8 became %q (%v)", back.Payload.Stdout, err)
	}
}

// Short names for what a hostile frame gets.
const (
	closed = ""
	deny   = `{"type":"decision","id":"i1","decision":"deny"}` + "\n"
)

func refusedAs(kind, code, message, reason string) string {
	return fmt.Sprintf(`{"type":%q,"id":"i1","ok":false,"error":{"code":%q,"message":%q,"reason":%q}}`+"\n", kind, code, message, reason)
}

func no(message, reason string) string { return refusedAs(answerExec, CodeInvalid, message, reason) }

// TestHostileFrames sends what no client of ours does, a line a case. None of
// them may reach the handler.
func TestHostileFrames(t *testing.T) {
	const good = `{"command":["ls"]}`
	var (
		payload = no("invalid payload", "json")
		auth    = no("invalid auth", "hmac")
		expired = no("expired request", "ttl")
		call    = func(message, reason string) string { return refusedAs(answerCall, CodeInvalid, message, reason) }
	)
	edit := func(field, text string) string { return execLine(good, [2]string{field, text}) }
	body := func(requestJSON string) string { return execLine(requestJSON) }
	at := func(off time.Duration) string {
		return signedLine(testToken, kindExec, good, nowMs()+off.Milliseconds())
	}
	ask := func(request string) string {
		return `{"type":"request","token":"` + testToken + `","id":"i1","request":` + request + `}`
	}
	for _, c := range []struct{ name, line, want string }{
		// the envelope
		{"blank line", ``, closed},
		{"not JSON", `hello`, closed},
		{"array", `[1]`, closed},
		{"two values", edit("id", `"i1"`) + ` {}`, closed},
		{"half an object", `{"type":"exec","id":"i1"`, closed},
		{"no type", edit("type", ""), closed},
		{"type null", edit("type", "null"), closed},
		{"unknown type", edit("type", `"execute"`), closed},
		{"type in capitals", edit("type", `"EXEC"`), closed},
		{"no id", edit("id", ""), closed},
		{"id a number", edit("id", "1"), closed},
		{"a name twice", `{"type":"exec","type":"exec","id":"i1"}`, closed},
		{"broken UTF-8", "{\"type\":\"exec\",\"id\":\"i1\xff\"}", closed},
		{"deeply nested", `{"type":"exec","id":"i1","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, closed},
		// ts
		{"no ts", edit("ts", ""), payload},
		{"ts text", edit("ts", `"5"`), payload},
		{"ts fraction", edit("ts", strconv.FormatInt(nowMs(), 10)+".0"), payload},
		{"ts exponent", edit("ts", "1.7e12"), payload},
		{"ts null", edit("ts", "null"), payload},
		{"ts zero", edit("ts", "0"), expired},
		{"ts negative", edit("ts", "-1"), expired},
		{"ts overflow", edit("ts", "99999999999999999999"), expired},
		{"ts largest", edit("ts", "9223372036854775807"), expired},
		{"ts smallest", edit("ts", "-9223372036854775808"), expired},
		{"ts old", at(-11 * time.Second), expired},
		{"ts ahead", at(time.Minute), expired},
		{"ts is checked before hmac", execLine(good, [2]string{"ts", "1"}, [2]string{"hmac", `"x"`}), expired},
		// hmac and nonce
		{"no hmac", edit("hmac", ""), auth},
		{"empty hmac", edit("hmac", `""`), auth},
		{"hmac a number", edit("hmac", "1"), payload},
		{"other key", signedLine("other", kindExec, good, nowMs()), auth},
		{"operator key for exec", signedLine(testKey, kindExec, good, nowMs()), auth},
		{"empty key", execLine(good, [2]string{"hmac", quote(sign([]byte{0}, "", "", ""))}), auth},
		{"other nonce", edit("nonce", `"aaaaaaaaaaaaaaaa"`), auth},
		{"no nonce", edit("nonce", ""), auth},
		{"other payload", edit("requestJson", `"{\"command\":[\"rm\"]}"`), auth},
		{"payload not a string", edit("requestJson", good), payload},
		// the payload
		{"payload no JSON", body(`ls`), payload},
		{"payload array", body(`["ls"]`), payload},
		{"payload null", body(`null`), payload},
		{"payload with a tail", body(good + "x"), payload},
		{"payload name twice", body(`{"command":["ls"],"command":["rm"]}`), payload},
		{"command text", body(`{"command":"ls"}`), payload},
		{"command with null", body(`{"command":["ls",null]}`), payload},
		{"command with number", body(`{"command":["ls",1]}`), payload},
		{"cwd number", body(`{"command":["ls"],"cwd":1}`), payload},
		{"env list", body(`{"command":["ls"],"env":[]}`), payload},
		{"env null value", body(`{"command":["ls"],"env":{"A":null}}`), payload},
		{"env name twice", body(`{"command":["ls"],"env":{"A":"1","A":"2"}}`), payload},
		{"timeout text", body(`{"command":["ls"],"timeoutMs":"1"}`), payload},
		{"timeout fraction", body(`{"command":["ls"],"timeoutMs":1.5}`), payload},
		{"timeout negative", body(`{"command":["ls"],"timeoutMs":-1}`), payload},
		{"deadline zero", body(`{"command":["ls"],"deadlineMs":0}`), payload},
		{"background text", body(`{"command":["ls"],"background":"yes"}`), payload},
		{"screen text", body(`{"command":["ls"],"needsScreenRecording":"no"}`), payload},
		{"agent number", body(`{"command":["ls"],"agentId":1}`), payload},
		{"decision unknown", body(`{"command":["ls"],"approvalDecision":"allow"}`), payload},
		{"decision in capitals", body(`{"command":["ls"],"approvalDecision":"Allow-Once"}`), payload},
		{"decision empty", body(`{"command":["ls"],"approvalDecision":""}`), payload},
		{"snapshot text", body(`{"command":["ls"],"policySnapshot":"x"}`), payload},
		// what has the right types and means nothing
		{"no command", body(`{}`), no("command required", "invalid")},
		{"name in capitals", body(`{"Command":["ls"]}`), no("command required", "invalid")},
		{"command null", body(`{"command":null}`), no("command required", "invalid")},
		{"command empty", body(`{"command":[]}`), no("command required", "invalid")},
		{"blank around", body(`{"command":[" ls"]}`), no("executable has surrounding whitespace", "invalid")},
		{"source unknown", body(`{"command":["ls"],"approvalSource":"me"}`), no("approvalSource invalid", "invalid")},
		{"source and approval", body(`{"command":["ls"],"approvalSource":"ask-fallback","approvalDecision":"allow-once","policySnapshot":{}}`),
			no("approvalSource cannot be combined with explicit approval", "invalid")},
		{"approval without snapshot", body(`{"command":["ls"],"approvalDecision":"allow-once"}`),
			no("delayed approval requires a prepared policy snapshot", "invalid")},
		{"review without snapshot", body(`{"command":["ls"],"approvalSource":"auto-review","policySnapshot":null}`),
			no("delayed approval requires a prepared policy snapshot", "invalid")},
		// request
		{"request, wrong token", strings.Replace(ask(`{"command":"ls"}`), testToken, "other", 1), deny},
		{"request, empty token", strings.Replace(ask(`{"command":"ls"}`), testToken, "", 1), deny},
		{"request, no token", `{"type":"request","id":"i1","request":{"command":"ls"}}`, deny},
		{"request, token a number", `{"type":"request","id":"i1","token":1,"request":{"command":"ls"}}`, deny},
		{"request, operator key", strings.Replace(ask(`{"command":"ls"}`), testToken, testKey, 1), deny},
		{"request, nothing", `{"type":"request","token":"` + testToken + `","id":"i1"}`, deny},
		{"request, no command", ask(`{}`), deny},
		{"request, command list", ask(`{"command":["ls"]}`), deny},
		{"request, command empty", ask(`{"command":""}`), deny},
		{"request, host unknown", ask(`{"command":"ls","host":"mars"}`), deny},
		{"request, security unknown", ask(`{"command":"ls","security":"none"}`), deny},
		{"request, ask unknown", ask(`{"command":"ls","ask":"never"}`), deny},
		{"request, choices text", ask(`{"command":"ls","allowedDecisions":"deny"}`), deny},
		// call
		{"call, wrong key", signedLine("other", kindCall, `{"method":"status"}`, nowMs()), call("invalid auth", "hmac")},
		{"call, no JSON", signedLine(testToken, kindCall, `status`, nowMs()), call("invalid payload", "json")},
		{"call, no method", signedLine(testToken, kindCall, `{}`, nowMs()), call("unknown method", "invalid")},
		{"call, unknown method", signedLine(testKey, kindCall, `{"method":"rm"}`, nowMs()), call("unknown method", "invalid")},
		{"call, token may not operate", signedLine(testToken, kindCall, `{"method":"pending.answer"}`, nowMs()), call("invalid auth", "hmac")},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, forbidden(t), startedEarlier)
			if got := connect(t, s).ask(c.line); got != c.want {
				t.Errorf("%s\ngot  %swant %s", c.line[:min(len(c.line), 300)], got, c.want)
			}
		})
	}
}

// forbidden fails the test when anything reaches it.
func forbidden(t *testing.T) Handler {
	return handler{
		exec: func(ctx context.Context, x Exec) ExecAnswer { t.Errorf("exec ran: %+v", x); return echo(ctx, x) },
		decide: func(_ context.Context, q DecisionRequest) (approval.Decision, bool) {
			t.Errorf("decide ran: %+v", q)
			return approval.AllowOnce, true
		},
		call: func(_ context.Context, c Call) CallAnswer { t.Errorf("call ran: %+v", c); return CallAnswer{} },
	}
}

func TestTwoSecrets(t *testing.T) {
	for _, c := range []struct{ name, token, key, line, want string }{
		{"no key, no operator", testToken, "", signedLine("", kindCall, `{"method":"stop"}`, nowMs()), "invalid auth"},
		{"no key, HMAC with an empty one", testToken, "", signedLine(testToken, kindCall, `{"method":"stop"}`, nowMs(),
			[2]string{"hmac", `""`}), "invalid auth"},
		{"key equal to token is none", testToken, testToken, signedLine(testToken, kindCall, `{"method":"stop"}`, nowMs()), "invalid auth"},
		{"token gone", "", testKey, execLine(`{"command":["ls"]}`), "invalid auth"},
		{"token gone, request with none", "", testKey, `{"type":"request","id":"i1","token":"","request":{"command":"ls"}}`, `"deny"`},
		{"token changed", "new", testKey, execLine(`{"command":["ls"]}`), "invalid auth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := testOptions(shortDir(t), forbidden(t))
			token := "at start"
			o.Token = func() string { return token }
			o.OperatorKey = func() []byte { return []byte(c.key) }
			s := serve(t, o, startedEarlier)
			token = c.token // read for each frame; written before the first
			if got := connect(t, s).ask(c.line); !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// Our own process stands at its own door, so the table of methods can be
// tried from here with both credentials.
func TestMethods(t *testing.T) {
	var got Call
	s := start(t, handler{call: func(_ context.Context, c Call) CallAnswer { got = c; return CallAnswer{Payload: c.Method} }})
	c := dialServer(t, s)
	for method, needs := range methods {
		if method == MethodAskers {
			continue // TestAskers
		}
		for name, key := range map[string]string{"token": testToken, "key": testKey} {
			var back string
			err := c.Call(t.Context(), []byte(key), method, map[string]int{"n": 1}, &back)
			if needs == byKey && key == testToken {
				if e, ok := err.(*Error); !ok || e.Reason != reasonHMAC {
					t.Errorf("%s with %s: %v", method, name, err)
				}
				s.callers.mu.Lock() // so many refusals would shut us out
				for _, k := range s.callers.known {
					k.failures = nil
				}
				s.callers.mu.Unlock()
				continue
			}
			if err != nil || back != method || got.Operator != (key == testKey) || string(got.Params) != `{"n":1}` {
				t.Errorf("%s with %s: %v, %+v", method, name, err, got)
			}
		}
	}
}

func TestTTLEdges(t *testing.T) {
	start := time.UnixMilli(1_000_000)
	now := start.Add(time.Minute)
	for _, c := range []struct {
		ts   int64
		want bool
	}{
		{now.UnixMilli(), true},
		{now.UnixMilli() - 10_000, true},
		{now.UnixMilli() - 10_001, false},
		{now.UnixMilli() + 10_000, true},
		{now.UnixMilli() + 10_001, false},
		{math.MaxInt64, false},
		{math.MinInt64, false},
	} {
		if got := fresh(strconv.FormatInt(c.ts, 10), now, start); got != c.want {
			t.Errorf("%d: %v", c.ts-now.UnixMilli(), got)
		}
	}
	for off, want := range map[int64]bool{-1: false, 0: false, 1: true} {
		if got := fresh(strconv.FormatInt(start.UnixMilli()+off, 10), start, start); got != want {
			t.Errorf("%d ms after the start: %v", off, got)
		}
	}
}

func TestGoodNonce(t *testing.T) {
	for nonce, want := range map[string]bool{
		"00112233445566778899aabbccddeeff": true,
		"abc-_XYZ":                         true,
		"abcdefg":                          false,
		"":                                 false,
		"12345678:":                        false,
		"1234 678":                         false,
		"1234567é":                         false,
		"1234567\n":                        false,
		strings.Repeat("a", 128):           true,
		strings.Repeat("a", 129):           false,
	} {
		if goodNonce(nonce) != want {
			t.Errorf("%q: want %v", nonce, want)
		}
	}
}

func TestNoncesAreKeptAndForgotten(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	n := nonces{max: 2}
	steps := []struct {
		nonce string
		after time.Duration
		want  bool
	}{
		{"a", 0, true}, {"a", 0, false}, {"b", time.Second, true},
		{"c", 2 * time.Second, false}, // full: refused, and nothing is forgotten for it
		{"a", 20 * time.Second, false},
		{"c", 20*time.Second + 1, true}, // "a" is over
		{"b", 20*time.Second + 1, false},
		{"a", time.Minute, true},
	}
	for i, s := range steps {
		if got := n.take(s.nonce, now.Add(s.after)); got != s.want {
			t.Errorf("step %d, %q after %v: %v", i, s.nonce, s.after, got)
		}
	}
}

func TestReplay(t *testing.T) {
	s := start(t, handler{exec: echo})
	p := connect(t, s)
	line := execLine(`{"command":["ls"]}`)
	bad := strings.Replace(line, `"hmac":"`, `"hmac":"0`, 1)
	if got := p.ask(bad); !strings.Contains(got, "invalid auth") {
		t.Errorf("bad hmac: %s", got)
	}
	if got := p.ask(line); !strings.Contains(got, `"ok":true`) {
		t.Errorf("a wrong HMAC used up the nonce: %s", got)
	}
	for _, q := range []raw{p, connect(t, s)} {
		if got := q.ask(line); got != no("expired request", "replay") {
			t.Errorf("replay: %s", got)
		}
	}
}

func TestRestartForgetsNothing(t *testing.T) {
	o := testOptions(shortDir(t), handler{exec: echo})
	line := execLine(`{"command":["ls"]}`)
	time.Sleep(2 * time.Millisecond)
	s := serve(t, o)
	if got := connect(t, s).ask(line); got != no("expired request", "ttl") {
		t.Errorf("signed before the start: %s", got)
	}
}

func TestExecWords(t *testing.T) {
	x := Exec{
		Request: approval.Request{
			Command: []string{"/bin/echo", "zażółć 🦞", "<&>", ""}, RawCommand: "raw", Who: approval.Ours, Cwd: "/tmp",
			Env: map[string]string{"A": "1", "B": ""}, Timeout: 1500 * time.Millisecond, Background: true,
			NeedsScreenRecording: true, AgentID: "main", SessionKey: "agent:main:main",
			Deadline: time.UnixMilli(1795160802216),
			Claim:    approval.Claim{Decision: approval.AllowOnce, Security: approval.SecurityList, Ask: approval.AskAlways, Gateway: "gw:1"},
		},
		PolicySnapshot: json.RawMessage(`{"security":"allowlist"}`), Progress: true,
	}
	for _, want := range []Exec{x, {Request: approval.Request{Command: []string{"ls"}, Who: approval.Ours}}} {
		text, err := encodeExec(want)
		if err != nil {
			t.Fatal(err)
		}
		got, e := decodeExec(text)
		if e != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n%s", text, e, cmp.Diff(want, got))
		}
	}
	// As the real client writes it, byte for byte.
	var file struct {
		Frames []struct{ RequestJSON string }
	}
	readJSON(t, "testdata/socket-frames.json", &file)
	for _, f := range file.Frames {
		if f.RequestJSON == "" {
			continue
		}
		x, e := decodeExec(f.RequestJSON)
		if e != nil {
			t.Fatal(e)
		}
		if text, err := encodeExec(x); err != nil || text != f.RequestJSON {
			t.Errorf("%v\ngot  %s\nwant %s", err, text, f.RequestJSON)
		}
	}
}

func TestLenientWhereTheProtocolIs(t *testing.T) {
	x, e := decodeExec(`{"command":["ls"],"rawCommand":null,"cwd":null,"env":null,"timeoutMs":9223372036854775807,
		"needsScreenRecording":null,"agentId":null,"sessionKey":null,"approvalDecision":null,"approvalSource":null,
		"policySnapshot":null,"deadlineMs":null,"background":null,"unknown":{"a":[1]}}`)
	if e != nil || x.Request.Timeout < 24*time.Hour || !x.Request.Deadline.IsZero() || x.PolicySnapshot != nil {
		t.Errorf("%v: %+v", e, x)
	}
	for _, text := range []string{
		`{"command":["ls"],"approvalDecision":"deny"}`,
		`{"command":["ls"],"approvalDecision":"deny","approvalSource":"ask-fallback"}`,
		`{"command":["ls"],"approvalSource":"ask-fallback"}`,
		`{"command":["ls"],"approvalSource":"auto-review","policySnapshot":{}}`,
	} {
		if _, e := decodeExec(text); e != nil {
			t.Errorf("%s: %v", text, e)
		}
	}
	q, err := decodeRequest(json.RawMessage(`{"command":"ls","host":null,"ask":null,"allowedDecisions":["allow-once","later","deny"],"x":1}`))
	if err != nil || !slices.Equal(q.Allowed, []approval.Decision{approval.AllowOnce, approval.DecisionDeny}) {
		t.Errorf("%v: %+v", err, q)
	}
}

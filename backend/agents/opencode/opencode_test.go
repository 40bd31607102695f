package opencode

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// decider decides in the place of a host and its people.
type decider func(ctx context.Context, call approval.ToolCall) (approval.Outcome, error)

var (
	yes    = approval.Outcome{Verdict: approval.VerdictAllow}
	no     = approval.Outcome{Verdict: approval.VerdictDeny, Receipt: approval.Receipt{Reason: approval.ReasonUserDenied, Message: "A person said no."}}
	nobody = approval.Outcome{Verdict: approval.VerdictDeny, Receipt: approval.Receipt{Reason: approval.ReasonPromptExpired}}
)

// only leaves out whose server it is.
func (d decider) only(ctx context.Context, call approval.ToolCall, _ []proc.ID) (approval.Outcome, error) {
	return d(ctx, call)
}

func always(o approval.Outcome) decider {
	return func(context.Context, approval.ToolCall) (approval.Outcome, error) { return o, nil }
}

// follows has a server followed until the test ends or stop is called, and waits
// until it is. stop returns the log.
func follows(t *testing.T, s *fake, decide decider) (stop func() string) {
	t.Helper()
	var log bytes.Buffer
	f, err := newFollower(Options{
		URL: "http://" + s.address, Password: s.password, Decide: decide.only, Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	f.pace = pace{time.Millisecond, 10 * time.Millisecond, 5 * time.Millisecond}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.run(ctx)
	}()
	s.idle = func() bool {
		f.asks.mu.Lock()
		defer f.asks.mu.Unlock()
		return len(f.asks.open) == 0
	}
	stop = func() string {
		cancel()
		<-done
		return log.String()
	}
	t.Cleanup(func() { stop() })
	s.opened()
	return stop
}

func (s *fake) opened() {
	s.t.Helper()
	select {
	case <-s.joined:
	case <-time.After(20 * time.Second):
		s.t.Fatal("nobody follows the server")
	}
}

// TestReply: each generation of requests has its own reply, and each decision
// its word.
func TestReply(t *testing.T) {
	rest := `"sessionID":"ses_1","metadata":{"command":"git push"}`
	first := `{"id":"per_1",` + rest + `,"permission":"bash","patterns":["git push"],"always":["git push *"]}`
	second := `{"id":"per_1",` + rest + `,"action":"bash","resources":["git push"],"save":["git push *"]}`
	older := `{"id":"per_1",` + rest + `,"type":"bash","title":"git push","messageID":"msg_1","callID":"call_1"}`
	good := yes
	good.Always = true
	for _, c := range []struct {
		name, event, request string
		o                    approval.Outcome
		want                 reply
	}{
		{"once", "permission.asked", first, yes, reply{"/permission/per_1/reply", "directory=%2Fhome%2Fann%2Fapp", `{"reply":"once"}`}},
		{"no", "permission.asked", first, no, reply{"/permission/per_1/reply", "directory=%2Fhome%2Fann%2Fapp", `{"message":"A person said no.","reply":"reject"}`}},
		{"for good lets no more pass than that", "permission.asked", first, good, reply{"/permission/per_1/reply", "directory=%2Fhome%2Fann%2Fapp", `{"reply":"once"}`}},
		{"second generation", "permission.v2.asked", second, yes, reply{"/api/session/ses_1/permission/per_1/reply", "", `{"reply":"once"}`}},
		{"second generation, no", "permission.v2.asked", second, no, reply{"/api/session/ses_1/permission/per_1/reply", "", `{"message":"A person said no.","reply":"reject"}`}},
		{"older", "permission.updated", older, yes, reply{"/session/ses_1/permissions/per_1", "directory=%2Fhome%2Fann%2Fapp", `{"response":"once"}`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFake(t)
			follows(t, s, always(c.o))
			s.wait("per_1", c.request)
			s.event(folder, c.event, c.request)
			got := s.next()
			if got.body = strings.TrimSpace(got.body); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// TestCall: what is decided is the call as opencode keeps it, and not the little
// that the request tells.
func TestCall(t *testing.T) {
	tool := `,"tool":{"messageID":"msg_1","callID":"call_1"}}`
	running := func(tool, input string) []string { return []string{toolPart("call_1", tool, "running", input)} }
	request := func(permission, metadata string) string {
		return `{"id":"per_1","sessionID":"ses_1","permission":"` + permission + `","patterns":["*"],"metadata":` + metadata + `,"always":["*"]` + tool
	}
	for _, c := range []struct {
		name, request string
		parts         []string
		want          string // "" stays pending
	}{
		{"the folder of a command", request("bash", `{"command":"ls"}`), running("bash", `{"command":"ls","workdir":"/srv"}`), `bash_execute {"command":"ls"} in /srv`},
		{"the arguments of an MCP tool", request("demo_shout", `{}`), running("demo_shout", `{"text":"hi"}`), `demo_shout {"text":"hi"} in /home/ann/app`},
		{"a call that is written down later", request("demo_shout", `{}`), append([]string{toolPart("call_1", "demo_shout", "pending", `{}`)}, running("demo_shout", `{"text":"hi"}`)...), `demo_shout {"text":"hi"} in /home/ann/app`},
		{"a call among others", request("demo_shout", `{}`), []string{toolPart("call_0", "demo_shout", "running", `{"text":"no"}`) + "," + toolPart("call_1", "demo_shout", "running", `{"text":"hi"}`)}, `demo_shout {"text":"hi"} in /home/ann/app`},
		{"a command whose message is gone", request("bash", `{"command":"ls"}`), nil, `bash_execute {"command":"ls"} in /home/ann/app`},
		{"an MCP tool whose message is gone", request("demo_shout", `{}`), nil, ""},
		{"a request that puts a call into itself", strings.Replace(request("demo_shout", `{}`), `"id"`, `"call":{"tool":"demo_shout","input":{}},"directory":"/","id"`, 1), nil, ""},
		{"another command than that of the call", request("bash", `{"command":"rm -rf x"}`), running("bash", `{"command":"ls"}`), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFake(t)
			calls := make(chan string, 10)
			follows(t, s, func(_ context.Context, call approval.ToolCall) (approval.Outcome, error) {
				calls <- fmt.Sprintf("%s %s in %s", call.Tool, call.Args, call.Cwd)
				return yes, nil
			})
			s.keeps("msg_1", c.parts...)
			s.asks("per_1", c.request)
			if c.want != "" {
				s.next()
			} else {
				s.none()
			}
			if got := <-calls; got != c.want && c.want != "" || c.want == "" && !strings.Contains(got, `"true"`) {
				t.Errorf("decided: %s, want %s", got, c.want)
			}
		})
	}
}

// TestAnsweredElsewhere: an answer in opencode's own window withdraws ours, and
// nothing is sent after it.
func TestAnsweredElsewhere(t *testing.T) {
	s := newFake(t)
	asked, withdrawn := make(chan struct{}), make(chan struct{})
	follows(t, s, func(ctx context.Context, call approval.ToolCall) (approval.Outcome, error) {
		if !strings.Contains(string(call.Args), "slow") {
			return yes, nil
		}
		close(asked)
		<-ctx.Done()
		close(withdrawn)
		return yes, nil // too late
	})
	s.asks("per_1", bashRequest("per_1", "slow"))
	<-asked
	s.person("per_1")
	<-withdrawn
	s.none()
}

// TestOnce: a request is decided and answered once, however often it is told of.
func TestOnce(t *testing.T) {
	s := newFake(t)
	s.wait("per_1", bashRequest("per_1", "one"))
	var mu sync.Mutex
	decided := []string{}
	follows(t, s, func(_ context.Context, call approval.ToolCall) (approval.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		decided = append(decided, string(call.Args))
		return yes, nil
	})
	for range 20 {
		s.event(folder, "permission.asked", bashRequest("per_1", "one"))
	}
	if r := s.next(); r.path != "/permission/per_1/reply" {
		t.Errorf("%+v", r)
	}
	for range 20 {
		s.event(folder, "permission.asked", bashRequest("per_1", "one"))
	}
	s.none()
	mu.Lock()
	defer mu.Unlock()
	if diff := cmp.Diff([]string{`{"command":"one"}`, `{"command":"true"}`}, decided); diff != "" {
		t.Error(diff)
	}
}

// TestAsks: who takes a request out is the only one who answers it.
func TestAsks(t *testing.T) {
	hold := make(chan struct{})
	put := func(a *asks) (own context.Context) {
		got := make(chan context.Context)
		a.put(context.Background(), request{id: "per_1"}, func(_, own context.Context) {
			got <- own
			<-hold
		})
		return <-got
	}
	withdrawn, answered := newAsks(), newAsks()
	own := put(withdrawn)
	if withdrawn.withdraw("per_1"); own.Err() == nil || withdrawn.answered("per_1") {
		t.Error("a request is answered after it was withdrawn")
	}
	own = put(answered)
	if !answered.answered("per_1") || answered.answered("per_1") {
		t.Error("a request is not answered once")
	}
	if answered.withdraw("per_1"); own.Err() != nil {
		t.Error("the reply to a request is given up because it arrived")
	}
	close(hold)
	withdrawn.wait()
	answered.wait()
	again := func(context.Context, context.Context) { t.Error("a request that is done is put again") }
	withdrawn.put(context.Background(), request{id: "per_1"}, again)
	answered.put(context.Background(), request{id: "per_1"}, again)
	withdrawn.wait()
	answered.wait()
}

// TestTwoAtOnce: each answer belongs to its own request, in whatever order they
// come.
func TestTwoAtOnce(t *testing.T) {
	s := newFake(t)
	both, second := make(chan string, 2), make(chan struct{})
	follows(t, s, func(_ context.Context, call approval.ToolCall) (approval.Outcome, error) {
		both <- string(call.Args)
		if strings.Contains(string(call.Args), "first") {
			<-second // it is answered after the other
			return no, nil
		}
		return yes, nil
	})
	s.asks("per_1", bashRequest("per_1", "first"))
	s.asks("per_2", bashRequest("per_2", "second"))
	<-both
	<-both
	if r := s.next(); r.path != "/permission/per_2/reply" || !strings.Contains(r.body, "once") {
		t.Errorf("%+v", r)
	}
	close(second)
	if r := s.next(); r.path != "/permission/per_1/reply" || !strings.Contains(r.body, "reject") {
		t.Errorf("%+v", r)
	}
}

// TestDeadServer: what was being decided is given up with the connection, and
// decided again when the server is back.
func TestDeadServer(t *testing.T) {
	s := newFake(t)
	asked, ended := make(chan struct{}, 10), make(chan struct{}, 10)
	var back sync.Once
	follows(t, s, func(ctx context.Context, call approval.ToolCall) (o approval.Outcome, err error) {
		o = yes
		back.Do(func() {
			asked <- struct{}{}
			<-ctx.Done()
			ended <- struct{}{}
			o, err = approval.Outcome{}, ctx.Err()
		})
		return o, err
	})
	s.asks("per_1", bashRequest("per_1", "ls"))
	<-asked
	s.stop()
	<-ended
	s.listen(s.address)
	s.opened()
	if r := s.next(); r.path != "/permission/per_1/reply" {
		t.Errorf("%+v", r)
	}
	s.none()
}

// TestUndecided: without a decision nothing is sent, and nobody is asked twice.
func TestUndecided(t *testing.T) {
	for name, o := range map[string]approval.Outcome{
		"nobody": nobody, "still asked": {Verdict: approval.VerdictAsk}, "nothing": {}, "what is not known": {Verdict: "perhaps", Always: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFake(t)
			var times atomic.Int32
			follows(t, s, func(_ context.Context, call approval.ToolCall) (approval.Outcome, error) {
				if strings.Contains(string(call.Args), "open") {
					times.Add(1)
					return o, nil
				}
				return yes, nil
			})
			s.asks("per_1", bashRequest("per_1", "open"))
			s.none()
			s.asks("per_1", bashRequest("per_1", "open"))
			s.event(folder, "permission.asked", bashRequest("per_end", "true"))
			s.next()
			if n := times.Load(); n != 1 {
				t.Errorf("it was put %d times", n)
			}
		})
	}
}

// TestAgain: what could not be decided, or whose reply did not arrive, is tried
// again.
func TestAgain(t *testing.T) {
	s := newFake(t)
	var mu sync.Mutex
	fails := []approval.Reason{"", "", approval.ReasonApprovalCancelled, approval.ReasonRateLimited, approval.ReasonCompanion}
	follows(t, s, func(context.Context, approval.ToolCall) (approval.Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(fails) == 0 {
			return yes, nil
		}
		why := fails[0]
		if fails = fails[1:]; why == "" {
			return approval.Outcome{}, errors.New("no host is running here")
		}
		return approval.Outcome{Verdict: approval.VerdictDeny, Receipt: approval.Receipt{Reason: why}}, nil
	})
	s.asks("per_1", bashRequest("per_1", "ls"))
	if r := s.next(); r.path != "/permission/per_1/reply" {
		t.Errorf("%+v", r)
	}
	s.mu.Lock()
	s.refuse = http.StatusInternalServerError
	s.mu.Unlock()
	s.asks("per_2", bashRequest("per_2", "ls"))
	for range 2 {
		if r := s.next(); r.path != "/permission/per_2/reply" {
			t.Errorf("%+v", r)
		}
	}
}

// TestWaiting: what waits at the start is found, in both generations.
func TestWaiting(t *testing.T) {
	s := newFake(t)
	s.wait("per_1", bashRequest("per_1", "ls"))
	s.second["per_2"] = `{"id":"per_2","sessionID":"ses_1","action":"bash","resources":["ls"],"metadata":{"command":"ls"}}`
	follows(t, s, always(yes))
	got := []string{s.next().path, s.next().path}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"/api/session/ses_1/permission/per_2/reply", "/permission/per_1/reply"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestMany: no more than maxAsked are decided at once, and the rest later.
func TestMany(t *testing.T) {
	s := newFake(t)
	const all = maxAsked + 30
	for i := range all {
		id := fmt.Sprintf("per_%d", i)
		s.wait(id, bashRequest(id, "ls"))
	}
	var mu sync.Mutex
	now, most := 0, 0
	full, open := make(chan struct{}), make(chan struct{})
	once := sync.OnceFunc(func() { close(full) })
	follows(t, s, func(context.Context, approval.ToolCall) (approval.Outcome, error) {
		mu.Lock()
		now++
		if most = max(most, now); now == maxAsked {
			once()
		}
		mu.Unlock()
		<-open
		mu.Lock()
		now--
		mu.Unlock()
		return yes, nil
	})
	<-full
	close(open)
	seen := map[string]bool{}
	for range all {
		seen[s.next().path] = true
	}
	if len(seen) != all || most > maxAsked {
		t.Errorf("%d of %d were answered, %d at once", len(seen), all, most)
	}
}

// TestGarbage: events that cannot be read are left out, and those behind them
// are not.
func TestGarbage(t *testing.T) {
	huge := bashRequest("per_huge", strings.Repeat("x", maxEvent))
	for name, text := range map[string]string{
		"no JSON":              "data: {\n\n",
		"another type":         "data: 7\n\n",
		"no data":              "event: x\nid: 1\nretry: 5\n: comment\n\n\n\n",
		"not UTF-8":            "data: \xff\xfe\x00\n\n",
		"deep":                 "data: " + strings.Repeat("[", 200_000) + "\n\n",
		"one line too large":   "data: {\"directory\":\"/home/ann/app\",\"payload\":{\"type\":\"permission.asked\",\"properties\":" + huge + "}}\n\n",
		"many lines too large": "data: {\"directory\":\"/home/ann/app\",\"payload\":{\"type\":\"permission.asked\",\"properties\":" + bashRequest("per_huge", "ls") + "}}\n" + strings.Repeat("data: "+strings.Repeat(" ", 1000)+"\n", 1200) + "\n",
		"a request of nobody":  "data: {\"directory\":\"/home/ann/app\",\"payload\":{\"type\":\"permission.asked\",\"properties\":{}}}\n\n",
		"ids that lead away":   "data: {\"directory\":\"/home/ann/app\",\"payload\":{\"type\":\"permission.asked\",\"properties\":" + strings.Replace(bashRequest("../../x", "ls"), "ses_1", "..", 1) + "}}\n\n",
		"ids of another type":  "data: {\"directory\":\"/home/ann/app\",\"payload\":{\"type\":\"permission.asked\",\"properties\":{\"id\":[1],\"sessionID\":{}}}}\n\n",
		"a reply to nothing":   "data: {\"payload\":{\"type\":\"permission.replied\",\"properties\":{\"requestID\":7}}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := newFake(t)
			follows(t, s, always(yes))
			s.raw(text)
			s.none()
		})
	}
}

// TestLines: a line without end takes no room, and what follows it is read.
func TestLines(t *testing.T) {
	text := "short\n" + strings.Repeat("x", 300_000) + "\n\nlast\r\nno end"
	r := bufio.NewReaderSize(strings.NewReader(text), 64<<10)
	var got []string
	for {
		line, long, err := readLine(r, 100_000)
		if err != nil {
			break
		}
		got = append(got, fmt.Sprint(string(line), " ", long))
	}
	if diff := cmp.Diff([]string{"short false", " true", " false", "last false"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestURL: only a server of this machine is followed.
func TestURL(t *testing.T) {
	opt := Options{Decide: always(yes).only, Log: slog.New(slog.DiscardHandler)}
	for text, ok := range map[string]bool{
		"http://127.0.0.1:4096": true, "http://127.0.0.1:4096/": true, "http://[::1]:4096": true, "http://localhost:4096": true,
		"https://127.0.0.1:4096": false, "http://192.168.1.2:4096": false, "http://example.com": false, "http://localhost.example.com": false,
		"http://0.0.0.0:4096": false, "http://127.0.0.1:4096/x": false, "http://a:b@127.0.0.1:4096": false, "http://127.0.0.1?x=1": false,
		"127.0.0.1:4096": false, "unix:///tmp/x": false, "": false, "http://": false, "http://[::ffff:10.0.0.1]": false, "http://127.0.0.1:4096#x": false,
	} {
		opt.URL = text
		if _, err := newFollower(opt); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPassword: the server's password is sent to it, and said in no log.
func TestPassword(t *testing.T) {
	s := newFake(t)
	s.password = "hunter2-hunter2"
	stop := follows(t, s, always(yes))
	s.asks("per_1", bashRequest("per_1", "ls"))
	s.next()
	if log := stop(); strings.Contains(log, s.password) {
		t.Errorf("the password is in the log: %s", log)
	}
	f, err := newFollower(Options{URL: "http://" + s.address, Password: "wrong", Log: slog.New(slog.DiscardHandler), Decide: always(yes).only})
	if err != nil {
		t.Fatal(err)
	}
	if connected, err := f.follow(context.Background()); connected || err == nil || !strings.Contains(err.Error(), "OPENCODE_SERVER_PASSWORD") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("%v, %v", connected, err)
	}
}

// TestNoOpencode: what is no opencode is not followed, and leads nowhere else.
func TestNoOpencode(t *testing.T) {
	other := newFake(t)
	for name, h := range map[string]http.HandlerFunc{
		"a page":   func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Content-Type", "text/html") },
		"an error": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"a redirection": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+other.address+r.URL.Path, http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(h)
			defer s.Close()
			f, err := newFollower(Options{URL: s.URL, Log: slog.New(slog.DiscardHandler), Decide: always(yes).only})
			if err != nil {
				t.Fatal(err)
			}
			if connected, err := f.follow(context.Background()); connected || err == nil {
				t.Errorf("%v, %v", connected, err)
			}
		})
	}
	select {
	case <-other.joined:
		t.Error("the redirection was followed")
	default:
	}
}

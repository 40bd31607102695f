//go:build linux || darwin

package node

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/paths"
)

// patience is how long a test waits before it gives up.
const patience = time.Minute

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// gateway is a scripted one: it lets every node in and keeps what it is told.
type gateway struct {
	t      *testing.T
	http   *httptest.Server
	joined chan *member
	told   chan string // events of nodes, as "name run reason|code"
	states chan string // progress, as "invocation number state"

	mu      sync.Mutex
	results map[string]chan reply
	began   map[string]int // runs that started and did not end
	refuse  *link.Error    // what a connect is answered
	// escalated are the questions that nodes put to operators.
	escalated chan link.Request
	// pulls are the requests of nodes for its policy.
	pulls chan link.Request
	deaf  bool // nothing is acknowledged
}

// member is a node that joined.
type member struct {
	*gateway
	conn *link.Conn
	id   string
	name string
}

func newGateway(t *testing.T) *gateway {
	g := &gateway{t: t, joined: make(chan *member, 16), told: make(chan string, 20_000), states: make(chan string, 20_000),
		escalated: make(chan link.Request, 100), pulls: make(chan link.Request, 100), results: map[string]chan reply{}, began: map[string]int{}}
	g.http = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, c, err := link.Accept(w, r, func(*link.Connect) (*link.Hello, *link.Error) {
			g.mu.Lock()
			defer g.mu.Unlock()
			return &link.Hello{Auth: link.Granted{DeviceToken: "given", Role: link.RoleNode}}, g.refuse
		})
		if err != nil {
			return
		}
		m := &member{g, conn, c.Device.ID, c.Client.DisplayName}
		g.joined <- m
		conn.Serve(r.Context(), m)
	}))
	t.Cleanup(g.http.Close)
	return g
}

func (g *gateway) url() string { return "ws" + strings.TrimPrefix(g.http.URL, "http") }

func (m *member) Event(link.Event) {}

func (m *member) Request(r link.Request) {
	m.mu.Lock()
	deaf := m.deaf
	m.mu.Unlock()
	if deaf {
		return
	}
	switch r.Method {
	case "node.invoke.result":
		var got reply
		must(m.t, json.Unmarshal(r.Params, &got))
		m.mu.Lock()
		if result := m.results[got.ID]; result != nil {
			result <- got
		}
		m.mu.Unlock()
	case "node.invoke.progress":
		var p struct {
			InvokeID string
			Seq      int
			Chunk    string
		}
		must(m.t, json.Unmarshal(r.Params, &p))
		m.states <- fmt.Sprint(p.InvokeID, " ", p.Seq, " ", p.Chunk)
	case "node.approval.request":
		m.escalated <- r
		return
	case "policy.pull":
		select {
		case m.pulls <- r:
		default: // nobody of this test answers
		}
		return
	case "node.event":
		var e struct {
			Event   string
			Payload execEvent
		}
		must(m.t, json.Unmarshal(r.Params, &e))
		if e.Event == "exec.started" {
			m.mu.Lock()
			m.began[e.Payload.RunID]++
			m.mu.Unlock()
			break
		}
		m.mu.Lock()
		if ran := e.Event == "exec.finished"; e.Payload.Host != "" && ran == (m.began[e.Payload.RunID] == 0) {
			m.t.Error(e.Event, " of ", e.Payload.RunID, " and started: ", m.began[e.Payload.RunID])
		} else if ran {
			m.began[e.Payload.RunID]--
		}
		m.mu.Unlock()
		what := e.Payload.Reason
		if e.Payload.ExitCode != nil {
			what = fmt.Sprint(*e.Payload.ExitCode, " ", e.Payload.Output)
		}
		m.told <- fmt.Sprint(e.Event, " ", e.Payload.RunID, " ", what)
	}
	go m.conn.Reply(m.t.Context(), r.ID, map[string]bool{"ok": true}, nil)
}

// send sends an invocation without waiting for it.
func (m *member) send(id, command string, params any) <-chan reply {
	m.t.Helper()
	text, err := json.Marshal(params)
	must(m.t, err)
	result := make(chan reply, 1)
	m.mu.Lock()
	m.results[id] = result
	m.mu.Unlock()
	must(m.t, m.conn.Send(m.t.Context(), "node.invoke.request", map[string]any{
		"id": id, "nodeId": m.id, "command": command, "paramsJSON": string(text), "timeoutMs": patience.Milliseconds(), "idempotencyKey": id,
	}))
	return result
}

func (m *member) invoke(id, command string, params any) string {
	m.t.Helper()
	select {
	case r := <-m.send(id, command, params):
		if r.Error != nil {
			return r.Error.Code + ": " + r.Error.Message
		}
		text, err := json.Marshal(r.Payload)
		must(m.t, err)
		return string(text)
	case <-time.After(patience):
		m.t.Fatal("no result of ", command)
		return ""
	}
}

// machine is a state folder of a person who allows some programs.
type machine struct {
	t    *testing.T
	home string
	opt  Options
}

func newMachine(t *testing.T, g *gateway, allowed ...string) *machine {
	home, err := os.MkdirTemp("/tmp", "cs") // the socket's path must be short
	must(t, err)
	home, err = filepath.EvalSymlinks(home)
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	state := paths.State{Dir: filepath.Join(home, "state")}
	var entries []string
	for _, name := range allowed {
		entries = append(entries, fmt.Sprintf(`{"pattern": %q}`, name))
	}
	must(t, errors.Join(os.Mkdir(state.Dir, 0o700), os.WriteFile(state.Approvals(), []byte(`{"version": 1, "socket": {"token": "dG9rZW4tb2YtYS10ZXN0LTAxMjM0NTY3ODk"},
		"defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"main": {"allowlist": [`+strings.Join(entries, ", ")+`]}}}`), 0o600)))
	m := &machine{t: t, home: home}
	m.opt = Options{URL: g.url(), Token: "secret", Name: "a machine", Log: slog.New(slog.DiscardHandler), Version: "test"}
	m.opt.Road = host.RoadOptions{State: state, Home: home, Own: m.own, Log: m.opt.Log}
	return m
}

// own starts the host of the node itself, and host one as the app does.
func (m *machine) own(giveWay func()) (*host.Host, error) {
	return host.Start(host.Options{State: m.opt.Road.State, Home: m.home, User: "nobody", Shell: "/bin/sh", GiveWay: giveWay, Log: m.opt.Log, Version: "test"})
}

func (m *machine) host() (*host.Host, error) { return m.own(nil) }

// join runs a node until the test ends, and returns it as the gateway sees it.
func (m *machine) join(g *gateway) *member {
	m.t.Helper()
	n, err := New(m.opt)
	must(m.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- n.Run(ctx) }()
	m.t.Cleanup(func() {
		cancel()
		must(m.t, <-over)
	})
	return g.next()
}

func (g *gateway) next() *member {
	g.t.Helper()
	select {
	case m := <-g.joined:
		return m
	case <-time.After(patience):
		g.t.Fatal("nobody joined")
		return nil
	}
}

func (g *gateway) hears() string {
	g.t.Helper()
	select {
	case text := <-g.told:
		return text
	case <-time.After(patience):
		g.t.Fatal("no event came")
		return ""
	}
}

func run(words ...string) map[string]any {
	return map[string]any{"command": words, "agentId": "main", "sessionKey": "agent:main:main", "runId": "run-" + words[0]}
}

// TestRoad runs commands through a node whose machine has no app.
func TestRoad(t *testing.T) {
	g := newGateway(t)
	at := newMachine(t, g, "/usr/bin/printf", "/bin/printf", "/bin/sh", "/usr/bin/sh").join(g)
	if at.name != "a machine" {
		t.Error(at.name)
	}
	plan := run("printf", "planned")
	plan["systemRunPlan"] = map[string]any{"argv": []string{"rm"}, "policySnapshot": 7}
	claim := run("touch", "x")
	claim["approved"], claim["approvalDecision"] = true, "allow-once"
	sure := run("touch", "x")
	sure["approvalDecision"], sure["systemRunPlan"] = "allow-always", map[string]any{
		"argv": []string{"touch", "x"}, "agentId": "main", "sessionKey": "agent:main:main", "policySnapshot": map[string]any{"security": "full", "ask": "off", "askFallback": "full"},
	}
	no := run("printf", "x")
	no["approvalDecision"] = "deny"
	for i, row := range []struct {
		command string
		params  any
		want    string // the beginning of the result
		told    string // the event
	}{
		{"system.run", run("printf", "text"), `{"error":null,"exitCode":0,"stderr":"","stdout":"text","success":true,"timedOut":false}`, "exec.finished run-printf 0 text"},
		{"system.run", run("sh", "-c", "exit 3"), `{"error":null,"exitCode":3,`, "exec.finished run-sh 3 "},
		{"system.run", run("rm", "x"), `UNAVAILABLE: SYSTEM_RUN_DENIED`, "exec.denied run-rm approval-required"},
		{"system.run", run(" rm"), `INVALID_REQUEST: executable has surrounding whitespace`, "exec.denied run- rm approval-required"},
		{"system.run", plan, `INVALID_REQUEST: the parameters`, ""},
		{"system.run", claim, `UNAVAILABLE: SYSTEM_RUN_DENIED`, "exec.denied run-touch approval-required"},
		{"system.run", sure, `UNAVAILABLE: SYSTEM_RUN_DENIED`, "exec.denied run-touch approval-required"},
		{"system.run", no, `UNAVAILABLE: SYSTEM_RUN_DENIED`, "exec.denied run-printf approval-required"},
		{"system.run", []int{1}, `INVALID_REQUEST: the parameters`, ""},
		{"system.run", map[string]any{"command": "printf"}, `INVALID_REQUEST: the parameters`, ""},
		{"system.which", map[string]any{"bins": []string{"sh", "no-such", "../sh", ""}}, `{"bins":{"sh":"/`, ""},
		{"system.which", map[string]any{"bins": make([]string, 2000)}, `INVALID_REQUEST: cannot look for more`, ""},
		{"camera.snap", nil, `INVALID_REQUEST: this node does not offer`, ""},
		{"", nil, `INVALID_REQUEST: this node does not offer`, ""},
		{"system.run", run(strings.Repeat("x", maxParams)), `INVALID_REQUEST: the parameters of the command are too long`, ""},
	} {
		if got := at.invoke(fmt.Sprint(i), row.command, row.params); !strings.HasPrefix(got, row.want) {
			t.Errorf("%s %v: %s", row.command, row.params, got)
		}
		if row.told != "" {
			if got := g.hears(); got != row.told {
				t.Errorf("%s %v: told %q", row.command, row.params, got)
			}
		}
	}
	if len(g.told) != 0 {
		t.Error("more was told: ", <-g.told)
	}
}

// TestPrepared holds a run to what was prepared.
func TestPrepared(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g, "/bin/cat", "/usr/bin/cat", "/bin/bash", "/usr/bin/bash")
	folder, script := filepath.Join(m.home, "work"), filepath.Join(m.home, "work", "job.sh")
	must(t, os.Mkdir(folder, 0o755))
	write := func(text string) { must(t, os.WriteFile(script, []byte(text), 0o644)) }
	write("echo one")
	app, err := m.host()
	must(t, err)
	defer app.Close()
	at := m.join(g)
	params := func(words ...string) map[string]any {
		p := run(words...)
		p["cwd"] = folder
		return p
	}
	prepared := 0
	prepare := func(p map[string]any) (plan map[string]any) {
		t.Helper()
		prepared++
		var got struct {
			Plan       map[string]any
			ExecPolicy approval.Words
		}
		text := at.invoke(fmt.Sprint("p", prepared), "system.run.prepare", p)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(text)
		}
		if got.ExecPolicy.Security != approval.SecurityList || got.Plan["cwd"] != folder {
			t.Error(text)
		}
		return got.Plan
	}
	plain := params("cat", "job.sh")
	bash := params("bash", "job.sh")
	sum := sha256.Sum256([]byte("echo one"))
	if plan := prepare(bash); fmt.Sprint(plan["mutableFileOperand"]) != fmt.Sprint(map[string]any{"argvIndex": 1, "path": script, "sha256": hex.EncodeToString(sum[:])}) {
		t.Errorf("%v", plan)
	}
	if plan := prepare(params("bash", "-lc", "cat job.sh | cat")); plan["commandText"] != `bash -lc "cat job.sh | cat"` || plan["commandPreview"] != "cat job.sh | cat" {
		t.Errorf("%v", plan)
	}
	for i, row := range []struct {
		params map[string]any
		change func(plan, params map[string]any)
		want   string
	}{
		{plain, func(_, _ map[string]any) {}, `{"error":null,"exitCode":0`},
		{plain, func(plan, _ map[string]any) { delete(plan, "policySnapshot") }, `{"error":null,"exitCode":0`},
		{plain, func(_, p map[string]any) { p["command"] = []string{"cat", "job.sh", "job.sh"} }, "the command is not the one"},
		{plain, func(plan, _ map[string]any) { plan["argv"] = []string{"cat"} }, "the command is not the one"},
		{plain, func(_, p map[string]any) { p["cwd"] = m.home }, "the folder is not the one"},
		{plain, func(_, p map[string]any) { p["agentId"] = "other" }, "another agent or session"},
		{plain, func(_, p map[string]any) { p["sessionKey"] = "other" }, "another agent or session"},
		{plain, func(plan, _ map[string]any) { plan["policySnapshot"].(map[string]any)["security"] = "full" }, "the policy changed"},
		{plain, func(plan, _ map[string]any) {
			plan["mutableFileOperand"] = map[string]any{"argvIndex": 1, "path": script, "sha256": ""}
		}, "operand changed"},
		{plain, func(plan, _ map[string]any) { plan["policySnapshot"] = map[string]any{"security": "all"} }, "the parameters of the command"},
		{bash, func(_, _ map[string]any) { write("echo two") }, "operand changed"},
		{bash, func(plan, _ map[string]any) { delete(plan, "mutableFileOperand") }, "operand changed"},
		{plain, func(_, _ map[string]any) {
			must(t, os.Rename(folder, folder+"2"))
			must(t, os.Symlink(folder+"2", folder))
		}, "the folder is not the one"},
	} {
		p := maps.Clone(row.params)
		plan := prepare(p)
		p["systemRunPlan"] = plan
		row.change(plan, p)
		if got := at.invoke(fmt.Sprint(i), "system.run", p); !strings.Contains(got, row.want) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// TestApprovalsFromAfar lets a gateway tighten, and a person decide about the
// rest.
func TestApprovalsFromAfar(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g, "/usr/bin/printf", "/bin/printf")
	app, err := m.host()
	must(t, err)
	defer app.Close()
	at := m.join(g)
	n := 0
	invoke := func(command string, params any) (got host.PolicyFile, text string) {
		t.Helper()
		n++
		text = at.invoke(fmt.Sprint(n), command, params)
		json.Unmarshal([]byte(text), &got) // a refusal is none
		return got, text
	}
	get := func() host.PolicyFile {
		t.Helper()
		got, text := invoke("system.execApprovals.get", nil)
		if got.Hash == "" || strings.Contains(text, "dG9rZW4") || got.Path != m.opt.Road.State.Approvals() {
			t.Fatal(text)
		}
		return got
	}
	set := func(old, new string) (host.PolicyFile, string) {
		t.Helper()
		now := get()
		text := strings.Replace(string(now.File), old, new, 1)
		if text == string(now.File) {
			t.Fatal("nothing to replace in ", text)
		}
		return invoke("system.execApprovals.set", map[string]any{"file": json.RawMessage(text), "baseHash": now.Hash})
	}
	if got, text := set(`"on-miss"`, `"always"`); got.Hash == "" || len(got.Held) > 0 {
		t.Error(text)
	}
	if got := app.Defaults(); got.Ask != approval.AskAlways {
		t.Errorf("%+v", got)
	}
	for _, bad := range []any{
		nil, map[string]any{"file": map[string]any{"version": 1}, "baseHash": "old"}, map[string]any{"file": 7, "baseHash": get().Hash},
		map[string]any{"file": map[string]any{"version": 1, "defaults": nil}, "baseHash": get().Hash}, map[string]any{"baseHash": get().Hash},
	} {
		if got, text := invoke("system.execApprovals.set", bad); got.Hash != "" {
			t.Error(text)
		}
	}
	got, text := set(`"security":"allowlist"`, `"security":"full"`)
	if len(got.Held) == 0 || app.Defaults().Security != approval.SecurityList {
		t.Error(text)
	}
	if got, text := invoke("system.execApprovals.set", map[string]any{"file": got.File, "baseHash": got.Hash}); got.Hash != "" {
		t.Error("another one was taken while one waits: ", text)
	}
	must(t, app.RejectEdit(""))
	if now, err := host.ReadDocument(m.opt.Road.State, m.home); err != nil || now.Socket.Token != "dG9rZW4tb2YtYS10ZXN0LTAxMjM0NTY3ODk" {
		t.Error("the token is another: ", err)
	}
}

// TestAppRequired runs nothing where the app must and does not answer.
func TestAppRequired(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g, "/usr/bin/printf", "/bin/printf")
	m.opt.Road.Own = nil
	at := m.join(g)
	if got := at.invoke("1", "system.run", run("printf", "x")); !strings.HasPrefix(got, "UNAVAILABLE: COMPANION_APP_UNAVAILABLE") {
		t.Error(got)
	}
	if got := g.hears(); got != "exec.denied run-printf companion-unavailable" {
		t.Error(got)
	}
	app, err := m.host()
	must(t, err)
	if got := at.invoke("2", "system.run", run("printf", "x")); !strings.Contains(got, `"stdout":"x"`) {
		t.Error(got)
	}
	app.Close()
	if got := at.invoke("3", "system.run", run("printf", "x")); !strings.HasPrefix(got, "UNAVAILABLE: COMPANION_APP_UNAVAILABLE") {
		t.Error(got)
	}
	app, err = m.host() // another app: the connections of before are not used
	must(t, err)
	defer app.Close()
	if got := at.invoke("4", "system.run", run("printf", "x")); !strings.Contains(got, `"stdout":"x"`) {
		t.Error(got)
	}
}

// TestGivesWay ends the host of the node when the app wants to be it.
func TestGivesWay(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g, "/bin/sleep", "/usr/bin/sleep")
	at := m.join(g)
	result := at.send("1", "system.run", run("sleep", "0.5"))
	opened := func() (got host.Opened) {
		t.Helper()
		key, err := host.ReadOperatorKey(m.opt.Road.State.OperatorKey())
		must(t, err)
		c, _, err := host.Dial(m.opt.Road.State, m.home)
		must(t, err)
		defer c.Close()
		must(t, c.Call(t.Context(), key, "window.open", struct{}{}, &got))
		return got
	}
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if c, _, err := host.Dial(m.opt.Road.State, m.home); err == nil {
			c.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal("no host of the node")
		}
	}
	if !opened().GivesWay || !opened().GivesWay {
		t.Error("it stays")
	}
	app, err := m.host()
	for errors.Is(err, ipc.ErrLive) {
		time.Sleep(5 * time.Millisecond)
		app, err = m.host()
	}
	must(t, err)
	defer app.Close()
	if r := <-result; !r.OK {
		t.Errorf("what ran was ended: %+v", r.Error)
	}
	if got := at.invoke("2", "system.run", run("sleep", "0")); !strings.Contains(got, `"exitCode":0`) || app.Status().Version != "test" {
		t.Error(got)
	}
}

// TestGone ends a command whose gateway cancels it, or goes away.
// TestAnswersElsewhere lets an answer that was given at the gateway count where
// a person switched that on, for just what was prepared there.
func TestAnswersElsewhere(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g)
	policy := m.opt.Road.State.Approvals()
	allow := func(gateway string) {
		must(t, os.WriteFile(policy, []byte(fmt.Sprintf(`{"version": 1, "socket": {"token": "dG9rZW4tb2YtYS10ZXN0LTAxMjM0NTY3ODk"},
			"defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"main": {"acceptAnswersFrom": [%q], "denylist": ["mv"]}}}`, gateway)), 0o600))
	}
	folder := filepath.Join(m.home, "work")
	must(t, os.Mkdir(folder, 0o755))
	job := filepath.Join(folder, "job.sh")
	write := func(text string) { must(t, os.WriteFile(job, []byte("#!/bin/sh\n"+text+"\n"), 0o755)) }
	name := strings.TrimPrefix(g.url(), "ws://")
	allow(name)
	at := m.join(g)
	n := 0
	for _, row := range []struct {
		what   string
		words  []string
		change func(plan, params map[string]any)
		want   string
	}{
		{"as prepared", []string{"touch", "a"}, func(_, _ map[string]any) {}, ""},
		{"a shell", []string{"/bin/sh", "-lc", "./job.sh; touch b"}, func(_, _ map[string]any) {}, ""},
		{"no yes", []string{"touch", "c"}, func(_, p map[string]any) { delete(p, "approvalDecision") }, "SYSTEM_RUN_DENIED"},
		{"a no", []string{"touch", "c"}, func(_, p map[string]any) { p["approvalDecision"] = "deny" }, "SYSTEM_RUN_DENIED"},
		{"always", []string{"touch", "c"}, func(_, p map[string]any) { p["approvalDecision"] = "allow-always" }, "SYSTEM_RUN_DENIED"},
		{"no plan", []string{"touch", "c"}, func(_, p map[string]any) { delete(p, "systemRunPlan") }, "SYSTEM_RUN_DENIED"},
		{"no policy", []string{"touch", "c"}, func(plan, _ map[string]any) { delete(plan, "policySnapshot") }, "SYSTEM_RUN_DENIED"},
		{"no programs", []string{"touch", "c"}, func(plan, _ map[string]any) { delete(plan, "programsHash") }, "SYSTEM_RUN_DENIED"},
		{"other words", []string{"touch", "c"}, func(_, p map[string]any) { p["command"] = []string{"touch", "d"} }, "drifted"},
		{"environment", []string{"touch", "c"}, func(_, p map[string]any) { p["env"] = map[string]string{"FOO": "1"} }, "SYSTEM_RUN_DENIED"},
		{"asked always", []string{"touch", "c"}, func(_, p map[string]any) { p["ask"] = "always" }, "SYSTEM_RUN_DENIED"},
		{"another script", []string{"/bin/sh", "-lc", "./job.sh; touch c"}, func(_, _ map[string]any) { write("echo other") }, "drifted"},
		{"another agent", []string{"touch", "c"}, func(_, p map[string]any) { p["agentId"] = "other" }, "drifted"},
	} {
		n++
		p := run(row.words...)
		p["cwd"] = folder
		write("echo it")
		var got struct{ Plan map[string]any }
		text := at.invoke(fmt.Sprint("p", n), "system.run.prepare", p)
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(text)
		}
		p["systemRunPlan"], p["approvalDecision"] = got.Plan, "allow-once"
		row.change(got.Plan, p)
		text = at.invoke(fmt.Sprint("r", n), "system.run", p)
		if row.want == "" && !strings.Contains(text, `"exitCode":0`) || row.want != "" && !strings.Contains(text, row.want) {
			t.Errorf("%s: %s", row.what, text)
		}
	}
	for _, name := range []string{"c", "d"} {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			t.Error(name, "was made")
		}
	}
	// Nothing is told of what may not run, and of our own files.
	for i, words := range [][]string{{"mv", "a", "b"}, {"cat", policy}, {"sh", policy}} {
		if text := at.invoke(fmt.Sprint("q", i), "system.run.prepare", run(words...)); !strings.Contains(text, "SYSTEM_RUN_DENIED") {
			t.Errorf("%s: %s", words, text)
		}
	}
	for i, tighten := range []func(){
		func() {
			text, err := os.ReadFile(policy)
			must(t, err)
			must(t, os.WriteFile(policy, []byte(strings.Replace(string(text), `"defaults": {`, `"defaults": {"presence": "always", `, 1)), 0o600))
		},
		func() { allow("another:1") },
	} {
		tighten()
		p := run("touch", "e")
		p["cwd"] = folder
		var got struct{ Plan map[string]any }
		must(t, json.Unmarshal([]byte(at.invoke(fmt.Sprint("p-", i), "system.run.prepare", p)), &got))
		p["systemRunPlan"], p["approvalDecision"] = got.Plan, "allow-once"
		if text := at.invoke(fmt.Sprint("r-", i), "system.run", p); !strings.Contains(text, "SYSTEM_RUN_DENIED") {
			t.Error(i, text)
		}
	}
}

// TestProgress tells how far a command is, in order and without its output.
func TestProgress(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g, "/bin/sleep", "/usr/bin/sleep")
	at := m.join(g)
	result := at.send("1", "system.run", run("sleep", "1000"))
	if got := <-g.states; got != `1 0 {"state":"started"}` {
		t.Error(got)
	}
	must(t, at.conn.Send(t.Context(), "node.invoke.cancel", map[string]string{"invokeId": "1"}))
	<-result
	if got := g.hears(); got != "exec.finished run-sleep " { // it was told that it started
		t.Errorf("%q", got)
	}
	if got := at.invoke("2", "system.run", run("rm", "x")); !strings.Contains(got, "SYSTEM_RUN_DENIED") || len(g.states) > 0 {
		t.Error(got)
	}
}

func TestGone(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g, "/bin/sleep", "/usr/bin/sleep")
	app, err := m.host()
	must(t, err)
	defer app.Close()
	at := m.join(g)
	runs := func(want int) {
		t.Helper()
		for end := time.Now().Add(patience); app.Status().Running != want; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("waited too long until commands ran: ", want)
			}
		}
	}
	result := at.send("1", "system.run", run("sleep", "1000"))
	runs(1)
	if got := at.invoke("1", "system.run", run("sleep", "1")); !strings.Contains(got, "with this id is running") {
		t.Error(got)
	}
	second := run("sleep", "1000")
	second["runId"] = "the second"
	result = at.send("2", "system.run", second)
	runs(2)
	must(t, at.conn.Send(t.Context(), "node.invoke.cancel", map[string]string{"invokeId": "2", "nodeId": at.id}))
	if r := <-result; r.Error == nil || r.Error.Message != "it was cancelled" {
		t.Errorf("%+v", r)
	}
	runs(1)
	must(t, at.conn.Send(t.Context(), "node.invoke.request", map[string]any{
		"id": "3", "nodeId": at.id, "command": "system.run", "paramsJSON": `{"command":["sleep","1000"],"agentId":"main"}`, "timeoutMs": 1500,
	}))
	at.conn.Close("restart")
	runs(0)
	at = g.next()
	for _, bad := range []any{nil, 1, "x", map[string]any{"id": 1}, map[string]any{"id": ""}} {
		must(t, at.conn.Send(t.Context(), "node.invoke.request", bad))
		must(t, at.conn.Send(t.Context(), "node.invoke.cancel", bad))
	}
	g.results["4"] = make(chan reply, 1)
	must(t, at.conn.Send(t.Context(), "node.invoke.request", map[string]any{"id": "4", "nodeId": "another", "command": "system.run", "paramsJSON": `{"command":["sleep","0"]}`}))
	if r := <-g.results["4"]; r.Error == nil || r.Error.Message != "this is for another node" {
		t.Errorf("%+v", r)
	}
}

// TestGreedyGateway leaves a gateway that takes no answers.
func TestGreedyGateway(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g)
	g.deaf = true // to results too
	at := m.join(g)
	for i := 0; ; i++ {
		if err := at.conn.Send(t.Context(), "node.invoke.request", map[string]any{"id": fmt.Sprint(i), "command": "camera.snap"}); err != nil {
			break // it is closed
		}
		if i > 10*maxBusy {
			t.Fatal("it takes everything")
		}
	}
	g.mu.Lock()
	g.deaf = false
	g.mu.Unlock()
	if got := g.next().invoke("1", "camera.snap", nil); !strings.HasPrefix(got, "INVALID_REQUEST") {
		t.Error(got)
	}
}

// TestEventsAfterLoss keeps what a gateway did not take, in order, each once.
func TestEventsAfterLoss(t *testing.T) {
	g := newGateway(t)
	m := newMachine(t, g)
	n, err := New(m.opt)
	must(t, err)
	g.deaf = true
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- n.Run(ctx) }()
	at := g.next()
	const many = 5000
	for i := range many {
		n.outbox.put("exec.finished", execEvent{RunID: fmt.Sprint(i)})
	}
	at.conn.Close("restart")
	g.mu.Lock()
	g.deaf = false
	g.mu.Unlock()
	g.next()
	for i := range many {
		if got := g.hears(); got != fmt.Sprintf("exec.finished %d ", i) {
			t.Fatalf("%d: %q", i, got)
		}
	}
	for _, any := n.outbox.first(); any; _, any = n.outbox.first() {
		time.Sleep(time.Millisecond) // the last one is acknowledged
	}
	cancel()
	must(t, <-over)
	if len(g.told) != 0 {
		t.Error("something was told twice")
	}
	for i := range maxWaiting + 3 {
		n.outbox.put("exec.finished", i)
	}
	if first, _ := n.outbox.first(); len(n.outbox.list) != maxWaiting || string(first.Payload) != "3" {
		t.Errorf("%d wait, %v is first", len(n.outbox.list), first)
	}
}

// TestWaitsForApproval tries again until a person approved the device, and
// uses the token that it was given.
func TestWaitsForApproval(t *testing.T) {
	g := newGateway(t)
	g.refuse = &link.Error{Code: link.CodeNotPaired, Message: "pairing required", Details: []byte(`{"code":"PAIRING_REQUIRED"}`)}
	m := newMachine(t, g)
	log := make(lines, 100)
	m.opt.Log = slog.New(slog.NewTextHandler(log, nil))
	n, err := New(m.opt)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- n.Run(ctx) }()
	if line := <-log; !strings.Contains(line, "waits to be approved at the gateway: "+n.device.Device.ID()) || strings.Contains(line, "secret") {
		t.Error(line)
	}
	g.mu.Lock()
	g.refuse = nil
	g.mu.Unlock()
	at := g.next()
	at.invoke("1", "system.run", []int{})
	cancel()
	must(t, <-over)
	m.opt.Token = ""
	again := m.join(g)
	if again.id != at.id {
		t.Error("the machine is another one after a restart")
	}
	text, err := os.ReadFile(m.opt.Road.State.Node())
	must(t, err)
	info, err := os.Stat(m.opt.Road.State.Node())
	must(t, err)
	if !strings.Contains(string(text), `"given"`) || strings.Contains(string(text), "secret") || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %s", info.Mode(), text)
	}
}

type lines chan string

func (l lines) Write(text []byte) (int, error) {
	select {
	case l <- string(text):
	default:
	}
	return len(text), nil
}

// TestBrokenIdentity never makes a new identity over an old one.
func TestBrokenIdentity(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "node.json")
	first, err := Identity(path)
	must(t, err)
	again, err := Identity(path)
	must(t, err)
	if first.ID() != again.ID() {
		t.Error("it changed")
	}
	for _, bad := range []string{"", "{", "[]", `{"device":"AAAA"}`, `{"device":7}`, `{}`, strings.Repeat(" ", maxIdentity+1)} {
		must(t, os.WriteFile(path, []byte(bad), 0o600))
		if d, err := Identity(path); err == nil {
			t.Errorf("%.20q was taken: %v", bad, d)
		}
		if text, _ := os.ReadFile(path); string(text) != bad {
			t.Errorf("%.20q was overwritten", bad)
		}
	}
	must(t, os.Remove(path))
	must(t, os.Symlink("/dev/zero", path))
	if _, err := Identity(path); err == nil {
		t.Error("a link was followed")
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("ä", maxTail+1)
	for text, want := range map[string]int{"": 0, "x": 1, long: maxTail, long[2:]: maxTail} {
		if got := []rune(tail(text)); len(got) != want {
			t.Errorf("%d runes of %d", len(got), len([]rune(text)))
		}
	}
	if !strings.HasPrefix(tail(long), cut+"ä") {
		t.Error("what was cut is not marked")
	}
}

// TestLongToken keeps a gateway from making the file of the device unreadable.
func TestLongToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node.json")
	id, err := readIdentity(path)
	must(t, err)
	if err := id.keep("ws://gw", strings.Repeat("x", maxToken+1)); err == nil {
		t.Error("it is kept")
	}
	must(t, id.keep("ws://gw", strings.Repeat("x", maxToken)))
	again, err := readIdentity(path)
	if err != nil || again.token("ws://gw") != id.token("ws://gw") || again.Device.ID() != id.Device.ID() {
		t.Error(err)
	}
}

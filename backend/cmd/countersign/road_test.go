//go:build linux || darwin

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/link"
)

// farm is a gateway and a machine that joined it, each with a home of its own.
type farm struct {
	*testing.T
	agents  *world // where the gateway runs
	machine *world // where commands run
	port    int
	gateway *process
	node    *process
}

const roadPolicy = `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"main": {"allowlist": [
	{"pattern": "printf"}, {"pattern": "sleep"}], "acceptAnswersFrom": ["127.0.0.1:%d"]}}}`

func newFarm(t *testing.T) *farm {
	f := &farm{T: t, agents: testWorld(t), machine: testWorld(t)}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	f.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	f.agents.policy(t, fmt.Sprintf(roadPolicy, f.port))
	f.machine.policy(t, fmt.Sprintf(roadPolicy, f.port))
	f.configure(`{tools: {exec: {host: 'node', hosts: ['gateway'], security: 'allowlist', ask: 'on-miss'}}}`)
	f.startGateway()
	token, err := os.ReadFile(f.agents.state.GatewayToken())
	if err != nil {
		t.Fatal(err)
	}
	cmd := f.machine.command("node", "run", "--gateway", f.url(), "--display-name", "mini")
	cmd.Env = append(cmd.Env, "COUNTERSIGN_GATEWAY_TOKEN="+strings.TrimSpace(string(token)))
	f.node = background(t, asService(t, f.machine, cmd))
	f.connected()
	var waiting []waitingDevice
	f.agents.json(t, &waiting, "gateway", "pending", "--gateway", f.url())
	if len(waiting) != 1 || waiting[0].Name != "mini" {
		t.Fatalf("%+v", waiting)
	}
	if got := f.exec(`{"command": "printf hi"}`); !strings.Contains(got, "no node is connected that may run commands (known: mini") {
		t.Error(got)
	}
	f.agents.must(t, "gateway", "approve", "--gateway", f.url(), waiting[0].RequestID[:8])
	return f
}

func (f *farm) configure(text string) {
	if err := os.WriteFile(f.agents.state.Gateway(), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

func (f *farm) url() string { return fmt.Sprintf("ws://127.0.0.1:%d", f.port) }

func (f *farm) startGateway() {
	f.Helper()
	f.gateway = background(f.T, asService(f.T, f.agents, f.agents.command("gateway", "run", "--listen", fmt.Sprintf("127.0.0.1:%d", f.port))))
	if !eventually(func() bool { return f.agents.command("gateway", "call", "--gateway", f.url(), "health").Run() == nil }) {
		f.Fatal("the gateway does not answer")
	}
}

// operator is a connection where somebody looks at questions.
func (f *farm) operator() *link.Conn {
	f.Helper()
	token, err := os.ReadFile(f.agents.state.GatewayToken())
	if err != nil {
		f.Fatal(err)
	}
	device, err := link.NewDevice()
	if err != nil {
		f.Fatal(err)
	}
	conn, _, err := link.Dial(f.Context(), link.Options{URL: f.url(), Device: device, Connect: link.Connect{
		Client: link.Client{ID: "test", Version: "1", Platform: "test", Mode: "cli"}, Role: link.RoleOperator,
		Scopes: []string{"operator.admin"}, Caps: []string{"approvals"}, Auth: &link.Auth{Token: strings.TrimSpace(string(token))},
	}})
	if err != nil {
		f.Fatal(err)
	}
	go conn.Serve(f.Context(), nobody{})
	return conn
}

// nodeID is the id of the machine.
func (f *farm) nodeID() string {
	var id struct{ DeviceID string }
	f.machine.json(f.T, &id, "node", "identity")
	return id.DeviceID
}

// connected waits until the node is there.
func (f *farm) connected() {
	f.Helper()
	if !eventually(func() bool { return strings.Contains(f.call("node.list", `{}`), `"connected":true`) }) {
		f.Fatal("the node does not come")
	}
}

// call calls a method of the gateway and returns what it printed.
func (f *farm) call(method, params string) string {
	out, _ := f.agents.command("--json", "gateway", "call", "--gateway", f.url(), method, "--params", params).Output()
	var text bytes.Buffer
	_ = json.Compact(&text, out) // nothing where it could not be called
	return text.String()
}

func (f *farm) exec(params string) string { return f.call("exec.run", params) }

// TestRoad goes from an agent over our gateway, our node and our host to a
// command and back, with the real programs.
func TestRoad(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	if err := f.machine.start(); err != nil {
		t.Fatal(err)
	}
	if got := f.exec(`{"command": "printf 'a %s' b"}`); !strings.Contains(got, `"stdout":"a b"`) || !strings.Contains(got, `"exitCode":0`) {
		t.Error(got)
	}
	// A person on the machine is asked, and answers there.
	answered := make(chan string, 1)
	ask := func(params string) { go func() { answered <- f.exec(params) }() }
	for decision, want := range map[string]string{"approve": `"exitCode":0`, "deny": "SYSTEM_RUN_DENIED"} {
		ask(`{"command": ["touch", "` + filepath.Join(f.machine.home, decision) + `"]}`)
		f.machine.must(t, "approvals", decision, f.machine.mustQuestions(t, 1)[0].ID)
		if got := <-answered; !strings.Contains(got, want) {
			t.Errorf("%s: %s", decision, got)
		}
		if _, err := os.Stat(filepath.Join(f.machine.home, decision)); (err == nil) != (decision == "approve") {
			t.Error(decision, err)
		}
	}
	// The gateway can ask for more caution than the machine has, not for less.
	ask(`{"command": ["printf", "x"], "ask": "always"}`)
	f.machine.must(t, "approvals", "approve", f.machine.mustQuestions(t, 1)[0].ID)
	if got := <-answered; !strings.Contains(got, `"stdout":"x"`) {
		t.Error(got)
	}
	ask(`{"command": ["rm", "x"], "security": "full", "ask": "off"}`)
	f.machine.must(t, "approvals", "deny", f.machine.mustQuestions(t, 1)[0].ID)
	<-answered

	// A yes that was given at the gateway counts, for what was prepared.
	boss := f.operator()
	invoke := func(command string, params map[string]any) (payload json.RawMessage, err error) {
		var got struct{ Payload json.RawMessage }
		err = boss.Call(t.Context(), "node.invoke", map[string]any{"nodeId": f.nodeID(), "command": command, "params": params, "idempotencyKey": rand.Text()}, &got)
		return got.Payload, err
	}
	made := filepath.Join(f.machine.home, "elsewhere")
	q := map[string]any{"command": []string{"touch", made}, "agentId": "main", "sessionKey": "s"}
	payload, err := invoke("system.run.prepare", q)
	var prepared struct{ Plan map[string]any }
	if err != nil || json.Unmarshal(payload, &prepared) != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		method string
		params map[string]any
	}{
		{"exec.approval.request", map[string]any{"id": "the-one", "command": "touch", "host": "node", "nodeId": f.nodeID(), "systemRunPlan": prepared.Plan, "twoPhase": true}},
		{"exec.approval.resolve", map[string]any{"id": "the-one", "decision": "allow-once"}},
	} {
		if err := boss.Call(t.Context(), step.method, step.params, nil); err != nil {
			t.Fatal(step.method, err)
		}
	}
	q["runId"], q["approved"], q["approvalDecision"] = "the-one", true, "allow-once"
	if payload, err = invoke("system.run", q); err != nil || !strings.Contains(string(payload), `"exitCode":0`) {
		t.Errorf("%s %v", payload, err)
	}
	if _, err := os.Stat(made); err != nil {
		t.Error(err)
	}
	if out := f.machine.must(t, "history", "list"); !strings.Contains(out, "touch") {
		t.Error(out)
	}

	// In the background, told to its session, and stopped to the last process.
	began := f.exec(`{"command": "sleep 1000", "background": true}`)
	var run struct{ RunID string }
	if err := json.Unmarshal([]byte(began), &run); err != nil || run.RunID == "" {
		t.Fatal(began)
	}
	running := func(n int) bool {
		var list []any
		f.machine.json(t, &list, "running", "list")
		return len(list) == n
	}
	if !eventually(func() bool { return running(1) }) {
		t.Fatal("it does not run")
	}
	status := func() string { return f.call("exec.status", `{"runId":"`+run.RunID+`"}`) }
	if !eventually(func() bool { return strings.Contains(status(), `"running"`) }) {
		t.Error(status())
	}
	f.call("exec.stop", `{"runId":"`+run.RunID+`"}`)
	if !eventually(func() bool { return running(0) }) {
		t.Error("it runs on")
	}
	events := regexp.MustCompile(`Exec (started|denied) \(node=[0-9a-f]{64}, id=`+run.RunID).FindAllString(f.call("session.events", `{}`), -1)
	if len(events) != 2 {
		t.Errorf("%q", events)
	}
	// Whoever called is gone: the question is withdrawn.
	caller := background(t, f.agents.command("gateway", "call", "--gateway", f.url(), "exec.run", "--params", `{"command": ["uname"]}`))
	f.machine.mustQuestions(t, 1)
	caller.end(syscall.SIGKILL)
	if !eventually(func() bool { return f.machine.waiting(t) == 0 }) {
		t.Error("the question of a caller that is gone is still open")
	}
	// A gateway that is killed takes what it asked for with it, and is found again.
	go f.exec(`{"command": "sleep 1000"}`)
	if !eventually(func() bool { return running(1) }) {
		t.Fatal("it does not run")
	}
	f.gateway.end(syscall.SIGKILL)
	if !eventually(func() bool { return running(0) }) {
		t.Error("it runs on without its gateway")
	}
	f.startGateway()
	f.connected()
	if got := f.exec(`{"command": ["printf", "again"]}`); !strings.Contains(got, "again") {
		t.Error(got)
	}
	// Without its host the node judges by itself, and nobody is asked.
	f.machine.end(syscall.SIGTERM)
	if got := f.exec(`{"command": ["printf", "alone"]}`); !strings.Contains(got, "alone") {
		t.Error(got)
	}
	if got := f.exec(`{"command": ["uname"]}`); !strings.Contains(got, "SYSTEM_RUN_DENIED") {
		t.Error(got)
	}
	// On the machine of the gateway, by the policy there.
	if got := f.exec(`{"command": ["printf", "here"], "host": "gateway"}`); !strings.Contains(got, "here") {
		t.Error(got)
	}
	if got := f.exec(`{"command": ["uname"], "host": "gateway"}`); !strings.Contains(got, "SYSTEM_RUN_DENIED") {
		t.Error(got)
	}
	// As a person would try it: output and exit code pass through.
	for _, row := range []struct {
		words []string
		code  int
		want  string
	}{
		{[]string{"--", "printf", "through"}, 0, "through"},
		{[]string{"--host", "gateway", "--", "printf", "through"}, 0, "through"},
		{[]string{"--node", "mini", "--", "printf", "%d", "x"}, 1, "0"},
		{[]string{"--node", "maxi", "--", "printf", "x"}, 126, `unknown node: "maxi"`},
		{[]string{"--timeout", "100ms", "--", "sleep", "1000"}, 124, ""},
		{[]string{"--", "uname"}, 126, "SYSTEM_RUN_DENIED"},
	} {
		out, err := f.agents.command(append([]string{"run", "--gateway", f.url()}, row.words...)...).CombinedOutput()
		code := 0
		var ended *exec.ExitError
		if errors.As(err, &ended) {
			code = ended.ExitCode()
		}
		if code != row.code || !strings.Contains(string(out), row.want) {
			t.Errorf("%q: exit code %d, %s", row.words, code, out)
		}
	}
	// A broken file keeps what held.
	f.configure(`{tools: {exec: {host: 'moon'}}}`)
	if got := f.exec(`{"command": ["printf", "still"]}`); !strings.Contains(got, "still") {
		t.Error(got)
	}
	said, _ := os.ReadFile(f.agents.log)
	if !strings.Contains(string(said), "gateway.json5:1: tools.exec.host") || strings.Count(string(said), "cannot be used") != 1 {
		t.Errorf("the gateway said:\n%s", said)
	}
	f.node.end(syscall.SIGTERM)
	if !eventually(func() bool { return strings.Contains(f.exec(`{"command": ["printf", "x"]}`), "no node is connected") }) {
		t.Error("the node is not gone")
	}
}

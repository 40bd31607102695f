package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/rescue"
)

const secret = "the-token-of-this-gateway"

// patience is how long a test waits for what must come.
const patience = 30 * time.Second

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a gateway that runs.
type world struct {
	t    *testing.T
	dir  string
	opt  Options
	g    *Gateway
	addr string
	stop func()
}

func newWorld(t *testing.T, config string) *world {
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "state")}
	must(t, os.Mkdir(w.dir, 0o700))
	w.configure(config)
	log := slog.New(slog.DiscardHandler)
	state := paths.State{Dir: w.dir}
	w.opt = Options{State: state, Token: secret, Version: "test", Log: log, Road: host.RoadOptions{State: state, Home: w.dir, Log: log}}
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

var edits int64

func (w *world) configure(text string) {
	path := filepath.Join(w.dir, "gateway.json5")
	edits++
	must(w.t, errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, time.Time{}, time.Unix(edits, 0))))
}

func (w *world) start() {
	w.t.Helper()
	g, err := New(w.opt)
	must(w.t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- g.Run(ctx, l) }()
	w.g, w.addr = g, l.Addr().String()
	w.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-over; err != nil {
			w.t.Error(err)
		}
	})
}

func device1(t *testing.T) link.Device {
	t.Helper()
	d, err := link.NewDevice()
	must(t, err)
	return d
}

// line is a connection to the gateway.
type line struct {
	t      *testing.T
	conn   *link.Conn
	hello  *link.Hello
	id     string
	events chan link.Event
	over   chan error
	act    func(request) (any, *link.Error) // what a node does; nil to say nothing
}

func (l *line) Request(link.Request) {}

func (l *line) Event(e link.Event) {
	if e.Name == "node.invoke.request" && l.act != nil {
		go l.serve(e)
	}
	select {
	case l.events <- e:
	default: // nobody reads them
	}
}

func (l *line) serve(e link.Event) {
	var r request
	if json.Unmarshal(e.Payload, &r) != nil {
		return
	}
	payload, refusal := l.act(r)
	if payload == nil && refusal == nil {
		return
	}
	_ = l.conn.Call(context.Background(), "node.invoke.result", map[string]any{"id": r.ID, "nodeId": l.id, "ok": refusal == nil, "payload": payload, "error": refusal}, nil)
}

// event waits for an event of a name.
func (l *line) event(name string) json.RawMessage {
	l.t.Helper()
	for end := time.After(patience); ; {
		select {
		case e := <-l.events:
			if e.Name == name {
				return e.Payload
			}
		case <-end:
			l.t.Fatal("no event ", name)
		}
	}
}

func (w *world) dial(d link.Device, c link.Connect, act func(request) (any, *link.Error)) (*line, error) {
	conn, hello, err := link.Dial(w.t.Context(), link.Options{URL: "ws://" + w.addr, Connect: c, Device: d})
	if err != nil {
		return nil, err
	}
	l := &line{t: w.t, conn: conn, hello: hello, id: d.ID(), events: make(chan link.Event, 20_000), over: make(chan error, 1), act: act}
	go func() { l.over <- conn.Serve(context.Background(), l) }()
	w.t.Cleanup(func() { conn.Close("over") })
	for end := time.Now().Add(patience); c.Role == link.RoleNode; time.Sleep(time.Millisecond) {
		if p := w.g.node(d.ID()); p != nil && p.id == hello.Server.ConnID {
			break
		}
		if time.Now().After(end) {
			w.t.Fatal("the node is not there")
		}
	}
	return l, nil
}

func asNode(name string, commands ...string) link.Connect {
	return link.Connect{
		Client: link.Client{ID: "node-host", DisplayName: name, Version: "1", Platform: "linux", DeviceFamily: "Linux", Mode: "node"},
		Role:   link.RoleNode, Scopes: []string{}, Caps: []string{"system", link.CapCaution}, Commands: commands, Auth: &link.Auth{Token: secret},
	}
}

func asOperator(scopes ...string) link.Connect {
	return link.Connect{
		Client: link.Client{ID: "cli", Version: "1", Platform: "cli", Mode: "cli"}, Role: link.RoleOperator, Scopes: scopes, Caps: []string{}, Auth: &link.Auth{Token: secret},
	}
}

func (w *world) operator(scopes ...string) *line {
	w.t.Helper()
	if len(scopes) == 0 {
		scopes = []string{scopeAdmin}
	}
	l, err := w.dial(device1(w.t), asOperator(scopes...), nil)
	must(w.t, err)
	return l
}

// node is a node whose commands were approved.
func (w *world) node(name string, act func(request) (any, *link.Error)) *line {
	w.t.Helper()
	d := device1(w.t)
	l, err := w.dial(d, asNode(name, "system.run", "system.which"), act)
	must(w.t, err)
	w.approve(l.id)
	return l
}

func (w *world) approve(id string) {
	w.t.Helper()
	for _, wait := range w.g.devices.list().Waiting {
		if wait.ID == id {
			must(w.t, w.operator().conn.Call(w.t.Context(), "node.pair.approve", map[string]string{"requestId": wait.RequestID}, nil))
		}
	}
}

// call calls a method and returns what it answers: a payload, or "CODE: text".
func (l *line) call(method string, params any) string {
	l.t.Helper()
	var out json.RawMessage
	err := l.conn.Call(l.t.Context(), method, params, &out)
	var refused *link.Error
	switch {
	case errors.As(err, &refused):
		return refused.Code + ": " + refused.Message
	case err != nil:
		return err.Error()
	}
	return string(out)
}

func echo(r request) (any, *link.Error) {
	return map[string]any{"exitCode": 0, "success": true, "stdout": *r.ParamsJSON}, nil
}

// TestDoor lets nobody in who does not know a secret or is not who it says.
func TestDoor(t *testing.T) {
	w := newWorld(t, "{}")
	forged := device1(t)
	for _, row := range []struct {
		name string
		edit func(*link.Connect)
		want string // "" lets it in
	}{
		{"token", func(c *link.Connect) {}, ""},
		{"no token", func(c *link.Connect) { c.Auth = nil }, "unauthorized"},
		{"wrong token", func(c *link.Connect) { c.Auth.Token = secret + "x" }, "unauthorized"},
		{"begin of the token", func(c *link.Connect) { c.Auth.Token = secret[:10] }, "unauthorized"},
		{"token of nobody", func(c *link.Connect) { c.Auth = &link.Auth{DeviceToken: "x"} }, "unauthorized"},
		{"password", func(c *link.Connect) { c.Auth = &link.Auth{Password: secret} }, "unauthorized"},
		{"role", func(c *link.Connect) { c.Role = "admin" }, "invalid role"},
		{"too many commands", func(c *link.Connect) { c.Commands = make([]string, maxCommands+1) }, "offers too much"},
		{"long platform", func(c *link.Connect) { c.Client.Platform = strings.Repeat("x", 300) }, "offers too much"},
		{"odd name", func(c *link.Connect) { c.Client.DisplayName = "a\u202eb\n" + strings.Repeat("x", 500) }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := asNode("n", "system.run")
			row.edit(&c)
			_, err := w.dial(forged, c, nil)
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("%v, want %q", err, row.want)
			}
		})
	}
	if name := w.g.known()[0].Name; strings.ContainsAny(name, "\u202e\n") || len(name) > maxName {
		t.Errorf("the name is %q", name)
	}
	// A page of another origin, and what is no WebSocket.
	for _, row := range []struct {
		path, origin, method string
		want                 int
	}{
		{"/", "https://elsewhere.example", "GET", http.StatusForbidden},
		{"/", "", "POST", http.StatusMethodNotAllowed},
		{"/other", "", "GET", http.StatusNotFound},
		{"/healthz", "", "GET", http.StatusOK},
		{"/readyz", "", "GET", http.StatusOK},
		{"/metrics", "", "GET", http.StatusOK},
	} {
		r, err := http.NewRequest(row.method, "http://"+w.addr+row.path, nil)
		must(t, err)
		if row.origin != "" {
			r.Header = http.Header{"Origin": {row.origin}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
		}
		resp, err := http.DefaultClient.Do(r)
		must(t, err)
		text, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != row.want || strings.Contains(string(text), secret) {
			t.Errorf("%s %s: %s", row.method, row.path, resp.Status)
		}
	}
	// Who guesses from elsewhere is not heard for a while; here that would keep
	// everybody out.
	for ip, want := range map[string]bool{"192.0.2.1": false, "127.0.0.1": true, "::1": true, "192.0.2.2": true} {
		for range maxWrong {
			if ip != "192.0.2.2" {
				w.g.guard.failed(ip)
			}
		}
		if _, got := w.g.guard.enter(ip, func() {}); got != want {
			t.Errorf("%s comes in: %v", ip, got)
		}
	}
	ended := []int{}
	for i := range maxShakes + 2 {
		if _, got := w.g.guard.enter("192.0.2.3", func() { ended = append(ended, i) }); !got {
			t.Errorf("handshake %d is refused", i)
		}
	}
	w.g.guard.mu.Lock()
	open := len(w.g.guard.shakes["192.0.2.3"])
	w.g.guard.mu.Unlock()
	if len(ended) != 2 || ended[0] != 0 || ended[1] != 1 || open != maxShakes {
		t.Errorf("%v ended for the two that are too many", ended)
	}
}

// TestSilentHandshakes: those who connect and say nothing keep nobody out.
func TestSilentHandshakes(t *testing.T) {
	w := newWorld(t, "{}")
	for range maxShakes + 10 {
		ws, _, err := websocket.Dial(t.Context(), "ws://"+w.addr, nil)
		must(t, err)
		defer ws.CloseNow()
	}
	if got := w.operator().call("health", struct{}{}); !strings.Contains(got, "ok") {
		t.Error(got)
	}
}

// TestPanics: a method that panics is refused, and the connection and all others
// are served on.
func TestPanics(t *testing.T) {
	methods["test.panic"] = method{"", scopeNone, func(*peer, context.Context, json.RawMessage) (any, error) { panic("secret") }}
	defer delete(methods, "test.panic")
	w := newWorld(t, "{}")
	node, boss := w.node("mini", echo), w.operator()
	before := rescue.Caught()
	for _, l := range []*line{node, boss, boss} {
		if got := l.call("test.panic", struct{}{}); !strings.HasPrefix(got, link.CodeUnavailable) || strings.Contains(got, "secret") {
			t.Errorf("it panicked: %s", got)
		}
		if got := l.call("health", struct{}{}); !strings.Contains(got, "ok") {
			t.Errorf("then: %s", got)
		}
	}
	if rescue.Caught() != before+3 {
		t.Errorf("%d were counted", rescue.Caught()-before)
	}
}

// TestPairing has a person approve the commands of a node, and keeps that over
// a restart.
func TestPairing(t *testing.T) {
	w := newWorld(t, "{}")
	boss := w.operator()
	d := device1(t)
	node, err := w.dial(d, asNode("mini", "system.run", "system.which"), echo)
	must(t, err)
	var asked waiting
	must(t, json.Unmarshal(boss.event("node.pair.requested"), &asked))
	invoke := func(l *line, key string) string {
		return l.call("node.invoke", map[string]any{"nodeId": d.ID(), "command": "system.which", "idempotencyKey": key})
	}
	if got := invoke(boss, "a"); !strings.Contains(got, "nobody approved") {
		t.Error(got)
	}
	for _, row := range []struct {
		scopes       []string
		method, want string
	}{
		{[]string{scopeWrite}, "node.pair.approve", "INVALID_REQUEST: missing scope: operator.pairing"},
		{[]string{scopePairing}, "node.pair.approve", "INVALID_REQUEST: missing scope: operator.admin"},
		{[]string{scopePairing}, "device.pair.approve", "INVALID_REQUEST: unknown requestId"},
	} {
		if got := w.operator(row.scopes...).call(row.method, requestParams{asked.RequestID}); got != row.want {
			t.Errorf("%v %s: %s", row.scopes, row.method, got)
		}
	}
	if got := boss.call("node.pair.approve", requestParams{asked.RequestID}); !strings.Contains(got, d.ID()) {
		t.Error(got)
	}
	if got := invoke(boss, "b"); !strings.Contains(got, `"ok":true`) {
		t.Error(got)
	}
	boss.call("node.rename", map[string]string{"nodeId": d.ID(), "displayName": "Maxi"})
	info, err := os.Stat(w.opt.State.Pairing())
	must(t, err)
	text, err := os.ReadFile(w.opt.State.Pairing())
	must(t, err)
	if info.Mode().Perm() != 0o600 || strings.Contains(string(text), secret) || strings.Contains(string(text), node.hello.Auth.DeviceToken) {
		t.Errorf("%v %s", info.Mode(), text)
	}

	w.stop()
	if err := <-node.over; err == nil || !strings.Contains(err.Error(), "the gateway stops") {
		t.Error(err)
	}
	w.start()
	c := asNode("mini", "system.run", "system.which")
	c.Auth = &link.Auth{DeviceToken: node.hello.Auth.DeviceToken} // and no other secret
	node, err = w.dial(d, c, echo)
	must(t, err)
	boss = w.operator()
	if got := invoke(boss, "c"); !strings.Contains(got, `"ok":true`) {
		t.Error(got)
	}
	if got := boss.call("node.list", nil); !strings.Contains(got, `"displayName":"Maxi"`) || !strings.Contains(got, `"connected":true`) {
		t.Error(got)
	}
	// It offers more: what was approved holds, the rest waits.
	c.Commands = append(c.Commands, "system.notify")
	if _, err = w.dial(d, c, echo); err != nil {
		t.Fatal(err)
	}
	if err := <-node.over; err == nil || !strings.Contains(err.Error(), "connected again") {
		t.Error(err)
	}
	if got := boss.call("node.describe", map[string]string{"nodeId": d.ID()}); !strings.Contains(got, `"commands":["system.run","system.which"]`) || !strings.Contains(got, `"pendingCommands":["system.notify"`) {
		t.Error(got)
	}
	// Another device with its token, and itself on another platform, wait or stay out.
	if _, err := w.dial(device1(t), c, nil); err == nil || !strings.Contains(err.Error(), "unauthorized") {
		t.Error(err)
	}
	c.Client.Platform, c.Client.DeviceFamily = "macos", "Mac"
	var refused *link.Error
	if _, err := w.dial(d, c, nil); !errors.As(err, &refused) || refused.Detail() != link.PairingRequired {
		t.Error(err)
	}
	boss.event("device.pair.requested")
	if got := boss.call("device.pair.remove", map[string]string{"deviceId": d.ID()}); !strings.Contains(got, d.ID()) {
		t.Error(got)
	}
	c.Client.Platform, c.Client.DeviceFamily = "linux", "Linux"
	if _, err := w.dial(d, c, nil); err == nil || !strings.Contains(err.Error(), "unauthorized") {
		t.Error(err)
	}
}

// TestPlatform believes in no commands of a node whose platform is unknown.
func TestPlatform(t *testing.T) {
	w := newWorld(t, "{}")
	for _, row := range []struct{ platform, family, want string }{
		{"linux", "Linux", "[camera.snap system.run]"}, {"macos", "Mac", "[camera.snap system.run]"}, {"windows", "Windows", "[camera.snap system.run]"},
		{"linux", "Mac", "[camera.snap]"}, {"plan9", "", "[camera.snap]"}, {"", "", "[camera.snap]"}, {"Linux", "LINUX", "[camera.snap system.run]"},
	} {
		c := asNode("n", "system.run", "camera.snap", "", "a\nb")
		c.Client.Platform, c.Client.DeviceFamily = row.platform, row.family
		l, err := w.dial(device1(t), c, nil)
		must(t, err)
		for _, n := range w.g.known() {
			if n.ID == l.id && fmt.Sprint(n.Waiting) != row.want {
				t.Errorf("%s %s: %v", row.platform, row.family, n.Waiting)
			}
		}
	}
}

// TestAdmit tells who waits for a person.
func TestAdmit(t *testing.T) {
	d, err := openDevices(filepath.Join(t.TempDir(), "pairing.json"))
	must(t, err)
	who := device{ID: "a", Role: link.RoleOperator, Scopes: []string{scopeRead}, Platform: "linux", Family: "Linux"}
	more := who
	more.Scopes = []string{scopeRead, scopeAdmin}
	var first, second *waiting
	if _, token, err := d.admit(who, false, true); token != "" || !errors.As(err, &first) || !first.fresh {
		t.Fatal(token, err)
	}
	if _, _, err := d.admit(who, false, true); !errors.As(err, &second) || second.fresh || second.RequestID != first.RequestID {
		t.Error("it is asked for twice", err)
	}
	// Who asks for more meanwhile is not let in by the yes to less.
	if _, _, err := d.admit(more, false, true); !errors.As(err, &second) || second.RequestID == first.RequestID {
		t.Error(err)
	}
	must(t, d.change(func(f *deviceFile) error { _, err := f.put(who); return err }))
	granted, token, err := d.admit(who, false, true)
	if err != nil || token == "" || !d.knows("a", link.RoleOperator, token) || d.knows("a", link.RoleNode, token) || d.knows("b", link.RoleOperator, token) || granted.ID != "a" {
		t.Error(granted, token, err)
	}
	if _, _, err := d.admit(more, false, false); !errors.As(err, &second) {
		t.Error("its scopes grew by themselves:", err)
	}
	if _, _, err := d.admit(more, true, true); err != nil {
		t.Error(err)
	}
	for i := range maxWaiting + 1 {
		_, _, err = d.admit(device{ID: fmt.Sprint("w", i), Role: link.RoleNode}, false, true)
	}
	if err == nil || !strings.Contains(err.Error(), "too many devices wait") {
		t.Error(err)
	}
	for _, text := range []string{"{", `{"version": 2}`, `[]`} {
		path := filepath.Join(t.TempDir(), "bad.json")
		must(t, os.WriteFile(path, []byte(text), 0o600))
		if _, err := openDevices(path); err == nil || !strings.Contains(err.Error(), "who may come in") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestInvoke gives each answer to who waits for it, and to nobody else.
func TestInvoke(t *testing.T) {
	w := newWorld(t, "{}")
	asked := make(chan request, 16)
	silent := func(r request) (any, *link.Error) { asked <- r; return nil, nil }
	node, other := w.node("one", silent), w.node("two", silent)
	boss := w.operator()
	params := func(key string) map[string]any {
		return map[string]any{"nodeId": node.id, "command": "system.which", "params": map[string]any{"bins": []string{"ls"}}, "idempotencyKey": key, "timeoutMs": patience.Milliseconds()}
	}
	answer := func(l *line, id, nodeID string) string {
		return l.call("node.invoke.result", map[string]any{"id": id, "nodeId": nodeID, "ok": true, "payloadJSON": `{"bins":{"ls":"/bin/ls"}}`})
	}
	got := make(chan string, 4)
	for range 2 { // with one key they are one
		go func() { got <- boss.call("node.invoke", params("one key")) }()
	}
	r := <-asked
	if r.Command != "system.which" || *r.ParamsJSON != `{"bins":["ls"]}` || r.NodeID != node.id {
		t.Errorf("%+v", r)
	}
	for _, row := range []struct {
		by             *line
		id, node, want string
	}{
		{other, r.ID, other.id, `{"ignored":true,"ok":true}`},
		{other, r.ID, node.id, "INVALID_REQUEST: nodeId mismatch"},
		{node, "never made", node.id, `{"ignored":true,"ok":true}`},
		{boss, r.ID, node.id, "INVALID_REQUEST: unknown method: node.invoke.result"},
	} {
		if got := answer(row.by, row.id, row.node); got != row.want {
			t.Errorf("%s, want %s", got, row.want)
		}
	}
	if len(got) > 0 {
		t.Fatal("somebody else answered: ", <-got)
	}
	if got := answer(node, r.ID, node.id); got != `{"ignored":false,"ok":true}` {
		t.Error(got)
	}
	if got := answer(node, r.ID, node.id); got != `{"ignored":true,"ok":true}` {
		t.Error(got)
	}
	for range 2 {
		if text := <-got; !strings.Contains(text, `"payload":{"bins":{"ls":"/bin/ls"}}`) {
			t.Error(text)
		}
	}
	// Time ends it, and the node is told.
	late := params("late")
	late["timeoutMs"] = 50
	if got := boss.call("node.invoke", late); got != "TIMEOUT: node invoke timed out" {
		t.Error(got)
	}
	r = <-asked
	if text := string(node.event("node.invoke.cancel")); !strings.Contains(text, r.ID) {
		t.Error(text)
	}
	// Who asked is gone.
	leaving := w.operator()
	go leaving.call("node.invoke", params("left"))
	r = <-asked
	leaving.conn.Close("bye")
	if text := string(node.event("node.invoke.cancel")); !strings.Contains(text, r.ID) {
		t.Error(text)
	}
	// The node is gone.
	go func() { got <- boss.call("node.invoke", params("gone")) }()
	<-asked
	node.conn.Close("bye")
	if text := <-got; text != "UNAVAILABLE: the node disconnected" {
		t.Error(text)
	}
	if text := boss.call("node.invoke", params("later")); text != "UNAVAILABLE: node not connected" {
		t.Error(text)
	}
	for key, row := range map[string]struct {
		edit func(map[string]any)
		want string
	}{
		"no key":  {func(m map[string]any) { delete(m, "idempotencyKey") }, "idempotencyKey"},
		"command": {func(m map[string]any) { m["command"] = "camera.snap" }, "not allowed"},
		"type":    {func(m map[string]any) { m["nodeId"] = 7 }, "invalid params: nodeId is no string"},
	} {
		m := params(key)
		m["nodeId"] = other.id
		row.edit(m)
		if got := boss.call("node.invoke", m); !strings.HasPrefix(got, "INVALID_REQUEST") || !strings.Contains(got, row.want) {
			t.Errorf("%s: %s", key, got)
		}
	}
	refuse := w.node("three", func(request) (any, *link.Error) { return nil, link.Refuse("UNAVAILABLE", "SYSTEM_RUN_DENIED: no") })
	m := params("refused")
	m["nodeId"] = refuse.id
	if got := boss.call("node.invoke", m); got != "UNAVAILABLE: UNAVAILABLE: SYSTEM_RUN_DENIED: no" {
		t.Error(got)
	}
}

// TestHostile sends what nobody should.
func TestHostile(t *testing.T) {
	w := newWorld(t, "{}")
	boss, node := w.operator(), w.node("n", echo)
	for _, row := range []struct {
		by     *line
		method string
		params any
		want   string
	}{
		{boss, "no.such\nmethod", nil, `INVALID_REQUEST: unknown method: no.such\u{A}method`},
		{boss, strings.Repeat("x", 5000), nil, "INVALID_REQUEST: unknown method: xxx"},
		{node, "node.list", nil, "INVALID_REQUEST: unknown method"},
		{node, "exec.run", nil, "INVALID_REQUEST: unknown method"},
		{boss, "exec.run", map[string]any{"command": strings.Repeat("x", maxRequest)}, "INVALID_REQUEST: invalid params: they are too long"},
		{boss, "node.describe", []int{1}, "INVALID_REQUEST: invalid params"},
		{boss, "exec.run", map[string]any{"command": 7}, "INVALID_REQUEST: invalid params"},
		{boss, "exec.run", map[string]any{"command": []any{"a", 7}}, "INVALID_REQUEST: invalid params"},
		{boss, "exec.run", map[string]any{"command": " "}, "INVALID_REQUEST: invalid params: command is missing"},
		{boss, "exec.run", map[string]any{"command": "ls", "security": "none"}, "INVALID_REQUEST: invalid params"},
		{boss, "exec.run", map[string]any{"command": "ls", "agentId": "a\nb"}, "INVALID_REQUEST: agentId and sessionKey"},
		{boss, "exec.run", map[string]any{"command": "ls", "sessionKey": strings.Repeat("x", 300)}, "INVALID_REQUEST: agentId and sessionKey"},
		{boss, "exec.status", map[string]any{"runId": "none"}, "INVALID_REQUEST: unknown runId"},
		{node, "node.event", map[string]any{"event": "exec.finished", "payload": map[string]any{"runId": "none", "sessionKey": "agent:main:main"}}, `{"event":"exec.finished","handled":false,"ok":true,"reason":"unmatched_exec_event"}`},
		{node, "node.event", map[string]any{"event": "exec.finished", "payload": 7}, "INVALID_REQUEST"},
		{node, "node.invoke.progress", map[string]any{"invokeId": "x", "nodeId": node.id, "chunk": strings.Repeat("x", maxChunk+1)}, "INVALID_REQUEST: progress chunk too large"},
	} {
		if got := row.by.call(row.method, row.params); !strings.HasPrefix(got, row.want) {
			t.Errorf("%.40s %v: %.200s", row.method, row.params, got)
		}
	}
	if list := w.g.sessions.list; len(list) > 0 {
		t.Errorf("sessions began: %v", list)
	}
	// A frame that is none, or too long, ends its connection alone.
	for _, text := range []string{"{", `{"type":"req"}`, strings.Repeat("x", link.MaxPayload+1)} {
		ws, _, err := websocket.Dial(t.Context(), "ws://"+w.addr, nil)
		must(t, err)
		ws.SetReadLimit(-1)
		_, _, err = ws.Read(t.Context()) // the challenge
		must(t, err)
		_ = ws.Write(t.Context(), websocket.MessageText, []byte(text))
		for err == nil {
			_, _, err = ws.Read(t.Context())
		}
	}
	if got := boss.call("health", nil); !strings.Contains(got, `"ok":true`) {
		t.Error(got)
	}
}

// TestHalfOpen ends a line whose other end is there for the network alone, and
// what was asked over it.
func TestHalfOpen(t *testing.T) {
	w := newWorld(t, onNodes)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	frozen, addr := make(chan bool), w.addr
	go func() { // what goes in comes out, until it freezes
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", addr)
			if err != nil {
				return
			}
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				go func() {
					b := make([]byte, 1<<16)
					for {
						n, err := way[0].Read(b)
						if err != nil {
							return
						}
						select {
						case <-frozen:
							continue
						default:
						}
						_, _ = way[1].Write(b[:n])
					}
				}()
			}
		}
	}()
	w.addr = l.Addr().String()
	node, err := w.dial(device1(t), asNode("mini", "system.run"), func(request) (any, *link.Error) { return nil, nil })
	must(t, err)
	w.addr = addr
	w.approve(node.id)
	agent := w.operator(scopeWrite)
	answer := make(chan string, 1)
	go func() { answer <- agent.call("exec.run", json.RawMessage(`{"command":["ls"]}`)) }()
	node.event("node.invoke.request")
	close(frozen)
	w.g.life = 200 * time.Millisecond
	w.g.node(node.id).tick()
	if got := <-answer; got != "UNAVAILABLE: the node disconnected" {
		t.Error(got)
	}
	node.conn.Drop()
	if got := agent.call("health", nil); !strings.Contains(got, `"ok":true`) { // its line lives
		t.Error(got)
	}
}

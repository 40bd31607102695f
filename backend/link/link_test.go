package link

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// theirs is a connect that everybody may send.
func theirs() Connect {
	return Connect{
		Client: Client{ID: "node-host", Version: "1", Platform: "Linux", DeviceFamily: "Linux", Mode: "node"},
		Role:   RoleNode, Scopes: []string{}, Caps: []string{"system"}, Commands: []string{"system.run"}, Auth: &Auth{Token: "the-token"},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func device(t *testing.T) Device {
	t.Helper()
	d, err := NewDevice()
	must(t, err)
	return d
}

// end is one end of a connection that answers what it is asked.
type end struct {
	conn   *Conn
	answer func(Request) (any, *Error)
	events chan Event
}

func (e *end) Request(r Request) {
	go func() {
		got, refusal := e.answer(r)
		e.conn.Reply(context.Background(), r.ID, got, refusal)
	}()
}

func (e *end) Event(ev Event) { e.events <- ev }

func echo(r Request) (any, *Error) {
	if r.Method == "refuse" {
		return nil, Refuse(CodeUnavailable, "not now")
	}
	return r.Params, nil
}

// gateway accepts connections whose token is right.
type gateway struct {
	*httptest.Server
	ends  chan *end
	fails chan error
}

func newGateway(t *testing.T) *gateway {
	g := &gateway{ends: make(chan *end, 16), fails: make(chan error, 16)}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := Accept(w, r, func(c *Connect) (*Hello, *Error) {
			if c.Auth == nil || c.Auth.Token != "the-token" {
				return nil, Refuse(CodeForbidden, "unauthorized")
			}
			return &Hello{Server: Server{Version: "test", ConnID: "c1"}, Auth: Granted{Role: c.Role}}, nil
		})
		if err != nil {
			g.fails <- err
			return
		}
		e := &end{conn: c, answer: echo, events: make(chan Event, 4096)}
		g.ends <- e
		c.Serve(r.Context(), e)
	}))
	t.Cleanup(g.Close)
	return g
}

func (g *gateway) url() string { return "ws" + strings.TrimPrefix(g.URL, "http") }

// join connects and serves; what ends it comes from the channel.
func join(t *testing.T, url string, d Device) (*end, <-chan error) {
	t.Helper()
	c, hello, err := Dial(t.Context(), Options{URL: url, Connect: theirs(), Device: d})
	must(t, err)
	if hello.Server.ConnID != "c1" || hello.Auth.Role != RoleNode {
		t.Fatalf("%+v", hello)
	}
	e := &end{conn: c, answer: echo, events: make(chan Event, 4096)}
	over := make(chan error, 1)
	go func() { over <- c.Serve(t.Context(), e) }()
	return e, over
}

func TestCallsBothWays(t *testing.T) {
	g := newGateway(t)
	node, _ := join(t, g.url(), device(t))
	host := <-g.ends
	var all sync.WaitGroup
	for _, e := range []*end{node, host} {
		for i := range 1000 {
			all.Go(func() {
				var got struct{ N int }
				if err := e.conn.Call(t.Context(), "echo", map[string]int{"N": i}, &got); err != nil || got.N != i {
					t.Errorf("%d: %v, %v", i, got, err)
				}
			})
		}
	}
	all.Wait()
	var refusal *Error
	if err := node.conn.Call(t.Context(), "refuse", nil, nil); !errors.As(err, &refusal) || refusal.Code != CodeUnavailable || refusal.Message != "not now" {
		t.Error(err)
	}
	for i := range 1000 {
		must(t, host.conn.Send(t.Context(), "n", i))
	}
	for i := range 1000 {
		if e := <-node.events; e.Name != "n" || string(e.Payload) != fmt.Sprint(i) {
			t.Fatalf("%d: %s %s", i, e.Name, e.Payload)
		}
	}
}

// TestEnds lets each end go while the other waits for an answer.
func TestEnds(t *testing.T) {
	g := newGateway(t)
	node, over := join(t, g.url(), device(t))
	host := <-g.ends
	host.answer = func(Request) (any, *Error) { host.conn.Close("restart"); return nil, nil }
	if err := node.conn.Call(t.Context(), "echo", nil, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := <-over; err == nil || !strings.Contains(err.Error(), `"restart"`) {
		t.Error(err)
	}
	if err := node.conn.Call(t.Context(), "echo", nil, nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	node, _ = join(t, g.url(), device(t))
	ctx, cancel := context.WithCancel(t.Context())
	host = <-g.ends
	host.answer = func(Request) (any, *Error) { cancel(); <-t.Context().Done(); return nil, nil }
	if err := node.conn.Call(ctx, "echo", nil, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(node.conn.calls) != 0 {
		t.Error("a call that nobody waits for is kept")
	}
}

func TestSilence(t *testing.T) {
	g := newGateway(t)
	c, _, err := Dial(t.Context(), Options{URL: g.url(), Connect: theirs(), Device: device(t)})
	must(t, err)
	if c.quiet != 2*TickInterval {
		t.Error(c.quiet)
	}
	c.quiet = 10 * time.Millisecond
	if err := c.Serve(t.Context(), &end{conn: c}); !errors.Is(err, ErrSilent) {
		t.Error(err)
	}
}

// TestConnectRefused changes a connect after it was signed, or before.
func TestConnectRefused(t *testing.T) {
	g := newGateway(t)
	d, other := device(t), device(t)
	for name, c := range map[string]struct {
		before, after func(*Connect)
		want          string
	}{
		"no device":         {nil, func(c *Connect) { c.Device = nil }, "DEVICE_AUTH_REQUIRED"},
		"no nonce":          {nil, func(c *Connect) { c.Device.Nonce = "" }, "DEVICE_AUTH_NONCE_REQUIRED"},
		"an old nonce":      {nil, func(c *Connect) { c.Device.Nonce = "OLD" }, "DEVICE_AUTH_NONCE_MISMATCH"},
		"an old time":       {nil, func(c *Connect) { c.Device.SignedAt -= 30_000 }, "DEVICE_AUTH_SIGNATURE_EXPIRED"},
		"a foreign id":      {nil, func(c *Connect) { c.Device.ID = other.ID() }, "DEVICE_AUTH_DEVICE_ID_MISMATCH"},
		"a foreign key":     {nil, func(c *Connect) { c.Device.ID, c.Device.PublicKey = other.ID(), other.PublicKey() }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"no key":            {nil, func(c *Connect) { c.Device.PublicKey = "AAAA" }, "DEVICE_AUTH_PUBLIC_KEY_INVALID"},
		"another role":      {nil, func(c *Connect) { c.Role = RoleOperator }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"another scope":     {nil, func(c *Connect) { c.Scopes = []string{"operator.admin"} }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"another token":     {nil, func(c *Connect) { c.Auth.Token = "other" }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"another platform":  {nil, func(c *Connect) { c.Client.Platform = "macos" }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"another family":    {nil, func(c *Connect) { c.Client.DeviceFamily = "Mac" }, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"a bar in a field":  {func(c *Connect) { c.Client.Mode = "node|node" }, nil, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"a comma in scopes": {func(c *Connect) { c.Scopes = []string{"a,b"} }, nil, "DEVICE_AUTH_SIGNATURE_INVALID"},
		"no such role":      {func(c *Connect) { c.Role = "root" }, nil, "invalid role"},
		"a wrong token":     {func(c *Connect) { c.Auth.Token = "wrong" }, nil, "unauthorized"},
		"no token":          {func(c *Connect) { c.Auth = nil }, nil, "unauthorized"},
		"a newer protocol":  {func(c *Connect) { c.MinProtocol, c.MaxProtocol = 5, 9 }, nil, "protocol mismatch"},
		"an older protocol": {func(c *Connect) { c.MinProtocol, c.MaxProtocol = 1, 2 }, nil, "protocol mismatch"},
	} {
		ws, _, err := websocket.Dial(t.Context(), g.url(), nil)
		must(t, err)
		ours := newConn(ws)
		f, err := ours.read(t.Context())
		must(t, err)
		var ch challenge
		must(t, json.Unmarshal(f.Payload, &ch))
		connect := theirs()
		connect.MinProtocol, connect.MaxProtocol = Protocol, Protocol
		if c.before != nil {
			c.before(&connect)
		}
		connect.Device = d.prove(&connect, ch)
		if c.after != nil {
			c.after(&connect)
		}
		params, err := raw(connect)
		must(t, err)
		must(t, ours.write(t.Context(), frame{Type: typeRequest, ID: "1", Method: methodConnect, Params: params}))
		f, err = ours.read(t.Context())
		must(t, err)
		if f.Error == nil || f.Error.Detail() != c.want && f.Error.Message != c.want {
			t.Errorf("%s: %+v", name, f)
		}
		if _, err := ours.read(t.Context()); err == nil {
			t.Errorf("%s: the connection is open", name)
		}
		var refusal *Error
		if err := <-g.fails; !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(g.ends) != 0 {
		t.Error("somebody came in")
	}
}

// TestNoFrames sends what is no frame, before and after the handshake.
func TestNoFrames(t *testing.T) {
	g := newGateway(t)
	big := bytes.Repeat([]byte(" "), maxEarly)
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "hello", "a list": "[]", "null": "null", "no type": `{"id":"1"}`, "a number as id": `{"type":"req","id":1,"method":"connect"}`,
		"no method": `{"type":"req","id":"1"}`, "no ok": `{"type":"res","id":"1"}`, "two": `{"type":"event","event":"a"}{}`,
		"another method": `{"type":"req","id":"1","method":"node.invoke"}`, "an event": `{"type":"event","event":"tick"}`,
		"params of a wrong type": `{"type":"req","id":"1","method":"connect","params":{"role":7}}`, "params that are a list": `{"type":"req","id":"1","method":"connect","params":[]}`,
		"too long": `{"type":"req","id":"1","method":"connect","params":{}` + string(big) + `}`,
	} {
		ws, _, err := websocket.Dial(t.Context(), g.url(), nil)
		must(t, err)
		_, _, err = ws.Read(t.Context()) // the challenge
		must(t, err)
		must(t, ws.Write(t.Context(), websocket.MessageText, []byte(text)))
		for err == nil {
			_, _, err = ws.Read(t.Context())
		}
		if status := websocket.CloseStatus(err); status != websocket.StatusPolicyViolation && status != websocket.StatusMessageTooBig {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-g.fails; err == nil || len(err.Error()) > 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, send := range map[string]func(*Conn) error{
		"no JSON": func(c *Conn) error { return c.ws.Write(t.Context(), websocket.MessageText, []byte("{")) },
		"bytes": func(c *Conn) error {
			return c.ws.Write(t.Context(), websocket.MessageBinary, []byte(`{"type":"event","event":"a"}`))
		},
		"too long": func(c *Conn) error { return c.ws.Write(t.Context(), websocket.MessageText, make([]byte, MaxPayload+1)) },
	} {
		node, over := join(t, g.url(), device(t))
		<-g.ends
		send(node.conn) // fails where the other end closes first
		if err := <-over; err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	node, _ := join(t, g.url(), device(t))
	host := <-g.ends
	for _, f := range []frame{{ID: "99"}, {ID: "x"}} { // answers to nothing
		f.Type, f.OK = typeResponse, new(bool)
		must(t, node.conn.write(t.Context(), f))
	}
	must(t, host.conn.Call(t.Context(), "echo", nil, nil))
	if err := node.conn.Send(t.Context(), "n", strings.Repeat("x", MaxPayload)); err == nil {
		t.Error("a frame that is too long was sent")
	}
	must(t, node.conn.Call(t.Context(), "echo", nil, nil))
}

// TestOrigin refuses pages.
func TestOrigin(t *testing.T) {
	g := newGateway(t)
	_, resp, err := websocket.Dial(t.Context(), g.url(), &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://example.com"}}})
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("%v", err)
	}
	<-g.fails
}

func TestWhereToConnect(t *testing.T) {
	for url, want := range map[string]bool{
		"ws://127.0.0.1:1": true, "ws://localhost:1/path": true, "ws://[::1]:1": true, "wss://example.com": true, "wss://10.0.0.1:1": true,
		"ws://10.0.0.1:1": false, "ws://example.com": false, "ws://localhost.example.com": false, "http://127.0.0.1:1": false,
		"ws://": false, "": false, "127.0.0.1:1": false, "wss://me:secret@example.com": false, "ws://127.0.0.1:1%": false,
	} {
		if err := checkURL(url, false); (err == nil) != want {
			t.Errorf("%s: %v", url, err)
		} else if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	must(t, checkURL("ws://example.com", true))
	g := newGateway(t)
	elsewhere := httptest.NewServer(http.RedirectHandler(g.URL, http.StatusTemporaryRedirect))
	defer elsewhere.Close()
	if _, _, err := Dial(t.Context(), Options{URL: "ws" + strings.TrimPrefix(elsewhere.URL, "http"), Connect: theirs(), Device: device(t)}); err == nil {
		t.Error("a redirect was followed")
	}
}

// TestNoGateway connects to what is none.
func TestNoGateway(t *testing.T) {
	for name, first := range map[string]string{
		"no challenge":    `{"type":"event","event":"hello"}`,
		"no nonce":        `{"type":"event","event":"connect.challenge","payload":{"ts":1}}`,
		"a time of words": `{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":"now"}}`,
		"other protocol":  `{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1}}` + "\n" + `{"type":"res","id":"connect","ok":true,"payload":{"protocol":9,"policy":{"tickIntervalMs":30000}}}`,
		"no tick":         `{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1}}` + "\n" + `{"type":"res","id":"connect","ok":true,"payload":{"protocol":4}}`,
		"a refusal":       `{"type":"event","event":"connect.challenge","payload":{"nonce":"n","ts":1}}` + "\n" + `{"type":"res","id":"connect","ok":false,"error":{"code":"NOT_PAIRED","message":"m","details":{"code":"PAIRING_REQUIRED"}}}`,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				return
			}
			for line := range strings.Lines(first) {
				ws.Write(r.Context(), websocket.MessageText, []byte(line))
			}
			ws.Read(r.Context())
			ws.Read(r.Context())
		}))
		_, _, err := Dial(t.Context(), Options{URL: "ws" + strings.TrimPrefix(s.URL, "http"), Connect: theirs(), Device: device(t)})
		if err == nil || strings.Contains(err.Error(), "the-token") {
			t.Errorf("%s: %v", name, err)
		}
		var refusal *Error
		if name == "a refusal" && (!errors.As(err, &refusal) || refusal.Detail() != PairingRequired) {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}

func TestDevice(t *testing.T) {
	var d, again Device
	if _, err := d.MarshalText(); err == nil || d.String() != "no device" {
		t.Error("nobody can be written down")
	}
	d = Device{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))}
	text, err := d.MarshalText()
	must(t, err)
	must(t, again.UnmarshalText(text))
	if again.ID() != d.ID() || strings.Contains(fmt.Sprintf("%v %+v %s", d, d, d), string(text)) {
		t.Errorf("%v", again)
	}
	for _, bad := range []string{"", "AAAA", string(text) + "A", "=" + string(text)} {
		if err := again.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	c := theirs()
	c.Scopes, c.Client.Platform = []string{"a", "b"}, " LinuX\u0130 "
	want := "v3|" + d.ID() + "|node-host|node|node|a,b|1737264000000|the-token|N|linux\u0130|linux"
	if got := c.signed(&Proof{ID: d.ID(), SignedAt: 1737264000000, Nonce: "N"}); got != want {
		t.Errorf("signed %q", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"type":"req","id":"1","method":"connect","params":{"role":"node"}}`, `{"type":"res","id":"1","ok":true}`, `{"type":"event","event":"tick","seq":3}`, "{}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parse(text)
		if err != nil {
			return
		}
		hello, connect, refusal := receive(got, challenge{"n", 1}, func(*Connect) (*Hello, *Error) { return &Hello{}, nil })
		if refusal == nil {
			t.Fatalf("%q came in without a signature: %+v %+v", text, hello, connect)
		}
		if _, err := json.Marshal(refusal); err != nil {
			t.Errorf("%+v: %v", refusal, err)
		}
	})
}

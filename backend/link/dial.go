package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/coder/websocket"
)

// Options say where to connect, and as what. Protocols, signature and Device
// of Connect are filled in.
type Options struct {
	URL     string
	Connect Connect
	Device  Device
	// Plaintext lets a secret travel to another machine without TLS.
	Plaintext bool
}

// Dial connects and proves who we are. What the gateway refuses is an *Error.
func Dial(ctx context.Context, o Options) (*Conn, *Hello, error) {
	if err := checkURL(o.URL, o.Plaintext); err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, shake)
	defer cancel()
	ws, resp, err := websocket.Dial(ctx, o.URL, &websocket.DialOptions{HTTPClient: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}})
	if err != nil {
		switch {
		case resp != nil && resp.StatusCode == http.StatusForbidden: // ours says so to a name that is not its own
			return nil, nil, errors.New("cannot connect to the gateway: it answered 403 Forbidden: call it by its address, or start it with --name and the name that you use")
		case resp != nil:
			return nil, nil, fmt.Errorf("cannot connect to the gateway: it answered %s", resp.Status)
		}
		return nil, nil, fmt.Errorf("cannot connect to the gateway: %w", errors.Unwrap(err))
	}
	c := newConn(ws)
	hello, err := c.greet(ctx, o)
	if err != nil {
		ws.CloseNow()
		return nil, nil, err
	}
	c.quiet = 2 * time.Duration(hello.Policy.TickInterval) * time.Millisecond
	ws.SetReadLimit(MaxPayload)
	return c, hello, nil
}

// errRedirect keeps a secret from going where nobody sent it.
var errRedirect = errors.New("the gateway sent us elsewhere")

// checkURL refuses what would show a secret to the network.
func checkURL(text string, plaintext bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss":
		return errors.New("the address of a gateway is ws://HOST:PORT or wss://HOST:PORT")
	case u.User != nil:
		return errors.New("the address of a gateway holds no name or password: give a token")
	case u.Scheme == "wss" || plaintext || loopback(u.Hostname()):
		return nil
	}
	return errors.New("ws:// to another machine shows the token to the network: use wss://, a tunnel, or --plaintext")
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// greet takes the challenge, answers it and reads what the gateway says.
func (c *Conn) greet(ctx context.Context, o Options) (*Hello, error) {
	f, err := c.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("no challenge from the gateway: %w", err)
	}
	var ch challenge
	if f.Event != eventChallenge || json.Unmarshal(f.Payload, &ch) != nil || ch.Nonce == "" || ch.TS < 0 {
		return nil, errors.New("this is no gateway: it sends no challenge")
	}
	connect := o.Connect
	connect.MinProtocol, connect.MaxProtocol = Protocol, Protocol
	connect.Device = o.Device.prove(&connect, ch)
	params, err := raw(connect)
	if err != nil {
		return nil, err
	}
	if err := c.write(ctx, frame{Type: typeRequest, ID: methodConnect, Method: methodConnect, Params: params}); err != nil {
		return nil, err
	}
	c.ws.SetReadLimit(MaxPayload) // what it knows may be a long list
	for {
		if f, err = c.read(ctx); err != nil {
			return nil, fmt.Errorf("no answer of the gateway: %w", err)
		}
		if f.Type == typeResponse && f.ID == methodConnect {
			break
		}
	}
	var hello Hello
	if err := f.result(&hello); err != nil {
		return nil, err
	}
	return &hello, hello.check()
}

// Bounds of what a gateway may ask for.
const (
	minTick = time.Second
	maxTick = 10 * time.Minute
)

// check refuses a gateway that we cannot follow.
func (h *Hello) check() error {
	if h.Protocol != Protocol {
		return fmt.Errorf("the gateway speaks protocol %d, we speak %d", h.Protocol, Protocol)
	}
	if tick := time.Duration(h.Policy.TickInterval) * time.Millisecond; tick < minTick || tick > maxTick {
		return fmt.Errorf("the gateway wants to tick every %s", tick)
	}
	return nil
}

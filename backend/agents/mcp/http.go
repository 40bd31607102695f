package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/webdoor"
)

// Path is where MCP is spoken over HTTP.
const Path = "/mcp"

// Bounds of the door.
const (
	maxSessions    = 100
	maxConnections = 512
	maxHeader      = 32 << 10
	idleSession    = time.Hour
	idleConnection = 2 * time.Minute
	// arriving is how long the head, and then the body, of a request may take.
	arriving = 10 * time.Second
)

// Door says who may come in over HTTP.
type Door struct {
	Token string
	// Origins are those of web pages that may; see CheckOrigin.
	Origins []string
}

// CheckOrigin refuses what is not the origin of a page of this machine, such as
// http://localhost:6274.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || origin != u.Scheme+"://"+u.Host || !loopback(u.Hostname()) {
		return fmt.Errorf("%q is not the origin of a page of this machine: say it as http://localhost:PORT", origin)
	}
	return nil
}

// Listen opens a loopback address, HOST:PORT, and refuses every other one.
func Listen(address string) (net.Listener, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil || !loopback(name) {
		return nil, errors.New("only loopback addresses are listened at: use 127.0.0.1:PORT")
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot listen: %w", err)
	}
	if at, is := l.Addr().(*net.TCPAddr); !is || !at.IP.IsLoopback() { // a name can lead anywhere
		l.Close()
		return nil, fmt.Errorf("%s is not a loopback address: use 127.0.0.1:PORT", address)
	}
	return l, nil
}

func loopback(name string) bool {
	ip := net.ParseIP(name)
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// legacy are the versions of the protocol that know sessions, which newer ones
// do not over HTTP: without them nobody could look at a command in the
// background.
func legacy() []string {
	return slices.DeleteFunc(sdk.SupportedProtocolVersions(), func(v string) bool { return v >= "2026-07-28" })
}

// HTTP serves clients at a loopback listener until ctx ends. What runs for them
// ends then.
func HTTP(ctx context.Context, opt Options, door Door, l net.Listener) error {
	s := newServer(opt, legacy())
	h := &http.Server{
		Handler: s.handler(door, l.Addr()), ReadHeaderTimeout: arriving, IdleTimeout: idleConnection, MaxHeaderBytes: maxHeader,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:    slog.NewLogLogger(opt.Log.Handler(), slog.LevelWarn),
		ConnState:   webdoor.Room(maxConnections),
	}
	stop := context.AfterFunc(ctx, func() {
		defer rescue.Catch(opt.Log, "the end of all clients", nil)
		defer h.Close()
		s.endAll()
	})
	defer stop()
	err := h.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	for client := range s.sdk.Sessions() {
		go rescue.Guarded(opt.Log, "the end of a client", func() { _ = client.Close() })() // it waits for those who take no answers
	}
	s.rest()
	return err
}

// handler is the way of a request: which name it called, which page sent it, who
// sent it, what it holds, and only then what it says.
func (s *server) handler(door Door, at net.Addr) http.Handler {
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		SessionTimeout: idleSession, MaxRequestBodyBytes: maxMessage,
	})
	known := auth.RequireBearerToken(verifier(door.Token), &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})
	mux := http.NewServeMux()
	mux.Handle(Path, s.bounded(mcp))
	return webdoor.Guard(webdoor.Here(at), door.Origins, answerable(known(mux)))
}

// answerable lets the pages that may come read what they get. Which ones may is
// settled before.
func answerable(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		from := r.Header.Get("Origin")
		if from == "" {
			next.ServeHTTP(w, r)
			return
		}
		head := w.Header()
		head.Set("Access-Control-Allow-Origin", from)
		head.Set("Access-Control-Expose-Headers", "Mcp-Session-Id")
		head.Set("Vary", "Origin")
		if r.Method == http.MethodOptions { // the browser asks first, and without the token
			head.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
			head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Last-Event-ID")
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// requestKey is where a call finds the request that brought it.
const requestKey = "request"

// verifier compares tokens in a time that says nothing about ours.
func verifier(token string) auth.TokenVerifier {
	want := sha256.Sum256([]byte(token))
	return func(ctx context.Context, said string, _ *http.Request) (*auth.TokenInfo, error) {
		got := sha256.Sum256([]byte(said))
		if token == "" || subtle.ConstantTimeCompare(want[:], got[:]) != 1 {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Extra: map[string]any{requestKey: ctx}}, nil
	}
}

// requestOf is the context of the HTTP request that brought a call, nil for
// none.
func requestOf(req *sdk.CallToolRequest) context.Context {
	if req.Extra == nil || req.Extra.TokenInfo == nil {
		return nil
	}
	ctx, _ := req.Extra.TokenInfo.Extra[requestKey].(context.Context)
	return ctx
}

// connKey is where the context of a request has its connection.
type connKey struct{}

// peersOf are the processes that sent the HTTP request which brought a call, nil
// for a call that came otherwise: then it was who started us, or its child.
func peersOf(req *sdk.CallToolRequest) ([]proc.ID, error) {
	asked := requestOf(req)
	if asked == nil {
		return nil, nil
	}
	c, is := asked.Value(connKey{}).(net.Conn)
	if !is {
		return nil, proc.ErrNobody
	}
	return proc.Peers(c)
}

const sessionHeader = "Mcp-Session-Id"

// bounded refuses what is too large or ambiguous, and clients beyond those that
// there is room for, once all that are here work. It ends what runs for a session that its client ends: the
// SDK would wait for it.
func (s *server) bounded(next http.Handler) http.Handler {
	var opening atomic.Int32
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(sessionHeader)
		if r.Method == http.MethodDelete {
			s.endOne(id)
		}
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		if id == "" {
			defer func() {
				s.opened(w.Header().Get(sessionHeader))
				opening.Add(-1)
			}()
			if int(opening.Add(1))+s.open() > maxSessions && !s.makeRoom() {
				http.Error(w, "as many clients are connected as may: end one of them", http.StatusServiceUnavailable)
				return
			}
		}
		s.seen(id)
		body, status, err := readBody(w, r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		if err := unambiguous(body); err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(refusal(jsonrpc.CodeParseError, err))
			return
		}
		if _, err := jsonrpc.DecodeMessage(body); err != nil && bytes.TrimSpace(body)[0] != '[' {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(refusal(jsonrpc.CodeInvalidRequest, errShape))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads all of a request, from a client that does not take for ever to
// send it.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	control := http.NewResponseController(w)
	if err := control.SetReadDeadline(time.Now().Add(arriving)); err != nil {
		return nil, http.StatusInternalServerError, err
	}
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, http.StatusRequestEntityTooLarge, errTooLong
	case err != nil:
		return nil, http.StatusBadRequest, errors.New("the request did not arrive whole")
	}
	return body, 0, control.SetReadDeadline(time.Time{})
}

// endOne ends what runs for the session with this id.
func (s *server) endOne(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.used, id)
	for client, one := range s.sessions {
		if client.ID() == id {
			one.end()
		}
	}
}

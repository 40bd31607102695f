// Package remote lets other programs answer questions over a WebSocket, in two
// messages: approval_required and approval_response.
//
// It shows what waits and hands answers on; the host decides whether an answer
// counts, as for every one that does not come from its panel. It listens on this
// machine only. What must never happen here: an answer that nobody with the token
// gave, one answer that counts for another question, or two that count for one.
package remote

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/webdoor"
)

// Host is where questions wait.
type Host interface {
	// Watch waits for a change after cursor, and returns all that waits.
	Watch(ctx context.Context, cursor uint64) (next uint64, waiting []approval.Prompt, err error)
	// Answer gives a question, as it was shown, its answer.
	Answer(ctx context.Context, shown approval.Prompt, d approval.Decision, note string) error
}

// Options say who may come in. Host and Token are required.
type Options struct {
	Host  Host
	Token string
	// Origins are the web pages that may connect, as "https://host:port"; programs
	// that are no web pages send none.
	Origins []string
}

// Bounds of the door.
const (
	maxClients     = 32
	maxConnections = 256      // those that showed no token yet among them
	maxMessage     = 64 << 10 // bytes of one message of a client
	writeTime      = 10 * time.Second
)

// Server shows the questions of one host to all who are connected.
type Server struct {
	opt     Options
	mu      sync.Mutex
	clients map[*client]bool
	came    int // clients, until now
	waiting []approval.Prompt
}

// New makes a server that knows of no question yet.
func New(opt Options) *Server { return &Server{opt: opt, clients: map[*client]bool{}} }

// Serve answers on a listener of this machine until ctx is done. It fails for
// one that others can reach, and when the host is lost.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if at, ok := l.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		l.Close()
		return errors.New("approvals are answered on this machine only: listen on 127.0.0.1")
	}
	srv := &http.Server{Handler: s.door(l.Addr()), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	srv.ConnState = webdoor.Room(maxConnections)
	srv.BaseContext = func(net.Listener) context.Context { return ctx }
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lost := make(chan error, 1)
	go func() {
		defer rescue.Catch(nil, "the questions that wait", func() {
			lost <- errors.New("Countersign failed at following it: its log says where")
			cancel()
		})
		lost <- s.follow(ctx)
		cancel()
	}()
	stop := context.AfterFunc(ctx, rescue.Guarded(nil, "the end of all clients", func() {
		srv.Close()
		s.each(func(c *client) { c.ws.CloseNow() })
	}))
	defer stop()
	err := srv.Serve(l)
	cancel()
	if gone := <-lost; gone != nil {
		return fmt.Errorf("the host was lost: %w", gone)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// door lets in who has the token, comes to the name that we listen on, and is no
// web page of somebody else.
func (s *Server) door(at net.Addr) http.Handler {
	want := sha256.Sum256([]byte("Bearer " + s.opt.Token))
	return webdoor.Guard(webdoor.Here(at), s.opt.Origins, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
		switch {
		case subtle.ConstantTimeCompare(got[:], want[:]) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is wrong or missing", http.StatusUnauthorized)
		case r.URL.Path != "/approvals":
			http.NotFound(w, r)
		default:
			s.accept(w, r)
		}
	}))
}

func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	c := &client{server: s, shown: map[string]approval.Prompt{}, since: map[string]map[string]bool{}, wake: make(chan struct{}, 1)}
	if !s.enter(c) {
		http.Error(w, "too many clients", http.StatusServiceUnavailable)
		return
	}
	defer s.leave(c)
	// Whether this origin may connect is settled at the door.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return
	}
	ws.SetReadLimit(maxMessage)
	s.mu.Lock()
	c.ws = ws
	s.mu.Unlock()
	c.run(r.Context())
}

// enter takes a client in. Where there are as many as may be, the one that never
// said anything and came first makes room; one that answered stays. It reports
// false where all did.
func (s *Server) enter(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= maxClients {
		var first *client
		for other := range s.clients {
			if other.ws != nil && !other.spoke && (first == nil || other.number < first.number) {
				first = other
			}
		}
		if first == nil {
			return false
		}
		delete(s.clients, first)
		go rescue.Guarded(nil, "the end of a client", func() { first.ws.CloseNow() })()
	}
	s.came++
	c.number = s.came
	s.clients[c] = true
	return true
}

func (s *Server) leave(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c)
}

// each calls do for every client that is connected.
func (s *Server) each(do func(*client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.clients {
		if c.ws != nil {
			do(c)
		}
	}
}

// follow keeps what waits, and wakes the clients when that changes. Its error
// says why the host cannot be asked any more.
func (s *Server) follow(ctx context.Context) error {
	for cursor := uint64(0); ; {
		next, waiting, err := s.opt.Host.Watch(ctx, cursor)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		cursor = next
		s.mu.Lock()
		s.waiting = waiting
		s.mu.Unlock()
		s.each((*client).awaken)
	}
}

// open returns the questions that somebody waits for.
func (s *Server) open() (list []approval.Prompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.waiting {
		if !p.CallerGone {
			list = append(list, p)
		}
	}
	return list
}

package backend_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/agents/mcp"
	"github.com/countersign-app/countersign/backend/agents/remote"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gateway"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	doorToken = "a-token-of-a-test-that-is-long-enough"
	pageThere = "http://localhost:3000"
)

// webDoor is a door that speaks HTTP.
type webDoor struct {
	room  string // where it is
	paths []string
	// pages tells that a person can name web pages that may come.
	pages bool
	serve func(ctx context.Context, l net.Listener, state paths.State) error
}

// webDoors are all of them: TestWebDoors looks for others.
var webDoors = []webDoor{
	{"gateway", []string{"/", "/healthz", "/readyz", "/metrics"}, false, func(ctx context.Context, l net.Listener, state paths.State) error {
		g, err := gateway.New(gateway.Options{State: state, Token: doorToken, Log: slog.New(slog.DiscardHandler), Road: road(state)})
		if err != nil {
			return err
		}
		return g.Run(ctx, l)
	}},
	{"agents/remote", []string{"/approvals"}, true, func(ctx context.Context, l net.Listener, _ paths.State) error {
		return remote.New(remote.Options{Host: nothingWaits{}, Token: doorToken, Origins: []string{pageThere}}).Serve(ctx, l)
	}},
	{"agents/mcp", []string{mcp.Path}, true, func(ctx context.Context, l net.Listener, state paths.State) error {
		opt := mcp.Options{Road: host.NewRoad(road(state)), Dir: state.Dir, Log: slog.New(slog.DiscardHandler)}
		return mcp.HTTP(ctx, opt, mcp.Door{Token: doorToken, Origins: []string{pageThere}}, l)
	}},
}

func road(state paths.State) host.RoadOptions {
	return host.RoadOptions{State: state, Home: state.Dir, Log: slog.New(slog.DiscardHandler)}
}

// nothingWaits is a host without questions.
type nothingWaits struct{}

func (nothingWaits) Watch(ctx context.Context, cursor uint64) (uint64, []approval.Prompt, error) {
	if cursor > 0 {
		<-ctx.Done()
	}
	return cursor + 1, nil, ctx.Err()
}

func (nothingWaits) Answer(context.Context, approval.Prompt, approval.Decision, string) error {
	return errors.New("nothing waits")
}

// open serves the door until the test ends.
func (d webDoor) open(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- d.serve(ctx, l, paths.State{Dir: t.TempDir()}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return l
}

// TestSilentPeers: those who connect and say nothing, or say half a request,
// keep nobody out of a door, and do not stay.
func TestSilentPeers(t *testing.T) {
	const many = 700
	for _, d := range webDoors {
		t.Run(d.room, func(t *testing.T) {
			l := d.open(t)
			var silent []net.Conn
			for i := range many {
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if i%2 == 1 {
					_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: ")) // it may have made room
				}
				silent = append(silent, c)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+d.paths[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := new(http.Transport).RoundTrip(r)
			if err != nil {
				t.Fatal("they keep others out:", err)
			}
			answer.Body.Close()
			if err := silent[0].SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil { // before the door gives up on its head
				t.Fatal(err)
			}
			if _, err := silent[0].Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the first of them made no room")
			}
		})
	}
}

// TestWebDoors calls each door as a browser does for a page that nobody named,
// with the right token and without one: it is refused before the token counts.
func TestWebDoors(t *testing.T) {
	for _, s := range sources(t) {
		known := slices.ContainsFunc(webDoors, func(d webDoor) bool { return d.room == s.room })
		if opens := strings.Contains(s.text, "http.Server{") || strings.Contains(s.text, "http.Serve(") || strings.Contains(s.text, "http.ListenAndServe"); opens && !s.test && !known {
			t.Errorf("%s opens a door that speaks HTTP: test it here", s.name)
		}
	}
	for _, d := range webDoors {
		t.Run(d.room, func(t *testing.T) {
			l := d.open(t)
			_, port, _ := net.SplitHostPort(l.Addr().String())
			for _, row := range []struct {
				name, host string
				origin     []string
				refused    bool
			}{
				{name: "a program", host: l.Addr().String()},
				{name: "a program, by name", host: "localhost:" + port},
				{name: "a page that was named", host: l.Addr().String(), origin: []string{pageThere}, refused: !d.pages},
				{name: "a page whose name leads here", host: "evil.example:" + port, origin: []string{"http://evil.example:" + port}, refused: true},
				{name: "the same, which says no origin", host: "evil.example:" + port, refused: true},
				{name: "the same, without a port", host: "evil.example", refused: true},
				{name: "a name that begins like ours", host: "127.0.0.1.evil.example:" + port, refused: true},
				{name: "a name that ends like ours", host: "evil.localhost:" + port, refused: true},
				{name: "a page of elsewhere", host: l.Addr().String(), origin: []string{"https://evil.example"}, refused: true},
				{name: "a page of another port", host: l.Addr().String(), origin: []string{"http://localhost:1"}, refused: true},
				{name: "a page of the door itself", host: l.Addr().String(), origin: []string{"http://" + l.Addr().String()}, refused: true},
				{name: "a page without an origin", host: l.Addr().String(), origin: []string{"null"}, refused: true},
				{name: "an empty origin", host: l.Addr().String(), origin: []string{""}, refused: true},
				{name: "two origins", host: l.Addr().String(), origin: []string{pageThere, "https://evil.example"}, refused: true},
			} {
				for _, path := range d.paths {
					for _, bearer := range []string{"Bearer " + doorToken, ""} {
						r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+path, nil)
						if err != nil {
							t.Fatal(err)
						}
						r.Host = row.host
						r.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {"dGhlIHNhbXBsZSBub25jZQ=="}}
						if row.origin != nil {
							r.Header["Origin"] = row.origin
						}
						if bearer != "" {
							r.Header.Set("Authorization", bearer)
						}
						answer, err := http.DefaultTransport.RoundTrip(r)
						if err != nil {
							t.Fatalf("%s: %v", row.name, err)
						}
						answer.Body.Close()
						if got := answer.StatusCode == http.StatusForbidden; got != row.refused {
							t.Errorf("%s at %s, token %q: %s, refused should be %v", row.name, path, bearer, answer.Status, row.refused)
						}
						if row.refused && answer.Header.Get("Access-Control-Allow-Origin") != "" {
							t.Errorf("%s may read the answer", row.name)
						}
					}
				}
			}
		})
	}
}

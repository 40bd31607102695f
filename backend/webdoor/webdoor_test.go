package webdoor

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	here := Here(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 18790})
	here6 := Here(&net.TCPAddr{IP: net.IPv6loopback, Port: 18790})
	anywhere := Anywhere([]string{"Build.example", "*.team.example", ""})
	for _, c := range []struct {
		name       string
		ours       Names
		host       string
		comesThere bool
	}{
		{"here", here, "127.0.0.1:18790", true},
		{"here", here, "localhost:18790", true},
		{"here", here, "127.0.0.1:1", false},
		{"here", here, "127.0.0.1", false},
		{"here", here, "localhost", false},
		{"here", here, "localhost.:18790", false},
		{"here", here, "192.0.2.1:18790", false},
		{"here", here, "127.0.0.1.evil.example:18790", false},
		{"here", here, "evil.example:18790", false},
		{"here", here, "user@localhost:18790", false},
		{"here", here, "", false},
		{"here, IPv6", here6, "[::1]:18790", true},
		{"here, IPv6", here6, "localhost:18790", true},
		{"here, IPv6", here6, "evil.example:18790", false},
		{"no TCP", Here(&net.UnixAddr{Name: "/run/x"}), "/run/x", false},

		{"anywhere", anywhere, "127.0.0.1:18789", true},
		{"anywhere", anywhere, "192.0.2.1:443", true},
		{"anywhere", anywhere, "192.0.2.1", true},
		{"anywhere", anywhere, "[::1]:18789", true},
		{"anywhere", anywhere, "[2001:db8::1]", true},
		{"anywhere", anywhere, "localhost:9", true},
		{"anywhere", anywhere, "build.example:18789", true},
		{"anywhere", anywhere, "build.EXAMPLE", true},
		{"anywhere", anywhere, "a.team.example:18789", true},
		{"anywhere", anywhere, "team.example:18789", false},
		{"anywhere", anywhere, "a.b.team.example:18789", false},
		{"anywhere", anywhere, "evil.example:18789", false},
		{"anywhere", anywhere, "x.build.example:18789", false},
		{"anywhere", anywhere, "127.0.0.1.evil.example", false},
		{"anywhere", anywhere, "localhost.evil.example:18789", false},
		{"anywhere", anywhere, "2130706433:18789", false},
		{"anywhere", anywhere, "", false},
		{"anywhere", anywhere, ":18789", false},
		{"anywhere", anywhere, "*.:18789", false},
		{"no names", Anywhere(nil), "evil.example", false},
	} {
		if got := c.ours.ours(c.host); got != c.comesThere {
			t.Errorf("%s: %q is ours: %v", c.name, c.host, got)
		}
	}
}

// A door that only this machine reaches says by which address it can be called: no
// name makes it another one.
func TestOtherName(t *testing.T) {
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 18790}
	r := httptest.NewRequest(http.MethodGet, "http://evil.example/", nil)
	answer := httptest.NewRecorder()
	Guard(Here(at), nil, http.NotFoundHandler()).ServeHTTP(answer, r)
	if text := answer.Body.String(); answer.Code != http.StatusForbidden || !strings.Contains(text, at.String()) {
		t.Errorf("%d %s", answer.Code, text)
	}
}

func TestOrigins(t *testing.T) {
	door := Guard(Anywhere(nil), []string{"http://localhost:6274"}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for _, c := range []struct {
		origin []string
		want   int
	}{
		{nil, 204},
		{[]string{"http://localhost:6274"}, 204},
		{[]string{"HTTP://LocalHost:6274"}, 204},
		{[]string{""}, 403},
		{[]string{"null"}, 403},
		{[]string{"http://localhost"}, 403},
		{[]string{"http://localhost:6274/"}, 403},
		{[]string{"http://localhost:6274", "http://localhost:6274"}, 403},
		{[]string{"http://127.0.0.1"}, 403}, // the door's own
		{[]string{"https://evil.example"}, 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/", nil)
		if c.origin != nil {
			r.Header["Origin"] = c.origin
		}
		answer := httptest.NewRecorder()
		if door.ServeHTTP(answer, r); answer.Code != c.want {
			t.Errorf("%q: %d, want %d", c.origin, answer.Code, c.want)
		}
	}
}

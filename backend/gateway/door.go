package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/link"
)

// guard bounds who is at the door.
type guard struct {
	mu     sync.Mutex
	open   int                   // connections
	shakes map[string][]*shaking // handshakes that go on, by address, oldest first
	wrong  map[string]int        // wrong secrets of this minute, by address
	minute int64
}

// shaking is a handshake that goes on. end ends it.
type shaking struct{ end func() }

// Bounds of the door.
const (
	maxOpen   = 2000 // connections
	maxShakes = 64   // handshakes of one address at once
	maxWrong  = 20   // wrong secrets of one address in a minute
)

// enter takes somebody in, who must call shook and leave. Where as many
// handshakes of the address go on as may, the oldest makes room: one that says
// nothing keeps nobody out, and an honest one is over at once.
func (g *guard) enter(ip string, end func()) (h *shaking, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now := time.Now().Unix() / 60; now != g.minute || g.wrong == nil {
		g.minute, g.wrong = now, map[string]int{}
	}
	if g.shakes == nil {
		g.shakes = map[string][]*shaking{}
	}
	// Who guesses from this machine would keep everybody here out, and could
	// read the file of the token more easily.
	guesses := g.wrong[ip] >= maxWrong && !loopback(ip)
	if g.open >= maxOpen || guesses {
		return nil, false
	}
	if list := g.shakes[ip]; len(list) >= maxShakes {
		list[0].end()
		g.shakes[ip] = list[1:]
	}
	h = &shaking{end}
	g.open++
	g.shakes[ip] = append(g.shakes[ip], h)
	return h, true
}

// shook ends a handshake. To end it twice is no error.
func (g *guard) shook(ip string, h *shaking) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shakes[ip] = slices.DeleteFunc(g.shakes[ip], func(other *shaking) bool { return other == h })
	if len(g.shakes[ip]) == 0 {
		delete(g.shakes, ip)
	}
}

func (g *guard) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open--
}

func (g *guard) failed(ip string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.wrong != nil {
		g.wrong[ip]++
	}
}

// remote is the address of the other end. What a proxy says of it is a claim,
// and not looked at.
func remote(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func loopback(ip string) bool {
	a := net.ParseIP(ip)
	return a != nil && a.IsLoopback()
}

// same compares two secrets in a time that says nothing about either.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// errSecret is told whatever is wrong with a secret.
var errSecret = &link.Error{Code: link.CodeInvalid, Message: "unauthorized: the token is missing or wrong", Details: []byte(`{"code":"AUTH_TOKEN_MISMATCH"}`)}

// maxName is how long a name of a device may be, in bytes.
const maxName = 200

// admit decides about a connection whose device has proved itself, and fills
// in who it is.
func (p *peer) admit(c *link.Connect) (*link.Hello, *link.Error) {
	var auth link.Auth
	if c.Auth != nil {
		auth = *c.Auth
	}
	holder := auth.Token != "" && same(auth.Token, p.opt.Token)
	if !holder && !p.devices.knows(c.Device.ID, c.Role, auth.DeviceToken) {
		p.guard.failed(p.ip)
		return nil, errSecret
	}
	wants := device{
		ID: c.Device.ID, Role: c.Role, Name: display.Escape(c.Client.DisplayName), Platform: c.Client.Platform, Family: c.Client.DeviceFamily,
		Scopes: common(c.Scopes, scopes), IP: p.ip,
	}
	if len(wants.Name) > maxName {
		wants.Name = wants.Name[:maxName]
	}
	if len(c.Commands) > maxCommands || len(c.Caps) > maxCommands || len(wants.Platform)+len(wants.Family) > maxName {
		return nil, link.Refuse(link.CodeInvalid, "the connection offers too much")
	}
	// The holder of the token who sits at this machine needs nobody's yes: who
	// runs programs here can read the file of the token.
	granted, token, err := p.devices.admit(wants, holder && loopback(p.ip), holder)
	if err != nil {
		return nil, p.waits(err)
	}
	p.id, p.role, p.scopes, p.device = rand.Text(), c.Role, wants.Scopes, granted
	p.caps, p.offers = clean(c.Caps), clean(c.Commands)
	if p.role == link.RoleNode {
		p.surface()
	}
	return &link.Hello{
		Server:   link.Server{Version: p.opt.Version, ConnID: p.id},
		Features: link.Features{Methods: p.names(), Events: events},
		Auth:     link.Granted{DeviceToken: token, Role: p.role, Scopes: p.scopes},
	}, nil
}

// waits tells a device that a person must let it in, and the person.
func (p *peer) waits(err error) *link.Error {
	w, ok := err.(*waiting)
	if !ok {
		p.opt.Log.Error("the file of the devices cannot be written", "error", err)
		return link.Refuse(link.CodeUnavailable, "the gateway cannot keep who comes in")
	}
	if w.fresh {
		p.tell(scopePairing, "device.pair.requested", w)
	}
	details, _ := json.Marshal(map[string]string{"code": link.PairingRequired, "requestId": w.RequestID}) // strings are always written
	return &link.Error{Code: link.CodeNotPaired, Message: "pairing required", Details: details}
}

// names are the methods that the connection may call.
func (p *peer) names() (list []string) {
	for name, m := range methods {
		if (m.role == "" || m.role == p.role) && (p.role == link.RoleNode || p.may(m.scope)) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

var events = []string{
	link.EventTick, "device.pair.requested", "device.pair.resolved", "node.pair.requested", "node.pair.resolved", "node.invoke.request", "node.invoke.cancel",
	"exec.approval.requested", "exec.approval.resolved", "policy.changed",
}

// common are the words of a list that are in another one.
func common(list, in []string) []string {
	out := []string{}
	for _, s := range list {
		if slices.Contains(in, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// isName reports whether a text can be a name: it is not empty or long, and
// all of it can be shown.
func isName(s string) bool { return s != "" && len(s) <= maxName && display.Escape(s) == s }

// clean are the words of a list that can be names, once each and sorted.
func clean(list []string) []string {
	out := slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !isName(s) })
	slices.Sort(out)
	return slices.Compact(out)
}

package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/store"
)

// sessions are the sessions of agents, each with what it was set to and the
// events that wait for its next prompt.
type sessions struct {
	path string
	mu   sync.Mutex
	list map[sessionID]*session
}

type sessionID struct{ Agent, Session string }

// String is a name for the session that no other one has.
func (k sessionID) String() string { return k.Agent + "\x00" + k.Session }

// session is one session of one agent.
type session struct {
	config.Override
	Elevated string

	saved  bool
	used   time.Time
	events []sessionEvent
	bytes  int // of the events
}

// sessionEvent is what an agent is told with its next prompt.
type sessionEvent struct {
	Text  string `json:"text"`
	RunID string `json:"runId"`
	TS    int64  `json:"ts"` // unix milliseconds
}

// savedSession is what /exec save keeps.
type savedSession struct {
	Agent   string `json:"agentId"`
	Session string `json:"sessionKey"`
	config.Override
}

// Bounds of what is kept for sessions.
const (
	maxSessions   = 10_000
	maxEvents     = 10_000 // of one session; the oldest go first
	maxEventBytes = 8 << 20
	// sessionTime is how long a session lives in which nothing happens.
	sessionTime = 12 * time.Hour
)

func (s *sessions) open(path string) error {
	s.path, s.list = path, map[sessionID]*session{}
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var list []savedSession
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be read: mend it, or move it away: %w", path, err)
	}
	for _, t := range list {
		s.list[sessionID{t.Agent, t.Session}] = &session{Override: t.Override, saved: true, used: time.Now()}
	}
	return nil
}

// with does something with a session, which begins where there is none.
func (s *sessions) with(key sessionID, do func(*session) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.list[key]
	if t == nil {
		if len(s.list) >= maxSessions {
			return link.Refuse(link.CodeUnavailable, "too many sessions: end some")
		}
		t = &session{}
		s.list[key] = t
	}
	t.used = time.Now()
	return do(t)
}

// settings are what a session was set to.
func (s *sessions) settings(key sessionID) (t session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.list[key]; have != nil {
		have.used = time.Now()
		t = session{Override: have.Override, Elevated: have.Elevated}
	}
	return t
}

// put queues an event for a session.
func (s *sessions) put(key sessionID, e sessionEvent) error {
	return s.with(key, func(t *session) error {
		t.events, t.bytes = append(t.events, e), t.bytes+len(e.Text)
		for len(t.events) > maxEvents || t.bytes > maxEventBytes && len(t.events) > 1 {
			t.bytes -= len(t.events[0].Text)
			t.events = t.events[1:]
		}
		return nil
	})
}

// forget ends the sessions in which nothing happened for long. What was saved
// stays.
func (s *sessions) forget(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, t := range s.list {
		if now.Sub(t.used) < sessionTime {
			continue
		}
		t.Elevated, t.events, t.bytes = "", nil, 0
		if !t.saved {
			delete(s.list, key)
		}
	}
}

// save writes what sessions keep. The lock is held.
func (s *sessions) save() error {
	list := []savedSession{}
	for key, t := range s.list {
		if t.saved {
			list = append(list, savedSession{key.Agent, key.Session, t.Override})
		}
	}
	slices.SortFunc(list, func(a, b savedSession) int {
		return cmp.Or(strings.Compare(a.Agent, b.Agent), strings.Compare(a.Session, b.Session))
	})
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return store.Replace(s.path, append(text, '\n'))
}

// sessionParams name a session. One without a key is the agent's main one.
type sessionParams struct {
	AgentID    string `json:"agentId"`
	SessionKey string `json:"sessionKey"`
}

// defaultAgent is who calls where nobody says it.
const defaultAgent = "main"

func (q sessionParams) key() (sessionID, error) {
	k := sessionID{q.AgentID, q.SessionKey}
	if k.Agent == "" {
		k.Agent = defaultAgent
	}
	if k.Session == "" {
		k.Session = "agent:" + k.Agent + ":main"
	}
	if !isName(k.Agent) || !isName(k.Session) {
		return k, link.Refuse(link.CodeInvalid, "agentId and sessionKey have at most %d bytes of text that can be shown", maxName)
	}
	return k, nil
}

// shownRoute is what /exec shows: what holds, and where it comes from.
type shownRoute struct {
	Host     approval.Host     `json:"host"`
	Security approval.Security `json:"security"`
	Ask      approval.Ask      `json:"ask"`
	Node     string            `json:"node,omitempty"`
	Elevated string            `json:"elevated,omitempty"`
	Origins  map[string]string `json:"origins"`
	Text     string            `json:"text"`
}

func (g *Gateway) shown(key sessionID) (shownRoute, error) {
	r, err := resolve(g.configuration().For(key.Agent), g.sessions.settings(key), config.Override{})
	s := shownRoute{Host: r.Host, Security: r.Security, Ask: r.Ask, Node: r.Bound, Elevated: r.Elevated, Origins: r.Origins}
	s.Text = fmt.Sprintf("host=%s (%s) security=%s (%s) ask=%s (%s)", r.Host, r.Origins["host"], r.Security, r.Origins["security"], r.Ask, r.Origins["ask"])
	if r.Bound != "" {
		s.Text += fmt.Sprintf(" node=%s (%s)", r.Bound, r.Origins["node"])
	}
	return s, err
}

// sessionCommand takes the /exec or /elevated of a message. Its callers have
// the scope for that: who may command agents is decided there.
func sessionCommand(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		sessionParams
		Text string `json:"text"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	slash, found := config.ParseSlash(q.Text)
	if !found {
		return map[string]any{"handled": false, "rest": slash.Rest}, nil
	}
	if len(slash.Bad) > 0 {
		return nil, link.Refuse(link.CodeInvalid, "nobody knows %s: host is auto, sandbox, gateway or node, security is deny, allowlist or full, ask is off, on-miss or always; /elevated takes on, ask, full or off", strings.Join(slash.Bad, ", "))
	}
	if slash.Auto {
		slash.Set.Host = approval.HostGateway
		if p.configuration().For(key.Agent).Sandbox != nil {
			slash.Set.Host = approval.HostSandbox
		}
	}
	err = p.sessions.with(key, func(t *session) error {
		t.Override = slash.Set.Over(t.Override)
		switch slash.Elevated {
		case "":
		case "off":
			t.Elevated = ""
		default:
			t.Elevated = slash.Elevated
		}
		if !slash.Save {
			return nil
		}
		t.saved = true
		return p.sessions.save()
	})
	if err != nil {
		return nil, err
	}
	shown, err := p.shown(key)
	if err != nil {
		return nil, err
	}
	p.opt.Log.Info("a session was set", "agent", key.Agent, "session", key.Session, "to", shown.Text, "device", p.device.ID)
	return map[string]any{"handled": true, "rest": slash.Rest, "exec": shown}, nil
}

// sessionEvents hands over what waits for the next prompt of a session.
func sessionEvents(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q sessionParams
	if err := read(params, &q); err != nil {
		return nil, err
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	list := []sessionEvent{}
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	if t := p.sessions.list[key]; t != nil && len(t.events) > 0 {
		list, t.events, t.bytes = t.events, nil, 0
		t.used = time.Now()
	}
	return map[string]any{"events": list}, nil
}

// sessionEnd ends a session: what runs for it, and what it was set to.
func sessionEnd(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q sessionParams
	if err := read(params, &q); err != nil {
		return nil, err
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	p.runs.endOf(key)
	p.sandbox.End(key.String())
	p.sessions.mu.Lock()
	defer p.sessions.mu.Unlock()
	t := p.sessions.list[key]
	delete(p.sessions.list, key)
	if t != nil && t.saved {
		p.sessions.list[key] = &session{Override: t.Override, saved: true, used: time.Now()}
	}
	return map[string]bool{"ok": true}, nil
}

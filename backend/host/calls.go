package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

// method serves one method of kind call. Its error is a sentence for the
// caller.
type method func(h *Host, ctx context.Context, c ipc.Call) (any, error)

// methods are what this host offers. Which credential each needs is settled
// at the door, in package ipc.
var methods = map[string]method{
	"approved.run":      approvedRun,
	"charters.use":      chartersUse,
	"denylist":          denylist,
	"entries.add":       entriesAdd,
	"entries.list":      entriesList,
	"environment.read":  environmentRead,
	"entries.remove":    entriesRemove,
	"explain":           explain,
	"history.list":      historyList,
	"history.verify":    historyVerify,
	"leases.end":        leasesEnd,
	"metrics":           metricsCall,
	"pause":             pauseCall,
	"pending.answer":    pendingAnswer,
	"pending.elicited":  pendingElicited,
	"pending.escalated": pendingEscalated,
	"pending.hold":      pendingHold,
	"pending.list":      pendingList,
	"pending.own":       pendingOwn,
	"pending.watch":     pendingWatch,
	"policy.accept":     policyAccept,
	"policy.federate":   policyFederate,
	"policy.file":       policyFile,
	"policy.follow":     policyFollow,
	"policy.get":        policyGet,
	"policy.propose":    policyPropose,
	"policy.reject":     policyReject,
	"policy.set":        policySet,
	"projects.add":      projectsAdd,
	"projects.list":     projectsList,
	"projects.remove":   projectsRemove,
	"resume":            resumeCall,
	"prepare":           prepare,
	"running.list":      runningList,
	"running.stop":      runningStop,
	"skills.use":        skillsUse,
	"status":            status,
	"standing.forget":   standingForget,
	"standing.list":     standingList,
	"stop":              stopAll,
	"tool.decide":       toolDecide,
	"tool.explain":      toolExplain,
	"tools.denied":      toolsDenied,
	"which":             which,
	"window.open":       windowOpen,
}

// decode reads the parameters of a call strictly: a field that nobody knows
// may have been meant to narrow something.
func decode[T any](c ipc.Call) (T, error) {
	var params T
	d := json.NewDecoder(strings.NewReader(string(c.Params)))
	d.DisallowUnknownFields()
	if err := d.Decode(&params); err != nil {
		return params, fmt.Errorf("cannot read the parameters of %s: %w", c.Method, err)
	}
	return params, nil
}

// Status is what `status` returns.
type Status struct {
	Version  string   `json:"version"`
	PID      int      `json:"pid"`
	StateDir string   `json:"stateDir"`
	Socket   string   `json:"socket"`
	Started  int64    `json:"started"` // unix milliseconds
	Hash     string   `json:"hash"`
	Broken   string   `json:"broken,omitempty"`
	Held     []string `json:"held,omitempty"` // what a waiting edit would loosen
	HeldHash string   `json:"heldHash,omitempty"`
	History  string   `json:"history,omitempty"` // why it cannot be written
	// HistoryAside are the files of histories that could not be read. Each was
	// kept, and another one begun.
	HistoryAside []string `json:"historyAside,omitempty"`
	CanAsk       bool     `json:"canAsk"`
	Waiting      int      `json:"waiting"`
	Running      int      `json:"running"`
	// Paused tells that nothing starts, PausedUntil until when in unix
	// milliseconds, 0 until somebody resumes, and HeldBack how many requests wait
	// for that beside the questions.
	Paused      bool  `json:"paused,omitempty"`
	PausedUntil int64 `json:"pausedUntil,omitempty"`
	HeldBack    int   `json:"heldBack,omitempty"`
	// Askers are the programs that ask, with all that may not operate for that.
	Askers []family.Asker `json:"askers,omitempty"`
	// Troubles are those of Host.
	Troubles []string `json:"troubles,omitempty"`
	// Confirms are the ways by which the person agrees to what loosens or says yes;
	// none where nobody can. AnswersFrom are the gateways and programs whose answers
	// to questions count, too.
	Confirms    []Way    `json:"confirms"`
	AnswersFrom []string `json:"answersFrom,omitempty"`
	// PassphraseChanged is when a start of a host found another passphrase than the
	// one before it, in unix milliseconds; 0 for not lately.
	PassphraseChanged int64 `json:"passphraseChanged,omitempty"`
	// Environment is when the login environment was read, in unix milliseconds, 0
	// as long as it was not.
	Environment int64 `json:"environment,omitempty"`
}

func status(h *Host, _ context.Context, _ ipc.Call) (any, error) { return h.status(), nil }

func (h *Host) status() Status {
	snap := h.store.Snapshot()
	s := Status{
		Version: h.opt.Version, PID: os.Getpid(), StateDir: h.opt.State.Dir, Socket: snap.SocketPath,
		Started: h.started.UnixMilli(), Hash: snap.Hash, CanAsk: h.askers.CanAsk(),
		Askers: h.server.Askers(), Troubles: h.Troubles(), Waiting: len(h.pending.List()), Running: len(h.runner.Running()), Environment: h.environment.Load(),
		Confirms: h.ways(), AnswersFrom: h.answersFrom(), PassphraseChanged: h.passphraseChanged(),
	}
	var until time.Time
	if until, s.HeldBack, s.Paused = h.gate.Paused(); s.Paused && !until.IsZero() {
		s.PausedUntil = until.UnixMilli()
	}
	if snap.Broken != nil {
		s.Broken = snap.Broken.Error()
	}
	if snap.Held != nil {
		s.Held, s.HeldHash = snap.Held.Loosens, snap.Held.Hash
	}
	if err := h.history.Err(); err != nil {
		s.History = err.Error()
	}
	s.HistoryAside, _ = h.history.Broken() // a folder that cannot be read has worse to tell
	return s
}

func metricsCall(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	return string(h.gate.Metrics()), nil
}

func pendingList(h *Host, _ context.Context, _ ipc.Call) (any, error) { return h.pending.List(), nil }

// Watch is what `pending.watch` returns: all waiting questions, and the
// cursor to ask with for the next change.
type Watch struct {
	Cursor  uint64            `json:"cursor"`
	Waiting []approval.Prompt `json:"waiting"`
}

// watchLimit is how long a watch waits for a change before it returns what
// is there.
const watchLimit = 10 * time.Minute

func pendingWatch(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Cursor uint64 `json:"cursor"`
	}](c)
	if err != nil {
		return nil, err
	}
	if c.Operator {
		defer h.askers.look()()
	}
	ctx, cancel := context.WithTimeout(ctx, watchLimit)
	defer cancel()
	cursor, waiting := h.pending.Watch(ctx, params.Cursor)
	return Watch{cursor, waiting}, nil
}

func pendingAnswer(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID       string            `json:"id"`
		Digest   string            `json:"digest"` // of the question as it was shown
		Count    int               `json:"count"`  // how many requests were shown with it
		Decision approval.Decision `json:"decision"`
		Note     string            `json:"note"`
		Choice   approval.Choice   `json:"choice"`
		For      string            `json:"for"` // of a denial, see denyLife
	}](c)
	if err != nil {
		return nil, err
	}
	if params.Decision == approval.DecisionUnset {
		return nil, errors.New("cannot answer: decision is missing")
	}
	by := bySignature
	if params.Decision != approval.DecisionDeny {
		if params.For != "" {
			return nil, errors.New("cannot answer: only a denial has how long it stands")
		}
		p, _, ok := h.pending.Find(params.ID)
		if !ok {
			return nil, pending.ErrUnknown
		}
		if by, err = h.person(ctx, c, difference{lines: sentences(answerLines(p, params.Decision, params.Choice)...)}); err != nil {
			return nil, err
		}
	}
	if c.Peer.PID == os.Getpid() {
		by = byTerminal
	}
	a := approval.Answer{Decision: params.Decision, By: by, Note: params.Note, Choice: params.Choice}
	if a.Decision == approval.DecisionDeny {
		return h.denied(params.ID, a, params.For)
	}
	if err := h.Answer(params.ID, pending.Shown{Digest: params.Digest, Count: params.Count}, a); err != nil {
		return nil, fmt.Errorf("cannot answer %s: %w", display.Escape(params.ID), err)
	}
	return struct{}{}, nil
}

// Escalated is what the operators of a gateway answered to a question whose turn
// came to them.
type Escalated struct {
	ID       string            `json:"id"`
	Digest   string            `json:"digest"` // of the question as they were shown it
	Count    int               `json:"count"`
	Gateway  string            `json:"gateway"`            // HOST:PORT
	Operator string            `json:"operator,omitempty"` // who answered there, as the gateway tells
	Decision approval.Decision `json:"decision"`
}

func pendingEscalated(h *Host, _ context.Context, c ipc.Call) (any, error) {
	said, err := decode[Escalated](c)
	if err != nil {
		return nil, err
	}
	p, _, ok := h.pending.Find(said.ID)
	if !ok {
		return nil, pending.ErrUnknown
	}
	if err := h.gate.MayAnswer(p, said.Gateway, said.Decision); err != nil {
		return nil, err
	}
	a := approval.Answer{Decision: said.Decision, By: gate.ByGateway(said.Gateway, said.Operator), Remote: true}
	return struct{}{}, h.pending.Answer(said.ID, pending.Shown{Digest: said.Digest, Count: said.Count}, a)
}

func pendingHold(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID string `json:"id"`
		On bool   `json:"on"`
	}](c)
	if err != nil {
		return nil, err
	}
	if err := h.pending.Hold(params.ID, params.On); err != nil {
		return nil, fmt.Errorf("cannot hold %s: %w", display.Escape(params.ID), err)
	}
	return struct{}{}, nil
}

// Policy is what `policy.get` returns.
type Policy struct {
	Hash   string          `json:"hash"`
	Broken string          `json:"broken,omitempty"`
	Held   []string        `json:"held,omitempty"`
	Agents []string        `json:"agents"`
	Policy approval.Policy `json:"policy"`
}

func policyGet(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID string `json:"agentId"`
	}](c)
	if err != nil {
		return nil, err
	}
	snap := h.store.Snapshot()
	p := Policy{Hash: snap.Hash, Policy: snap.Policy(params.AgentID)}
	if snap.Document != nil {
		p.Agents = slices.Sorted(maps.Keys(snap.Document.Agents))
	}
	if snap.Broken != nil {
		p.Broken = snap.Broken.Error()
	}
	if snap.Held != nil {
		p.Held = snap.Held.Loosens
	}
	return p, nil
}

func policySet(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID  string `json:"agentId"`
		Field    string `json:"field"`
		Value    string `json:"value"`
		BaseHash string `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
		return d.Set(params.AgentID, params.Field, params.Value)
	})
}

var (
	errOtherEdit = errors.New("this is not the edit that waits now: look at that one with `countersign policy accept`")
	// errNoEdit comes before anybody is asked: there is nothing to say yes to.
	errNoEdit = &ipc.Error{Code: ipc.CodeNothing, Message: store.ErrNoEdit.Error(), Reason: approval.ReasonInvalid}
)

func policyAccept(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Hash string `json:"hash"`
	}](c)
	if err != nil {
		return nil, err
	}
	held := h.store.Current().Held
	switch {
	case held == nil:
		return nil, errNoEdit
	case held.Hash != params.Hash:
		return nil, errOtherEdit
	}
	d := difference{lines: h.tightened.lines(held.Lines, h.makerOf(c), time.Now()), inForce: true, result: params.Hash}
	how, err := h.person(ctx, c, d)
	if err != nil {
		return nil, err
	}
	before := h.store.Snapshot().Document
	if err := h.AcceptEdit(params.Hash); errors.Is(err, store.ErrChanged) {
		return nil, errOtherEdit
	} else if err != nil {
		return nil, err
	}
	h.accepted(how, before, h.store.Snapshot().Document)
	return struct{}{}, nil
}

func policyReject(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	held := h.store.Current().Held
	if held == nil {
		return nil, errNoEdit
	}
	// What was accepted before may be looser than what holds now.
	lines := sentences("Puts the policy that was accepted last in the place of the edit that waits")
	d := difference{lines: append(lines, h.tightened.lines(held.Back, h.makerOf(c), time.Now())...), result: held.Hash}
	if _, err := h.person(ctx, c, d); err != nil {
		return nil, err
	}
	if err := h.store.Reject(held.Hash); errors.Is(err, store.ErrChanged) {
		return nil, errOtherEdit
	} else if err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

// Entries is what `entries.list` returns.
type Entries struct {
	// Entries are those in force, by agent.
	Entries map[string][]approval.Entry `json:"entries"`
	// Held says what an edit that waits would permit.
	Held []string `json:"held,omitempty"`
}

// EntriesOf are the entries of one state of the policy.
func EntriesOf(snap store.Snapshot) Entries {
	e := Entries{Entries: snap.Entries()}
	if snap.Held != nil {
		e.Held = snap.Held.Loosens
	}
	return e
}

func entriesList(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	return EntriesOf(h.store.Snapshot()), nil
}

func entriesAdd(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID  string             `json:"agentId"`
		Entry    *approval.Entry    `json:"entry"`
		Deny     *approval.DenyRule `json:"deny"`
		BaseHash string             `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	switch {
	case params.Deny != nil && params.Entry == nil:
		return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
			d.Deny(params.AgentID, *params.Deny)
			return nil
		})
	case params.Entry != nil && params.Deny == nil:
		entry := *params.Entry
		entry.AddedAt = time.Now().UnixMilli()
		RecordIdentity(&entry, h.opt.Home)
		return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
			d.Add(params.AgentID, entry)
			return nil
		})
	}
	return nil, errors.New("cannot add: give either an entry or a deny rule")
}

func entriesRemove(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID  string `json:"agentId"`
		Which    string `json:"which"` // id or pattern
		BaseHash string `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
		if len(d.Remove(params.AgentID, params.Which)) == 0 {
			return fmt.Errorf("no entry %s for agent %s: see `countersign approvals list`", display.Escape(params.Which), display.Escape(params.AgentID))
		}
		return nil
	})
}

// leasesEnd takes back leases: one by its id, those of a session, or all.
func leasesEnd(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID         string `json:"id"`
		SessionKey string `json:"sessionKey"`
		All        bool   `json:"all"`
	}](c)
	if err != nil {
		return nil, err
	}
	if params.ID == "" && params.SessionKey == "" && !params.All {
		return nil, errors.New("cannot end leases: say which one, which session's, or all")
	}
	n, err := h.EndLeases(func(_ string, e approval.Entry) bool {
		return params.All || e.ID == params.ID && e.ID != "" || e.SessionKey == params.SessionKey && e.SessionKey != ""
	})
	if err != nil {
		return nil, err
	}
	if n == 0 && params.ID != "" {
		return nil, fmt.Errorf("no lease %s: see `countersign leases list`", display.Escape(params.ID))
	}
	return map[string]int{"ended": n}, nil
}

// errPanel says that a yes belongs to the panel.
var errPanel = errors.New("the app is running, so this is for its window: answer there, or switch on \"Answer from the terminal\" in its settings")

// panelOnly reports whether only the panel may allow and loosen.
func (h *Host) panelOnly() bool {
	return h.opt.Panel && (h.opt.FromTerminal == nil || !h.opt.FromTerminal())
}

// Opened is what `window.open` returns.
type Opened struct {
	// GivesWay tells that this host ends, so that the caller can be the host.
	GivesWay bool `json:"givesWay,omitempty"`
}

var errPausedHost = errors.New("a host runs here without a window and is paused, and its end would end the pause: run `countersign resume` first")

func windowOpen(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	switch {
	case h.opt.OpenWindow != nil:
		h.opt.OpenWindow()
		return Opened{}, nil
	case h.opt.GiveWay != nil:
		if _, paused := h.Paused(); paused {
			return nil, errPausedHost // another host would know nothing of it
		}
		h.opt.GiveWay()
		return Opened{GivesWay: true}, nil
	}
	return nil, errors.New("this host has no window")
}

func explain(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	req, err := supposed(c)
	if err != nil {
		return nil, err
	}
	return h.Explain(ctx, req)
}

// denylist tells what forbids a command that is to run in a sandbox: the floor, the
// denylist, and what the rules for tools refuse.
func denylist(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	req, err := supposed(c)
	if err != nil {
		return nil, err
	}
	return h.gate.Judge().Denylisted(ctx, req)
}

func prepare(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	req, err := supposed(c)
	if err != nil {
		return nil, err
	}
	return h.gate.Judge().Prepare(ctx, req)
}

// supposed is a request that is only spoken of.
func supposed(c ipc.Call) (approval.Request, error) {
	params, err := decode[struct {
		Command    []string          `json:"command"`
		Cwd        string            `json:"cwd"`
		Env        map[string]string `json:"env"`
		AgentID    string            `json:"agentId"`
		SessionKey string            `json:"sessionKey"`
	}](c)
	if why := ipc.Unrunnable(params.Command); err == nil && why != "" {
		err = errors.New(why)
	}
	return approval.Request{
		Command: params.Command, Cwd: params.Cwd, Env: params.Env,
		AgentID: params.AgentID, SessionKey: params.SessionKey, Who: approval.Ours,
	}, err
}

// Explanation is what `explain` returns.
type Explanation struct {
	Plan      approval.Plan      `json:"plan"`
	Judgement approval.Judgement `json:"judgement"`
}

func historyList(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	q, err := HistoryQuery(c)
	if err != nil {
		return nil, err
	}
	return h.history.List(ctx, q)
}

// HistoryQuery reads the parameters of history.list.
func HistoryQuery(c ipc.Call) (history.Query, error) {
	params, err := decode[struct {
		Limit    int               `json:"limit"`
		Before   int64             `json:"before"`
		AgentID  string            `json:"agentId"`
		Parent   string            `json:"parent"`
		All      bool              `json:"all"` // requests and programs
		ID       string            `json:"id"`
		Text     string            `json:"text"`
		Verdict  approval.Verdict  `json:"verdict"`
		Reason   approval.Reason   `json:"reason"`
		Decision approval.Decision `json:"decision"`
		Since    int64             `json:"since"` // unix milliseconds
		Until    int64             `json:"until"` // unix milliseconds
	}](c)
	q := history.Query{
		Limit: params.Limit, Before: params.Before, AgentID: params.AgentID, Parent: &params.Parent, ID: params.ID, Text: params.Text,
		Verdict: params.Verdict, Reason: params.Reason, Decision: params.Decision, Since: params.Since, Until: params.Until,
	}
	if params.All || params.ID != "" {
		q.Parent = nil
	}
	return q, err
}

func historyVerify(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Head string `json:"head"`
	}](c)
	if err != nil {
		return nil, err
	}
	if !h.verifying.TryLock() { // it reads a million rows, and programs may ask for it
		return nil, errors.New("the history is being checked already: try again later")
	}
	defer h.verifying.Unlock()
	return h.history.Verify(ctx, params.Head)
}

// Run is one row of `running.list`.
type Run struct {
	ID         string `json:"id"`
	Started    int64  `json:"started"` // unix milliseconds
	Background bool   `json:"background,omitempty"`
	Command    string `json:"command,omitempty"`
	AgentID    string `json:"agentId,omitempty"`
}

func runningList(h *Host, ctx context.Context, _ ipc.Call) (any, error) { return h.running(ctx) }

func (h *Host) running(ctx context.Context) ([]Run, error) {
	none := ""
	rows, err := h.history.List(ctx, history.Query{State: history.Running, Parent: &none, Limit: 1000})
	if err != nil {
		return nil, err
	}
	known := map[string]history.Row{}
	for _, row := range rows {
		known[row.ID] = row
	}
	list := []Run{}
	for _, r := range h.runner.Running() {
		row := known[r.ID]
		list = append(list, Run{r.ID, r.Started.UnixMilli(), r.Background, row.Command, row.AgentID})
	}
	return list, nil
}

func runningStop(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID string `json:"id"`
	}](c)
	if err != nil {
		return nil, err
	}
	if !h.runner.Stop(params.ID) {
		return nil, fmt.Errorf("nothing called %s is running: see `countersign running list`", display.Escape(params.ID))
	}
	return struct{}{}, nil
}

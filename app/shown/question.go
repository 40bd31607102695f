package shown

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Question is one thing to decide, with everything that is shown with it.
type Question struct {
	ID string `json:"id"`
	// Seen names exactly what is shown here. It goes back with the answer, so
	// that a yes to one thing never counts for another.
	Seen string `json:"seen"`
	// Partial tells that this is only the place of a question among others:
	// its id, its agent, its times.
	Partial bool   `json:"partial,omitempty"`
	Agent   Agent  `json:"agent"`
	Session string `json:"session,omitempty"`
	// Node is the name of the machine it would run on.
	Node string `json:"node,omitempty"`
	// Peer is the program that connected, PeerPID its process.
	Peer string `json:"peer,omitempty"`
	// PeerSigner is who surely signed it.
	PeerSigner string `json:"peerSigner,omitempty"`
	PeerPID    int    `json:"peerPid,omitempty"`
	// Theirs tells that the caller runs the command itself.
	Theirs bool `json:"theirs,omitempty"`
	// Claims is what the caller says about policy, such as "security=full".
	Claims []string `json:"claims"`
	// Together is how many small questions of this agent wait, if this is one:
	// they can be answered in a list.
	Together int `json:"together,omitempty"`
	// Sharers are the agents that ask the same, each with a question of its own, if
	// there are several: this question stands for those of them that still wait.
	Sharers []Sharer `json:"sharers,omitempty"`
	// Count is how many identical requests one answer is for.
	Count int `json:"count"`
	// Asked and Expires are unix milliseconds.
	Asked   int64 `json:"asked"`
	Expires int64 `json:"expires"`
	// Latest is how far Hold moves Expires, in unix milliseconds; 0 where it
	// cannot. Held tells that the clock is stopped.
	Latest int64 `json:"latest,omitempty"`
	Held   bool  `json:"held,omitempty"`
	// Ended is set when nobody waits any more: an answer would run nothing.
	Ended *Ended `json:"ended,omitempty"`
	// Program is what the title names: the first thing that asks.
	Program string `json:"program"`
	// Tool is set for a call of a tool, which is no command.
	Tool    *ToolUse `json:"tool,omitempty"`
	Command Command  `json:"command"`
	// Reason and Sentence say why it is asked, Passing and Asking how many of
	// its commands pass and ask.
	Reason   approval.Reason `json:"reason"`
	Sentence string          `json:"sentence,omitempty"`
	Passing  int             `json:"passing"`
	Asking   int             `json:"asking"`
	Runs     []Run           `json:"runs"`
	Env      []EnvChange     `json:"env"`
	Folder   string          `json:"folder"`
	// Project is the name of the folder of a checkout, an element of Folder, and
	// of the last one without a checkout.
	Project string `json:"project,omitempty"`
	// Shell is the program that a yes hands the whole text to, if there is one.
	Shell string `json:"shell,omitempty"`
	// Risky takes the single key away from Allow once; Risk says why, and what
	// a low one is.
	Risky bool `json:"risky"`
	Risk  Risk `json:"risk"`
	// AllowOnce tells that it is offered. Deny always is.
	AllowOnce bool `json:"allowOnce"`
	// Always holds the entries that Always allow would write; none when it is
	// not offered, and NotAlways says why then.
	Always []Entry `json:"always"`
	// Denials are the rules that Deny always may write; none when it is not
	// offered.
	Denials   []Denial  `json:"denials,omitempty"`
	NotAlways NotAlways `json:"notAlways,omitempty"`
	// Widths are narrower and wider ways to remember a yes, from the narrowest
	// on; none where Always only accepts changed files. Keeps are the ends that
	// can be chosen with them.
	Widths []Width `json:"widths"`
	// StillAsks are the reasons for which the same is asked about again, whatever
	// is remembered of it.
	StillAsks []string        `json:"stillAsks,omitempty"`
	Keeps     []approval.Keep `json:"keeps"`
}

// Ended says how a question ended without an answer.
type Ended struct {
	Reason approval.Reason `json:"reason"`
	At     int64           `json:"at"` // unix milliseconds
}

// NotAlways says why an answer cannot be remembered.
type NotAlways string

const (
	NotAlwaysHidden   NotAlways = "hidden"   // the text holds hidden characters
	NotAlwaysEvery    NotAlways = "ask"      // this agent is asked about every command
	NotAlwaysNameless NotAlways = "nameless" // entries belong to an agent
	NotAlwaysUnknown  NotAlways = "unknown"  // what runs is not known well enough
	NotAlwaysCaller   NotAlways = "caller"   // the caller cannot use such an answer
)

// Run is one program that would run, in the order of the text.
type Run struct {
	// Segment is the index that the pieces of the command carry.
	Segment int     `json:"segment"`
	Verdict Verdict `json:"verdict"`
	Word    string  `json:"word"`
	// Path is where the word leads; Real is the file behind it, if another.
	Path string `json:"path,omitempty"`
	Real string `json:"real,omitempty"`
	// Interpreter is what runs it, if it is a script.
	Interpreter string          `json:"interpreter,omitempty"`
	Reason      approval.Reason `json:"reason,omitempty"`
	Sentence    string          `json:"sentence,omitempty"`
	// By says what let it pass, and Entry the pattern or the name of that.
	By    By     `json:"by,omitempty"`
	Entry string `json:"entry,omitempty"`
	// Depth is how many programs stand between the text and this one.
	Depth int `json:"depth,omitempty"`
	// Dir is the folder it runs in, where that is not the command's.
	Dir string `json:"dir,omitempty"`
	// Effects are what is its job and told all the same.
	Effects []approval.Effect `json:"effects,omitempty"`
}

// Risk says how much is at stake, and why that is not less.
type Risk struct {
	Level   approval.Risk `json:"level"`
	Reasons []string      `json:"reasons"`
}

func newRisk(w approval.Weighed) Risk {
	r := Risk{Level: w.Level, Reasons: []string{}}
	if w.Level.High() {
		r.Level = approval.RiskHigh
	}
	for _, f := range w.Reasons {
		r.Reasons = append(r.Reasons, display.Escape(f.Sentence))
	}
	return r
}

// By says what let a program pass.
type By string

const (
	ByEntry   By = "entry"
	BySafeBin By = "safe-bin"
	BySkill   By = "skill"
	ByBuiltin By = "builtin" // no program starts
	ByFull    By = "full"    // everything runs
)

// passedBy reads what the judgement noted of a segment that passes.
func passedBy(j approval.SegmentJudgement) (by By, entry string) {
	if j.Verdict != approval.VerdictAllow {
		return "", j.Entry
	}
	for prefix, by := range map[string]By{"safe bin ": BySafeBin, "skill ": BySkill, "builtin": ByBuiltin, "security full": ByFull} {
		if name, ok := strings.CutPrefix(j.Entry, prefix); ok && j.EntryID == "" {
			return by, name
		}
	}
	return ByEntry, j.Entry
}

// EnvChange is one line of the environment difference.
type EnvChange struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Old    string `json:"old,omitempty"`
	Was    bool   `json:"was"` // it replaces Old
	Secret bool   `json:"secret"`
	Danger bool   `json:"danger"` // the name steers programs
}

// Person is what questions are shown in: where home is, the name of this
// machine, and what people call agents.
type Person struct {
	Home   string
	Node   string
	Agents map[string]Named
}

// Named is what the policy file says about showing an agent.
type Named struct {
	Name  string
	Color string // "1" to "8"; anything else is not used
}

// NewPlace makes what is shown of a question that is not on the screen.
func NewPlace(p approval.Prompt, in Person) Question {
	return Question{
		ID: p.ID, Partial: true, Agent: in.agent(p.AgentID), Count: p.Count, Asked: p.Asked, Expires: p.Expires, Ended: ended(p),
		Latest: p.Latest, Held: p.Held,
		Command: Command{Lines: [][]Piece{}}, Claims: []string{}, Runs: []Run{}, Env: []EnvChange{}, Always: []Entry{},
		Risk: Risk{Reasons: []string{}}, Widths: []Width{}, Keeps: []approval.Keep{},
	}
}

// NewQuestion makes what is shown of a prompt.
func NewQuestion(p approval.Prompt, in Person) Question {
	command := newCommand(p.Plan, p.Judgement)
	q := Question{
		ID: p.ID, Seen: in.Seen(p), Agent: in.agent(p.AgentID),
		Session: display.Escape(p.SessionKey), Node: display.Escape(in.Node),
		Peer: display.Escape(p.Peer.Exe), PeerSigner: display.Escape(p.Peer.Signer), PeerPID: p.Peer.PID,
		Theirs: p.Who == approval.Theirs, Claims: escaped(p.Claim.Said()),
		Count: p.Count, Asked: p.Asked, Expires: p.Expires, Ended: ended(p),
		Command: command, Reason: p.Judgement.Reason, Sentence: display.Escape(p.Judgement.Sentence),
		Runs: []Run{}, Env: envChanges(p.Env), Folder: in.short(p.Plan.Cwd.Path),
		Always: []Entry{}, NotAlways: notAlways(p, command.Hidden), Widths: widths(p.Judgement, in), StillAsks: sentences(p.Judgement.StillAsks), Keeps: keeps(p),
		Latest: p.Latest, Held: p.Held,
		AllowOnce: slices.Contains(p.Judgement.Choices, approval.AllowOnce),
	}
	if p.Project != "" {
		q.Project = display.Escape(path.Base(p.Project))
	}
	if slices.Contains(p.Judgement.Choices, approval.AllowAlways) {
		q.Always = entries(p.Judgement.Writes, in)
	}
	if p.Plan.Outer != nil {
		q.Shell = in.short(p.Plan.Outer.File.Path)
	}
	if q.Tool = newTool(p.Plan.Tool, in); q.Tool == nil && !command.Hidden { // a text that hides something is answered for as a whole
		q.Runs = runs(p, in)
	}
	q.count()
	q.Program = q.program(p)
	if q.Tool != nil {
		q.Program = q.Tool.Name
	}
	q.Risky, q.Risk = p.Judgement.Risk.Level.High(), newRisk(p.Judgement.Risk)
	return q
}

// Seen names what is shown of a prompt, with the name of who asks.
func (in Person) Seen(p approval.Prompt) string {
	name := sha256.Sum256([]byte(in.agent(p.AgentID).Name))
	return p.Digest() + ":" + strconv.Itoa(p.Count) + ":" + hex.EncodeToString(name[:8])
}

// Unseen splits what Seen made of this prompt. What it did not make, and what
// was made under another name, is no digest of any question.
func (in Person) Unseen(seen string, p approval.Prompt) (digest string, count int) {
	parts := strings.Split(seen, ":")
	mine := strings.Split(in.Seen(p), ":")
	if len(parts) != 3 || parts[2] != mine[2] {
		return "", 0
	}
	count, err := strconv.Atoi(parts[1])
	if err != nil {
		return "", 0
	}
	return parts[0], count
}

func (q *Question) count() {
	for _, r := range q.Runs {
		switch r.Verdict {
		case Passes:
			q.Passing++
		case Asks, Danger:
			q.Asking++
		}
	}
}

func ended(p approval.Prompt) *Ended {
	if !p.CallerGone {
		return nil
	}
	return &Ended{p.GoneBecause, p.GoneAt}
}

func runs(p approval.Prompt, in Person) []Run {
	list := []Run{}
	for i, s := range p.Plan.Segments {
		if !s.Named && i < len(p.Judgement.Segments) {
			list = append(list, newRun(p, i, in))
		}
	}
	// The plan has those inside loops and functions last.
	slices.SortStableFunc(list, func(a, b Run) int {
		return p.Plan.Segments[a.Segment].Start - p.Plan.Segments[b.Segment].Start
	})
	return list
}

func newRun(p approval.Prompt, i int, in Person) Run {
	s, j := p.Plan.Segments[i], p.Judgement.Segments[i]
	by, entry := passedBy(j)
	r := Run{
		Segment: i, Verdict: verdict(s, j), Word: word(s), Reason: j.Reason, Sentence: display.Escape(j.Sentence),
		By: by, Entry: display.Escape(entry), Depth: depth(p.Plan.Segments, i), Effects: s.Effects,
	}
	if res := s.Program; res != nil {
		r.Path = in.short(res.Path)
		if real := in.short(res.File.Path); real != r.Path {
			r.Real = real
		}
		if res.Interpreter != nil {
			r.Interpreter = in.short(res.Interpreter.File.Path)
		}
	}
	if s.Dir != "" && s.Dir != p.Plan.Cwd.Path {
		r.Dir = in.short(s.Dir)
	}
	return r
}

// depth counts the segments that start this one.
func depth(segments []approval.Segment, i int) (n int) {
	for via := segments[i].Via; via > 0 && n < len(segments); via = segments[via-1].Via {
		n++
	}
	return n
}

// dangerous are the reasons that get the mark of danger, as what cannot be read
// in the question does. Each of them is a high risk.
var dangerous = map[approval.Reason]bool{
	approval.ReasonSteersScreen: true, approval.ReasonProtectedState: true,
	approval.ReasonChangesSystem: true, approval.ReasonBinaryChanged: true,
}

func verdict(s approval.Segment, j approval.SegmentJudgement) Verdict {
	switch {
	case j.Verdict == approval.VerdictDeny:
		return Denied
	case j.Verdict == approval.VerdictAllow:
		return Passes
	case dangerous[j.Reason] || s.Unseen():
		return Danger
	}
	return Asks
}

// Small tells the questions that can be answered together with others of
// their agent: somebody waits, once is offered, nothing is risky, and a row of
// a list holds all of it.
func (q Question) Small() bool {
	return q.Ended == nil && q.AllowOnce && !q.Risky && len(q.Command.Text) <= MaxSmall && len(q.Command.Lines) == 1
}

// MaxSmall is how long a command in a list may be, in bytes.
const MaxSmall = 200

// ListMark begins what the page calls the list of an agent's small questions.
// No question has such an ID.
const ListMark = "list:"

// word names a segment in few letters: its program and, where that is one
// with commands of its own, the command.
func word(s approval.Segment) string {
	if len(s.Argv) == 0 || s.Program == nil && s.Builtin == "" && strings.ContainsAny(s.Argv[0], "$`(){}<>|&;\"'*?[] \t\n") {
		return "?" // it is not known before it runs
	}
	name := path.Base(s.Argv[0])
	if s.Kind == approval.KindStarter && len(s.Argv) > 1 && isWord(s.Argv[1]) {
		name += " " + s.Argv[1]
	}
	return display.Escape(name)
}

// isWord reports whether an argument can be the command of a program, such as
// "rebase" of git.
func isWord(arg string) bool {
	return arg != "" && len(arg) <= 24 && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz-") == "" && arg[0] != '-'
}

// program is what the title names: the first thing that asks.
func (q Question) program(p approval.Prompt) string {
	for _, r := range q.Runs {
		if r.Verdict != Passes {
			return r.Word
		}
	}
	switch {
	case len(q.Runs) > 0:
		return q.Runs[0].Word
	case len(p.Plan.Argv) > 0:
		return display.Escape(path.Base(p.Plan.Argv[0]))
	}
	return ""
}

func envChanges(list []approval.EnvChange) []EnvChange {
	shown := make([]EnvChange, len(list))
	for i, e := range list {
		shown[i] = EnvChange{
			Name: display.Escape(e.Name), Value: display.Escape(e.Value), Old: display.Escape(e.Old),
			Was: e.Was, Secret: e.Secret, Danger: e.Asks,
		}
	}
	slices.SortStableFunc(shown, func(a, b EnvChange) int { return rank(a) - rank(b) })
	return shown
}

// rank puts the names that steer programs first.
func rank(e EnvChange) int {
	if e.Danger {
		return 0
	}
	return 1
}

func notAlways(p approval.Prompt, hidden bool) NotAlways {
	switch {
	case slices.Contains(p.Judgement.Choices, approval.AllowAlways):
		return ""
	case hidden:
		return NotAlwaysHidden
	case p.Judgement.Ask == approval.AskAlways:
		return NotAlwaysEvery
	case p.AgentID == "":
		return NotAlwaysNameless
	case len(p.Judgement.Writes) > 0:
		return NotAlwaysCaller
	}
	return NotAlwaysUnknown
}

// sentences are what findings say, each once.
func sentences(list []approval.Finding) (said []string) {
	for _, f := range list {
		if s := display.Escape(f.Sentence); !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	return said
}

// short writes a path for reading: escaped, and with ~ for the home folder.
func (in Person) short(name string) string {
	if in.Home != "" && in.Home != "/" {
		if name == in.Home {
			return "~"
		}
		if rest, ok := strings.CutPrefix(name, in.Home+"/"); ok {
			return "~/" + display.Escape(rest)
		}
	}
	return display.Escape(name)
}

package shown

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
)

// ActivityFilter says which requests of the history are wanted. What is empty
// does not count.
type ActivityFilter struct {
	Agent   string          `json:"agent"`
	Outcome OutcomeFilter   `json:"outcome"`
	Reason  approval.Reason `json:"reason"`
	Text    string          `json:"text"` // words; the last may be a beginning
	Time    Period          `json:"time"`
}

// OutcomeFilter is one of the outcomes that can be looked for.
type OutcomeFilter string

const (
	OnlyPassed        OutcomeFilter = "passed"
	OnlyAsked         OutcomeFilter = "asked"
	OnlyAllowedOnce   OutcomeFilter = "allowed-once"
	OnlyAllowedAlways OutcomeFilter = "allowed-always"
	OnlyDenied        OutcomeFilter = "denied"
)

// Period is how far back one looks; empty for all there is.
type Period string

const (
	Today      Period = "today"
	SevenDays  Period = "7-days"
	ThirtyDays Period = "30-days"
)

// days are the calendar days of each period.
var days = map[Period]int{Today: 1, SevenDays: 7, ThirtyDays: 30}

// Query asks the history for what passes the filter. Requests alone, unless
// something is looked for that programs have no words of.
func (f ActivityFilter) Query(now time.Time) history.Query {
	q := history.Query{AgentID: f.Agent, Reason: f.Reason, Text: f.Text}
	switch f.Outcome {
	case OnlyPassed:
		q.Verdict = approval.VerdictAllow
	case OnlyAsked:
		q.Verdict = approval.VerdictAsk
	case OnlyDenied:
		q.Verdict = approval.VerdictDeny
	case OnlyAllowedOnce:
		q.Decision = approval.AllowOnce
	case OnlyAllowedAlways:
		q.Decision = approval.AllowAlways
	}
	if n := days[f.Time]; n > 0 {
		q.Since = midnight(now, 1-n).UnixMilli()
	}
	return q
}

// midnight is the beginning of the day so many days from now.
func midnight(now time.Time, by int) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()+by, 0, 0, 0, 0, now.Location())
}

// ActivityPage is a page of the history, newest first.
type ActivityPage struct {
	Rows []ActivityRow `json:"rows"`
	// More tells that the history goes on behind the last row.
	More bool `json:"more"`
	// Problem says why the history cannot be read.
	Problem string `json:"problem,omitempty"`
}

// ActivityRow is one request in the table.
type ActivityRow struct {
	N     int64  `json:"n"`
	ID    string `json:"id"`
	Agent Agent  `json:"agent"`
	At    int64  `json:"at"` // unix milliseconds
	// Command is the beginning of the text, on one line.
	Command string  `json:"command"`
	Outcome Outcome `json:"outcome"`
	Verdict Verdict `json:"verdict"`
	// Why it came so: what let it pass, or why it was asked or denied.
	By       By              `json:"by,omitempty"`
	Entry    string          `json:"entry,omitempty"`
	Reason   approval.Reason `json:"reason,omitempty"`
	Sentence string          `json:"sentence,omitempty"`
}

// Outcome is who decided what.
type Outcome string

const (
	WaitsForYou   Outcome = "waiting"
	Passed        Outcome = "passed"
	AllowedOnce   Outcome = "allowed-once"
	AllowedAlways Outcome = "allowed-always"
	AllowedAWhile Outcome = "allowed-a-while"
	DeniedByYou   Outcome = "denied-by-you"
	DeniedByRule  Outcome = "denied-by-rule"
	TimeRanOut    Outcome = "time-ran-out"
	CallerHungUp  Outcome = "caller-hung-up"
	// NotDecided is a question that ended with the app.
	NotDecided Outcome = "not-decided"
)

// outcome tells who decided what, and how that is marked.
func outcome(r history.Row) (Outcome, Verdict) {
	switch {
	case r.State == history.Waiting:
		return WaitsForYou, Asks
	case r.State == history.Denied:
		return refusal(r), Denied
	case r.AnsweredBy == "policy" || r.AnsweredBy == "askFallback": // no person did
		return Passed, Passes
	case r.Decision == approval.AllowOnce:
		return AllowedOnce, Passes
	case r.Decision == approval.AllowAlways && kept(r).Lease():
		return AllowedAWhile, Passes
	case r.Decision == approval.AllowAlways:
		return AllowedAlways, Passes
	}
	return Passed, Passes
}

// kept is for how long an answer was to be remembered, which is the last word of
// what was chosen if it is not for good.
func kept(r history.Row) (k approval.Keep) {
	if words := strings.Fields(r.Choice); len(words) == 0 || k.UnmarshalText([]byte(words[len(words)-1])) != nil {
		return approval.KeepUnset
	}
	return k
}

// width returns how much an answer was remembered for.
func width(r history.Row) (w approval.Width, here bool) {
	words := strings.Fields(r.Choice)
	if len(words) == 0 || w.UnmarshalText([]byte(words[0])) != nil {
		return approval.WidthUnset, false
	}
	return w, slices.Contains(words, "here")
}

func refusal(r history.Row) Outcome {
	switch {
	case r.Reason == approval.ReasonUserDenied:
		return DeniedByYou
	case r.Reason == approval.ReasonPromptExpired:
		return TimeRanOut
	case r.Reason == approval.ReasonApprovalCancelled && r.Sentence == approval.CallerLeft:
		return CallerHungUp
	case r.Reason == approval.ReasonApprovalCancelled:
		return NotDecided
	}
	return DeniedByRule
}

// longLine is how much of a command a row of the table holds, in characters.
// The record has all of it.
const longLine = 200

// NewActivity makes a row of the table.
func NewActivity(r history.Row, in Person) ActivityRow {
	row := ActivityRow{
		N: r.N, ID: r.ID, Agent: in.agent(r.AgentID), At: r.Arrived.UnixMilli(), Command: oneLine(r.Command),
		Reason: cmp.Or(r.JudgedReason, r.Reason), Sentence: display.Escape(cmp.Or(r.JudgedSentence, r.Sentence)),
	}
	row.Outcome, row.Verdict = outcome(r)
	if cmp.Or(r.Judged, r.Verdict) == approval.VerdictAllow && r.State != history.Denied {
		by, entry := passedBy(approval.SegmentJudgement{Verdict: approval.VerdictAllow, Entry: r.Entry})
		row.By, row.Entry = by, in.short(entry)
		if r.Entry == "" {
			row.By = ""
		}
	}
	if row.Outcome == DeniedByRule && r.Reason != "" {
		row.Reason, row.Sentence = r.Reason, display.Escape(r.Sentence)
	}
	return row
}

func oneLine(text string) string {
	cut := text
	if len(cut) > 4*longLine {
		cut = cut[:4*longLine]
	}
	if utf8.RuneCountInString(cut) > longLine {
		cut = string([]rune(cut)[:longLine])
	}
	line := display.Escape(strings.NewReplacer("\n", " ⏎ ", "\t", " ").Replace(strings.ToValidUTF8(cut, "")))
	if len(cut) < len(text) {
		line += "…"
	}
	return line
}

// Record is all that the history holds of a request.
type Record struct {
	ActivityRow
	// Problem says why it cannot be shown; nothing else is set then.
	Problem string `json:"problem,omitempty"`
	// Exact is the command, whole, with its secrets taken out when it was written.
	Exact   Command `json:"exact"`
	State   string  `json:"state"`
	Folder  string  `json:"folder,omitempty"`
	Session string  `json:"session,omitempty"`
	Peer    string  `json:"peer,omitempty"`
	PeerPID int     `json:"peerPid,omitempty"`
	Theirs  bool    `json:"theirs,omitempty"` // the caller ran it itself
	// Env are the names of the variables that the request set.
	Env []string `json:"env"`
	// Judged and what follows is what policy said; Security and Ask held then.
	Judged         Verdict         `json:"judged,omitempty"`
	JudgedReason   approval.Reason `json:"judgedReason,omitempty"`
	JudgedSentence string          `json:"judgedSentence,omitempty"`
	Risk           approval.Risk   `json:"risk,omitempty"`
	Deciding       string          `json:"deciding,omitempty"` // the entry or rule
	Security       string          `json:"security,omitempty"`
	Ask            string          `json:"ask,omitempty"`
	// Times are unix milliseconds, 0 for what did not happen.
	Asked    int64 `json:"asked,omitempty"`
	Answered int64 `json:"answered,omitempty"`
	Started  int64 `json:"started,omitempty"`
	Ended    int64 `json:"ended,omitempty"`
	// Answer is what was answered, or for how long it was allowed where that has
	// an end; Note is what a person added.
	Answer     string `json:"answer,omitempty"`
	AnsweredBy string `json:"answeredBy,omitempty"`
	Note       string `json:"note,omitempty"`
	// Width is how much the answer was remembered for, and Here tells that it
	// holds in this folder only.
	Width approval.Width `json:"width,omitempty"`
	Here  bool           `json:"here,omitempty"`
	// Told is why it was refused.
	Told       string `json:"told,omitempty"`
	End        End    `json:"end"`
	OutputSize int64  `json:"outputSize"` // bytes
	OutputHash string `json:"outputHash,omitempty"`
	// Keepable tells that it ran, so that it may become an entry.
	Keepable bool         `json:"keepable,omitempty"`
	Programs []ProgramRow `json:"programs"`
}

// End is how a program ended, and how long it took.
type End struct {
	Code     *int   `json:"code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timedOut,omitempty"`
	Error    string `json:"error,omitempty"`
	Took     int64  `json:"took"` // milliseconds, -1 for not known
}

// ProgramRow is one program that was started for a request.
type ProgramRow struct {
	Command string `json:"command"`
	Path    string `json:"path,omitempty"`
	End     End    `json:"end"`
}

// NewRecord makes a record of a request and of its programs, which come in the
// order in which they were started.
func NewRecord(r history.Row, programs []history.Row, in Person) Record {
	wide, here := width(r)
	rec := Record{
		ActivityRow: NewActivity(r, in), Exact: newCommand(approval.Plan{Text: r.Command}, approval.Judgement{}), State: string(r.State),
		Folder: in.short(r.Cwd), Session: display.Escape(r.SessionKey), Peer: in.short(r.PeerExe), PeerPID: r.PeerPID,
		Theirs: r.Who == approval.Theirs, Env: escaped(r.EnvNames),
		Judged: judged(r.Judged), JudgedReason: r.JudgedReason, JudgedSentence: display.Escape(r.JudgedSentence), Deciding: in.short(r.Entry),
		Security: string(r.Security), Ask: string(r.Ask),
		Asked: unix(r.Asked), Answered: unix(r.Answered), Started: unix(r.Started), Ended: unix(r.Ended),
		Risk: r.Risk, Width: wide, Here: here,
		Answer: cmp.Or(string(kept(r)), string(r.Decision)), AnsweredBy: display.Escape(r.AnsweredBy), Note: display.Escape(r.Note),
		End: end(r), OutputSize: r.OutputSize, OutputHash: display.Escape(r.OutputHash), Programs: []ProgramRow{},
		Keepable: r.Ran() && r.AgentID != "",
	}
	if r.State == history.Denied {
		rec.Told = display.Escape(r.Sentence)
	}
	for _, p := range programs {
		rec.Programs = append(rec.Programs, ProgramRow{oneLine(p.Command), in.short(p.Program), end(p)})
	}
	return rec
}

func judged(v approval.Verdict) Verdict {
	return map[approval.Verdict]Verdict{approval.VerdictAllow: Passes, approval.VerdictAsk: Asks, approval.VerdictDeny: Denied}[v]
}

func end(r history.Row) End {
	e := End{Code: r.ExitCode, Signal: display.Escape(r.Signal), TimedOut: r.TimedOut, Error: display.Escape(r.Error), Took: -1}
	if !r.Started.IsZero() && !r.Ended.Before(r.Started) {
		e.Took = r.Ended.Sub(r.Started).Milliseconds()
	}
	return e
}

// unix is a time in unix milliseconds, 0 for none.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Rates are how often a person was asked: on each of the last fourteen days,
// and about each agent in all of them together.
type Rates struct {
	Days   []DayRate   `json:"days"`
	Agents []AgentRate `json:"agents"` // those with most questions first
	// Top is the end of the scale of the days, a multiple of Step.
	Top     int    `json:"top"`
	Step    int    `json:"step"`
	Problem string `json:"problem,omitempty"`
}

// Rate is how many requests there were, about how many a question was put, and
// that for a hundred requests, to a tenth; 0 without requests.
type Rate struct {
	Requests int64   `json:"requests"`
	Asked    int64   `json:"asked"`
	Per100   float64 `json:"per100"`
}

// DayRate is that of one day.
type DayRate struct {
	Rate
	Start int64 `json:"start"` // unix milliseconds
}

// AgentRate is that of one agent.
type AgentRate struct {
	Rate
	Agent Agent `json:"agent"`
}

// rateDays is how many days are shown.
const rateDays = 14

// RateTimes are the times between which requests are counted for NewRates: the
// beginnings of the days, and that of tomorrow.
func RateTimes(now time.Time) []int64 {
	var times []int64
	for by := 1 - rateDays; by <= 1; by++ {
		times = append(times, midnight(now, by).UnixMilli())
	}
	return times
}

// NewRates makes the rates of what was counted between these times.
func NewRates(counts []history.Count, times []int64, in Person) Rates {
	r := Rates{Days: []DayRate{}, Agents: []AgentRate{}}
	for i := 0; i+1 < len(times); i++ {
		r.Days = append(r.Days, DayRate{Start: times[i]})
	}
	agents := map[string]Rate{}
	for _, c := range counts {
		if c.Span < len(r.Days) {
			r.Days[c.Span].add(c)
		}
		rate := agents[c.AgentID]
		rate.add(c)
		agents[c.AgentID] = rate
	}
	top := 0.0
	for i := range r.Days {
		r.Days[i].divide()
		top = max(top, r.Days[i].Per100)
	}
	for id, rate := range agents {
		rate.divide()
		r.Agents = append(r.Agents, AgentRate{rate, in.agent(id)})
	}
	slices.SortFunc(r.Agents, func(a, b AgentRate) int {
		return cmp.Or(cmp.Compare(b.Asked, a.Asked), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Agent.ID, b.Agent.ID))
	})
	r.Step, r.Top = scale(top)
	return r
}

func (r *Rate) add(c history.Count) { r.Requests, r.Asked = r.Requests+c.Requests, r.Asked+c.Asked }

func (r *Rate) divide() {
	if r.Requests > 0 {
		r.Per100 = math.Round(1000*float64(r.Asked)/float64(r.Requests)) / 10
	}
}

// scale finds a round step of which at most four hold the highest value.
func scale(highest float64) (step, top int) {
	for _, step = range []int{1, 2, 5, 10, 25} {
		if top = step * max(1, int(math.Ceil(highest/float64(step)))); top <= 4*step {
			break
		}
	}
	return step, top
}

// Suggestion are entries that would have answered many questions.
type Suggestion struct {
	// ID names it for as long as it is shown.
	ID    string `json:"id"`
	Agent Agent  `json:"agent"`
	// Entries are how they read. Exact is what a person would edit and save: of one
	// entry that says no more than a person can write.
	Entries []Entry    `json:"entries"`
	Exact   *EntryEdit `json:"exact,omitempty"`
	// Wide says what else they allow that one may not think of; "" for nothing.
	Wide approval.Wide `json:"wide,omitempty"`
	// Saved is how many of the last questions they would have answered.
	Saved int `json:"saved"`
	// Riskiest is the most dangerous request that they would have let pass.
	Riskiest string `json:"riskiest,omitempty"`
}

// NewSuggestion makes what is shown of the entries of an offer.
func NewSuggestion(agent Agent, o approval.Offer, saved int, riskiest string, in Person) Suggestion {
	text, _ := json.Marshal(o.Writes) // plain fields cannot fail
	sum := sha256.Sum256(append(text, agent.ID...))
	s := Suggestion{ID: hex.EncodeToString(sum[:8]), Agent: agent, Entries: entries(o.Writes, in), Wide: o.Wide, Saved: saved, Riskiest: Excerpt(riskiest)}
	if e := o.Writes[0]; len(o.Writes) == 1 && e.ArgPattern == "" && len(e.Env)+len(e.Allows)+len(e.When) == 0 {
		s.Exact = &EntryEdit{Pattern: e.Pattern, Args: append([]string{}, e.Args...), ArgsExact: e.ArgsExact, Cwd: e.Cwd}
	}
	return s
}

// Stops are how often a person was asked in the last days, and what about.
type Stops struct {
	Days int `json:"days"`
	// Rate counts nothing where there were too few requests to tell anything.
	Rate
	// Denied is how many were denied without a question, and Kept how many of those
	// asked about could have been remembered.
	Denied int64 `json:"denied"`
	Kept   int64 `json:"kept"`
	// Reasons, which are codes, and Programs are those of most stops.
	Reasons  []Cause `json:"reasons"`
	Programs []Cause `json:"programs"`
	Problem  string  `json:"problem,omitempty"`
}

// Cause is a reason or a program, and how many requests it stopped.
type Cause struct {
	Name  string `json:"name"`
	Stops int64  `json:"stops"`
}

// topCauses is how many reasons, and programs, are shown.
const topCauses = 5

// StopsSince is when the days begin of which stops are shown: those of the filter
// that the page begins with.
func StopsSince(now time.Time) time.Time { return midnight(now, 1-days[SevenDays]) }

// NewStops makes what is shown of stops.
func NewStops(s history.Stops) Stops {
	shown := Stops{Days: days[SevenDays], Reasons: []Cause{}, Programs: []Cause{}}
	if s.Few() {
		return shown
	}
	shown.Rate = Rate{Requests: s.Commands, Asked: s.Asked}
	shown.divide()
	shown.Denied, shown.Kept, shown.Reasons, shown.Programs = s.Denied, s.Kept, causes(s.Reasons), causes(s.Programs)
	return shown
}

func causes(list []history.Cause) []Cause {
	shown := []Cause{}
	for _, c := range list[:min(len(list), topCauses)] {
		shown = append(shown, Cause{Excerpt(c.Name), c.Stops})
	}
	return shown
}

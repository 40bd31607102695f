package history

import (
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// State says how far a run has come. The words are closed.
type State string

const (
	Waiting State = "waiting" // a question is open
	Running State = "running" // it was started
	Done    State = "done"    // it ended, well or not
	Denied  State = "denied"  // it was refused
)

var states = []State{Waiting, Running, Done, Denied}

// UnmarshalText refuses a state that nobody knows.
func (s *State) UnmarshalText(b []byte) error {
	if !slices.Contains(states, State(b)) {
		return &approval.UnknownWordError{
			Word: "state", Value: string(b),
			Known: []string{string(Waiting), string(Running), string(Done), string(Denied)},
		}
	}
	*s = State(b)
	return nil
}

// over reports whether nothing more is expected of the run.
func (s State) over() bool { return s == Done || s == Denied }

// Row is one request, or one program that was started for a request. Texts
// are as they may be shown: the caller has redacted them.
type Row struct {
	// N is the row's place in the history, which grows with every new row.
	// It is given by the history and ignored by Put.
	N int64 `json:"n"`
	// ID is the run id. A program under a request has an id of its own.
	ID string `json:"id"`
	// Parent is the run id of the request for the row of a single program,
	// and Seq its order there. A request has no parent.
	Parent string `json:"parent,omitempty"`
	Seq    int    `json:"seq,omitempty"`
	State  State  `json:"state"`

	AgentID    string `json:"agentId,omitempty"`
	SessionKey string `json:"sessionKey,omitempty"`
	PeerPID    int    `json:"peerPid,omitempty"`
	PeerExe    string `json:"peerExe,omitempty"`
	// Family is as whose the request counts (approval.Peer), until it is written.
	Family string       `json:"-"`
	Who    approval.Who `json:"who,omitempty"`

	// Command is the text that was shown.
	Command  string   `json:"command"`
	Argv     []string `json:"argv,omitempty"`
	Cwd      string   `json:"cwd,omitempty"`
	EnvNames []string `json:"envNames,omitempty"`
	// Program is the real path of the program: of several the first that policy does
	// not allow, else the first.
	Program string `json:"program,omitempty"`

	// Judged, JudgedReason and JudgedSentence are what policy said; Verdict,
	// Reason and Sentence what came of it, such as a person's denial.
	Judged         approval.Verdict `json:"judged,omitempty"`
	JudgedReason   approval.Reason  `json:"judgedReason,omitempty"`
	JudgedSentence string           `json:"judgedSentence,omitempty"`

	// Risk is how high it was judged to be, and Choices are the answers that a
	// person could give; none where nobody was asked.
	Risk    approval.Risk       `json:"risk,omitempty"`
	Choices []approval.Decision `json:"choices,omitempty"`
	// Choice is how wide and how long the answer is remembered, in the words of
	// approval.Choice.
	Choice string `json:"choice,omitempty"`

	Verdict  approval.Verdict  `json:"verdict,omitempty"`
	Reason   approval.Reason   `json:"reason,omitempty"`
	Sentence string            `json:"sentence,omitempty"`
	Security approval.Security `json:"security,omitempty"`
	Ask      approval.Ask      `json:"ask,omitempty"`
	// Entry is the id or pattern of the entry that decided.
	Entry      string            `json:"entry,omitempty"`
	Decision   approval.Decision `json:"decision,omitempty"`
	AnsweredBy string            `json:"answeredBy,omitempty"`
	Note       string            `json:"note,omitempty"`

	// PGID and PStarted name the process group that was started: its id, and
	// when its leader started in the kernel's own units.
	PGID     int    `json:"pgid,omitempty"`
	PStarted uint64 `json:"pStarted,omitempty"`

	// Times are kept to the millisecond; a zero time did not happen.
	Arrived  time.Time `json:"arrived,omitzero"`
	Asked    time.Time `json:"asked,omitzero"`
	Answered time.Time `json:"answered,omitzero"`
	Started  time.Time `json:"started,omitzero"`
	Ended    time.Time `json:"ended,omitzero"`

	// ExitCode is nil when no program ended by itself.
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timedOut,omitempty"`
	// OutputSize and OutputHash describe all output, which is not stored.
	OutputSize int64  `json:"outputSize,omitempty"`
	OutputHash string `json:"outputHash,omitempty"`
	Error      string `json:"error,omitempty"`
}

// Ran reports whether the request was let through.
func (r Row) Ran() bool { return r.State == Running || r.State == Done }

// column is one column of the table and where its value is in a row, in a
// form that database/sql can both write from and read into.
type column struct {
	name  string
	value any
}

// columns is the one place that says which field is which column. In the table
// there is one more (see stored).
func (r *Row) columns() []column {
	return []column{
		{"id", &r.ID}, {"parent", &r.Parent}, {"seq", &r.Seq}, {"state", &r.State},
		{"agent_id", &r.AgentID}, {"session_key", &r.SessionKey},
		{"peer_pid", &r.PeerPID}, {"peer_exe", &r.PeerExe}, {"who", &r.Who},
		{"command", &r.Command}, {"argv", words[string]{&r.Argv}}, {"cwd", &r.Cwd},
		{"env_names", words[string]{&r.EnvNames}}, {"program", &r.Program},
		{"verdict", &r.Verdict}, {"reason", &r.Reason}, {"sentence", &r.Sentence},
		{"security", &r.Security}, {"ask", &r.Ask}, {"entry", &r.Entry},
		{"decision", &r.Decision}, {"answered_by", &r.AnsweredBy}, {"note", &r.Note},
		{"pgid", &r.PGID}, {"pstarted", bits{&r.PStarted}},
		{"arrived", millis{&r.Arrived}}, {"asked", millis{&r.Asked}},
		{"answered", millis{&r.Answered}}, {"started", millis{&r.Started}}, {"ended", millis{&r.Ended}},
		{"exit_code", &r.ExitCode}, {"signal", &r.Signal}, {"timed_out", &r.TimedOut},
		{"output_size", &r.OutputSize}, {"output_hash", &r.OutputHash}, {"error", &r.Error},
		{"judged", &r.Judged}, {"judged_reason", &r.JudgedReason}, {"judged_sentence", &r.JudgedSentence},
		{"risk", &r.Risk}, {"choices", words[approval.Decision]{&r.Choices}}, {"choice", &r.Choice},
	}
}

// maxRow bounds the texts of one row, in bytes. No door lets this much in; it
// is here so that no caller can make the history the place that hangs.
const maxRow = 1 << 20

// check refuses a row that could not be read back or that is too large.
func (r *Row) check() error {
	if r.ID == "" || r.ID == r.Parent {
		return errors.New("a row needs an id of its own")
	}
	if r.size() > maxRow {
		return fmt.Errorf("its texts are longer than %d bytes together", maxRow)
	}
	return r.checkWords()
}

// checkWords refuses words that nobody knows. Only the state must be said.
func (r *Row) checkWords() error {
	if err := new(State).UnmarshalText([]byte(r.State)); err != nil {
		return err
	}
	for _, c := range r.Choices {
		if err := new(approval.Decision).UnmarshalText([]byte(c)); err != nil {
			return err
		}
	}
	for _, w := range []struct {
		value string
		word  encoding.TextUnmarshaler
	}{
		{string(r.Risk), new(approval.Risk)},
		{string(r.Who), new(approval.Who)},
		{string(r.Judged), new(approval.Verdict)},
		{string(r.Verdict), new(approval.Verdict)},
		{string(r.Security), new(approval.Security)},
		{string(r.Ask), new(approval.Ask)},
		{string(r.Decision), new(approval.Decision)},
	} {
		if w.value == "" {
			continue
		}
		if err := w.word.UnmarshalText([]byte(w.value)); err != nil {
			return err
		}
	}
	return nil
}

// size is about how much memory the row takes while it is queued.
func (r *Row) size() int {
	n := 1024 // the struct, and its place in the queue
	for _, s := range []string{
		r.ID, r.Parent, r.AgentID, r.SessionKey, r.PeerExe, r.Command, r.Cwd, r.Program, string(r.Reason),
		string(r.JudgedReason), r.JudgedSentence, r.Sentence, r.Choice, r.Entry, r.AnsweredBy, r.Note, r.Signal, r.OutputHash, r.Error,
	} {
		n += len(s)
	}
	for _, list := range [][]string{r.Argv, r.EnvNames} {
		for _, s := range list {
			n += len(s) + 16
		}
	}
	for _, c := range r.Choices {
		n += len(c) + 16
	}
	return n
}

// own returns a copy that shares nothing with the caller.
func (r Row) own() Row {
	r.Argv, r.EnvNames, r.Choices = slices.Clone(r.Argv), slices.Clone(r.EnvNames), slices.Clone(r.Choices)
	if r.ExitCode != nil {
		code := *r.ExitCode
		r.ExitCode = &code
	}
	return r
}

// millis is a time as unix milliseconds, NULL for none.
type millis struct{ *time.Time }

func (m millis) Value() (driver.Value, error) {
	if m.IsZero() {
		return nil, nil
	}
	return m.UnixMilli(), nil
}

func (m millis) Scan(v any) error {
	switch v := v.(type) {
	case nil:
		*m.Time = time.Time{}
	case int64:
		*m.Time = time.UnixMilli(v)
	default:
		return fmt.Errorf("a time cannot be %T", v)
	}
	return nil
}

// words is a list of texts as JSON, NULL for none.
type words[T ~string] struct{ list *[]T }

func (w words[T]) Value() (driver.Value, error) {
	if len(*w.list) == 0 {
		return nil, nil
	}
	b, err := json.Marshal(*w.list)
	return string(b), err
}

func (w words[T]) Scan(v any) error {
	*w.list = nil
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), w.list)
	}
	return fmt.Errorf("a list cannot be %T", v)
}

// bits is an unsigned number in a column that knows only signed ones.
type bits struct{ n *uint64 }

func (b bits) Value() (driver.Value, error) { return int64(*b.n), nil }

func (b bits) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("a number cannot be %T", v)
	}
	*b.n = uint64(n)
	return nil
}

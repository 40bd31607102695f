package setup

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

// Condition is how our hook stands in a settings file.
type Condition string

const (
	NotInstalled Condition = "not-installed"
	Installed    Condition = "installed"
	Changed      Condition = "changed"          // somebody edited our hook
	Vanished     Condition = "vanished"         // it was written, and is gone
	OtherProgram Condition = "other-executable" // it starts another copy of us
	Unreadable   Condition = "unreadable"       // the file cannot be read or used
	ByHand       Condition = "by-hand"          // there is no file for it
)

// State is what is known of one agent and one of its settings files.
type State struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	Scope Scope  `json:"scope"`
	Found Found  `json:"found"`
	// File is the settings file, and Follows where a link leads from there.
	File      string    `json:"file,omitempty"`
	Follows   string    `json:"follows,omitempty"`
	Condition Condition `json:"condition"`
	// Program is what the hook in the file starts, and Missing tells that it is
	// not there.
	Program string `json:"program,omitempty"`
	Missing bool   `json:"missing,omitempty"`
	// Old tells that another hook would be written today: install it again.
	Old bool `json:"old,omitempty"`
	// Problem is why nothing more is known.
	Problem    string          `json:"problem,omitempty"`
	Capability hook.Capability `json:"capability"`
	// WithoutApp is what the agent does where nobody can be asked, and
	// WithoutProgram where our program is gone.
	WithoutApp     Would `json:"withoutApp"`
	WithoutProgram Would `json:"withoutProgram"`
	// Can are its capabilities in words, and BlindSpots what passes by the hook.
	Can        []string `json:"can"`
	BlindSpots []string `json:"blindSpots,omitempty"`
	// Notes are what the person may do.
	Notes []string `json:"notes,omitempty"`
	// kept tells that the hook is as it was left, and starts something.
	kept bool
}

// Look tells of every agent how our hook stands, in the home folder and, where
// there is one, in the project. It changes nothing and starts nothing.
func Look(e Env) (list []State) {
	for _, agent := range Agents() {
		list = append(list, LookAt(e, agent)...)
	}
	return list
}

// LookAt is Look for one agent.
func LookAt(e Env, agent string) (list []State) {
	scopes := []Scope{ScopeUser}
	if e.Project != "" {
		scopes = append(scopes, ScopeProject)
	}
	for _, scope := range scopes {
		if s, ok := e.look(agent, scope); ok {
			list = append(list, s)
		}
	}
	return list
}

func (e Env) look(agent string, scope Scope) (s State, ok bool) {
	t, a, err := find(agent)
	if err != nil || t.user == "" && scope != ScopeUser {
		return s, false
	}
	s = State{
		Agent: agent, Title: a.Title, Scope: scope, Capability: a.Capability,
		Found: e.find(t), WithoutApp: withoutApp(a.Capability), WithoutProgram: withoutProgram(t, a.Capability),
		Can: inWords(a.Capability), BlindSpots: append(append([]string{}, t.blind...), e.blind(t, scope)...),
	}
	if t.user == "" {
		s.Condition, s.Notes = ByHand, []string{t.advice}
		return s, true
	}
	if err := e.lookInto(&s, t); err != nil {
		s.Condition, s.Problem = Unreadable, err.Error()
	}
	return s, true
}

// lookInto reads the settings file and compares it with what was written.
func (e Env) lookInto(s *State, t target) error {
	p, _, a, err := e.begin(s.Agent, s.Scope)
	s.File, s.Follows = p.File, p.Follows
	if err != nil {
		return err
	}
	there, err := p.handlers()
	if err != nil {
		return err
	}
	if len(there) == 0 {
		if s.Condition = NotInstalled; p.was != nil {
			s.Condition = Vanished
		}
		return nil
	}
	s.Program = there[0].argv[0]
	_, err = os.Stat(s.Program)
	s.Missing = err != nil
	now, wanted := fingerprint(there), e.wanted(t, a.Capability)
	switch {
	case !sameFile(s.Program, e.Program):
		s.Condition = OtherProgram
	case now == wanted:
		s.Condition = Installed
	case p.was != nil && p.was.Written == now:
		s.Condition, s.Old = Installed, true
	default:
		s.Condition = Changed
	}
	s.kept = !s.Missing && (s.Condition == Installed && !s.Old || p.was != nil && p.was.Written == now)
	s.Notes = e.neighbours(t, s.Scope)
	if s.Agent == "codex" && !e.trusted(t, s.File) {
		s.Notes = append(s.Notes, t.advice)
	}
	return nil
}

// wanted is the fingerprint of what would be written today; "" where nothing
// can be.
func (e Env) wanted(t target, c hook.Capability) string {
	call, err := e.call(t, c)
	if err != nil {
		return ""
	}
	written, err := t.print(call)
	if err != nil {
		return ""
	}
	return written
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	first, err := os.Stat(a)
	second, err2 := os.Stat(b)
	return errors.Join(err, err2) == nil && filepath.IsAbs(a) && os.SameFile(first, second)
}

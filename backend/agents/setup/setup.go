// Package setup writes our hook into the settings files of other agents, tells
// later whether it is still there, and takes it out again.
//
// It may touch those files, what lies beside them under its own names, and
// hooks.json in the state folder. It never starts an agent. What must never
// happen here: a settings file that loses or changes anything that is not
// ours, or that is written although it is not what the person was shown.
package setup

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/paths"
)

// Env says whose machine this is, and what is to be written into the files.
// All paths are absolute.
type Env struct {
	// Home is the home folder of the person.
	Home string
	// Project is the folder of a project for ScopeProject, "" for none.
	Project string
	// Program is the countersign executable that the hooks start.
	Program string
	// State is where the record of what was written is kept, and what hooks are
	// given as --state-dir. Agents take variables from the settings of a project,
	// so a hook that looked for its host by itself could be led to one that says
	// yes to everything.
	State paths.State
	// Denies reports whether policy denies everything that an agent asks; nil
	// where policy is not known.
	Denies func(agent string) bool
	// Getenv and Now are os.Getenv and time.Now outside of tests.
	Getenv func(string) string
	Now    func() time.Time
}

// Scope says for whose work a hook counts.
type Scope string

const (
	ScopeUser    Scope = "user"    // all that this person does with the agent
	ScopeProject Scope = "project" // work in one project
)

// Errors that callers tell apart. All others are for people.
var (
	// ErrChanged says that a file is no longer what the change was made from:
	// show the new difference, and ask again.
	ErrChanged = errors.New("the file changed since the difference was shown, so nothing was written: look again")
	// ErrNoFile says that an agent has no settings file that takes a hook.
	ErrNoFile = errors.New("there is no settings file to edit for it")
	// ErrNoProject says that the folder belongs to no project.
	ErrNoProject = errors.New("there is no project here: go into its folder, or use the scope user")
)

// Agents returns the names of the agents that this room knows, sorted.
func Agents() []string {
	var names []string
	for _, t := range targets() {
		names = append(names, t.agent)
	}
	return names
}

// find returns what is known of an agent and of its hooks.
func find(agent string) (target, hook.Agent, error) {
	for _, t := range targets() {
		if t.agent == agent {
			a, err := hook.Find(agent)
			if a.Title == "" {
				a.Title = agent
			}
			return t, a, err
		}
	}
	return target{}, hook.Agent{}, fmt.Errorf("no settings are known for %q: use one of %s", agent, strings.Join(Agents(), ", "))
}

// place returns the folder that a settings file must stay in, and its path in
// there.
func (e Env) place(t target, scope Scope) (root, file string, err error) {
	switch {
	case t.user == "":
		return "", "", ErrNoFile
	case scope == ScopeUser:
		if moved := e.moved(t); moved != "" {
			return moved, t.user, nil
		}
		return e.Home, filepath.Join(t.folder, t.user), nil
	case scope != ScopeProject:
		return "", "", fmt.Errorf("no scope is called %q: use user or project", scope)
	case e.Project == "":
		return "", "", ErrNoProject
	}
	return e.Project, t.project, nil
}

// moved is where the person keeps the agent's settings instead of in the home
// folder; "" if there.
func (e Env) moved(t target) string {
	if t.moved == "" {
		return ""
	}
	if dir := e.Getenv(t.moved); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return ""
}

// check refuses what cannot stand in a settings file. Gemini CLI and others
// put variables into their settings, so a dollar sign would not stay one.
func (e Env) check() error {
	for _, path := range []string{e.Program, e.State.Dir} {
		odd := strings.ContainsFunc(path, func(r rune) bool { return r == '$' || r == '%' || unicode.IsControl(r) })
		if !filepath.IsAbs(path) || odd || !utf8.ValidString(path) {
			return fmt.Errorf("a hook cannot start %q: put countersign and its state folder under absolute paths of plain characters", path)
		}
	}
	return nil
}

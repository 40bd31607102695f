package setup

import (
	"os"
	"path/filepath"
	"strings"
)

// Lost returns those of the hooks that were written once which are not as they
// were left: gone, edited, or starting a program that is not there. Projects and
// agents that are not here any more are left out. It changes nothing and starts
// nothing.
func Lost(e Env) (list []State, err error) {
	m, err := e.readManifest()
	if err != nil {
		return nil, err
	}
	for _, h := range m.Hooks {
		at, ok := e.as(h)
		if !ok {
			continue
		}
		if s, ok := at.look(h.Agent, h.Scope); ok && s.File == h.File && !s.kept {
			list = append(list, s)
		}
	}
	return list, nil
}

// as is the machine on which a hook was written: in its project, and with the
// agent's settings where they were then. It reports false where that is not here
// any more.
func (e Env) as(h entry) (Env, bool) {
	t, _, err := find(h.Agent)
	if err != nil || t.user == "" {
		return e, false
	}
	if h.Scope == ScopeProject {
		e.Project = strings.TrimSuffix(h.File, string(filepath.Separator)+filepath.FromSlash(t.project))
		info, err := os.Stat(e.Project)
		return e, err == nil && info.IsDir()
	}
	moved := ""
	if h.File != filepath.Join(e.Home, t.folder, t.user) {
		moved = strings.TrimSuffix(h.File, string(filepath.Separator)+filepath.FromSlash(t.user))
	}
	getenv := e.Getenv
	e.Getenv = func(name string) string {
		if name == t.moved {
			return moved
		}
		return getenv(name)
	}
	return e, e.find(t).Here()
}

package setup

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
)

// maxListed bounds how many entries of a settings file are told one by one.
const maxListed = 20

// blind reads the settings of an agent for what lets calls pass by our hook. A
// file that cannot be read says nothing.
func (e Env) blind(t target, scope Scope) (list []string) {
	for _, s := range e.switches(t, scope) {
		root := e.peek(s.file)
		v := root
		for _, name := range s.path {
			v = member(v, name)
		}
		if v != nil && small(v) == s.value {
			list = append(list, fmt.Sprintf("%s in %s is %s: %s", strings.Join(s.path, "."), s.file, s.value, s.says))
		}
	}
	if t.agent == "vscode" {
		for _, file := range vscodeFiles(e) {
			list = append(list, approvesItself(file, member(e.peek(file), "chat.tools.terminal.autoApprove"))...)
		}
	}
	return list
}

// toggle is a setting that switches hooks off, or questions.
type toggle struct {
	file        string
	path        []string
	value, says string
}

// switches are the settings of an agent that are looked at.
func (e Env) switches(t target, scope Scope) (list []toggle) {
	const off = "no hook runs"
	root, rel, err := e.place(t, scope)
	if err != nil {
		return nil
	}
	file := filepath.Join(root, rel)
	switch t.agent {
	case "claude-code":
		for _, file := range e.merged(t, "settings.json", "settings.local.json") {
			list = append(list,
				toggle{file, []string{"disableAllHooks"}, "true", off},
				toggle{file, []string{"permissions", "defaultMode"}, `"bypassPermissions"`, "no question is due, so only deny rules hold"})
		}
	case "gemini":
		for _, file := range e.merged(t, "settings.json") {
			list = append(list,
				toggle{file, []string{"hooksConfig", "enabled"}, "false", off},
				toggle{file, []string{"tools", "enableHooks"}, "false", off})
		}
	case "copilot":
		list = []toggle{{file, []string{"disableAllHooks"}, "true", off}}
		if scope == ScopeUser {
			list = append(list, toggle{filepath.Join(filepath.Dir(filepath.Dir(file)), "settings.json"), []string{"disableAllHooks"}, "true", off})
		}
	case "vscode":
		for _, file := range vscodeFiles(e) {
			list = append(list,
				toggle{file, []string{"chat.useHooks"}, "false", off},
				toggle{file, []string{"chat.hookFilesLocations", "~/.copilot/hooks"}, "false", "our hook is not read"},
				toggle{file, []string{"chat.tools.global.autoApprove"}, "true", "all tools run without VS Code's own question where our hook says nothing"})
		}
	}
	return list
}

// merged are the settings files that an agent makes one of, whatever the scope of
// our hook: that of the person, and those with these names in the project.
func (e Env) merged(t target, names ...string) (files []string) {
	if root, rel, err := e.place(t, ScopeUser); err == nil {
		files = []string{filepath.Join(root, rel)}
	}
	for _, name := range names {
		if e.Project != "" {
			files = append(files, filepath.Join(e.Project, filepath.Dir(t.project), name))
		}
	}
	return files
}

// peek reads a settings file that is not to be edited; nil if it cannot be.
func (e Env) peek(path string) *hujson.Value {
	f := file{named: path, real: path}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		f.real = real
	}
	if f.read() != nil || !f.exists {
		return nil
	}
	d, err := parse(f.text)
	if err != nil {
		return nil
	}
	return &d.root
}

// approvesItself tells the commands that VS Code runs without a question of its
// own. The hook is asked about them all the same, but nobody is where it cannot
// answer.
func approvesItself(file string, v *hujson.Value) (list []string) {
	if v == nil {
		return nil
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	more := 0
	for i := range object.Members {
		value := &object.Members[i].Value
		if small(value) != "true" && small(member(value, "approve")) != "true" {
			continue
		}
		if len(list) == maxListed {
			more++
			continue
		}
		list = append(list, fmt.Sprintf("chat.tools.terminal.autoApprove in %s lets %s run without VS Code's own question where our hook says nothing", file, nameOf(object, i)))
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more entries of chat.tools.terminal.autoApprove", more))
	}
	return list
}

// trusted reports whether Codex has noted trust for hooks of a file. Whether it
// is for the hook as it is now, only Codex knows.
func (e Env) trusted(t target, hooks string) bool {
	root, _, err := e.place(t, ScopeUser)
	if err != nil {
		return false
	}
	dir := root
	if e.moved(t) == "" {
		dir = filepath.Join(root, t.folder)
	}
	f := file{named: filepath.Join(dir, "config.toml"), real: filepath.Join(dir, "config.toml")}
	if f.read() != nil {
		return false
	}
	return bytes.Contains(f.text, []byte(`"`+hooks+`:permission_request:`))
}

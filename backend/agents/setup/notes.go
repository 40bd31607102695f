package setup

import "fmt"

// explain adds what the person is to know of a hook that is put in.
func (e Env) explain(p *plan, t target) {
	if e.Denies != nil && e.Denies(t.agent) {
		p.Warning = fmt.Sprintf("%s may run nothing (security=deny): with this hook every call of it that comes here is denied, until you choose something else for it.", p.Title)
	}
	if t.advice != "" {
		p.Notes = append(p.Notes, t.advice)
	}
	if p.Scope == ScopeProject && t.shared {
		p.Notes = append(p.Notes, fmt.Sprintf("%s is a file that is often checked in, and names a program of this machine: leave it out of commits, or have everybody keep countersign there.", p.File))
	}
	p.Notes = append(p.Notes, e.neighbours(t, p.Scope)...)
}

// neighbours says what other agents make of the hook of this one.
func (e Env) neighbours(t target, scope Scope) (list []string) {
	if t.twice != "" && e.has(t.twice, scope) {
		list = append(list, "Copilot CLI starts the hook of VS Code as well as its own: with both it asks twice about what you allowed, and that of VS Code is enough for the two.")
	}
	if t.agent == "claude-code" && scope == ScopeUser && e.readsClaude() {
		list = append(list, `VS Code reads this file too, does not know "args", and would start countersign without its words, which refuses every call there: set "~/.claude/settings.json": false in its setting chat.hookFilesLocations.`)
	}
	return list
}

// has reports whether a hook of ours is in the settings of an agent.
func (e Env) has(agent string, scope Scope) bool {
	p, _, _, err := e.begin(agent, scope)
	if err != nil {
		return false
	}
	there, err := p.handlers()
	return err == nil && len(there) > 0
}

// readsClaude reports whether VS Code is here and starts the hooks of Claude
// Code, which it does unless it is told not to.
func (e Env) readsClaude() bool {
	if !e.find(vscode()).Here() {
		return false
	}
	for _, file := range vscodeFiles(e) {
		locations := member(e.peek(file), "chat.hookFilesLocations")
		if small(member(locations, "~/.claude/settings.json")) == "false" {
			return false
		}
	}
	return true
}

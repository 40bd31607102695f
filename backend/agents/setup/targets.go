package setup

import "path/filepath"

// target is how one agent keeps its hooks.
type target struct {
	agent string
	// programs are its names in PATH, packages those in a package.json, and
	// traces the folders in a home by which it is known to be used.
	programs, packages, traces []string
	// folder holds its settings in a home, unless the variable moved is set.
	folder, moved string
	// user is the file in there, and project the one in a project.
	user, project string
	// versioned files say "version": 1.
	versioned bool
	// grouped hooks stand in a list inside of an object with a matcher.
	grouped bool
	events  []event
	handler func(event, call) any
	// shared tells that the project's file is one that people check in.
	shared bool
	// advice is what the person does after the file was written.
	advice string
	// twice is another agent whose hook this one starts too, or the other way
	// round: with both, it asks twice.
	twice string
	// gone is what the agent does when the program cannot be started, if that is
	// not its FailMode.
	gone Would
	// blind are the ways around the hook that are always there.
	blind []string
}

// event is one event that our hook is written for.
type event struct {
	name, matcher string
	// closed tells that the agent refuses where the hook breaks.
	closed bool
	// noOnly tells that nothing but a no counts there: the agent's own rules decide
	// all else.
	noOnly bool
}

// targets are the agents, sorted. New hooks go to the end of a list, because
// Codex trusts the others by their number.
func targets() []target {
	return []target{claudeCode(), codex(), copilot(), cursor(), gemini(), opencode(), vscode()}
}

// claudeCode writes settings.local.json into projects: the path of a program of
// this machine is nothing to check in. Not tried against the real client.
func claudeCode() target {
	return target{
		agent: "claude-code", programs: []string{"claude"}, packages: []string{"@anthropic-ai/claude-code"},
		traces: []string{".claude"}, folder: ".claude", moved: "CLAUDE_CONFIG_DIR",
		user: "settings.json", project: ".claude/settings.local.json",
		grouped: true, handler: claudeHandler, gone: Refuse,
		events: []event{{name: "PreToolUse", matcher: "*", closed: true, noOnly: true}, {name: "PermissionRequest", matcher: "*"}},
		blind: []string{
			"in the mode bypassPermissions no question is due, so only deny rules reach it",
			"versions before 2.1.295 do not know onFailure, and go on by their own rules where the hook breaks",
		},
	}
}

// codex is written from its documentation, and not tried against the real
// client.
func codex() target {
	return target{
		agent: "codex", programs: []string{"codex"}, packages: []string{"@openai/codex"},
		traces: []string{".codex"}, folder: ".codex", moved: "CODEX_HOME",
		user: "hooks.json", project: ".codex/hooks.json", shared: true,
		grouped: true, handler: lineHandler,
		events: []event{{name: "PreToolUse", noOnly: true}, {name: "PermissionRequest"}},
		advice: "Codex skips a hook without a word until you trust it: start codex, type /hooks, look at ours and trust it. Each change of it needs that again.",
		blind:  []string{"an untrusted hook is skipped without a word", "where the hook breaks, Codex goes on as if there were none"},
	}
}

// copilot gets the form without a shell (tried with 1.0.102). VS Code reads the
// same folder and, by its sources, does not know that form, so it leaves this
// file alone. The folder itself is no trace of Copilot.
func copilot() target {
	return target{
		agent: "copilot", programs: []string{"copilot"}, packages: []string{"@github/copilot"},
		traces: []string{".copilot/session-state", ".copilot/logs"}, folder: ".copilot", moved: "COPILOT_HOME",
		user: "hooks/countersign.json", project: ".github/hooks/countersign.json", shared: true,
		versioned: true, handler: copilotHandler, gone: Refuse, twice: "vscode",
		events: []event{{name: "preToolUse", closed: true}, {name: "permissionRequest", closed: true}},
		blind: []string{
			"a hook that takes longer than its time lets the call go on; ours answers before",
			"versions before autumn 2026 do not know hooks without a shell and drop ours",
		},
	}
}

// cursor is written from its documentation, and not tried against the real
// client.
func cursor() target {
	return target{
		agent: "cursor", programs: []string{"cursor", "cursor-agent"},
		traces: []string{".cursor"}, folder: ".cursor",
		user: "hooks.json", project: ".cursor/hooks.json", shared: true,
		versioned: true, handler: cursorHandler, gone: Refuse,
		events: []event{{name: "beforeShellExecution", closed: true}, {name: "beforeMCPExecution", closed: true}},
		blind:  []string{"it is asked about commands and MCP tools; Cursor's own edits of files do not come here"},
	}
}

// gemini takes a list without a matcher for all tools (tried with 0.61.0).
func gemini() target {
	return target{
		agent: "gemini", programs: []string{"gemini"}, packages: []string{"@google/gemini-cli"},
		traces: []string{".gemini"}, folder: ".gemini",
		user: "settings.json", project: ".gemini/settings.json", shared: true,
		grouped: true, handler: geminiHandler, gone: Refuse,
		events: []event{{name: "BeforeTool"}},
		blind:  []string{"a hook that takes longer than its time, or is ended with its shell, lets the call go on; ours answers before"},
	}
}

// opencode has no file for this: it is asked over its own server.
func opencode() target {
	return target{
		agent: "opencode", programs: []string{"opencode"}, packages: []string{"opencode-ai"},
		traces: []string{".config/opencode", ".opencode"},
		advice: "opencode keeps no hooks in a file. Start it with a server (opencode serve) and run \"countersign hook opencode --url http://127.0.0.1:4096\" beside it: it answers its questions from there.",
		blind:  []string{"it answers only while it runs beside opencode; opencode --auto asks nobody"},
	}
}

// vscode shares a folder with Copilot CLI, which starts this hook too (seen with
// 1.0.102). Written from its sources, and not tried against the real client.
func vscode() target {
	return target{
		agent: "vscode", programs: []string{"code", "code-insiders"}, packages: []string{"Code", "code-oss-dev"},
		traces: append([]string{".vscode"}, vscodeSettings()...), folder: ".copilot",
		user: "hooks/countersign-vscode.json", project: ".github/hooks/countersign-vscode.json", shared: true,
		handler: vscodeHandler, gone: Refuse, twice: "copilot",
		events: []event{{name: "PreToolUse"}},
		blind: []string{
			"hooks are a preview in VS Code, and an organization can switch them off",
			"a hook that takes longer than its time, or is ended with its shell, lets the call go on; ours answers before",
			"Copilot CLI reads this file too, and asks through it as vscode",
		},
	}
}

// vscodeFiles are the settings of VS Code in which commands can be approved.
func vscodeFiles(e Env) (list []string) {
	for _, folder := range vscodeSettings() {
		list = append(list, filepath.Join(e.Home, folder, "settings.json"))
	}
	if e.Project != "" {
		list = append(list, filepath.Join(e.Project, ".vscode", "settings.json"))
	}
	return list
}

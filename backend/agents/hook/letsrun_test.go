package hook

import "strings"

// letsRun reports whether an agent, given this answer to this event, goes on
// without a question of its own. It is written from what the agents' makers say
// about their hooks, and where they say nothing as if they ran.
func letsRun(agent, event string, a Answer) bool {
	switch agent {
	case "claude-code":
		return claudeRuns(event, a)
	case "codex":
		return codexRuns(event, a)
	case "copilot":
		return copilotRuns(event, a)
	case "cursor":
		return cursorRuns(a)
	case "gemini":
		return geminiRuns(a)
	case "opencode":
		return opencodeRuns(a)
	case "vscode":
		return vscodeRuns(a)
	case "generic":
		return genericRuns(a)
	}
	return true
}

// Claude Code: 2 blocks, 0 reads stdout, all else is an error that does not
// block. After silence to PreToolUse its own rules may let it run; after silence
// to PermissionRequest its dialog follows.
func claudeRuns(event string, a Answer) bool {
	if a.Code == 2 {
		return false
	}
	permission := event == "PermissionRequest"
	if a.Code != 0 || len(a.Stdout) == 0 {
		return !permission
	}
	if permission {
		return field(a.Stdout, "hookSpecificOutput", "decision", "behavior") == "allow"
	}
	said := field(a.Stdout, "hookSpecificOutput", "permissionDecision")
	return said != "deny" && said != "ask"
}

// Codex: the same words, but PreToolUse knows only deny, and a decision with a
// reserved field fails closed.
func codexRuns(event string, a Answer) bool {
	if a.Code == 2 && strings.TrimSpace(a.Stderr) != "" {
		return false
	}
	if event != "PermissionRequest" {
		return a.Code != 0 || field(a.Stdout, "hookSpecificOutput", "permissionDecision") != "deny"
	}
	decision, _ := field(a.Stdout, "hookSpecificOutput", "decision").(map[string]any)
	reserved := decision["updatedInput"] != nil || decision["updatedPermissions"] != nil || decision["interrupt"] == true
	return a.Code == 0 && decision["behavior"] == "allow" && !reserved
}

// Copilot CLI: 2 denies whatever is printed; any other failure denies for
// preToolUse and goes on for permissionRequest. Its own rules come after silence
// and may let it run. It reads lines, of which those of type progress are shown.
func copilotRuns(event string, a Answer) bool {
	if a.Code == 2 {
		return false
	}
	if strings.EqualFold(event, "permissionRequest") {
		behavior := field(a.Stdout, "behavior")
		if behavior == nil {
			behavior = field(a.Stdout, "hookSpecificOutput", "decision", "behavior")
		}
		return a.Code != 0 || behavior != "deny"
	}
	if a.Code != 0 {
		return false
	}
	said := field(a.Stdout, "permissionDecision")
	if said == nil {
		said = field(a.Stdout, "hookSpecificOutput", "permissionDecision")
	}
	return said != "deny" && said != "ask"
}

// Cursor: 2 is a deny, other failures let it run unless failClosed is set.
func cursorRuns(a Answer) bool {
	if a.Code == 2 {
		return false
	}
	said := field(a.Stdout, "permission")
	return a.Code != 0 || said != "deny" && said != "ask"
}

// Gemini CLI: 2 blocks, other failures warn and go on. There is no ask.
func geminiRuns(a Answer) bool {
	if a.Code == 2 {
		return false
	}
	said := field(a.Stdout, "decision")
	return a.Code != 0 || said != "deny" && said != "block" && field(a.Stdout, "continue") != false
}

// opencode: a permission that gets no reply stays pending. The plugin's hook
// says the same as a status.
func opencodeRuns(a Answer) bool {
	reply, status := field(a.Stdout, "reply"), field(a.Stdout, "status")
	return a.Code == 0 && (reply == "once" || reply == "always" || status == "allow")
}

// VS Code: the words of Claude Code's PreToolUse; 2 blocks, other failures
// warn.
func vscodeRuns(a Answer) bool {
	if a.Code == 2 {
		return false
	}
	said := field(a.Stdout, "hookSpecificOutput", "permissionDecision")
	return a.Code != 0 || said != "deny" && said != "ask" && field(a.Stdout, "continue") != false
}

// The generic contract: allow alone lets it run, and only with exit code 0.
func genericRuns(a Answer) bool {
	return a.Code == 0 && field(a.Stdout, "decision") == "allow"
}

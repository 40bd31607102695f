package setup

// selfTest is the command that a self-test asks about. It does nothing.
const selfTest = "echo countersign-self-test"

// sample is what an agent writes to its hook for a harmless command, with the
// fields that its maker names.
func sample(agent, event, cwd string) []byte {
	type fields = map[string]any
	const id = "countersign-self-test"
	input := fields{"command": selfTest, "description": "Countersign tests its hook"}
	common := fields{"session_id": id, "transcript_path": "", "cwd": cwd, "hook_event_name": event}
	switch agent {
	case "codex":
		common["turn_id"], common["model"], common["permission_mode"] = id, id, "default"
		fallthrough
	case "claude-code":
		common["permission_mode"] = "default"
		common["tool_name"], common["tool_input"] = "Bash", input
		if event == "PreToolUse" {
			common["tool_use_id"] = id
		}
	case "gemini":
		common["timestamp"] = "2026-01-01T00:00:00.000Z"
		common["tool_name"], common["tool_input"] = "run_shell_command", input
	case "cursor":
		common = fields{"conversation_id": id, "generation_id": id, "hook_event_name": event, "workspace_roots": []string{cwd}}
		if event == "beforeShellExecution" {
			common["command"], common["cwd"] = selfTest, cwd
		} else {
			common["tool_name"], common["tool_input"], common["command"] = id, `{"text":"`+id+`"}`, id
		}
	case "copilot":
		common = fields{"sessionId": id, "timestamp": 1767225600000, "cwd": cwd, "toolName": "bash"}
		if event == "preToolUse" {
			common["toolArgs"] = string(compact(input))
		} else {
			common["hookName"], common["toolInput"] = event, input
		}
	case "vscode":
		common["timestamp"], common["tool_use_id"] = "2026-01-01T00:00:00.000Z", id
		common["tool_name"], common["tool_input"] = "run_in_terminal", fields{"command": selfTest, "explanation": "Countersign tests its hook", "isBackground": false}
	}
	return compact(common)
}

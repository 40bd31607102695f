package approval

import "strings"

// ToolGroup returns the tools of a group or a profile, as rules name them, nil
// for none.
func ToolGroup(name string) []string {
	switch name {
	case "group:fs":
		return []string{"file_read", "file_write", "file_list", "file_search", "file_delete", "file_edit"}
	case "group:runtime":
		return []string{"bash_execute"}
	case "group:web":
		return []string{"web_fetch", "web_search"}
	case "group:sessions":
		return []string{"session_spawn", "session_list", "session_status", "session_send", "session_history"}
	case "group:memory":
		return []string{"memory_search", "memory_get"}
	case "profile:reader":
		return []string{"file_read", "file_list", "file_search"}
	case "profile:writer":
		return []string{"file_read", "file_list", "file_search", "file_write", "file_edit"}
	case "profile:developer":
		return []string{"file_read", "file_list", "file_search", "file_write", "file_edit", "bash_execute", "web_fetch", "web_search"}
	}
	return nil
}

// NamesNoTool says why the pattern of a rule can name no tool, "" where it can: a
// rule that was meant to forbid something would forbid nothing.
func NamesNoTool(pattern string) string {
	lower := strings.ToLower(pattern)
	switch {
	case strings.HasPrefix(lower, ToolMark):
		return "is written without " + ToolMark + " here"
	case (strings.HasPrefix(lower, "group:") || strings.HasPrefix(lower, "profile:")) && ToolGroup(lower) == nil:
		return "is no group of tools"
	}
	return ""
}

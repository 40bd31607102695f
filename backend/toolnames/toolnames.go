// Package toolnames says what is known of tools by the names alone that agents and
// rules use: which tools a group stands for, which pattern can name none, and which
// arguments hold text.
//
// It holds names and decides nothing: package toolpolicy judges calls. What must
// never happen here: a group that stands for less than people read in it, for a
// denial of it would let the rest pass.
package toolnames

import "strings"

// Group returns the tools of a group or a profile, as rules name them, nil for
// none.
func Group(name string) []string {
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

// NoTool says why the pattern of a rule can name no tool, "" where it can: a rule
// that was meant to forbid something would forbid nothing. mark is what begins the
// patterns of tools among those of programs, and is left out in a list of tools.
func NoTool(pattern, mark string) string {
	lower := strings.ToLower(pattern)
	switch {
	case strings.HasPrefix(lower, mark):
		return "is written without " + mark + " here"
	case (strings.HasPrefix(lower, "group:") || strings.HasPrefix(lower, "profile:")) && Group(lower) == nil:
		return "is no group of tools"
	}
	return ""
}

// TextArgument reports whether an argument of a tool holds free text by its
// name: what is written, looked for or said, and no path or address.
func TextArgument(key string) bool {
	switch strings.ToLower(key) {
	case "content", "contents", "text", "file_text", "command", "pattern", "query", "old_string", "new_string", "old_str", "new_str", "oldtext", "newtext",
		"patch", "diff", "body", "prompt", "description", "message":
		return true
	}
	return false
}

package approval

import "strings"

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

// Elided is the name under which a hook says what a long text was that it left
// out. No argument may be called so.
const Elided = "$elided"

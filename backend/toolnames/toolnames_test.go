package toolnames

import "testing"

func TestNoTool(t *testing.T) {
	for pattern, want := range map[string]string{
		"file_read": "", "github/*": "", "*": "", "group:fs": "", "Profile:Reader": "", "groups": "",
		"tool:file_read": "is written without tool: here", "TOOL:x": "is written without tool: here",
		"group:fx": "is no group of tools", "GROUP:": "is no group of tools", "profile:all": "is no group of tools",
	} {
		if why := NoTool(pattern, "tool:"); why != want {
			t.Errorf("%s: %q, want %q", pattern, why, want)
		}
	}
}

func TestTextArgument(t *testing.T) {
	for key, text := range map[string]bool{"content": true, "newText": true, "old_string": true, "path": false, "url": false, "contents_of": false, "": false} {
		if TextArgument(key) != text {
			t.Errorf("%q: %v", key, !text)
		}
	}
}

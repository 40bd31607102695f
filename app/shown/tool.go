package shown

import (
	"maps"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// ToolUse is what a tool call would touch, beside its arguments.
type ToolUse struct {
	Name string `json:"name"`
	// Server is the MCP server that has the tool, "" for the agent's own.
	Server    string        `json:"server,omitempty"`
	Files     []ToolFile    `json:"files"`
	Addresses []ToolAddress `json:"addresses"`
}

// ToolFile is a file that a call names. Real is where links lead, if elsewhere.
type ToolFile struct {
	Path      string             `json:"path"`
	Real      string             `json:"real,omitempty"`
	Outside   bool               `json:"outside,omitempty"` // of the session's folder
	Protected approval.Protected `json:"protected,omitempty"`
}

// ToolAddress is an address that a call names. Why says why it is not surely
// public.
type ToolAddress struct {
	URL string `json:"url"`
	Why string `json:"why,omitempty"`
}

func newTool(t *approval.Tool, in Person) *ToolUse {
	if t == nil || t.Command { // that is shown as every command
		return nil
	}
	shown := &ToolUse{Name: display.Escape(t.Name), Server: display.Escape(t.Server), Files: []ToolFile{}, Addresses: []ToolAddress{}}
	for _, f := range t.Files {
		one := ToolFile{Path: in.short(f.Path), Outside: !f.Inside, Protected: f.Protected}
		if f.Real != f.Path {
			one.Real = in.short(f.Real)
		}
		shown.Files = append(shown.Files, one)
	}
	for _, a := range t.Addresses {
		shown.Addresses = append(shown.Addresses, ToolAddress{display.Escape(a.URL), display.Escape(a.Why)})
	}
	return shown
}

// conditions are what narrows an entry for a tool, in the order of their names.
func conditions(when map[string]string) []Condition {
	list := []Condition{}
	for _, arg := range slices.Sorted(maps.Keys(when)) {
		list = append(list, Condition{display.Escape(arg), display.Escape(when[arg])})
	}
	return list
}

// Condition is an argument, and the pattern of its value.
type Condition struct {
	Arg     string `json:"arg"`
	Pattern string `json:"pattern"`
}

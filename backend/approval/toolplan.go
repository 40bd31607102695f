package approval

import (
	"encoding/json"
	"strings"
)

// Tool is what a tool call would touch, as package toolpolicy found it. It is
// part of the plan of its request.
type Tool struct {
	// Name is the canonical name, such as file_read; Server the MCP server that
	// has the tool, "" for the agent's own. Said is the name that the agent used.
	Name   string `json:"name"`
	Server string `json:"server,omitempty"`
	Said   string `json:"said,omitempty"`
	Source string `json:"source,omitempty"`
	// Args are the arguments in canonical form (RFC 8785).
	Args json.RawMessage `json:"args"`
	// Digest names the call: the SHA-256 of tool, arguments, folder, environment
	// difference and agent, in canonical form.
	Digest   string       `json:"digest"`
	Category ToolCategory `json:"category,omitempty"`
	// Files are the files and folders that the arguments name, Addresses the
	// addresses.
	Files     []ToolFile    `json:"files,omitempty"`
	Addresses []ToolAddress `json:"addresses,omitempty"`
	// Command tells that one of its arguments is a command text, which is judged
	// as every other one.
	Command bool `json:"command,omitempty"`
	// DefaultToNo takes the single key away from a yes.
	DefaultToNo bool `json:"defaultToNo,omitempty"`
	NoAlways    bool `json:"noAlways,omitempty"`
}

// FullName is the name that rules and entries know: TOOL, or SERVER/TOOL.
func (t *Tool) FullName() string {
	if t.Server == "" {
		return t.Name
	}
	return t.Server + "/" + t.Name
}

// ToolFile is a file or folder that a tool call names.
type ToolFile struct {
	// Arg is the dotted name of the argument.
	Arg string `json:"arg"`
	// Path is absolute, as it was named; Real is where links lead, or would if
	// the file were there. File is what is there now, zero for nothing.
	Path string `json:"path"`
	Real string `json:"real,omitempty"`
	File File   `json:"-"`
	// Inside tells that it lies in the folder of the session.
	Inside bool `json:"inside,omitempty"`
	// Protected says what kind of protected state it is, "" for none.
	Protected Protected `json:"protected,omitempty"`
}

// Protected says which protected state a file is.
type Protected string

const (
	ProtectedNot     Protected = ""
	ProtectedOurs    Protected = "ours"     // files of Countersign itself
	ProtectedKeys    Protected = "keys"     // secrets
	ProtectedPrivate Protected = "private"  // what may hold secrets, by its name or place
	ProtectedStartup Protected = "start-up" // what programs read when they start
)

// ToolAddress is an address that a tool call names.
type ToolAddress struct {
	Arg  string `json:"arg"`
	URL  string `json:"url"` // without user and password
	Host string `json:"host"`
	// Why says why it is not surely a public address, "" for one that is.
	Why string `json:"why,omitempty"`
}

// ToolCategory says what sort of thing a tool does.
type ToolCategory string

const (
	CategoryUnset   ToolCategory = "" // nothing is known of it
	CategoryRead    ToolCategory = "read"
	CategoryWrite   ToolCategory = "write"
	CategoryExecute ToolCategory = "execute"
	CategoryNetwork ToolCategory = "network"
	CategoryAdmin   ToolCategory = "admin"
	CategorySession ToolCategory = "session"
)

// ToolRisk is how risky a person says that a tool is.
type ToolRisk string

const (
	ToolRiskUnset    ToolRisk = ""
	ToolRiskNone     ToolRisk = "none"
	ToolRiskLow      ToolRisk = "low"
	ToolRiskMedium   ToolRisk = "medium"
	ToolRiskHigh     ToolRisk = "high"
	ToolRiskCritical ToolRisk = "critical"
)

var (
	categories = []ToolCategory{CategoryRead, CategoryWrite, CategoryExecute, CategoryNetwork, CategoryAdmin, CategorySession}
	toolRisks  = []ToolRisk{ToolRiskNone, ToolRiskLow, ToolRiskMedium, ToolRiskHigh, ToolRiskCritical}
)

func (c *ToolCategory) UnmarshalText(b []byte) error { return closed(c, "category", b, categories) }
func (r *ToolRisk) UnmarshalText(b []byte) error     { return closed(r, "risk", b, toolRisks) }

// ToolLayer is what one place says about tools: the file for all agents, the
// file for one agent, a charter, a session. All layers must agree.
type ToolLayer struct {
	// Origin names the place, such as "tools" or "tools.agents.main".
	Origin string `json:"-"`
	// Session is the pattern of the keys of the sessions that it holds for, in
	// which * stands for any text; "" for all requests.
	Session string `json:"-"`
	// Allow and Deny hold patterns of tool names, aliases, groups ("group:fs")
	// and profiles ("profile:reader"). Deny wins; an Allow that is not nil leaves
	// out what it does not name.
	Allow []string            `json:"allow,omitempty"`
	Deny  []string            `json:"deny,omitempty"`
	Rules map[string]ToolRule `json:"rules,omitempty"` // by pattern of the name
}

// ToolRule is what holds for the tools of one pattern.
type ToolRule struct {
	// Security deny refuses, allowlist means what holds without a rule, also where
	// the agent's security is full, and full lets pass what is not protected.
	Security Security `json:"security,omitempty"`
	Ask      Ask      `json:"ask,omitempty"`
	// PathRestrictions are patterns; each file must match one by its real path,
	// or lie in a folder that one names.
	PathRestrictions []string `json:"pathRestrictions,omitempty"`
	// ArgRestrictions are by the dotted name of an argument.
	ArgRestrictions map[string]ArgRule `json:"argRestrictions,omitempty"`
	Risk            ToolRisk           `json:"risk,omitempty"`
	Category        ToolCategory       `json:"category,omitempty"`
	// Escalate asks the next approver at once, of what is asked about.
	Escalate bool `json:"-"`
}

// ArgRule is what one argument of a tool must be.
type ArgRule struct {
	Required  bool     `json:"required,omitempty"`
	Forbidden bool     `json:"forbidden,omitempty"`
	Pattern   string   `json:"pattern,omitempty"` // a regular expression (RE2) for the whole value
	OneOf     []string `json:"oneOf,omitempty"`
	MaxLength int      `json:"maxLength,omitempty"` // in bytes; 0 for no limit
}

// ToolMark begins the pattern of an entry or deny rule that is about a tool:
// "tool:file_write", "tool:github/create_issue". What comes after it is a
// pattern of the name in which * stands for any text.
const ToolMark = "tool:"

// ToolPattern returns the pattern of the tool name that an entry or deny rule
// is about, and false where it is about programs.
func ToolPattern(pattern string) (name string, ok bool) { return strings.CutPrefix(pattern, ToolMark) }

package shown

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
)

// Lists are what stands beside the allowlist and the denylist of an agent.
type Lists struct {
	SafeBins []SafeBinRow `json:"safeBins"`
	// Folders are those in which safe bins are trusted.
	Folders  []FolderRow  `json:"folders"`
	Skills   []SkillRow   `json:"skills"`
	Gateways []GatewayRow `json:"gateways"`
	// Client is the agent's own MCP client, in the place of a gateway.
	Client GatewayRow `json:"client"`
	// Projects are the folders that were named for it.
	Projects []ProjectRow `json:"projects"`
}

// ProjectRow is what was said of a folder.
type ProjectRow struct {
	Path string `json:"path"`
	No   bool   `json:"no"`
	// Why says why it does not count as it is now, "" where it does.
	Why  string `json:"why,omitempty"`
	From From   `json:"from"`
	// Exact is the folder as it is written.
	Exact string `json:"exact"`
	// Same is the folder whose rules count here too, "" for none.
	Same string `json:"same,omitempty"`
	// Commands tells that its tests, builds, local git work and edits run without a question.
	Commands bool `json:"commands,omitempty"`
}

// SafeBinRow is one filter that needs no entry.
type SafeBinRow struct {
	Name string `json:"name"`
	From From   `json:"from"`
	// Use says whether it counts.
	Use SafeBinUse `json:"use"`
}

// SafeBinUse says what becomes of a filter.
type SafeBinUse string

const (
	SafeBinUsed    SafeBinUse = "used"
	SafeBinUnknown SafeBinUse = "unknown" // nothing is known of its options
	SafeBinNever   SafeBinUse = "never"   // it can do more than filter
)

// FolderRow is one folder that is trusted.
type FolderRow struct {
	Path string `json:"path"`
	From From   `json:"from"`
	// Exact is the folder as it is written.
	Exact string `json:"exact"`
}

// SkillRow is one program of a skill that was accepted.
type SkillRow struct {
	Name   string     `json:"name"`
	Path   string     `json:"path"`
	SHA256 string     `json:"sha256,omitempty"`
	From   From       `json:"from"`
	State  SkillState `json:"state"`
	// Exact is the path as it is written.
	Exact string `json:"exact"`
}

// SkillState says what is there of a skill now.
type SkillState string

const (
	SkillSame     SkillState = "same"
	SkillChanged  SkillState = "changed"  // another file than was accepted: it asks
	SkillGone     SkillState = "gone"     // no file at all
	SkillUnpinned SkillState = "unpinned" // nobody accepted a file yet: it asks
)

// GatewayRow is one gateway, and whether answers that are given there count.
type GatewayRow struct {
	Name string `json:"name"`
	// Exact is its name as it is written, for the way back.
	Exact string `json:"exact"`
	On    bool   `json:"on"`
	From  From   `json:"from"`
}

// NewGatewayRow makes the row of a gateway.
func NewGatewayRow(name string, on bool, from From) GatewayRow {
	return GatewayRow{display.Escape(name), name, on, from}
}

// NewFolderRow makes the row of a folder.
func NewFolderRow(path string, from From, in Person) FolderRow {
	return FolderRow{in.short(path), from, path}
}

// NewProjectRow makes the row of a folder of which something was said.
func NewProjectRow(p approval.Project, why string, from From, in Person) ProjectRow {
	row := ProjectRow{Path: in.short(p.Path), No: p.No, Why: display.Escape(why), From: from, Exact: p.Path}
	if p.SameAs != "" {
		row.Same = in.short(p.SameAs)
	}
	return row
}

// NewSkillRow makes the row of a skill.
func NewSkillRow(name, path, sha string, from From, state SkillState, in Person) SkillRow {
	return SkillRow{display.Escape(name), in.short(path), display.Escape(sha), from, state, path}
}

// HistorySize is how much the history holds, and how much it may hold.
type HistorySize struct {
	Rows     int64  `json:"rows"`
	Bytes    int64  `json:"bytes"`
	Oldest   int64  `json:"oldest,omitempty"` // unix milliseconds, 0 for none
	MaxRows  int64  `json:"maxRows"`
	MaxBytes int64  `json:"maxBytes"`
	MaxDays  int    `json:"maxDays"`
	Problem  string `json:"problem,omitempty"`
}

// NewHistorySize makes what is shown of a size.
func NewHistorySize(s history.Size) HistorySize {
	return HistorySize{
		Rows: s.Rows, Bytes: s.Bytes, Oldest: unix(s.Oldest),
		MaxRows: s.MaxRows, MaxBytes: s.MaxBytes, MaxDays: int(s.MaxAge.Hours() / 24),
	}
}

package approval

// Folder is the session's folder: what counts as inside for one request. It is
// worked out once and handed on as it is.
type Folder struct {
	// Path is its real path, "" where nothing counts as inside.
	Path string `json:"path,omitempty"`
	// By says why it counts.
	By FolderBy `json:"by,omitempty"`
	// Offer is the folder that a person could name where none counts, and Never
	// says why nothing can be named there. Declined tells that a person said no
	// to it.
	Offer    string `json:"offer,omitempty"`
	Never    string `json:"never,omitempty"`
	Declined bool   `json:"declined,omitempty"`
	// Dev and Ino are those of the folder itself.
	Dev uint64 `json:"-"`
	Ino uint64 `json:"-"`
}

// Same reports whether two looks found the same folder, or none both times.
func (f Folder) Same(o Folder) bool { return f.Path == o.Path && f.Dev == o.Dev && f.Ino == o.Ino }

// FolderBy is why a folder counts as the session's.
type FolderBy string

const (
	FolderCheckout FolderBy = "checkout" // it is the root of a checkout of git
	FolderNamed    FolderBy = "named"    // a person named it
)

// Holds reports whether an absolute path without links is the folder or lies in
// it. Where no folder counts, nothing does.
func (f Folder) Holds(at string) bool {
	if f.Path == "" || len(at) < len(f.Path) || at[:len(f.Path)] != f.Path {
		return false
	}
	return len(at) == len(f.Path) || at[len(f.Path)] == '/'
}

// Project is what a person said of a folder: that it is a project of theirs, or
// with No that it is none, which keeps it from being asked about.
type Project struct {
	// Path is absolute and was without links when it was named.
	Path string `json:"path"`
	// Agent is the one agent that it is about, empty for every agent.
	Agent string `json:"agent,omitempty"`
	No    bool   `json:"no,omitempty"`
	// SameAs is another folder whose entries count here too, as those of a checkout in
	// a worktree or another clone of it.
	SameAs  string `json:"sameAs,omitempty"`
	AddedAt int64  `json:"addedAt,omitempty"` // unix milliseconds
	AddedBy string `json:"addedBy,omitempty"`
}

// About reports whether it is about an agent.
func (p Project) About(agentID string) bool { return p.Agent == "" || p.Agent == agentID }

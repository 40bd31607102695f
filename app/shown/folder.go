package shown

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Folder is a folder that an agent works in, and that may be a project.
type Folder struct {
	ID      string `json:"id"`
	Agent   Agent  `json:"agent"`
	Session string `json:"session,omitempty"`
	// Folder begins with ~ where that is home, and Whole is all of it.
	Folder string `json:"folder"`
	Whole  string `json:"whole"`
	// Command is the beginning of the command that waits for the answer.
	Command string `json:"command"`
	// Holds is how many projects lie in it, and Git tells that it has data of git
	// that does not count. Every tells that every agent can be answered.
	Holds int  `json:"holds"`
	Git   bool `json:"git"`
	Every bool `json:"every"`
	// Strict tells that its agent asks about everything, in projects too.
	Strict bool `json:"strict"`
	// Files is how many files it holds at every depth, More that there are others,
	// and Names the first of what is right in it.
	Files int      `json:"files"`
	More  bool     `json:"more"`
	Names []string `json:"names"`
	// Said is what was said of it for other agents.
	Said []FolderSaid `json:"said"`
	// Asked and Expires are in unix milliseconds.
	Asked   int64 `json:"asked"`
	Expires int64 `json:"expires"`
}

// FolderSaid is what was said of a folder for an agent, or for every one.
type FolderSaid struct {
	Agent Agent `json:"agent"` // none for every one
	No    bool  `json:"no"`
}

// FolderMark begins the IDs of folders. No question has such an ID.
const FolderMark = "folder:"

// NewFolder describes a folder that an agent works in, while text waits.
func NewFolder(id, agentID, session, folder, text string, in Person) *Folder {
	return &Folder{
		ID: id, Agent: in.agent(agentID), Session: display.Escape(session),
		Folder: in.short(folder), Whole: display.Escape(folder), Command: Excerpt(text), Names: []string{}, Said: []FolderSaid{},
	}
}

// Tell adds what is in the folder, and what was said of it.
func (f *Folder) Tell(names []string, said []approval.Project, in Person) {
	for _, name := range names {
		f.Names = append(f.Names, display.Escape(name))
	}
	for _, one := range said {
		by := FolderSaid{No: one.No}
		if one.Agent != "" {
			by.Agent = in.agent(one.Agent)
		}
		f.Said = append(f.Said, by)
	}
}

package shown

import "github.com/countersign-app/countersign/backend/display"

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
	// Asked and Expires are in unix milliseconds.
	Asked   int64 `json:"asked"`
	Expires int64 `json:"expires"`
}

// FolderMark begins the IDs of folders. No question has such an ID.
const FolderMark = "folder:"

// NewFolder describes a folder that an agent works in, while text waits.
func NewFolder(id, agentID, session, folder, text string, in Person) *Folder {
	return &Folder{
		ID: id, Agent: in.agent(agentID), Session: display.Escape(session),
		Folder: in.short(folder), Whole: display.Escape(folder), Command: Excerpt(text),
	}
}

package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Request is one command that somebody wants to run. The door that took it
// fills it in; nothing in it is believed because it was said.
type Request struct {
	// ID is the run id: ours, fresh, and never the caller's.
	ID string
	// Command is the argument vector. Empty for a request that is text only.
	Command []string
	// Text is the command text of a `request` frame, which the caller runs
	// itself. Empty when Command is set.
	Text string
	// Tool is set for a call of a tool; Command, Text and RawCommand are empty
	// then.
	Tool *ToolCall
	// RawCommand is the display text that the caller sent beside Command. It
	// must agree with Command and decides nothing.
	RawCommand string
	// Who says who runs it.
	Who Who
	// Cwd is the working directory as asked; empty means the home folder.
	Cwd string
	// Env holds the asked changes to the environment.
	Env map[string]string
	// Timeout ends the command. Zero means the default.
	Timeout time.Duration
	// Background lets the command outlive its caller.
	Background bool
	// NeedsScreenRecording refuses the run where that permission is missing.
	NeedsScreenRecording bool
	AgentID              string
	SessionKey           string
	// Deadline is when the caller stops waiting; zero if it did not say.
	Deadline time.Time
	// Arrived is when the door took the request.
	Arrived time.Time
	Claim   Claim
	// Prepared is what it was when it was prepared; nil if it was not. Nothing
	// runs that is something else by now.
	Prepared *Prepared
	Peer     Peer
	// Wrote are the files that commands of its session made in the temp folder, as
	// the gate saw it.
	Wrote []File
	// Began tells of a living process by its number, where a command of its session that
	// is not over started it; nil where nobody knows.
	Began func(pid int) (ProcessID, bool)
	// ProjectOf works out the project that another folder lies in, by the rule of the
	// session's folder; nil where nobody can.
	ProjectOf func(dir string) Folder
	// Progress is told when the request is asked about, answered and started,
	// unless it is nil. It must not wait for the gate.
	Progress func(EventKind)
}

// Prepared is what a request was found to be, as system.run.prepare of OpenClaw
// answers it.
type Prepared struct {
	Argv       []string `json:"argv"`
	Cwd        string   `json:"cwd"` // without links
	Text       string   `json:"commandText"`
	Preview    *string  `json:"commandPreview"` // what a shell in Argv is given
	AgentID    string   `json:"agentId"`
	SessionKey string   `json:"sessionKey"`
	Operand    *Operand `json:"mutableFileOperand,omitempty"`
	Policy     *Words   `json:"policySnapshot,omitempty"`
	// EnvHash is that of the asked changes to the environment, empty for none.
	EnvHash string `json:"envHash,omitempty"`
	// Programs names all files that it would run, with what they hold, by one
	// SHA-256. It is empty where one of them cannot be read.
	Programs string `json:"programsHash,omitempty"`
}

// EnvHash names the asked changes to the environment by their SHA-256, and is
// empty where there are none.
func (r *Request) EnvHash() string {
	if len(r.Env) == 0 {
		return ""
	}
	text, _ := json.Marshal(r.Env) // a map of strings, which is written in order
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Operand is a word of a command that names a file with program text.
type Operand struct {
	Index  int    `json:"argvIndex"`
	Path   string `json:"path"` // without links
	SHA256 string `json:"sha256"`
}

// Words are those that hold for an agent.
type Words struct {
	Security    Security `json:"security"`
	Ask         Ask      `json:"ask"`
	AskFallback Security `json:"askFallback"`
	AutoSkills  bool     `json:"autoAllowSkills"`
}

// RunMark is the variable that carries the run id in the environment of every
// command that Countersign starts.
const RunMark = "COUNTERSIGN_RUN"

// Claim is what the caller says about policy. It can tighten and is shown as
// "says the caller"; it never loosens.
type Claim struct {
	Security     Security `json:"security,omitempty"`
	Ask          Ask      `json:"ask,omitempty"`
	Host         Host     `json:"host,omitempty"`
	Decision     Decision `json:"decision,omitempty"`
	Source       string   `json:"source,omitempty"`
	ResolvedPath string   `json:"resolvedPath,omitempty"`
	// Gateway is where Decision was made, as HOST:PORT, and Operator who made it
	// there, as the gateway tells.
	Gateway  string `json:"gateway,omitempty"`
	Operator string `json:"operator,omitempty"`
}

// Said returns what is claimed, each as "name=value". The values are the
// caller's, unescaped.
func (c Claim) Said() []string {
	var said []string
	for _, s := range []struct{ name, value string }{
		{"security", string(c.Security)}, {"ask", string(c.Ask)}, {"host", string(c.Host)},
		{"decision", string(c.Decision)}, {"source", c.Source}, {"path", c.ResolvedPath}, {"gateway", c.Gateway}, {"operator", c.Operator},
	} {
		if s.value != "" {
			said = append(said, s.name+"="+s.value)
		}
	}
	return said
}

// Peer is the process at the other end of the socket, read once from the
// kernel when it connected.
type Peer struct {
	UID int `json:"uid"`
	PID int `json:"pid"`
	// Started tells this process from a later one with the same id, in the
	// kernel's own units.
	Started uint64 `json:"-"`
	// Exe is the path of its program, as far as the kernel tells.
	Exe string `json:"exe,omitempty"`
	// Signer is who surely signed that program, as far as it is known by now.
	Signer string `json:"signer,omitempty"`
	// Ancestors are the process ids of its parents, nearest first, as they
	// were when it connected.
	Ancestors []int `json:"-"`
	// Family names the processes that belong together with the one that asks, as
	// the door settles it: what an agent calls itself it makes up. It is "" where
	// no door did.
	Family string `json:"-"`
}

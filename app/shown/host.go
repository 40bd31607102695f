package shown

import (
	"maps"
	"slices"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/display"
)

// Screen is what the page has to show now.
type Screen struct {
	// Settings tells that the settings are open; a question covers them.
	Settings bool `json:"settings"`
	// Agent is the id of the agent whose settings were asked for last, empty if
	// nobody's were, and Page the page, if it was another one; Turn grows each time
	// somebody asks.
	Agent string `json:"agent,omitempty"`
	Page  string `json:"page,omitempty"`
	Turn  int    `json:"turn"`
	// Paused tells that nothing starts, and PausedUntil until when in unix
	// milliseconds, 0 until a person resumes.
	Paused      bool  `json:"paused,omitempty"`
	PausedUntil int64 `json:"pausedUntil,omitempty"`
	// FirstRun tells that nobody has chosen how agents start.
	FirstRun bool `json:"firstRun"`
	// OffersHooks tells that the first run goes on with the agents that are here.
	OffersHooks bool `json:"offersHooks,omitempty"`
	// Waiting holds all questions, but only one of them whole, and of those that
	// ask the same as that one only that one.
	Waiting []Question `json:"waiting"`
	// Change is on the panel before anything else; no question is there then.
	Change *Change `json:"change,omitempty"`
	// Folder is there in the same way.
	Folder *Folder `json:"folder,omitempty"`
	// Edit is on the panel when no question is and the settings are closed.
	Edit  *Edit `json:"edit,omitempty"`
	Theme Theme `json:"theme"`
	// Now is the host's clock, in unix milliseconds.
	Now int64 `json:"now"`
}

// Theme is which colours a person wants.
type Theme string

const (
	ThemeSystem Theme = "system"
	ThemeLight  Theme = "light"
	ThemeDark   Theme = "dark"
)

// Themes are those that can be chosen.
var Themes = []Theme{ThemeSystem, ThemeLight, ThemeDark}

// Host is the state of the host and of its socket.
type Host struct {
	Version string `json:"version"`
	// Replaced tells that another version has taken the place of the app.
	Replaced bool   `json:"replaced,omitempty"`
	PID      int    `json:"pid"`
	Started  int64  `json:"started"` // unix milliseconds
	StateDir string `json:"stateDir"`
	Socket   string `json:"socket"`
	Waiting  int    `json:"waiting"`
	Running  int    `json:"running"`
	// Environment is when the login environment was read, in unix milliseconds.
	Environment int64 `json:"environment,omitempty"`
	// Broken says why the policy file cannot be used; everything is denied
	// then. History says why the history cannot be written; nothing runs then.
	Broken  string `json:"broken,omitempty"`
	History string `json:"history,omitempty"`
	// HistoryAside are the files of histories that could not be read, each of
	// which was kept.
	HistoryAside []string `json:"historyAside,omitempty"`
	// PassphraseChanged is when a start found another passphrase than the one
	// before it, in unix milliseconds; 0 for not lately.
	PassphraseChanged int64 `json:"passphraseChanged,omitempty"`
	// CanUndo tells that the last edit can be taken back, or what a terminal changed.
	CanUndo bool `json:"canUndo,omitempty"`
	// Held is what an edit from outside would loosen, HeldHash its name.
	Held     []string `json:"held"`
	HeldHash string   `json:"heldHash,omitempty"`
	// LastRequest is when somebody asked last, in unix milliseconds, 0 for
	// never; LastPeer is the program that did, LastAgent the agent's id.
	LastRequest int64  `json:"lastRequest,omitempty"`
	LastPeer    string `json:"lastPeer,omitempty"`
	LastAgent   string `json:"lastAgent,omitempty"`
	// Bindings are the agents whose commands may run on one node alone, that of
	// every agent first; BindingsProblem says why they cannot be told.
	Bindings        []Binding `json:"bindings"`
	BindingsProblem string    `json:"bindingsProblem,omitempty"`
	// NodeService is the node service of this computer, nil where none runs.
	NodeService *NodeService `json:"nodeService,omitempty"`
}

// NodeService is how far the node service came with its gateway. State is
// "connected", "unpaired" or "away"; times are in unix milliseconds.
type NodeService struct {
	State   string `json:"state"`
	Gateway string `json:"gateway"`
	Since   int64  `json:"since"`
	// Called is when the gateway first called a command in this connection, 0 for
	// never: it calls only what somebody approved there.
	Called int64  `json:"called,omitempty"`
	Error  string `json:"error,omitempty"`
}

// Binding is the node that the commands of an agent, or of every agent, may run
// on.
type Binding struct {
	Agent Agent  `json:"agent"`
	Node  string `json:"node"`
	From  string `json:"from"` // the place in the configuration
}

// NewBindings shows which agents a configuration binds to a node.
func NewBindings(c config.Config, in Person) []Binding {
	list := []Binding{}
	add := func(id string, e config.Exec) {
		if from := e.Origins["node"]; from != "" && (id == Every || c.Agents[id].Node != "") {
			list = append(list, Binding{in.agent(id), display.Escape(e.Node), display.Escape(from)})
		}
	}
	add(Every, c.For(""))
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		add(id, c.For(id))
	}
	return list
}

// Start is the first-run page: the tools that the third starting point would
// allow, as they were found on this machine, and what each starting point
// means for a few commands.
type Start struct {
	Tools    []Tool    `json:"tools"`
	Examples []Example `json:"examples"`
}

// Tool is one program of the developer tools.
type Tool struct {
	Name string `json:"name"`
	Path string `json:"path"`
	// Only are the first arguments that it is narrowed to; none for any.
	Only []string `json:"only"`
	// Asks tells that its entry is not enough yet: it still asks.
	Asks bool `json:"asks"`
}

// Example is one command, and its verdict for each starting point, in the
// order of starts.All.
type Example struct {
	Command  string    `json:"command"`
	Verdicts []Verdict `json:"verdicts"`
}

// Preview says what a pattern means on this machine.
type Preview struct {
	// Problem says why the pattern cannot be used.
	Problem string `json:"problem,omitempty"`
	// Count programs match; Programs are the first few of them. More tells
	// that counting was given up.
	Count    int      `json:"count"`
	Programs []string `json:"programs"`
	More     bool     `json:"more"`
	Warning  Warning  `json:"warning,omitempty"`
	// Replay is what it would have meant for what the agent asked for lately;
	// nil for an entry of every agent.
	Replay *Replayed `json:"replay,omitempty"`
}

// Warning says what should make a person look twice at an entry.
type Warning string

const (
	WarnBroad   Warning = "broad"   // it matches more than 50 programs here
	WarnCode    Warning = "code"    // a shell or an interpreter: it runs any code
	WarnStarts  Warning = "starts"  // it starts other programs or changes files, and asks all the same
	WarnNothing Warning = "nothing" // it matches nothing here
)

// Preferences are what a person chose about the app itself.
type Preferences struct {
	Kept
	// AnswerFromTerminal lets the command line allow and loosen while the app
	// runs.
	AnswerFromTerminal bool `json:"answerFromTerminal"`
	// CanSound tells that this machine has a way to play a sound.
	CanSound bool `json:"canSound"`
	// CanConfirm tells that it can ask for Touch ID or a password.
	CanConfirm bool `json:"canConfirm"`
}

// Kept is the part of the preferences that outlives the app.
type Kept struct {
	Theme Theme `json:"theme"`
	// EndSessionsAtLock ends leases of the length of a session when the screen
	// is locked.
	EndSessionsAtLock bool `json:"endSessionsAtLock"`
	// Sound plays one when a question comes.
	Sound bool `json:"sound"`
	// KeepDays is how long the history keeps a row, in days.
	KeepDays int `json:"keepDays"`
	// GraceMinutes is how long a person who showed that it is them need not do
	// that again. TouchIDOnly lets nothing else count, also where it is missing.
	GraceMinutes int  `json:"graceMinutes"`
	TouchIDOnly  bool `json:"touchIdOnly"`
}

// GraceMinutes are what can be chosen for it, the first one if nobody chose.
var GraceMinutes = []int{0, 1, 5, 15}

// KeepDays are what can be chosen for it, the first one if nobody chose.
var KeepDays = []int{400, 90, 30}

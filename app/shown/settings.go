package shown

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/store"
)

// Every is the id under which the settings of every agent are shown: the
// defaults of the policy file, and the lists of its agent "*".
const Every = store.Every

// AgentRow is one agent in the switcher and in the menu.
type AgentRow struct {
	Agent   Agent  `json:"agent"`
	Mode    Mode   `json:"mode"`
	Custom  string `json:"custom,omitempty"` // both words, when Mode is custom
	Waiting int    `json:"waiting"`
}

// Policy is what holds for one agent, as the settings show it.
type Policy struct {
	Agent Agent `json:"agent"`
	// Every tells that these are the settings of every agent.
	Every bool `json:"every"`
	// Rev names what is shown. It goes back with an edit, so that an edit of
	// something that has changed meanwhile is refused.
	Rev         string  `json:"rev"`
	Mode        Mode    `json:"mode"`
	Custom      string  `json:"custom,omitempty"`
	Security    Setting `json:"security"`
	Ask         Setting `json:"ask"`
	AskFallback Setting `json:"askFallback"`
	// AutoSkills is "true" where skills run without a question.
	AutoSkills Setting `json:"autoSkills"`
	// Presence is "never", "risky" or "always": which yes needs Touch ID.
	Presence Setting `json:"presence"`
	// Allowlist are the first of so many Entries, or all of them.
	Allowlist []EntryRow `json:"allowlist"`
	Entries   int        `json:"entries"`
	Denylist  []DenyRow  `json:"denylist"`
}

// Setting is one of the words, and where it comes from.
type Setting struct {
	Value string `json:"value"`
	From  From   `json:"from"`
}

// From says where a value or a row comes from.
type From string

const (
	FromHere    From = "here"
	FromEvery   From = "every"    // set for every agent
	FromBuiltIn From = "built-in" // nobody set it
)

// EntryRow is one entry of an allowlist in the table.
type EntryRow struct {
	Entry
	// ID names it within the policy file.
	ID          string   `json:"id"`
	From        From     `json:"from"`
	LastUsed    int64    `json:"lastUsed,omitempty"` // unix milliseconds, 0 for never
	LastCommand string   `json:"lastCommand,omitempty"`
	LastPath    string   `json:"lastPath,omitempty"`
	Identity    Identity `json:"identity"`
	// Files are those that were recorded, as far as there are any.
	Files    []FileRow `json:"files,omitempty"`
	Disabled bool      `json:"disabled"`
	Note     string    `json:"note,omitempty"`
	AddedBy  string    `json:"addedBy,omitempty"`
	AddedAt  int64     `json:"addedAt,omitempty"` // unix milliseconds
	// Exact is the entry as it can be edited: its text is not escaped.
	Exact EntryEdit `json:"exact"`
}

// FileRow is a file that an entry recorded.
type FileRow struct {
	Path    string `json:"path"`
	SHA256  string `json:"sha256,omitempty"`
	Signer  string `json:"signer,omitempty"`
	Version string `json:"version,omitempty"`
}

func fileRows(list []approval.Identity, in Person) (rows []FileRow) {
	for _, id := range list {
		rows = append(rows, FileRow{in.short(id.Path), display.Escape(id.SHA256), display.Escape(id.Signer), display.Escape(id.Version)})
	}
	return rows
}

// EntryEdit is what a person can write into an entry.
type EntryEdit struct {
	Pattern   string   `json:"pattern"`
	Args      []string `json:"args"`
	ArgsExact bool     `json:"argsExact"`
	Cwd       string   `json:"cwd"`
	Note      string   `json:"note"`
}

// Identity says what is known of the files of an entry.
type Identity string

const (
	NotPinned Identity = "none"   // it covers whatever file is found
	Pinned    Identity = "pinned" // its file was recorded
	Gone      Identity = "gone"   // the recorded file is not there any more
)

// DenyRow is one rule of a denylist in the table.
type DenyRow struct {
	Pattern string   `json:"pattern"`
	Args    []string `json:"args"`
	Reason  string   `json:"reason,omitempty"`
	From    From     `json:"from"`
	// Exact is the rule as it is written: its text is not escaped.
	Exact DenyEdit `json:"exact"`
}

// DenyEdit is what a person can write into a deny rule.
type DenyEdit struct {
	Pattern string   `json:"pattern"`
	Args    []string `json:"args"`
	Reason  string   `json:"reason"`
}

// Mode is one of the modes that people are shown.
type Mode string

const (
	ModeDeny          Mode = "deny"
	ModeAskAlways     Mode = "ask-always"
	ModeAskWhenNeeded Mode = "ask-when-needed"
	ModeOnlyListed    Mode = "only-listed"
	ModeAllowAll      Mode = "allow-all"
	ModeCustom        Mode = "custom"
)

// ModeOf names a pair of words; custom is the pair itself when it has no name.
func ModeOf(security approval.Security, ask approval.Ask) (mode Mode, custom string) {
	for _, m := range approval.Modes {
		if m.Security == security && m.Ask == ask {
			return Mode(m.ID), ""
		}
	}
	return ModeCustom, string(security) + "/" + string(ask)
}

// Words returns what a mode stands for; ok is false for a mode that is none.
func (m Mode) Words() (security approval.Security, ask approval.Ask, ok bool) {
	for _, one := range approval.Modes {
		if one.ID == string(m) {
			return one.Security, one.Ask, true
		}
	}
	return "", "", false
}

// Agents lists everybody who is named in the policy or waits, by name, after
// the row that stands for every agent.
func Agents(snap store.Snapshot, waiting []approval.Prompt, in Person) []AgentRow {
	count := map[string]int{}
	ids := map[string]bool{}
	for _, p := range waiting {
		if !p.CallerGone {
			count[p.AgentID]++
		}
		ids[p.AgentID] = true
	}
	if snap.Document != nil {
		for id := range snap.Document.Agents {
			ids[id] = true
		}
	}
	delete(ids, Every)
	delete(ids, "")
	rows := []AgentRow{agentRow(snap, Every, in)}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		row := agentRow(snap, id, in)
		row.Waiting = count[id]
		rows = append(rows, row)
	}
	return rows
}

func agentRow(snap store.Snapshot, id string, in Person) AgentRow {
	p := snap.Policy(id)
	mode, custom := ModeOf(p.Security, p.Ask)
	return AgentRow{Agent: in.agent(id), Mode: mode, Custom: custom}
}

// NewPolicy makes what is shown of one agent's settings.
func NewPolicy(snap store.Snapshot, agentID string, in Person) Policy {
	p := Beginning(snap, agentID, in, 0)
	p.Allowlist = EntryRows(snap, agentID, in, 0, p.Entries)
	return p
}

// Beginning is NewPolicy with so many entries at most, those that were used
// last.
func Beginning(snap store.Snapshot, agentID string, in Person, count int) Policy {
	p := snap.Policy(agentID)
	shown := Policy{
		Agent: in.agent(agentID), Every: agentID == Every,
		Security:    setting(p, "security", string(p.Security), agentID),
		Ask:         setting(p, "ask", string(p.Ask), agentID),
		AskFallback: setting(p, "askFallback", string(p.AskFallback), agentID),
		AutoSkills:  setting(p, "autoAllowSkills", strconv.FormatBool(p.AutoAllowSkills), agentID),
		Presence:    setting(p, "presence", string(p.Presence), agentID),
		Allowlist:   []EntryRow{}, Denylist: []DenyRow{},
	}
	shown.Mode, shown.Custom = ModeOf(p.Security, p.Ask)
	if snap.Document == nil {
		return shown
	}
	shown.Rev = Rev(snap.Document, agentID)
	for from, agent := range layers(snap.Document, agentID) {
		shown.Entries += len(agent.Allowlist)
		shown.rules(agent.Denylist, from)
	}
	shown.rules(snap.Document.Defaults.Denylist, whose(Every, agentID))
	shown.Allowlist = recent(snap.Document, agentID, in, count)
	return shown
}

// layers are the agents of the file whose lists hold for an agent: its own, and
// those of every agent.
func layers(d *store.Document, agentID string) iter.Seq2[From, *store.Agent] {
	return func(yield func(From, *store.Agent) bool) {
		for _, id := range slices.Compact([]string{agentID, Every}) {
			if a := d.Agents[id]; a != nil && !yield(whose(id, agentID), a) {
				return
			}
		}
	}
}

// whose tells where something of id comes from for an agent.
func whose(id, agentID string) From {
	if id == agentID {
		return FromHere
	}
	return FromEvery
}

// EntryRows are so many entries at most that hold for an agent, from the one at
// first on, in the order of the file: its own, and then those of every agent.
func EntryRows(snap store.Snapshot, agentID string, in Person, first, count int) []EntryRow {
	rows := []EntryRow{}
	if snap.Document == nil {
		return rows
	}
	for from, agent := range layers(snap.Document, agentID) {
		skipped := min(first, len(agent.Allowlist))
		first -= skipped
		rows = appendRows(rows, agent.Allowlist[skipped:], from, in, count)
	}
	return rows
}

// recent are so many entries at most: its own that were used last, and then
// those of every agent.
func recent(d *store.Document, agentID string, in Person, count int) []EntryRow {
	rows := []EntryRow{}
	for from, agent := range layers(d, agentID) {
		list := slices.Clone(agent.Allowlist)
		slices.SortStableFunc(list, func(a, b store.Entry) int { return cmp.Compare(b.LastUsedAt, a.LastUsedAt) })
		rows = appendRows(rows, list, from, in, count)
	}
	return rows
}

func appendRows(rows []EntryRow, list []store.Entry, from From, in Person, count int) []EntryRow {
	for _, e := range list[:min(len(list), count-len(rows))] {
		rows = append(rows, entryRow(e, from, in))
	}
	return rows
}

// setting tells a word and where it comes from. The store's origins are
// places in the file, such as "agents.main.ask".
func setting(p approval.Policy, field, value, agentID string) Setting {
	from := FromEvery
	switch origin := p.Origins[field]; {
	case origin == "":
		from = FromBuiltIn
	case agentID == Every, strings.HasPrefix(origin, "agents.") && !strings.HasPrefix(origin, "agents.*."):
		from = FromHere
	}
	return Setting{value, from}
}

func entryRow(e store.Entry, from From, in Person) EntryRow {
	return EntryRow{
		Entry: newEntry(e.Entry, in), ID: e.ID, From: from,
		LastUsed: e.LastUsedAt, LastCommand: display.Escape(e.LastUsedCommand), LastPath: in.short(e.LastResolvedPath),
		Identity: identity(e.Entry), Files: fileRows(e.Identity, in), Disabled: e.Disabled, Note: display.Escape(e.Note),
		AddedBy: display.Escape(e.AddedBy), AddedAt: e.AddedAt,
		Exact: EntryEdit{e.Pattern, append([]string{}, e.Args...), e.ArgsExact, e.Cwd, e.Note},
	}
}

func (p *Policy) rules(list []approval.DenyRule, from From) {
	for _, r := range list {
		p.Denylist = append(p.Denylist, DenyRow{
			Pattern: display.Escape(r.Pattern), Args: escaped(r.Args), Reason: display.Escape(r.Reason), From: from,
			Exact: DenyEdit{r.Pattern, append([]string{}, r.Args...), r.Reason},
		})
	}
}

// identity looks whether the files that an entry recorded are still there.
// Whether they are the same is for the judgement to say.
func identity(e approval.Entry) Identity {
	if len(e.Identity) == 0 {
		return NotPinned
	}
	for _, id := range e.Identity {
		if _, err := os.Lstat(id.Path); err == nil {
			return Pinned
		}
	}
	return Gone
}

// Rev names everything that a person can edit in one agent's settings, and
// nothing that use alone changes.
func Rev(d *store.Document, agentID string) string {
	var parts []any
	ids := []string{agentID, Every}
	for _, id := range ids {
		a := d.Agents[id]
		if a == nil {
			parts = append(parts, nil)
			continue
		}
		parts = append(parts, a.Rules, a.AcceptAnswersFrom)
		for _, e := range a.Allowlist {
			e.LastUsedAt, e.LastUsedCommand, e.LastResolvedPath, e.UsesLeft = 0, "", "", nil
			e.Identity, e.Interpreters, e.Links = nil, nil, nil
			parts = append(parts, e)
		}
	}
	parts = append(parts, d.Defaults)
	for _, one := range d.Projects {
		if one.About(agentID) {
			parts = append(parts, one)
		}
	}
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // equals no revision that is compared: see its callers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:12])
}

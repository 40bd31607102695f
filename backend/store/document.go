package store

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
)

// Every names the agent whose settings hold for all agents.
const Every = "*"

// AgentID is the name under which the policy file knows an agent: what older
// versions called "default" is "main".
func AgentID(id string) string {
	if id == legacyAgent {
		return mainAgent
	}
	return id
}

// Document is the content of exec-approvals.json. Keys that we do not know
// are in the Extra maps and are written back as they were.
type Document struct {
	Socket   Socket
	Defaults Rules
	Agents   map[string]*Agent
	// Projects are what a person said of folders, no path twice for one agent.
	Projects []approval.Project
	// Extra also holds "tools" and "charters".
	Extra Extra
}

// Extra holds the keys of one object that this package only keeps.
type Extra = map[string]json.RawMessage

// Socket is where the local socket is, and the token of those who may ask.
type Socket struct {
	Path  string // may begin with ~
	Token string
	Extra Extra
}

// Rules are the settings that "defaults" and every agent can have. A zero
// value, and nil for a list, means that the next layer decides.
type Rules struct {
	Security           approval.Security
	Ask                approval.Ask
	AskFallback        approval.Security
	AutoAllowSkills    *bool
	Presence           approval.Presence
	Denylist           []approval.DenyRule
	SafeBins           []string // empty but not nil: none
	SafeBinTrustedDirs []string
	SkillBins          []approval.Skill
	Extra              Extra // also "safeBinProfiles"
}

// Agent is what the file says about one agent.
type Agent struct {
	Rules
	Allowlist         []Entry
	DisplayName       string
	Color             string
	AcceptAnswersFrom []string
}

// Entry is an entry of an allowlist with the keys that we do not know.
type Entry struct {
	approval.Entry
	Extra Extra
}

// Agent returns what the document says about an agent, to be changed; it
// makes a place for an agent that is not there yet.
func (d *Document) Agent(id string) *Agent {
	if d.Agents == nil {
		d.Agents = map[string]*Agent{}
	}
	if d.Agents[id] == nil {
		d.Agents[id] = &Agent{}
	}
	return d.Agents[id]
}

// rules returns the settings of an agent, or the defaults for "".
func (d *Document) rules(agentID string) *Rules {
	if agentID == "" {
		return &d.Defaults
	}
	return &d.Agent(agentID).Rules
}

// Add puts an entry at the end of an agent's allowlist and returns its id. An
// entry that permits the same is not added a second time.
func (d *Document) Add(agentID string, e approval.Entry) (id string) {
	agent := d.Agent(agentID)
	key := permissionKey(e)
	for _, have := range agent.Allowlist {
		if permissionKey(have.Entry) == key {
			return have.ID
		}
	}
	if e.ID == "" {
		e.ID = uuid.NewString()
	}
	agent.Allowlist = append(agent.Allowlist, Entry{Entry: e})
	return e.ID
}

// Remove takes the entries with this id out of an agent's allowlist or, if
// there are none, those with this pattern. It returns what it took out.
func (d *Document) Remove(agentID, idOrPattern string) []approval.Entry {
	agent, ok := d.Agents[agentID]
	if !ok {
		return nil
	}
	if gone := agent.take(func(e Entry) bool { return e.ID == idOrPattern }); gone != nil {
		return gone
	}
	return agent.take(func(e Entry) bool { return e.Pattern == idOrPattern })
}

func (a *Agent) take(which func(Entry) bool) (taken []approval.Entry) {
	a.Allowlist = slices.DeleteFunc(a.Allowlist, func(e Entry) bool {
		if which(e) {
			taken = append(taken, e.Entry)
			return true
		}
		return false
	})
	return taken
}

// EndLeases takes the entries that have an end out of all allowlists, those
// that which picks, or with nil all of them. It returns how many.
func (d *Document) EndLeases(which func(agentID string, e approval.Entry) bool) (n int) {
	for id, agent := range d.Agents {
		n += len(agent.take(func(e Entry) bool { return e.Leased() && (which == nil || which(id, e.Entry)) }))
	}
	return n
}

// Undo takes the entries out that the answer to one request wrote and returns
// how many of them were still there.
func (d *Document) Undo(runID string) (undone int) {
	for _, agent := range d.Agents {
		undone += len(agent.take(func(e Entry) bool { return runID != "" && e.AddedFor == runID }))
	}
	return undone
}

// Change edits the entry with this id in an agent's allowlist, and reports
// whether it is there.
func (d *Document) Change(agentID, id string, edit func(*approval.Entry)) bool {
	agent := d.Agents[agentID]
	if agent == nil {
		return false
	}
	i := slices.IndexFunc(agent.Allowlist, func(e Entry) bool { return e.ID == id })
	if i < 0 {
		return false
	}
	edit(&agent.Allowlist[i].Entry)
	return true
}

// Deny adds a rule to the denylist of an agent, or of the defaults for "".
func (d *Document) Deny(agentID string, rule approval.DenyRule) {
	rules := d.rules(agentID)
	for _, have := range rules.Denylist {
		if have.Pattern == rule.Pattern && slices.Equal(have.Args, rule.Args) && have.Anywhere == rule.Anywhere {
			return
		}
	}
	rules.Denylist = append(rules.Denylist, rule)
}

// Undeny takes a rule out of the denylist of an agent, or of the defaults for
// "", and reports whether it was there.
func (d *Document) Undeny(agentID string, rule approval.DenyRule) bool {
	rules := d.rules(agentID)
	before := len(rules.Denylist)
	rules.Denylist = slices.DeleteFunc(rules.Denylist, func(have approval.DenyRule) bool {
		return have.Pattern == rule.Pattern && slices.Equal(have.Args, rule.Args)
	})
	return len(rules.Denylist) < before
}

// Present reports whether some agent's yes needs the person themselves.
func (d *Document) Present() bool {
	wanted := func(r *Rules) bool { return r.Presence.For(approval.RiskHigh) }
	for _, agent := range d.Agents {
		if wanted(&agent.Rules) {
			return true
		}
	}
	return wanted(&d.Defaults)
}

// Set gives "security", "ask", "askFallback", "autoAllowSkills" or "presence" of
// an agent (of the defaults for "") a value; an empty value lets the next layer decide.
func (d *Document) Set(agentID, field, value string) error {
	rules := d.rules(agentID)
	switch field {
	case "security":
		return setWord(&rules.Security, value)
	case "ask":
		return setWord(&rules.Ask, value)
	case "askFallback":
		return setWord(&rules.AskFallback, value)
	case "autoAllowSkills":
		return setSwitch(&rules.AutoAllowSkills, value)
	case "presence":
		return setWord(&rules.Presence, value)
	}
	return fmt.Errorf("cannot set %q: use security, ask, askFallback, autoAllowSkills or presence", field)
}

// SetFor does so for an agent or, with Every, for every one: what is set for every
// agent is a default, and no longer said of the agent "*" as well.
func (d *Document) SetFor(agentID, field, value string) error {
	if agentID != Every {
		return d.Set(agentID, field, value)
	}
	if d.Agents[Every] != nil {
		if err := d.Set(Every, field, ""); err != nil {
			return err
		}
	}
	return d.Set("", field, value)
}

func setWord[T ~string, P interface {
	*T
	UnmarshalText([]byte) error
}](to P, value string) error {
	if value == "" {
		*to = ""
		return nil
	}
	return to.UnmarshalText([]byte(value))
}

func setSwitch(to **bool, value string) error {
	switch value {
	case "":
		*to = nil
	case "true", "false":
		on := value == "true"
		*to = &on
	default:
		return fmt.Errorf("autoAllowSkills cannot be %q: use true or false", value)
	}
	return nil
}

// entries calls f for every entry with this id, in all agents.
func (d *Document) entries(id string, f func(*approval.Entry)) {
	for _, agent := range d.Agents {
		for i := range agent.Allowlist {
			if agent.Allowlist[i].ID == id {
				f(&agent.Allowlist[i].Entry)
			}
		}
	}
}

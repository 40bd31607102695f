package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/toolnames"
)

// toolSettings is the value of "tools": what holds for the tools of every agent,
// and of single ones.
type toolSettings struct {
	approval.ToolLayer
	Agents map[string]approval.ToolLayer `json:"agents"`
	// Sessions are by a pattern of the session's key.
	Sessions map[string]approval.ToolLayer `json:"sessions"`
}

// Bounds of what is read for tools.
const (
	maxToolName  = 256 // bytes
	maxCharters  = 16  // of one agent
	maxToolRules = 1000
)

// toolsOf reads "tools", which is kept as it is written.
func toolsOf(extra Extra, home string) (t toolSettings, err error) {
	text, ok := extra["tools"]
	if !ok {
		return t, nil
	}
	if err := strictly(text, &t); err != nil {
		return t, err
	}
	t.Origin = "tools"
	err = checkToolLayer(t.ToolLayer, home)
	for id, layer := range t.Agents {
		if err == nil {
			err = checkToolLayer(layer, home)
		}
		layer.Origin = "tools.agents." + plain(id)
		t.Agents[id] = layer
	}
	for key, layer := range t.Sessions {
		switch {
		case err != nil:
		case key == "" || len(key) > maxToolName:
			err = fmt.Errorf("the pattern of a session is empty or longer than %d bytes", maxToolName)
		default:
			if err = checkToolLayer(layer, home); err == nil {
				err = onlyTightens(key, layer)
			}
		}
		layer.Origin, layer.Session = "tools.sessions."+plain(key), key
		t.Sessions[key] = layer
	}
	return t, err
}

// named returns the agents that "tools", "charters" and "projects" name.
func (d *Document) named() map[string]bool {
	tools, _ := toolsOf(d.Extra, "") // they were read when the file was
	names := map[string]bool{}
	for id := range tools.Agents {
		names[id] = true
	}
	for id := range d.Charters() {
		names[id] = true
	}
	for _, p := range d.projectsOfOne() {
		names[p.Agent] = true
	}
	return names
}

// layers returns those that hold for an agent, the widest first.
func (t toolSettings) layers(agentID string) []approval.ToolLayer {
	list := []approval.ToolLayer{t.ToolLayer}
	for _, id := range []string{Every, agentID} {
		if layer, ok := t.Agents[id]; ok && (id != Every || agentID != Every) {
			list = append(list, layer)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(t.Sessions)) {
		list = append(list, t.Sessions[key])
	}
	return slices.DeleteFunc(list, func(l approval.ToolLayer) bool { return l.Allow == nil && l.Deny == nil && l.Rules == nil })
}

func checkToolLayer(l approval.ToolLayer, home string) error {
	for _, name := range slices.Concat(l.Allow, l.Deny) {
		if err := checkToolName(name); err != nil {
			return err
		}
	}
	if len(l.Rules) > maxToolRules || len(l.Allow) > maxToolRules || len(l.Deny) > maxToolRules {
		return fmt.Errorf("there are more than %d rules", maxToolRules)
	}
	for name, rule := range l.Rules {
		if err := checkToolName(name); err != nil {
			return err
		}
		if err := checkToolRule(rule, home); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// onlyTightens refuses what would loosen for a session: which one it is, the
// caller says.
func onlyTightens(session string, l approval.ToolLayer) error {
	for name, rule := range l.Rules {
		if rule.Security == approval.SecurityFull {
			return fmt.Errorf("%s of the session %s: full is not for sessions, whose key the caller says", plain(name), plain(session))
		}
	}
	return nil
}

func checkToolRule(r approval.ToolRule, home string) error {
	for _, pattern := range r.PathRestrictions {
		p, err := glob.Parse(pattern, home)
		if err == nil && (p.Bare() || p.Any()) {
			err = fmt.Errorf("a path restriction needs a path, not %q", pattern)
		}
		if err != nil {
			return err
		}
	}
	for arg, rule := range r.ArgRestrictions {
		if len(rule.Pattern) > maxArgPattern {
			return fmt.Errorf("%s: the pattern is longer than %d bytes", arg, maxArgPattern)
		}
		if _, err := regexp.Compile(rule.Pattern); err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		if rule.MaxLength < 0 || rule.Required && rule.Forbidden {
			return fmt.Errorf("%s: what it wants cannot be", arg)
		}
	}
	return nil
}

// checkToolName refuses a pattern of tool names that means nothing.
func checkToolName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the name of a tool cannot be empty")
	case len(name) > maxToolName:
		return fmt.Errorf("the name of a tool is longer than %d bytes", maxToolName)
	case strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return fmt.Errorf("the name of a tool %q holds blanks or control characters", name)
	}
	if why := toolnames.NoTool(name, approval.ToolMark); why != "" {
		return fmt.Errorf("the name of a tool %q %s", name, why)
	}
	return nil
}

// mixed says why an entry for a tool means nothing: what narrows a program does
// not narrow a tool, nor the other way round.
func mixed(e approval.Entry) string {
	_, tool := approval.ToolPattern(e.Pattern)
	switch {
	case !tool && len(e.When) > 0:
		return "is no tool, and \"when\" narrows only those"
	case tool && (len(e.Args) > 0 || len(e.Allows) > 0 || len(e.Hosts) > 0 || e.Input != "" || e.ArgPattern != "" || len(e.Env) > 0 || e.RequireIdentity != "" || len(e.Identity) > 0):
		return "is a tool: narrow it with \"when\", \"cwd\" and \"argsExact\""
	}
	return e.MixedAllows()
}

// chartersOf reads "charters": for each agent those that hold for it. Those of "*" hold for all.
func chartersOf(extra Extra) (byAgent map[string][]approval.CharterRef, err error) {
	text, ok := extra["charters"]
	if !ok {
		return nil, nil
	}
	if err := strictly(text, &byAgent); err != nil {
		return nil, err
	}
	for id, names := range byAgent {
		if len(names) > maxCharters {
			return nil, fmt.Errorf("%s has more than %d charters", plain(id), maxCharters)
		}
		for _, ref := range names {
			if !CharterName(ref.Name) {
				return nil, fmt.Errorf("%q is no name of a charter: use letters, digits, - and _", ref.Name)
			}
			if len(ref.SHA256) != 64 {
				return nil, fmt.Errorf("the charter %s has no sha256 of the version that was accepted", ref.Name)
			}
		}
	}
	return byAgent, nil
}

// CharterName reports whether a charter can be called so. It is the name of a
// file.
func CharterName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}

// strictly decodes a value that has no unknown fields.
func strictly(text json.RawMessage, to any) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	if holdsNull(value) {
		return errors.New("holds null, which means nothing here")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// holdsNull reports whether null is anywhere in a value: it may stand where
// something was to be forbidden.
func holdsNull(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, sub := range v {
			if holdsNull(sub) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holdsNull)
	}
	return false
}

// UseCharter has a charter hold for an agent, in this version, and gives the
// agent the entries that it permits in the place of those that it permitted
// before.
func (d *Document) UseCharter(agentID string, ref approval.CharterRef, permits []approval.Entry) error {
	if err := d.setCharter(agentID, ref.Name, &ref); err != nil {
		return err
	}
	for _, e := range permits {
		d.Add(agentID, e)
	}
	return nil
}

// DropCharter has a charter hold no more for an agent, and takes back what it
// permitted.
func (d *Document) DropCharter(agentID, name string) error { return d.setCharter(agentID, name, nil) }

func (d *Document) setCharter(agentID, name string, to *approval.CharterRef) error {
	byAgent, err := chartersOf(d.Extra)
	if err != nil {
		return err
	}
	if byAgent == nil {
		byAgent = map[string][]approval.CharterRef{}
	}
	was := len(byAgent[agentID])
	byAgent[agentID] = slices.DeleteFunc(byAgent[agentID], func(r approval.CharterRef) bool { return r.Name == name })
	if to == nil && len(byAgent[agentID]) == was {
		return fmt.Errorf("the charter %s does not hold for agent %s", plain(name), plain(agentID))
	}
	if to != nil {
		byAgent[agentID] = append(byAgent[agentID], *to)
	}
	if len(byAgent[agentID]) == 0 {
		delete(byAgent, agentID)
	}
	d.Agent(agentID).take(func(e Entry) bool { return e.Source == approval.CharterSource(name) })
	text, err := json.Marshal(byAgent)
	if err != nil {
		return err
	}
	d.Extra = maps.Clone(d.Extra)
	if d.Extra == nil {
		d.Extra = Extra{}
	}
	d.Extra["charters"] = text
	if len(byAgent) == 0 {
		delete(d.Extra, "charters")
	}
	return nil
}

// Charters returns those that hold, by agent.
func (d *Document) Charters() map[string][]approval.CharterRef {
	byAgent, _ := chartersOf(d.Extra) // it was read when the file was
	return byAgent
}

// CharterIs fails where a charter that holds for an agent is another version
// than the one that a person looked at.
func (d *Document) CharterIs(agentID, name, sha256 string) error {
	for _, ref := range d.Charters()[agentID] {
		if ref.Name == name && ref.SHA256 == sha256 {
			return nil
		}
	}
	return fmt.Errorf("the charter %s was changed meanwhile: look at it again", plain(name))
}

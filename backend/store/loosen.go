package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// MaxReasons bounds the sentences and lines of one comparison. Where there are more,
// one more stands for them: nobody can agree to that.
const MaxReasons = 100

// Loosens says in sentences what the new document permits, or may permit,
// that the old one does not. No sentences means that nothing can run, without
// a question or at all, that could not before; but for what is protected under
// security full, which ask=off denies and the person may be asked about. What
// cannot be compared counts as looser.
func Loosens(old, new *Document) []string {
	c, _ := compare(old, new)
	return c.reasons
}

// Meaning is a hash of what a document permits and denies, the same whatever its
// entries are called and however they were used.
func (d *Document) Meaning() (string, error) {
	bare := *d
	bare.Agents, bare.Projects = map[string]*Agent{}, nil
	for _, p := range d.Projects {
		bare.Projects = append(bare.Projects, saidOf(p))
	}
	for id, agent := range d.Agents {
		copied := *agent
		copied.Allowlist = slices.Clone(agent.Allowlist)
		for i := range copied.Allowlist {
			copied.Allowlist[i].Entry = permission(copied.Allowlist[i].Entry)
		}
		bare.Agents[id] = &copied
	}
	text, err := bare.Encode()
	return hashOf(text), err
}

// compare also returns, for each agent, the new entries that permit no more
// than an old one did.
func compare(old, new *Document) (c *comparison, kept map[string][]approval.Entry) {
	c = &comparison{old: old, new: new, said: map[string]bool{}, every: map[string]bool{}}
	for _, id := range agentIDs(old, new) {
		was, is := old.policy(id, ""), new.policy(id, "")
		c.words(id, was, is)
		c.lists(id, was, is)
	}
	kept = map[string][]approval.Entry{}
	for _, id := range slices.Sorted(maps.Keys(new.Agents)) {
		kept[id] = c.entries(id)
	}
	c.guards(kept)
	c.denylists()
	c.opaque("", "tools", old.Extra, new.Extra)
	c.opaque("", "charters", old.Extra, new.Extra)
	c.opaque("", "approvers", old.Extra, new.Extra)
	c.sources()
	c.projects()
	c.opaque("", "safeBinProfiles", old.Defaults.Extra, new.Defaults.Extra)
	for _, id := range agentIDs(old, new) {
		c.opaque(id, "safeBinProfiles", agentExtra(old, id), agentExtra(new, id))
	}
	return c, kept
}

// agentIDs returns "", which stands for every agent that neither document
// names, and then those that one of them does.
func agentIDs(old, new *Document) []string {
	ids := slices.Concat([]string{""}, slices.Collect(maps.Keys(old.Agents)), slices.Collect(maps.Keys(new.Agents)))
	slices.Sort(ids)
	return slices.Compact(ids)
}

func agentExtra(d *Document, id string) Extra {
	if agent := d.Agents[id]; agent != nil {
		return agent.Rules.Extra
	}
	return nil
}

type comparison struct {
	old, new *Document
	reasons  []string
	said     map[string]bool
	lines    []Line // the same in parts
	// every holds the lines on every agent: they are none of each agent, too.
	every map[string]bool
}

// say says a sentence, and a line for it.
func (c *comparison) say(line Line, format string, args ...any) {
	reason := fmt.Sprintf(format, args...)
	if line.Kind == LineOther && line.Text == "" {
		line.Text = reason
	}
	c.lines = append(c.lines, line)
	c.reason(reason)
}

func (c *comparison) reason(reason string) {
	if c.said[reason] {
		return
	}
	c.said[reason] = true
	switch n := len(c.reasons); {
	case n < MaxReasons:
		c.reasons = append(c.reasons, reason)
	case n == MaxReasons:
		c.reasons = append(c.reasons, "and more")
	}
}

// inherited adds the line of some sentences, unless it was said of every agent for
// the same reasons and with the same words.
func (c *comparison) inherited(line Line, reasons ...string) {
	same := fmt.Sprintf("%q", append(reasons, string(line.Kind), line.Name, line.Was, line.Is, line.Text))
	switch {
	case line.Agent == Every:
		c.every[same] = true
	case c.every[same]:
		return
	}
	c.lines = append(c.lines, line)
}

// words compares what holds for an agent in the end, so that it does not
// matter in which layer a value was changed.
func (c *comparison) words(id string, was, is approval.Policy) {
	mode := Line{Agent: whose(id), Kind: LineMode, Was: modeWords(was), Is: modeWords(is)}
	var ofMode []string
	say := func(field string, old, new any) {
		where, own := is.Origins[field], "agents."+plain(id)+"."+field
		switch {
		case where == "":
			where = was.Origins[field]
		case where != own && was.Origins[field] == own: // a wider layer holds now, which may be as it was
			where = "for agent " + plain(id) + " " + where
		}
		reason := fmt.Sprintf("%s goes from %v to %v", where, old, new)
		c.reason(reason)
		if field == "security" || field == "ask" {
			ofMode = append(ofMode, reason)
			return
		}
		c.inherited(Line{Agent: whose(id), Kind: LineSetting, Name: field, Was: fmt.Sprint(old), Is: fmt.Sprint(new)}, reason)
	}
	asks := func(so string) {
		mode.Text = strings.TrimPrefix(mode.Text+", "+so, ", ")
		say("ask", "off", string(is.Ask)+", "+so)
	}
	if approval.StricterSecurity(is.Security, was.Security) != is.Security {
		say("security", was.Security, is.Security)
	}
	if approval.StricterAsk(is.Ask, was.Ask) != is.Ask {
		say("ask", was.Ask, is.Ask)
	}
	if was.Ask == approval.AskOff && is.Ask != approval.AskOff && is.Security == approval.SecurityList {
		asks("so what was denied is asked about")
	}
	if approval.StricterSecurity(is.AskFallback, was.AskFallback) != is.AskFallback {
		say("askFallback", was.AskFallback, is.AskFallback)
	}
	if was.Ask == approval.AskOff && is.Ask != approval.AskOff && is.AskFallback == approval.SecurityFull {
		asks("so askFallback full runs what was denied")
	}
	if is.AutoAllowSkills && !was.AutoAllowSkills {
		say("autoAllowSkills", false, true)
	}
	if approval.StricterPresence(is.Presence, was.Presence) != is.Presence {
		say("presence", was.Presence, is.Presence)
	}
	if len(ofMode) > 0 {
		c.inherited(mode, ofMode...)
	}
}

// lists compares the short lists that add permissions.
func (c *comparison) lists(id string, was, is approval.Policy) {
	c.added(id, "safe bin", was.SafeBins, is.SafeBins)
	c.added(id, "trusted folder", was.SafeBinTrustedDirs, is.SafeBinTrustedDirs)
	c.added(id, "skill", skillNames(was.Skills), skillNames(is.Skills))
	for _, name := range c.new.acceptAnswersFrom(id) {
		what := "gateway"
		if name == approval.MCPClient {
			what = "program"
		}
		c.added(id, what+" whose answers count", c.old.acceptAnswersFrom(id), []string{name})
	}
}

func skillNames(list []approval.Skill) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = s.Name + " at " + s.Path + " " + s.SHA256
	}
	return names
}

func (c *comparison) added(id, what string, old, new []string) {
	have := map[string]bool{}
	for _, v := range old {
		have[v] = true
	}
	for _, v := range new {
		key := fmt.Sprintf("%s %q", what, v)
		switch {
		case have[v] || c.said[key]: // or said for every agent
		case id == "":
			c.said[key] = true
			c.say(Line{Agent: Every, Kind: LineItem, Name: what, Text: v}, "the %s is added for every agent", key)
		default:
			c.say(Line{Agent: id, Kind: LineItem, Name: what, Text: v}, "the %s is added for agent %q", key, id)
		}
	}
}

// denylists finds rules that were taken away. A rule of the defaults or of
// "*" holds for all, so it must stay in one of these two.
func (c *comparison) denylists() {
	everywhere := func(d *Document) []approval.DenyRule { return d.policy("", "").Denylist }
	c.rulesGone(Every, "every agent", everywhere(c.old), everywhere(c.new))
	for _, id := range slices.Sorted(maps.Keys(c.old.Agents)) {
		if id != Every {
			c.rulesGone(id, "agent "+plain(id), c.old.Agents[id].Denylist, c.new.policy(id, "").Denylist)
		}
	}
}

func (c *comparison) rulesGone(id, whose string, old, new []approval.DenyRule) {
	type rule struct {
		pattern, args string
		anywhere      bool
	}
	key := func(r approval.DenyRule) rule {
		return rule{r.Pattern, fmt.Sprintf("%q", r.Args), r.Anywhere && len(r.Args) > 0}
	}
	have := map[rule]bool{}
	for _, r := range new {
		have[key(r)] = true
	}
	for _, r := range old {
		if !have[key(r)] && !have[key(approval.DenyRule{Pattern: r.Pattern})] {
			c.say(Line{Agent: id, Kind: LineDenial, Denial: r}, "the denylist of %s loses %q", whose, r.Pattern)
		}
	}
}

// sources finds gateways whose policies hold no more, or may be older ones.
func (c *comparison) sources() {
	for _, was := range c.old.Sources() {
		if !slices.ContainsFunc(c.new.Sources(), func(is PolicySource) bool { return is.Key == was.Key && is.Serial >= was.Serial }) {
			c.say(Line{Agent: Every, Kind: LineSource, Text: was.Gateway}, "policyFrom: the policy of %s holds no more, or an older one may", was.Gateway)
		}
	}
}

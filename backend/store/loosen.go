package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
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

// maxCandidates bounds how many old entries with one pattern are tried.
const maxCandidates = 64

// entries compares one allowlist. Each old entry can stand for one new entry
// only, so that a lease cannot be had twice.
func (c *comparison) entries(id string) (kept []approval.Entry) {
	equal, pattern := map[string]int{}, map[string][]approval.Entry{}
	if agent := c.old.Agents[id]; agent != nil {
		for _, e := range agent.Allowlist {
			equal[permissionKey(e.Entry)]++
			pattern[e.Pattern] = append(pattern[e.Pattern], e.Entry)
		}
	}
	var rest []approval.Entry
	for _, e := range c.new.Agents[id].Allowlist {
		key := permissionKey(e.Entry)
		if equal[key] == 0 {
			rest = append(rest, e.Entry)
			continue
		}
		equal[key]--
		kept = append(kept, e.Entry)
	}
	var looser []approval.Entry
	for _, e := range rest {
		if e.Disabled || takeWider(equal, pattern[e.Pattern], e) {
			kept = append(kept, e)
			continue
		}
		looser = append(looser, e)
	}
	for _, e := range looser {
		line := Line{Agent: id, Kind: LineRule, Entry: permission(e)}
		if before, gone := takeOne(equal, pattern[e.Pattern]); gone {
			line.Changes, line.Before = true, permission(before)
		}
		if pattern[e.Pattern] != nil {
			c.say(line, "agents.%s.allowlist: the entry %q changes%s", plain(id), e.Pattern, conditions(e, ", and has no conditions now"))
			continue
		}
		c.say(line, "agents.%s.allowlist: the entry %q is new%s", plain(id), e.Pattern, conditions(e, ""))
	}
	return kept
}

// conditions says all that counts of an entry beside its pattern, as the file has
// it, and none where nothing does.
func conditions(e approval.Entry, none string) string {
	e = permission(e)
	e.Pattern = ""
	text, _ := json.Marshal(e) // plain fields cannot fail
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields)
	delete(fields, "pattern")
	if len(fields) == 0 {
		return none
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		said = append(said, name+" "+string(fields[name]))
	}
	return ", with " + strings.Join(said, ", ")
}

// takeOne uses up one of the old entries that are there no more.
func takeOne(left map[string]int, candidates []approval.Entry) (e approval.Entry, gone bool) {
	for _, old := range candidates[:min(len(candidates), maxCandidates)] {
		if key := permissionKey(old); left[key] > 0 {
			left[key]--
			return old, true
		}
	}
	return e, false
}

// takeWider uses up one of the old entries that permits all that e permits.
func takeWider(left map[string]int, candidates []approval.Entry, e approval.Entry) bool {
	for _, old := range candidates[:min(len(candidates), maxCandidates)] {
		if key := permissionKey(old); left[key] > 0 && narrows(old, e) {
			left[key]--
			return true
		}
	}
	return false
}

// permission is an entry without what does not count for a decision. When the
// lease of a session was given counts: from then on it lasts.
func permission(e approval.Entry) approval.Entry {
	e.ExpiresAt = e.Ends()
	if e.SessionKey == "" {
		e.AddedAt = 0
	}
	e.ID, e.Note, e.AddedBy, e.AddedFor = "", "", "", ""
	e.LastUsedAt, e.LastUsedCommand, e.LastResolvedPath = 0, "", ""
	return e
}

// permissionKey is equal for entries that permit the same.
func permissionKey(e approval.Entry) string {
	text, _ := json.Marshal(permission(e)) // plain fields cannot fail
	return string(text)
}

// plainProgram reports whether an entry is for one known program that does
// not give a command more rights: an entry for one that does counts only once
// it names arguments (judgement.md, step 4).
func plainProgram(e approval.Entry) bool {
	plain := func(file string) bool { return !programs.Raises(path.Base(file)) }
	return !strings.ContainsAny(e.Pattern, "*?[{") && plain(e.Pattern) && len(e.Identity) > 0 &&
		!slices.ContainsFunc(e.Identity, func(id approval.Identity) bool { return !plain(id.Path) })
}

// narrows reports whether new surely permits no more than old, which is
// switched on: a condition is new or, for a lease, ends earlier. Identities
// must be the same: without one, the next program found is taken as known.
func narrows(old, new approval.Entry) bool {
	condition := func(old, new string) bool { return old == "" || old == new }
	switch {
	case old.Disabled,
		old.Source != new.Source,
		!slices.Equal(old.Identity, new.Identity), !slices.Equal(old.Interpreters, new.Interpreters), !slices.Equal(old.Links, new.Links),
		!maps.Equal(old.When, new.When),
		!carriesLess(old.Env, new.Env),
		!condition(old.ArgPattern, new.ArgPattern),
		!condition(old.Cwd, new.Cwd),
		!condition(old.SessionKey, new.SessionKey),
		!condition(old.RequireIdentity, new.RequireIdentity):
		return false
	case old.Ends() != 0 && (new.Ends() == 0 || new.Ends() > old.Ends()),
		old.UsesLeft != nil && (new.UsesLeft == nil || *new.UsesLeft > *old.UsesLeft):
		return false
	case old.SessionKey != "" && old.AddedAt != new.AddedAt && (new.AddedAt == 0 || new.AddedAt > old.AddedAt):
		return false // without the time only the history tells when its session was over
	case len(old.Args) == 0 && len(new.Args) > 0 && !plainProgram(new):
		return false
	case old.ArgsExact:
		return new.ArgsExact && slices.Equal(old.Args, new.Args)
	}
	return len(new.Args) >= len(old.Args) && slices.Equal(old.Args, new.Args[:len(old.Args)])
}

// carriesLess reports whether new carries no variable and no value that old does not.
func carriesLess(old, new map[string][]string) bool {
	for name, values := range new {
		if slices.Contains(old[name], approval.AnyValue) {
			continue
		}
		if slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(old[name], v) }) {
			return false
		}
	}
	return true
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

// opaque compares what only others understand, and says all that differs.
func (c *comparison) opaque(id, key string, old, new Extra) {
	if bytes.Equal(compact(old[key]), compact(new[key])) {
		return
	}
	if !c.differ(id, key, valueOf(old[key]), valueOf(new[key])) {
		c.say(Line{Agent: whose(id), Kind: LineOther}, "%s changes, which may permit more", key)
	}
}

// differ says where two values differ, down to what is in objects of both.
func (c *comparison) differ(id, at string, old, new any) (said bool) {
	was, is := asObject(old), asObject(new)
	switch {
	case reflect.DeepEqual(old, new):
		return false
	case was == nil || is == nil:
		line := Line{Agent: whose(id), Kind: LineValue, Name: at, Was: textOf(old), Is: textOf(new)}
		c.say(line, "%s changes, which may permit more: from %s to %s", at, line.Was, line.Is)
		return true
	}
	all := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)))
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		said = c.differ(id, at+"."+plain(name), was[name], is[name]) || said
	}
	return said
}

func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

// valueOf decodes a value, nil for none. Numbers stay as they are written.
func valueOf(text json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value) // it was read when the file was
	return value
}

func textOf(value any) string {
	if value == nil {
		return "nothing"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // it was decoded from JSON
	return strings.TrimSpace(b.String())
}

func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

// stricter joins two policies of one agent: what holds in both of them.
func stricter(a, b approval.Policy) approval.Policy {
	p := a
	switch approval.AskOff {
	case a.Ask:
		p.Own = &a
	case b.Ask:
		p.Own = &b
	}
	p.Origins = maps.Clone(a.Origins)
	if p.Security = approval.StricterSecurity(a.Security, b.Security); p.Security != a.Security {
		p.Origins["security"] = b.Origins["security"]
	}
	if p.Ask = approval.StricterAsk(a.Ask, b.Ask); p.Ask != a.Ask {
		p.Origins["ask"] = b.Origins["ask"]
	}
	if p.AskFallback = approval.StricterSecurity(a.AskFallback, b.AskFallback); p.AskFallback != a.AskFallback {
		p.Origins["askFallback"] = b.Origins["askFallback"]
	}
	if (a.Ask == approval.AskOff) != (b.Ask == approval.AskOff) {
		// Off denies what the other one asks, and a fallback of full would run.
		p.AskFallback = approval.StricterSecurity(p.AskFallback, approval.SecurityList)
	}
	if p.AutoAllowSkills = a.AutoAllowSkills && b.AutoAllowSkills; p.AutoAllowSkills != a.AutoAllowSkills {
		p.Origins["autoAllowSkills"] = b.Origins["autoAllowSkills"]
	}
	if p.Presence = approval.StricterPresence(a.Presence, b.Presence); p.Presence != a.Presence {
		p.Origins["presence"] = b.Origins["presence"]
	}
	p.Denylist = slices.Concat(a.Denylist, b.Denylist)
	p.SafeBins = common(a.SafeBins, b.SafeBins)
	if !reflect.DeepEqual(a.SafeBinProfiles, b.SafeBinProfiles) {
		p.SafeBinProfiles = nil
	}
	p.SafeBinTrustedDirs = common(a.SafeBinTrustedDirs, b.SafeBinTrustedDirs)
	p.Skills = common(a.Skills, b.Skills)
	p.Tools = slices.Clone(a.Tools) // all of them must agree
	for _, layer := range b.Tools {
		p.Tools = append(p.Tools, uncategorized(layer))
	}
	p.Charters = slices.Concat(a.Charters, b.Charters)
	p.Projects = bothSay(a.Projects, b.Projects)
	if !slices.Equal(a.Approvers, b.Approvers) {
		p.Approvers = nil // the person here alone, and silence denies
	}
	return p
}

// uncategorized is a layer that does not say of what sort a tool is, which may
// make it look harmless.
func uncategorized(l approval.ToolLayer) approval.ToolLayer {
	l.Rules = maps.Clone(l.Rules)
	for name, rule := range l.Rules {
		rule.Category = approval.CategoryUnset
		l.Rules[name] = rule
	}
	return l
}

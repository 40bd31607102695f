package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// layer is one place that can say something about an agent.
type layer struct {
	name  string
	rules *Rules
}

// layers returns who is asked about an agent, the most specific first. An
// agent that the document does not name has only the last two.
func (d *Document) layers(agentID string) []layer {
	var list []layer
	ids := []string{agentID, Every}
	if agentID == Every {
		ids = ids[:1]
	}
	for _, id := range ids {
		if agent := d.Agents[id]; agent != nil {
			list = append(list, layer{"agents." + plain(id), &agent.Rules})
		}
	}
	return append(list, layer{"defaults", &d.Defaults})
}

// policy resolves everything but the allowlist. Field by field the most
// specific layer that says something counts; denylist and skills add up.
func (d *Document) policy(agentID, home string) approval.Policy {
	layers, off := d.layers(agentID), false
	p := approval.Policy{AgentID: agentID, Origins: map[string]string{}}
	p.Security, p.Origins["security"] = first(layers, "security", approval.SecurityDeny,
		func(r *Rules) approval.Security { return r.Security })
	p.Ask, p.Origins["ask"] = first(layers, "ask", approval.AskOnMiss,
		func(r *Rules) approval.Ask { return r.Ask })
	p.AskFallback, p.Origins["askFallback"] = first(layers, "askFallback", approval.SecurityDeny,
		func(r *Rules) approval.Security { return r.AskFallback })
	skills, origin := first(layers, "autoAllowSkills", &off,
		func(r *Rules) *bool { return r.AutoAllowSkills })
	p.AutoAllowSkills, p.Origins["autoAllowSkills"] = *skills, origin
	p.Presence, p.Origins["presence"] = first(layers, "presence", approval.PresenceNever,
		func(r *Rules) approval.Presence { return r.Presence })

	p.SafeBins = firstList(layers, DefaultSafeBins(), func(r *Rules) []string { return r.SafeBins })
	for _, dir := range firstList(layers, nil, func(r *Rules) []string { return r.SafeBinTrustedDirs }) {
		p.SafeBinTrustedDirs = append(p.SafeBinTrustedDirs, paths.Expand(dir, home))
	}
	for _, l := range layers {
		if p.SafeBinProfiles == nil {
			p.SafeBinProfiles, _ = safeBinProfiles(l.rules.Extra) // they were read when the file was
		}
	}
	if tools, err := toolsOf(d.Extra, home); err == nil { // it was read when the file was
		p.Tools = tools.layers(agentID)
	}
	p.Projects = d.projects(agentID)
	charters, _ := chartersOf(d.Extra)
	p.Charters = slices.Concat(charters[Every], charters[agentID])
	p.Approvers, _ = approversOf(d.Extra)
	for _, l := range slices.Backward(layers) {
		p.Denylist = append(p.Denylist, l.rules.Denylist...)
		for _, skill := range l.rules.SkillBins {
			skill.Path = paths.Expand(skill.Path, home)
			p.Skills = append(p.Skills, skill)
		}
	}
	return p
}

// safeBinProfiles reads a field that is kept as it is written, for others too.
func safeBinProfiles(extra Extra) (profiles map[string]approval.SafeBinProfile, err error) {
	text, ok := extra["safeBinProfiles"]
	if !ok {
		return nil, nil
	}
	err = json.Unmarshal(text, &profiles)
	for name, p := range profiles {
		for _, flag := range slices.Concat(p.AllowedValueFlags, p.AllowedBooleanFlags, p.DeniedFlags) {
			if !strings.HasPrefix(flag, "-") || flag == "--" || strings.Contains(flag, "=") {
				err = cmp.Or(err, fmt.Errorf("%s: %q is no flag", name, flag))
			}
		}
	}
	return profiles, err
}

// DefaultSafeBins are used where the policy names none: they only change what
// they read on its way through.
func DefaultSafeBins() []string { return []string{"cut", "uniq", "head", "tail", "tr", "wc"} }

func first[T comparable](layers []layer, field string, builtIn T, get func(*Rules) T) (value T, origin string) {
	var unset T
	for _, l := range layers {
		if v := get(l.rules); v != unset {
			return v, l.name + "." + field
		}
	}
	return builtIn, ""
}

func firstList(layers []layer, builtIn []string, get func(*Rules) []string) []string {
	for _, l := range layers {
		if list := get(l.rules); list != nil {
			return list
		}
	}
	return builtIn
}

// acceptAnswersFrom returns whose answers count for an agent.
func (d *Document) acceptAnswersFrom(agentID string) []string {
	for _, id := range []string{agentID, Every} {
		if agent := d.Agents[id]; agent != nil && agent.AcceptAnswersFrom != nil {
			return agent.AcceptAnswersFrom
		}
	}
	return nil
}

// mergeLegacy moves what is said of the agent "default" to "main". Lists are
// joined. What else "main" leaves open is taken over only where it is stricter
// than what holds without it: OpenClaw does not look at it any more, and a
// forgotten value must not loosen anything.
func mergeLegacy(d *Document) {
	legacy := d.Agents[legacyAgent]
	delete(d.Agents, legacyAgent)
	main := d.Agents[mainAgent]
	if legacy == nil {
		return
	}
	if main == nil {
		d.Agents[mainAgent] = legacy
		return
	}
	now := d.policy(mainAgent, "")
	if main.Security == "" && approval.StricterSecurity(now.Security, legacy.Security) != now.Security {
		main.Security = legacy.Security
	}
	if main.Ask == "" && approval.StricterAsk(now.Ask, legacy.Ask) != now.Ask {
		main.Ask = legacy.Ask
	}
	if main.AskFallback == "" && approval.StricterSecurity(now.AskFallback, legacy.AskFallback) != now.AskFallback {
		main.AskFallback = legacy.AskFallback
	}
	if main.AutoAllowSkills == nil && legacy.AutoAllowSkills != nil && !*legacy.AutoAllowSkills {
		main.AutoAllowSkills = legacy.AutoAllowSkills
	}
	if main.Presence == "" && approval.StricterPresence(now.Presence, legacy.Presence) != now.Presence {
		main.Presence = legacy.Presence
	}
	if main.SafeBins == nil && legacy.SafeBins != nil {
		main.SafeBins = common(now.SafeBins, legacy.SafeBins)
	}
	main.Allowlist = append(main.Allowlist, legacy.Allowlist...)
	main.Denylist = append(main.Denylist, legacy.Denylist...)
}

// common returns what is in both lists; it is never nil.
func common[T comparable](a, b []T) []T {
	both := []T{}
	for _, v := range a {
		if slices.Contains(b, v) {
			both = append(both, v)
		}
	}
	return both
}

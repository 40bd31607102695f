package store

import (
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// AcceptSkill records what the file of a skill holds, by the name and the path that
// it has for an agent, and in no other skill. It reports whether there is one.
func (d *Document) AcceptSkill(agentID string, now approval.Skill, home string) (found bool) {
	for _, l := range d.layers(agentID) {
		list := slices.Clone(l.rules.SkillBins) // others may hold the old one
		for i, k := range list {
			if k.Name == now.Name && paths.Expand(k.Path, home) == now.Path {
				list[i].SHA256, found = now.SHA256, true
			}
		}
		l.rules.SkillBins = list
	}
	return found
}

// AddSkill accepts a program as a skill of an agent: in the place of what is said
// of its path already, or as a new one.
func (d *Document) AddSkill(agentID string, now approval.Skill, home string) {
	if d.AcceptSkill(agentID, now, home) {
		return
	}
	rules := d.own(agentID)[0]
	rules.SkillBins = append(slices.DeleteFunc(slices.Clone(rules.SkillBins), func(k approval.Skill) bool {
		return paths.Expand(k.Path, home) == now.Path
	}), now)
}

// DropSkill takes out the skills of an agent with this name or path. Those of every
// agent are dropped from Every.
func (d *Document) DropSkill(agentID, which, home string) error {
	dropped := 0
	for _, rules := range d.own(agentID) {
		before := len(rules.SkillBins)
		rules.SkillBins = slices.DeleteFunc(slices.Clone(rules.SkillBins), func(k approval.Skill) bool {
			return k.Name == which || paths.Expand(k.Path, home) == which
		})
		dropped += before - len(rules.SkillBins)
	}
	if dropped == 0 {
		return fmt.Errorf("agent %s has no skill %s of its own: see `countersign policy skills list`", plain(agentID), plain(which))
	}
	return nil
}

// own are the settings of an agent itself, to be changed; those of every agent are
// the defaults, and what is said of the agent Every.
func (d *Document) own(agentID string) []*Rules {
	if agentID != Every {
		return []*Rules{&d.Agent(agentID).Rules}
	}
	list := []*Rules{&d.Defaults}
	if agent := d.Agents[Every]; agent != nil {
		list = append(list, &agent.Rules)
	}
	return list
}

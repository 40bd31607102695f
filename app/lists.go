package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/node"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/store"
)

// The lists that AddTo and RemoveFrom know.
const (
	listSafeBins = "safe-bins"
	listSkills   = "skills"
	listProjects = "projects"
)

// systemFolders are always trusted for safe bins.
var systemFolders = []string{"/bin", "/usr/bin"}

// Lists returns what stands beside the allowlist of an agent: safe bins, skills
// and gateways. The files of skills are read.
func (s *Settings) Lists(agentID string) shown.Lists {
	snap := s.app.host.Policy()
	now, in := snap.Policy(agentID), s.app.names()
	lists := shown.Lists{SafeBins: []shown.SafeBinRow{}, Folders: []shown.FolderRow{}, Skills: []shown.SkillRow{}, Gateways: []shown.GatewayRow{}, Projects: []shown.ProjectRow{},
		Client: shown.NewGatewayRow(approval.MCPClient, false, shown.FromEvery)}
	if snap.Document == nil {
		return lists
	}
	from := fromOf(snap.Document, agentID, func(r *store.Rules) bool { return r.SafeBins != nil })
	for _, name := range now.SafeBins {
		_, own := now.SafeBinProfiles[name]
		lists.SafeBins = append(lists.SafeBins, shown.SafeBinRow{Name: display.Escape(name), From: from, Use: useOf(name, own)})
	}
	for _, dir := range systemFolders {
		lists.Folders = append(lists.Folders, shown.NewFolderRow(dir, shown.FromBuiltIn, in))
	}
	from = fromOf(snap.Document, agentID, func(r *store.Rules) bool { return r.SafeBinTrustedDirs != nil })
	for _, dir := range now.SafeBinTrustedDirs {
		lists.Folders = append(lists.Folders, shown.NewFolderRow(dir, from, in))
	}
	for _, k := range now.Skills {
		here := slices.ContainsFunc(own(snap.Document, agentID), func(r *store.Rules) bool { return hasSkill(r, k.Path, s.app.person.Home) })
		lists.Skills = append(lists.Skills, shown.NewSkillRow(k.Name, k.Path, k.SHA256, hereOr(here), s.stateOf(k), in))
	}
	lists.Projects = s.projects(snap, agentID)
	lists.Gateways, lists.Client = s.gateways(snap, agentID), gatewayRow(snap, agentID, approval.MCPClient)
	return lists
}

// own are the settings of an agent itself, as far as there are any; those of
// every agent are the defaults, and what is said of the agent "*".
func own(d *store.Document, agentID string) (list []*store.Rules) {
	if agentID == shown.Every {
		list = append(list, &d.Defaults)
	}
	if agent := d.Agents[agentID]; agent != nil {
		list = append(list, &agent.Rules)
	}
	return list
}

// toEdit makes a place for them first.
func toEdit(d *store.Document, agentID string) []*store.Rules {
	if agentID != shown.Every {
		d.Agent(agentID)
	}
	return own(d, agentID)
}

func useOf(name string, own bool) shown.SafeBinUse {
	switch {
	case policy.NeverSafe(name):
		return shown.SafeBinNever
	case own || command.KnownSafeBin(name):
		return shown.SafeBinUsed
	}
	return shown.SafeBinUnknown
}

func hereOr(here bool) shown.From {
	if here {
		return shown.FromHere
	}
	return shown.FromEvery
}

// fromOf tells where a list comes from that one layer gives whole.
func fromOf(d *store.Document, agentID string, has func(*store.Rules) bool) shown.From {
	if slices.ContainsFunc(own(d, agentID), has) {
		return shown.FromHere
	}
	if slices.ContainsFunc(own(d, shown.Every), has) {
		return shown.FromEvery
	}
	return shown.FromBuiltIn
}

func hasSkill(r *store.Rules, path, home string) bool {
	return slices.ContainsFunc(r.SkillBins, func(k approval.Skill) bool { return paths.Expand(k.Path, home) == path })
}

// stateOf compares the file of a skill with the one that was accepted.
func (s *Settings) stateOf(k approval.Skill) shown.SkillState {
	file, err := machine.Disk{}.Look(k.Path)
	if err != nil || file.Path != k.Path {
		return shown.SkillGone
	}
	if k.SHA256 == "" {
		return shown.SkillUnpinned
	}
	if sum, err := s.hashes.Of(file); err != nil || !strings.EqualFold(sum, k.SHA256) {
		return shown.SkillChanged
	}
	return shown.SkillSame
}

// gateways are those that the policy file names, for whichever agent, and those
// that the node service of this machine has joined.
func (s *Settings) gateways(snap store.Snapshot, agentID string) []shown.GatewayRow {
	rows, names := []shown.GatewayRow{}, map[string]bool{}
	for _, name := range node.Gateways(s.app.state.Node()) {
		names[name] = true
	}
	for _, agent := range snap.Document.Agents {
		for _, name := range agent.AcceptAnswersFrom {
			names[name] = true
		}
	}
	delete(names, approval.MCPClient)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, gatewayRow(snap, agentID, name))
	}
	return rows
}

// gatewayRow is one of them, or the agent's own MCP client.
func gatewayRow(snap store.Snapshot, agentID, name string) shown.GatewayRow {
	mine := snap.Document.Agents[agentID]
	on := slices.Contains(snap.AcceptAnswersFrom(agentID), name)
	return shown.NewGatewayRow(name, on, hereOr(mine != nil && mine.AcceptAnswersFrom != nil))
}

// AddTo adds to "safe-bins" the name of a filter or, if it is a path, a folder
// that filters are trusted in, to "skills" a program, as it is now, and to "projects"
// a folder.
func (s *Settings) AddTo(agentID, rev, list, text string) Saved {
	text = strings.TrimSpace(text)
	if isFolder(text) {
		text = filepath.Clean(paths.Expand(text, s.app.person.Home))
	}
	skill := approval.Skill{}
	if list == listSkills {
		var err error
		if skill, err = accept(&s.hashes, text); err != nil {
			return s.failed(err, agentID)
		}
	}
	return s.edit(agentID, rev, func(d *store.Document) error {
		switch list {
		case listSafeBins:
			return s.editFilters(d, agentID, text, func(list []string) []string { return append(list, text) })
		case listSkills:
			rules := toEdit(d, agentID)[0]
			if hasSkill(rules, skill.Path, s.app.person.Home) {
				rules.SkillBins = withoutSkill(rules.SkillBins, skill.Path, s.app.person.Home)
			}
			rules.SkillBins = append(rules.SkillBins, skill)
			return nil
		case listProjects:
			return s.nameProject(d, agentID, text)
		}
		return errNoList
	})
}

var errNoList = errors.New("there is no such list")

// accept notes a program as it is now, for a skill.
func accept(hashes *machine.Hashes, at string) (approval.Skill, error) {
	if !filepath.IsAbs(at) {
		return approval.Skill{}, errors.New("a skill is a program: give its path, which begins with / or ~/")
	}
	file, err := machine.Disk{}.Look(at)
	if info, err2 := os.Stat(at); err != nil || err2 != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return approval.Skill{}, fmt.Errorf("there is no program at %s", at)
	}
	sum, err := hashes.Of(file)
	return approval.Skill{Name: filepath.Base(at), Path: file.Path, SHA256: sum}, err
}

func withoutSkill(list []approval.Skill, path, home string) []approval.Skill {
	return slices.DeleteFunc(list, func(k approval.Skill) bool { return paths.Expand(k.Path, home) == path })
}

// RemoveFrom takes out of "safe-bins" a name or a folder, out of "skills" the
// program with this path, and out of "projects" the folder.
func (s *Settings) RemoveFrom(agentID, rev, list, text string) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error {
		switch list {
		case listSafeBins:
			return s.editFilters(d, agentID, text, func(list []string) []string {
				return slices.DeleteFunc(list, func(have string) bool { return have == text })
			})
		case listSkills:
			found := false
			for _, rules := range own(d, agentID) {
				found = found || hasSkill(rules, text, s.app.person.Home)
				rules.SkillBins = withoutSkill(rules.SkillBins, text, s.app.person.Home)
			}
			if !found {
				return errChanged
			}
			return nil
		case listProjects:
			return unnameProject(d, agentID, text)
		}
		return errNoList
	})
}

// editFilters gives an agent its own list of filters, or of folders for a path:
// what holds now, with the change. A change that changes nothing is refused.
func (s *Settings) editFilters(d *store.Document, agentID, text string, change func([]string) []string) error {
	now := s.app.host.Policy().Policy(agentID)
	before, folder := now.SafeBins, isFolder(text)
	if folder {
		before = now.SafeBinTrustedDirs
	}
	after := slices.Compact(change(slices.Clone(before)))
	if slices.Equal(before, after) || len(after) > len(before) && slices.Contains(before, text) {
		return errors.New("nothing was changed: it is there already, or is not any more")
	}
	for i, rules := range toEdit(d, agentID) {
		mine := &rules.SafeBins
		if folder {
			mine = &rules.SafeBinTrustedDirs
		}
		if *mine = nil; i == 0 {
			*mine = after
		}
	}
	return nil
}

// isFolder tells a folder from the name of a program, which has no slash.
func isFolder(text string) bool { return strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") }

// SetAnswersFrom has answers count that are given at a gateway or in the agent's
// own MCP client, or not.
func (s *Settings) SetAnswersFrom(agentID, rev, gateway string, on bool) Saved {
	return s.edit(agentID, rev, func(d *store.Document) error {
		snap := s.app.host.Policy()
		if on && gateway != approval.MCPClient && !slices.ContainsFunc(s.gateways(snap, agentID), func(g shown.GatewayRow) bool { return g.Exact == gateway }) {
			return errors.New("no such gateway is known")
		}
		list := slices.DeleteFunc(slices.Clone(snap.AcceptAnswersFrom(agentID)), func(have string) bool { return have == gateway })
		if on {
			list = append(list, gateway)
		}
		d.Agent(agentID).AcceptAnswersFrom = append([]string{}, list...)
		return nil
	})
}

// Size returns how much the history holds.
func (a *Activity) Size() shown.HistorySize {
	ctx, cancel := a.look()
	defer cancel()
	size, err := a.app.host.HistorySize(ctx)
	shownNow := shown.NewHistorySize(size)
	if err != nil {
		shownNow.Problem = sentence(err)
	}
	return shownNow
}

package host

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/store"
)

// SkillAt is the program at an absolute path as it is now, to be accepted as a
// skill. Its name is that of the path unless another one is given.
func SkillAt(name, at string) (k approval.Skill, err error) {
	if !filepath.IsAbs(at) {
		return k, fmt.Errorf("a skill is a program: give its path, which begins with / or ~/, and not %s", display.Escape(at))
	}
	if name == "" {
		name = filepath.Base(at)
	}
	file, err := machine.Disk{}.Look(at)
	if err != nil || file.Mode&0o111 == 0 {
		return k, fmt.Errorf("there is no program at %s", display.Escape(at))
	}
	sum, err := (&machine.Hashes{}).Of(file)
	return approval.Skill{Name: name, Path: file.Path, SHA256: sum}, err
}

// SkillState says what is there of a skill now.
type SkillState string

const (
	SkillAccepted SkillState = "accepted"     // the file that was accepted
	SkillChanged  SkillState = "changed"      // another one: it asks
	SkillNew      SkillState = "not accepted" // nothing is recorded of it: it asks
	SkillGone     SkillState = "gone"         // no file at all, or behind a link
)

// StateOf compares the file of a skill with the one that was accepted.
func StateOf(k approval.Skill) SkillState {
	now, err := SkillAt(k.Name, k.Path)
	switch {
	case err != nil || now.Path != k.Path:
		return SkillGone
	case k.SHA256 == "":
		return SkillNew
	case !strings.EqualFold(now.SHA256, k.SHA256):
		return SkillChanged
	}
	return SkillAccepted
}

// skillsUse accepts a program as a skill of an agent, as it was shown, or with
// drop takes a skill out by its name or path.
func skillsUse(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID string         `json:"agentId"`
		Skill   approval.Skill `json:"skill"`
		Drop    string         `json:"drop"`
	}](c)
	if err != nil {
		return nil, err
	}
	if params.Drop != "" {
		return h.update(ctx, c, "", func(d *store.Document) error { return d.DropSkill(params.AgentID, params.Drop, h.opt.Home) })
	}
	now, err := SkillAt(params.Skill.Name, params.Skill.Path)
	switch {
	case err != nil:
		return nil, err
	case now != params.Skill:
		return nil, fmt.Errorf("the file of the skill %s was changed meanwhile: look at it again", display.Escape(params.Skill.Name))
	}
	return h.update(ctx, c, "", func(d *store.Document) error {
		d.AddSkill(params.AgentID, now, h.opt.Home)
		return nil
	})
}

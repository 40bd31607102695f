package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/project"
	"github.com/countersign-app/countersign/backend/store"
)

// Projects is what `projects.list` returns.
type Projects struct {
	// Projects are what a person said of folders, as it holds now.
	Projects []NamedFolder `json:"projects"`
	// Held says what an edit that waits would permit.
	Held []string `json:"held,omitempty"`
}

// NamedFolder is one folder of the list.
type NamedFolder struct {
	approval.Project
	// Why says why it does not count as it is now, "" where it does.
	Why string `json:"why,omitempty"`
}

// ProjectsOf are the folders of one state of the policy.
func ProjectsOf(snap store.Snapshot, home string) Projects {
	p := Projects{Projects: []NamedFolder{}}
	for _, one := range snap.Projects() {
		named := NamedFolder{Project: one}
		if !one.No {
			named.Why = project.Standing(one, project.Person{Home: home, UID: os.Getuid()}, machine.Disk{})
		}
		p.Projects = append(p.Projects, named)
	}
	if snap.Held != nil {
		p.Held = snap.Held.Loosens
	}
	return p
}

// FolderToName returns the real path of a folder that a person means, or why it can
// never be a project.
func FolderToName(at, home string) (string, error) {
	if !filepath.IsAbs(at) {
		return "", errors.New("a project is named by its absolute path")
	}
	file, err := machine.Disk{}.Look(at)
	if err != nil {
		return "", fmt.Errorf("cannot look at the folder: %w", err)
	}
	if why := project.Standing(approval.Project{Path: file.Path}, project.Person{Home: home, UID: os.Getuid()}, machine.Disk{}); why != "" {
		return "", fmt.Errorf("%s can never be a project: %s", display.Escape(file.Path), why)
	}
	return file.Path, nil
}

func projectsList(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	return ProjectsOf(h.store.Snapshot(), h.opt.Home), nil
}

// bySocket is who named what came by a call.
const bySocket = "command line"

func projectsAdd(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Project  approval.Project `json:"project"`
		BaseHash string           `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	one := params.Project
	if one.Path, err = FolderToName(one.Path, h.opt.Home); err != nil {
		return nil, err
	}
	if one.SameAs != "" {
		if one.SameAs, err = FolderToName(one.SameAs, h.opt.Home); err != nil {
			return nil, err
		}
	}
	one.AddedAt, one.AddedBy = time.Now().UnixMilli(), bySocket // whatever the call says
	return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
		d.Name(one)
		return nil
	})
}

func projectsRemove(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Path     string `json:"path"`
		AgentID  string `json:"agentId"`
		BaseHash string `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, params.BaseHash, func(d *store.Document) error {
		return RemoveProject(d, params.Path, params.AgentID)
	})
}

// RemoveProject takes out what was said of a folder, by the name in the list or by
// one that leads there.
func RemoveProject(d *store.Document, at, agentID string) error {
	var agents []string // all
	if agentID != "" {
		agents = []string{agentID}
	}
	if len(d.Unname(at, agents...)) > 0 {
		return nil
	}
	if file, err := (machine.Disk{}).Look(at); err == nil && len(d.Unname(file.Path, agents...)) > 0 {
		return nil
	}
	return fmt.Errorf("nothing was said of the folder %s: see `countersign projects list`", display.Escape(at))
}

// FolderQuestion asks the person in the panel whether a folder is a project.
type FolderQuestion struct {
	// ID names this asking, for a click.
	ID                  string
	AgentID, SessionKey string
	Folder              string
	// Text is the command that waits for it.
	Text string
	// Strict tells that its agent asks about everything, in projects too.
	Strict bool
	// Inside is what is there, and Said what was said of it for other agents.
	Inside
	Said         []approval.Project
	Asked, Until time.Time
}

// FolderAnswer is what a person says to that.
type FolderAnswer string

const (
	FolderUnanswered FolderAnswer = ""
	FolderNo         FolderAnswer = "no"
	FolderAgent      FolderAnswer = "agent" // for this agent
	FolderEvery      FolderAnswer = "every" // for every agent
)

// Offers reports whether an answer is offered: what holds other projects is named
// for one agent at most.
func (q FolderQuestion) Offers(a FolderAnswer) bool {
	return a == FolderNo || a == FolderAgent || a == FolderEvery && q.Holds == 0
}

// askProject asks in the panel, and keeps the answer in the policy.
func (h *Host) askProject(ctx context.Context, asked gate.ProjectQuestion) error {
	until, _ := ctx.Deadline()
	var chance [16]byte
	rand.Read(chance[:]) // never fails
	q := FolderQuestion{
		ID: hex.EncodeToString(chance[:]), AgentID: asked.AgentID, SessionKey: asked.SessionKey, Folder: asked.Folder,
		Text: asked.Text, Asked: time.Now(), Until: until,
	}
	q.Inside = lookInside(asked.Folder)
	snap := h.store.Snapshot()
	q.Strict = snap.Policy(asked.AgentID).Ask == approval.AskAlways
	for _, one := range snap.Projects() {
		if one.Path == asked.Folder {
			q.Said = append(q.Said, one)
		}
	}
	answer, err := h.opt.AskFolder(ctx, q)
	switch {
	case ctx.Err() != nil, err == nil && answer == FolderUnanswered:
		return gate.ErrNoAnswer
	case err != nil:
		return err
	case !q.Offers(answer):
		return fmt.Errorf("the answer %q was not offered", answer)
	}
	if now, err := (machine.Disk{}).Look(asked.Folder); err != nil || now.Path != asked.Folder || !now.SameFolder(asked.File) {
		return fmt.Errorf("%s was replaced while it was asked about", display.Line(asked.Folder))
	}
	one := approval.Project{Path: asked.Folder, No: answer == FolderNo, AddedAt: time.Now().UnixMilli(), AddedBy: "panel"}
	if answer == FolderAgent {
		one.Agent = asked.AgentID
	}
	h.log.Info("the person said whether a folder is a project", "folder", display.Line(one.Path), "answer", answer, "agent", display.Line(asked.AgentID))
	_, err = h.edit("", theWindow, func(d *store.Document) error {
		if ctx.Err() != nil { // nobody waits for it any more, or everything was stopped
			return gate.ErrNoAnswer
		}
		d.Name(one)
		return nil
	})
	return err
}

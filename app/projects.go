package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

// saidTo is the agent of a page in what is said of folders: "" for every one.
func saidTo(agentID string) string {
	if agentID == shown.Every {
		return ""
	}
	return agentID
}

// projects are the folders of which something was said, to this agent or to every
// one.
func (s *Settings) projects(snap store.Snapshot, agentID string) []shown.ProjectRow {
	rows, list := []shown.ProjectRow{}, snap.Policy(agentID).Allowlist
	for _, one := range host.ProjectsOf(snap, s.app.person.Home).Projects {
		if one.About(agentID) {
			row := shown.NewProjectRow(one.Project, one.Why, hereOr(one.Agent == saidTo(agentID)), s.app.names())
			row.Commands = slices.ContainsFunc(list, func(e approval.Entry) bool { return starts.ProjectCommands.Made(e) && e.Cwd == one.Path })
			rows = append(rows, row)
		}
	}
	return rows
}

func (s *Settings) nameProject(d *store.Document, agentID, folder string) error {
	at, err := host.FolderToName(folder, s.app.person.Home)
	if err != nil {
		return err
	}
	d.Name(approval.Project{Path: at, Agent: saidTo(agentID), AddedAt: time.Now().UnixMilli(), AddedBy: "settings"})
	return nil
}

// AllowProject lets the tests, builds, local git work and edits of a project of the list run without a
// question: they run what its files say.
func (s *Settings) AllowProject(agentID, rev, folder string) Saved {
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	made, err := s.app.host.Start(ctx, starts.ProjectCommands, folder)
	return s.edit(agentID, rev, func(d *store.Document) error {
		if err != nil {
			return err
		}
		if at, err := host.StartFolder(d, starts.ProjectCommands, folder, agentID, s.app.person.Home); err != nil || at != folder {
			return cmp.Or(err, errChanged)
		}
		return host.TakeStart(d, agentID, starts.ProjectCommands, made)
	})
}

// unnameProject takes out what a row says, and nothing that was said to others.
func unnameProject(d *store.Document, agentID, folder string) error {
	if len(d.Unname(folder, saidTo(agentID))) == 0 {
		return errChanged
	}
	return nil
}

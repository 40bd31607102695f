package main

import (
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
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
	rows := []shown.ProjectRow{}
	for _, one := range host.ProjectsOf(snap, s.app.person.Home).Projects {
		if one.About(agentID) {
			rows = append(rows, shown.NewProjectRow(one.Path, one.No, one.Why, hereOr(one.Agent == saidTo(agentID)), s.app.names()))
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

// unnameProject takes out what a row says, and nothing that was said to others.
func unnameProject(d *store.Document, agentID, folder string) error {
	if len(d.Unname(folder, saidTo(agentID))) == 0 {
		return errChanged
	}
	return nil
}

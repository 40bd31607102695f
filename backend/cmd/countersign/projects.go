package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

type projectsCommands struct {
	List   projectsList   `cmd:"" help:"List the folders that were named, and those that are no projects."`
	Add    projectsAdd    `cmd:"" help:"Name a folder as a project: what is in it counts as inside. A checkout of git needs no name."`
	Remove projectsRemove `cmd:"" help:"Take back what was said of a folder."`
}

type projectsList struct {
	Agent string `help:"Only what is said to this agent." placeholder:"ID"`
}

func (c projectsList) Run(p *program) error {
	if _, err := p.document(); err != nil { // nothing is made by a look
		return err
	}
	var got host.Projects
	err := p.read("projects.list", nil, &got)
	if errors.Is(err, errNoHost) {
		var snap store.Snapshot
		if snap, err = p.policyHere(); err == nil {
			got = host.ProjectsOf(snap, p.home)
		}
	}
	if err != nil {
		return err
	}
	list := []host.NamedFolder{}
	for _, one := range got.Projects {
		if c.Agent == "" || one.About(oneAgent(c.Agent)) {
			list = append(list, one)
		}
	}
	return p.print(list, func(w io.Writer) {
		t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		for _, one := range list {
			agent, state := "every agent", "a project"
			if one.Agent != "" {
				agent = one.Agent
			}
			switch {
			case one.No:
				state = "no project"
			case one.Why != "":
				state = "does not count: " + one.Why
			case one.SameAs != "":
				state = "a project, with the entries of " + one.SameAs
			}
			fmt.Fprintf(t, "%s\t%s\t%s\n", display.Escape(one.Path), display.Escape(agent), display.Escape(state))
		}
		t.Flush()
		if len(list) == 0 {
			fmt.Fprintln(w, "no folder was named: checkouts of git are projects without a name")
		}
		writeHeld(w, got.Held)
	})
}

type projectsAdd struct {
	Agent string `help:"Only for this agent; without it, for every one." placeholder:"ID"`
	No    bool   `help:"Say that it is no project: it stays outside and is not asked about, also where it is a checkout." xor:"what"`
	Same  string `name:"same-as" help:"Count the entries for this project there too: for a worktree or another clone of it." placeholder:"FOLDER" xor:"what"`
	Path  string `arg:"" help:"The folder."`
}

func (c projectsAdd) Run(p *program) error {
	at, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	if at, err = host.FolderToName(at, p.home); err != nil {
		return err
	}
	one := approval.Project{Path: at, Agent: oneAgent(c.Agent), No: c.No, AddedBy: "command line"}
	if c.Same != "" {
		if one.SameAs, err = filepath.Abs(c.Same); err != nil {
			return err
		}
		if one.SameAs, err = host.FolderToName(one.SameAs, p.home); err != nil {
			return err
		}
	}
	return p.change("projects.add", map[string]any{"project": one}, func(d *store.Document) error {
		one.AddedAt = time.Now().UnixMilli()
		d.Name(one)
		return nil
	})
}

// oneAgent is the agent that is meant, "" for every one.
func oneAgent(id string) string {
	if id == store.Every {
		return ""
	}
	return store.AgentID(id)
}

type projectsRemove struct {
	Agent string `help:"Only what was said to this agent." placeholder:"ID"`
	Path  string `arg:"" help:"The folder."`
}

func (c projectsRemove) Run(p *program) error {
	at, err := filepath.Abs(c.Path)
	if err != nil {
		return err
	}
	agent := oneAgent(c.Agent)
	return p.change("projects.remove", map[string]any{"path": at, "agentId": agent}, func(d *store.Document) error {
		return host.RemoveProject(d, at, agent)
	})
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

type skillsCommands struct {
	List   skillsList   `cmd:"" help:"List the programs of skills, and whether each is the one that was accepted."`
	Accept skillsAccept `cmd:"" help:"Have a skill run without a question as its file is now."`
	Drop   skillsDrop   `cmd:"" help:"Take a skill out."`
}

// skillRow is a skill with what is there of it now.
type skillRow struct {
	approval.Skill
	State host.SkillState `json:"state"`
}

func skillRows(list []approval.Skill) []skillRow {
	rows := []skillRow{}
	for _, k := range list {
		rows = append(rows, skillRow{k, host.StateOf(k)})
	}
	return rows
}

func writeSkills(w io.Writer, rows []skillRow) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range rows {
		fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", display.Escape(k.Name), display.Escape(k.Path), cmp.Or(display.Escape(k.SHA256), "-"), k.State)
	}
	_ = table.Flush() // w is where everything is printed
}

type skillsList struct {
	Agent string `help:"Agent id, * for every one." default:"main" placeholder:"ID"`
}

func (c skillsList) Run(p *program) error {
	got, err := p.policyOf(c.Agent)
	if err != nil {
		return err
	}
	rows := skillRows(got.Policy.Skills)
	return p.print(rows, func(w io.Writer) {
		writeSkills(w, rows)
		if len(rows) == 0 {
			fmt.Fprintln(w, "No skills.")
		}
		if len(rows) > 0 && !got.Policy.AutoAllowSkills {
			fmt.Fprintln(w, "They ask like other programs: `countersign policy set autoAllowSkills true` changes that.")
		}
	})
}

type skillsAccept struct {
	Agent string `help:"Agent id, * for every one." default:"main" placeholder:"ID"`
	Skill string `arg:"" help:"Name of a skill, or the path of a program that is to be one."`
}

func (c skillsAccept) Run(p *program) error {
	name, at, err := c.find(p)
	if err != nil {
		return err
	}
	now, err := host.SkillAt(name, paths.Expand(at, p.home))
	if err != nil {
		return err
	}
	if !p.json {
		fmt.Fprintln(p.stdout, display.Escape(now.Name), display.Escape(now.Path), now.SHA256)
	}
	return p.change("skills.use", map[string]any{"agentId": c.Agent, "skill": now}, func(d *store.Document) error {
		d.AddSkill(c.Agent, now, p.home)
		return nil
	})
}

// find returns the name and the path of what is to be accepted; no name for a path
// alone.
func (c skillsAccept) find(p *program) (name, at string, err error) {
	if strings.Contains(c.Skill, "/") {
		return "", c.Skill, nil
	}
	got, err := p.policyOf(c.Agent)
	if err != nil {
		return "", "", err
	}
	for _, k := range got.Policy.Skills {
		switch {
		case k.Name != c.Skill:
		case at != "" && at != k.Path:
			return "", "", exit{exitUsage, "more than one skill is called " + c.Skill + ": give the path of its program"}
		default:
			at = k.Path
		}
	}
	if at == "" {
		return "", "", exit{exitUsage, "agent " + c.Agent + " has no skill " + c.Skill + ": give the path of its program"}
	}
	return c.Skill, at, nil
}

type skillsDrop struct {
	Agent string `help:"Agent id, * for every one." default:"main" placeholder:"ID"`
	Skill string `arg:"" help:"Name of a skill, or the path of its program."`
}

func (c skillsDrop) Run(p *program) error {
	which := paths.Expand(c.Skill, p.home)
	return p.change("skills.use", map[string]any{"agentId": c.Agent, "drop": which}, func(d *store.Document) error {
		return d.DropSkill(c.Agent, which, p.home)
	})
}

// unaccepted counts the skills that ask.
func unaccepted(rows []skillRow) int {
	return len(slices.DeleteFunc(slices.Clone(rows), func(k skillRow) bool { return k.State == host.SkillAccepted }))
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

type policyStart struct {
	Agent   string `help:"Agent id, or * for all." default:"*" placeholder:"ID"`
	Project string `help:"The folder of project-commands: one of the list of projects." placeholder:"DIR"`
	Print   bool   `help:"Print the entries as a policy file, and change nothing."`
	Name    string `arg:"" enum:"deny-all,ask-me,developer-tools,project-commands" help:"deny-all, ask-me, developer-tools (what only reads runs without a question) or project-commands (tests, builds, local git work and edits of the files of a project do, and run what its files say)."`
}

// startShown is what is printed of a start that was taken.
type startShown struct {
	Start   starts.Start `json:"start"`
	Agent   string       `json:"agent"`
	Mode    string       `json:"mode,omitempty"` // empty where it stays
	Project string       `json:"project,omitempty"`
	Rules   int          `json:"rules"`
	Missing []string     `json:"missing"`
}

func (c policyStart) Run(p *program) error {
	agent, start := cmp.Or(store.AgentID(c.Agent), store.Every), starts.Start(c.Name)
	if c.Project != "" {
		at, err := filepath.Abs(c.Project)
		if err != nil {
			return err
		}
		c.Project = at
	}
	params := map[string]any{"start": start, "project": c.Project, "agentId": agent}
	var made starts.Made
	folder := c.Project
	err := p.read("start.show", params, &made)
	if errors.Is(err, errNoHost) || errors.Is(err, errNoPolicy) {
		folder, made, err = c.alone(p, start, agent)
	}
	if err != nil {
		return err
	}
	if c.Print {
		return printStart(p.stdout, agent, start, made)
	}
	shown := startShown{start, agent, start.Mode(), folder, len(made.Entries), made.Missing}
	if !p.json { // before a person is asked for the passphrase
		shown.write(p.stdout)
	}
	edit := func(d *store.Document) error {
		if _, err := host.StartFolder(d, start, folder, agent, p.home); err != nil {
			return err
		}
		return host.TakeStart(d, agent, start, made)
	}
	err = p.changeShown("start.take", params, edit, func(before, after *store.Document) ([]string, error) {
		return host.StartLoosens(before, after, agent, start, folder, made, p.home)
	})
	if err != nil {
		return err
	}
	return p.print(shown, func(w io.Writer) { shown.row(w, "saved", "yes") })
}

// alone makes a start where no host runs.
func (c policyStart) alone(p *program, start starts.Start, agent string) (folder string, made starts.Made, err error) {
	if !c.Print || start == starts.ProjectCommands {
		doc, err := p.document()
		if err != nil {
			return "", made, err
		}
		if folder, err = host.StartFolder(doc, start, c.Project, agent, p.home); err != nil {
			return "", made, err
		}
	}
	name, shell := host.Person()
	made, err = host.StartAlone(p.ctx, host.Options{
		State: p.state, Home: p.home, User: name, Shell: shell, Environ: os.Environ(), Programs: host.Neighbours(), Log: slog.New(slog.DiscardHandler),
	}, start, folder)
	return folder, made, err
}

// printStart writes the policy that a start alone would be.
func printStart(w io.Writer, agent string, start starts.Start, made starts.Made) error {
	var d store.Document
	if err := host.TakeStart(&d, agent, start, made); err != nil {
		return err
	}
	text, err := d.Encode()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

func (s startShown) write(w io.Writer) {
	whose := "every agent"
	if s.Agent != store.Every {
		whose = s.Agent
	}
	row := func(name, value string) { s.row(w, name, value) }
	row("start", s.Start.Title()+", for "+whose)
	for _, mode := range approval.Modes {
		if mode.ID == s.Mode {
			row("mode", mode.Title)
		}
	}
	if s.Project != "" {
		row("project", s.Project+": tests, builds, local git work and edits of its files run, and run what its files say")
	}
	if s.Rules > 0 {
		row("rules", fmt.Sprint(s.Rules))
		row("not found", cmp.Or(strings.Join(s.Missing, " "), "none"))
	}
}

func (s startShown) row(w io.Writer, name, value string) {
	fmt.Fprintf(w, "%-10s %s\n", name, display.Escape(value))
}

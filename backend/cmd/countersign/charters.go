package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

type chartersCommands struct {
	List   chartersList   `cmd:"" help:"List the charters of the folder, and for which agents they hold."`
	Show   chartersShow   `cmd:"" help:"Print what a charter forbids and permits, with its parents."`
	Accept chartersAccept `cmd:"" help:"Have a charter hold for an agent, as its file is now."`
	Drop   chartersDrop   `cmd:"" help:"Have a charter hold no more, and take back what it permitted."`
}

func (p *program) charters() config.Charters { return config.Charters{Dir: p.state.Charters()} }

type chartersList struct{}

// charterState is one line of the list.
type charterState struct {
	Name string `json:"name"`
	// Agents are those that it holds for; Changed tells that its file is not the
	// one that was accepted, so that nothing of them runs.
	Agents  []string `json:"agents"`
	Changed bool     `json:"changed,omitempty"`
	Error   string   `json:"error,omitempty"`
}

func (chartersList) Run(p *program) error {
	doc, err := p.document()
	if err != nil {
		return err
	}
	files, err := os.ReadDir(p.state.Charters())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	by := map[string]*charterState{}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), ".json5"); ok && store.CharterName(name) {
			by[name] = &charterState{Name: name, Agents: []string{}}
		}
	}
	for agent, refs := range doc.Charters() {
		for _, ref := range refs {
			if by[ref.Name] == nil {
				by[ref.Name] = &charterState{Name: ref.Name}
			}
			one := by[ref.Name]
			one.Agents = append(one.Agents, agent)
			_, sum, err := p.charters().Read(ref.Name)
			if one.Changed = one.Changed || err != nil || sum != ref.SHA256; err != nil {
				one.Error = err.Error()
			}
		}
	}
	list := []charterState{}
	for _, one := range by {
		slices.Sort(one.Agents)
		list = append(list, *one)
	}
	slices.SortFunc(list, func(a, b charterState) int { return strings.Compare(a.Name, b.Name) })
	return p.print(list, func(w io.Writer) {
		for _, one := range list {
			holds := "holds for nobody"
			if len(one.Agents) > 0 {
				holds = "holds for " + strings.Join(one.Agents, ", ")
			}
			if one.Changed {
				holds += ": it is not the version that was accepted, so they may run nothing"
			}
			fmt.Fprintln(w, display.Escape(one.Name+"  "+holds))
		}
		if len(list) == 0 {
			fmt.Fprintln(w, "there are no charters: put NAME.json5 into "+display.Escape(p.state.Charters()))
		}
	})
}

type chartersShow struct {
	Name string `arg:"" help:"Name of the charter."`
}

func (c chartersShow) Run(p *program) error {
	charter, _, err := p.charters().Read(c.Name)
	if err != nil {
		return err
	}
	return p.print(charter, func(w io.Writer) { writeCharter(w, c.Name, charter) })
}

func writeCharter(w io.Writer, name string, c config.Charter) {
	lines := func(what string, list []string) {
		for _, one := range list {
			fmt.Fprintln(w, display.Escape(what+"  "+one))
		}
	}
	lines("never   ", c.AlwaysReject)
	lines("each time", c.RequireConfirmation)
	lines("escalate ", c.Escalate)
	for _, e := range c.Permits(name) {
		fmt.Fprintln(w, display.Escape("permits   "+strings.Join(append([]string{e.Pattern}, e.Args...), " ")))
	}
}

type chartersAccept struct {
	Agent string `help:"Agent id, * for every one." default:"main" placeholder:"ID"`
	Name  string `arg:"" help:"Name of the charter."`
}

func (c chartersAccept) Run(p *program) error {
	if !store.CharterName(c.Name) {
		return exit{exitUsage, "the name of a charter has letters, digits, - and _"}
	}
	charter, sum, err := p.charters().Read(c.Name)
	if err != nil {
		return err
	}
	use, err := host.UseCharter(p.charters(), p.home, c.Agent, c.Name)
	if err != nil {
		return err
	}
	if !p.json {
		writeCharter(p.stdout, c.Name, charter)
	}
	return p.change("charters.use", map[string]any{"agentId": c.Agent, "name": c.Name, "sha256": sum}, func(d *store.Document) error {
		if err := use(d); err != nil {
			return err
		}
		return d.CharterIs(c.Agent, c.Name, sum)
	})
}

type chartersDrop struct {
	Agent string `help:"Agent id, * for every one." default:"main" placeholder:"ID"`
	Name  string `arg:"" help:"Name of the charter."`
}

func (c chartersDrop) Run(p *program) error {
	return p.change("charters.use", map[string]any{"agentId": c.Agent, "name": c.Name, "drop": true}, func(d *store.Document) error {
		return d.DropCharter(c.Agent, c.Name)
	})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/starts"
)

type policyStops struct {
	Files  []string `arg:"" optional:"" name:"file" help:"Lists of commands, or history exports: one JSON object a line. Without one, what came of the commands on this machine is counted, as its history tells."`
	Days   int      `help:"Without a file: how many days back, 7 if not given." placeholder:"N"`
	Policy string   `help:"Judge under this policy file instead of the policy that holds." placeholder:"FILE"`
	Start  string   `help:"Judge under a start (deny-all, ask-me, developer-tools; project-commands on top of that for each project of the list), made from the programs of the list's machine." enum:",deny-all,ask-me,developer-tools,project-commands" default:"" placeholder:"NAME"`
	World  string   `help:"The programs, folders and files of the list's machine; without it, this machine." placeholder:"FILE"`
	Answer string   `help:"Answer no question (none), or each but those labelled P with what the panel preselects (preselected), in a copy of the policy." enum:"none,preselected" default:"none"`
}

func (c policyStops) Run(p *program) error {
	switch {
	case len(c.Files) == 0:
		return c.onThisMachine(p)
	case c.Days != 0:
		return exit{exitUsage, "--days is for this machine: a list is counted as a whole"}
	case c.Policy != "" && c.Start != "":
		return errors.New("give --policy or --start, not both")
	}
	list, err := c.list(p)
	if err != nil {
		return err
	}
	s := newReplay(c.policies(p, list), c.Answer == "preselected")
	for _, one := range list {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		if err := s.run(one); err != nil {
			return err
		}
	}
	if !s.answers {
		if err := s.suggest(p.ctx, list); err != nil {
			return err
		}
	}
	got := s.done()
	return p.print(got, got.write)
}

// list reads the commands and plans each on its machine.
func (c policyStops) list(p *program) (list []*replayed, err error) {
	benches, seen := map[string]*bench{}, map[string]bool{}
	for _, file := range c.Files {
		read, err := readList(file, seen)
		if err != nil {
			return nil, err
		}
		for _, one := range read {
			if one.World == "" {
				one.World = c.World
			}
			b := benches[one.World]
			if b == nil {
				if b, err = p.benchIn(one.World); err != nil {
					return nil, err
				}
				benches[one.World] = b
			}
			if err := p.ctx.Err(); err != nil {
				return nil, err
			}
			list = append(list, &replayed{one, b, b.planned(p.ctx, one)})
		}
	}
	return list, nil
}

// planned plans a command of a list. A list has no times, so what is in the temp folder
// and is written by its commands counts as made by its session.
func (b *bench) planned(ctx context.Context, one listed) approval.Plan {
	req, folder := one.request(), b.folder(one.Folder)
	req.ProjectOf = b.folder
	plan := b.analyzer.Analyze(ctx, req, folder)
	targets := plan.Targets
	for i := range plan.Segments {
		targets = append(slices.Clip(targets), plan.Segments[i].Targets...)
	}
	for _, to := range targets {
		temp := slices.ContainsFunc(b.analyzer.Temp, func(dir string) bool { return strings.HasPrefix(to.Path, dir+"/") })
		if file, err := b.analyzer.World.Look(to.Path); temp && err == nil {
			req.Wrote = append(req.Wrote, file)
		}
	}
	if len(req.Wrote) == 0 {
		return plan
	}
	return b.analyzer.Analyze(ctx, req, folder)
}

// benchIn judges on the machine that a file describes, or on this one.
func (p *program) benchIn(world string) (*bench, error) {
	if world == "" {
		return p.benchHere(), nil
	}
	text, err := readPlain(world, corpus.MaxSize)
	if err != nil {
		return nil, err
	}
	w, err := corpus.ParseWorld(filepath.Base(world), text)
	if err != nil {
		return nil, err
	}
	b := benchOf(w)
	b.analyzer.Secrets = nil // nobody knows which variables the machine of a list has
	return b, nil
}

// policies says which policy holds for an agent. The projects of a list are the
// session's folders of its commands.
func (c policyStops) policies(p *program, list []*replayed) func(agent string, b *bench) (approval.Policy, error) {
	projects := map[*bench][]string{}
	for _, one := range list {
		if at := one.plan.Folder.Path; at != "" && !slices.Contains(projects[one.bench], at) {
			projects[one.bench] = append(projects[one.bench], at)
		}
	}
	return func(agent string, b *bench) (approval.Policy, error) {
		switch {
		case c.Start != "":
			return b.started(agent, starts.Start(c.Start), projects[b]...), nil
		case c.Policy != "":
			held, _, err := policyIn(c.Policy, agent, b.analyzer.Home)
			return held, err
		}
		got, err := p.policyOf(agent)
		return got.Policy, err
	}
}

// per100 is a share in percent, with one digit behind the point.
func per100(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(n)/float64(of))
}

// stopsTable is a table of groups of commands.
type stopsTable struct{ *tabwriter.Writer }

func newStopsTable(w io.Writer) stopsTable {
	t := stopsTable{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	fmt.Fprintln(t, "\tcommands\tasked /100\tof these without an offer\tdenied /100")
	return t
}

func (t stopsTable) row(name string, n stopCounts) {
	fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%s\n", name, n.Commands, per100(n.Asked, n.Commands), per100(n.NoOffer, n.Commands), per100(n.Denied, n.Commands))
}

func writeCauses(w io.Writer, name string, list []cause) {
	fmt.Fprintf(w, "\n%s\n", name)
	for _, one := range list {
		fmt.Fprintf(w, "%6d  %s\n", one.Stops, display.Escape(one.Name))
	}
}

func (r stopsResult) write(w io.Writer) {
	t := newStopsTable(w)
	t.row("all", r.All)
	for _, label := range slices.Sorted(maps.Keys(r.Labels)) {
		t.row("label "+label, r.Labels[label])
	}
	for i, b := range r.Blocks {
		t.row(fmt.Sprintf("%d to %d of each person", i*blockSize+1, (i+1)*blockSize), b)
	}
	_ = t.Flush()
	writeCauses(w, "reasons", r.Reasons)
	writeCauses(w, "programs", r.Programs)
	writeCauses(w, "without an offer", r.NoOffer)
	if len(r.Suggestions) > 0 {
		fmt.Fprintln(w, "\nwhat one answer would save")
	}
	for _, one := range r.Suggestions {
		var words []string
		for _, e := range one.Entries {
			words = append(words, strings.TrimSpace(e.Pattern+" "+narrowing(e)))
		}
		fmt.Fprintf(w, "%6d  %s\n", one.Saves, display.Escape(strings.Join(words, "; ")))
	}
	for _, one := range r.Passed {
		fmt.Fprintf(w, "\npassed, and a person should see it (%s, after %d answers): %s\n    %s\n", display.Escape(one.Person), one.Answers, display.Escape(one.By), display.Escape(one.Command))
	}
}

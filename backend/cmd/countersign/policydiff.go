package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/store"
)

type policyDiff struct {
	Old   string `arg:"" help:"A policy file (exec-approvals.json)."`
	New   string `arg:"" help:"Another one."`
	Cases string `help:"Cases to judge under both, as for policy test; their own policies do not count." required:"" placeholder:"FILE"`
	Agent string `help:"Agent id." default:"main" placeholder:"ID"`
}

// verdictChange is a case that two policies judge differently.
type verdictChange struct {
	ID     string           `json:"id"`
	Old    approval.Verdict `json:"old"`
	New    approval.Verdict `json:"new"`
	Reason string           `json:"reason"` // for New
	input  string
	// sentence says the reason in words; empty for what is allowed.
	sentence string
}

// diffResult is what policy diff prints.
type diffResult struct {
	Changed int             `json:"changed"`
	Cases   int             `json:"cases"`
	Changes []verdictChange `json:"changes"`
}

func (c policyDiff) Run(p *program) error {
	t, err := p.trial(c.Cases)
	if err != nil {
		return err
	}
	var rules [2]*policy.Rules
	named := false
	for i, file := range []string{c.Old, c.New} {
		held, there, err := policyIn(file, c.Agent, t.cases.World.Home)
		if err != nil {
			return err
		}
		rules[i], named = t.prepare(held), named || there
	}
	if !named {
		fmt.Fprintf(p.stderr, "neither file names the agent %s: what holds for all agents is compared\n", display.Escape(c.Agent))
	}
	got := diffResult{Cases: len(t.cases.Cases), Changes: []verdictChange{}}
	for _, one := range t.cases.Cases {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		plan := t.plan(one)
		was, is := t.judge(one, &plan, rules[0]), t.judge(one, &plan, rules[1])
		if was.Verdict != is.Verdict {
			got.Changes = append(got.Changes, verdictChange{one.ID, was.Verdict, is.Verdict, because(is), inputOf(one), is.Sentence})
		}
	}
	got.Changed = len(got.Changes)
	return p.print(got, func(w io.Writer) {
		for _, d := range got.Changes {
			fmt.Fprintf(w, "%s: %s → %s: %s\n    %s\n\n", display.Escape(d.ID), d.Old, d.New,
				display.Escape(explained(d.Reason, d.sentence)), display.Escape(d.input))
		}
		fmt.Fprintf(w, "%d of %d cases change\n", got.Changed, got.Cases)
	})
}

// policyIn returns what a policy file says for an agent, and whether it names
// it. It reads a copy: a store writes beside its file, and this one is somebody
// else's.
func policyIn(file, agent, home string) (held approval.Policy, named bool, err error) {
	text, err := readPlain(file, store.MaxSize)
	if err != nil {
		return held, false, err
	}
	doc, err := store.Parse(filepath.Base(file), text, home)
	if err != nil {
		return held, false, err
	}
	dir, err := os.MkdirTemp("", "countersign-diff-")
	if err != nil {
		return held, false, err
	}
	defer os.RemoveAll(dir)
	state := paths.State{Dir: dir}
	if err := os.WriteFile(state.Approvals(), text, 0o600); err != nil {
		return held, false, err
	}
	s, err := store.Open(store.Options{State: state, Home: home})
	if err != nil {
		return held, false, err
	}
	defer s.Close()
	snap := s.Snapshot()
	if snap.Broken != nil {
		return held, false, snap.Broken
	}
	return snap.Policy(store.AgentID(agent)), doc.Agents[store.AgentID(agent)] != nil, nil
}

package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

// examples show what the starting points mean.
var examples = []string{"ls -l", "git status", "rm -rf build"}

// startingPoints says what each starting point would mean on this machine, by
// the judgement itself.
func (a *app) startingPoints(ctx context.Context) shown.Start {
	start := shown.Start{Tools: []shown.Tool{}, Examples: []shown.Example{}}
	policies := map[starts.Start]approval.Policy{}
	made, _ := a.host.Start(ctx, starts.DeveloperTools, "") // without them each asks
	entries, names := made.Entries, made.Names
	for _, point := range starts.All {
		p := approval.Policy{AskFallback: approval.SecurityDeny}
		p.Security, p.Ask, _ = shown.Mode(point.Mode()).Words()
		if point == starts.DeveloperTools {
			p.Allowlist = entries
		}
		policies[point] = p
	}
	for _, command := range examples {
		e := shown.Example{Command: command}
		for _, point := range starts.All {
			e.Verdicts = append(e.Verdicts, a.suppose(ctx, policies[point], strings.Fields(command)))
		}
		start.Examples = append(start.Examples, e)
	}
	tools := policies[starts.DeveloperTools]
	for i, e := range entries {
		asks := !a.passes(ctx, tools, append([]string{names[i]}, e.Args...))
		n := len(start.Tools)
		if n == 0 || start.Tools[n-1].Name != names[i] {
			start.Tools = append(start.Tools, shown.Tool{Name: names[i], Path: e.Pattern, Only: []string{}})
			n++
		}
		t := &start.Tools[n-1]
		t.Asks = t.Asks || asks
		if len(e.Args) > 0 {
			t.Only = append(t.Only, strings.Join(e.Args, " "))
		}
	}
	return start
}

// passes reports whether a program passes with any of a few words that most know:
// some ask without an operand.
func (a *app) passes(ctx context.Context, p approval.Policy, argv []string) bool {
	return slices.ContainsFunc([][]string{nil, {"--version"}, {"--help"}, {"x"}}, func(more []string) bool {
		return a.suppose(ctx, p, slices.Concat(argv, more)) == shown.Passes
	})
}

func (a *app) suppose(ctx context.Context, p approval.Policy, argv []string) shown.Verdict {
	switch verdict, err := a.host.Suppose(ctx, p, argv...); {
	case err != nil || verdict == approval.VerdictDeny:
		return shown.Denied
	case verdict == approval.VerdictAllow:
		return shown.Passes
	}
	return shown.Asks
}

// firstRunDue reports whether nobody has chosen how agents start: the policy
// is the one that the store writes where there is none.
func firstRunDue(snap store.Snapshot) bool {
	if snap.Broken != nil || snap.Held != nil || snap.Document == nil || len(snap.Document.Agents) > 0 {
		return false
	}
	d := snap.Document.Defaults
	return d.Security == approval.SecurityDeny && d.Ask == approval.AskOnMiss && len(d.Denylist) == 0
}

var errChosen = errors.New("how agents start was chosen already: change it under Agents")

func (s *Settings) choose(name string) Saved {
	start := starts.Start(name)
	switch {
	case !s.app.edits():
		return s.failed(errNotOpen, shown.Every)
	case !slices.Contains(starts.All, start):
		return s.failed(errors.New("there is no such start"), shown.Every)
	}
	made, err := s.app.host.Start(context.Background(), start, "")
	if err == nil {
		_, err = s.app.host.Update(func(d *store.Document) error {
			if !firstRunDue(store.Snapshot{Document: d}) {
				return errChosen
			}
			return host.TakeStart(d, shown.Every, start, made)
		})
	}
	if err != nil {
		return s.failed(err, shown.Every)
	}
	s.app.offerHooks(s.app.hooksToOffer())
	return s.saved(shown.Every)
}

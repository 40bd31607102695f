package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

// developerTools are programs that mostly read. After a colon stand the first
// arguments that one is narrowed to.
const developerTools = `
ls cat head tail wc stat file diff cmp du df tree which pwd echo date uname
sw_vers basename dirname realpath md5 shasum sha256sum ps uniq cut tr sort
grep rg jq
git:status git:diff git:log git:show git:branch,--list git:rev-parse git:blame
git:ls-files git:remote,-v`

// startMode is the mode of each starting point.
var startMode = map[string]shown.Mode{
	"deny-all": shown.ModeDeny, "ask-me": shown.ModeAskWhenNeeded, "developer-tools": shown.ModeAskWhenNeeded,
}

// startEntries are the entries of a starting point on this machine, with the
// names of their programs.
func (a *app) startEntries(ctx context.Context, start string) (entries []approval.Entry, names []string) {
	if start != "developer-tools" {
		return nil, nil
	}
	for _, word := range strings.Fields(developerTools) {
		name, rest, narrowed := strings.Cut(word, ":")
		found, err := a.host.Find(ctx, name)
		if err != nil || found == nil {
			continue
		}
		e := approval.Entry{Pattern: found.Program.Path, AddedAt: time.Now().UnixMilli(), AddedBy: "developer tools"}
		if narrowed {
			e.Args = strings.Split(rest, ",")
		}
		host.RecordIdentity(&e, a.person.Home)
		entries, names = append(entries, e), append(names, name)
	}
	return entries, names
}

// examples show what the starting points mean.
var examples = []string{"ls -l", "git status", "rm -rf build"}

// startingPoints says what each starting point would mean on this machine, by
// the judgement itself.
func (a *app) startingPoints(ctx context.Context) shown.Start {
	start := shown.Start{Tools: []shown.Tool{}, Examples: []shown.Example{}}
	policies := map[string]approval.Policy{}
	for _, point := range shown.StartingPoints {
		p := approval.Policy{AskFallback: approval.SecurityDeny}
		p.Security, p.Ask, _ = startMode[point].Words()
		p.Allowlist, _ = a.startEntries(ctx, point)
		policies[point] = p
	}
	for _, command := range examples {
		e := shown.Example{Command: command}
		for _, point := range shown.StartingPoints {
			e.Verdicts = append(e.Verdicts, a.suppose(ctx, policies[point], strings.Fields(command)))
		}
		start.Examples = append(start.Examples, e)
	}
	tools := policies["developer-tools"]
	entries, names := a.startEntries(ctx, "developer-tools")
	for i, e := range entries {
		asks := a.suppose(ctx, tools, append([]string{names[i]}, e.Args...)) != shown.Passes
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

func (s *Settings) choose(start string) Saved {
	if !s.app.edits() {
		return s.failed(errNotOpen, shown.Every)
	}
	entries, _ := s.app.startEntries(context.Background(), start)
	_, err := s.app.host.Update(func(d *store.Document) error {
		if !firstRunDue(store.Snapshot{Document: d}) {
			return errChosen
		}
		for _, e := range entries {
			d.Add(shown.Every, e)
		}
		return setMode(d, shown.Every, startMode[start])
	})
	if err != nil {
		return s.failed(err, shown.Every)
	}
	s.app.offerHooks(s.app.hooksToOffer())
	return s.saved(shown.Every)
}

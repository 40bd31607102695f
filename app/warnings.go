package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	// surveyTime bounds the look at all entries of an agent, and wildTime that at
	// one which stands for many programs.
	surveyTime = 10 * time.Second
	wildTime   = time.Second
	// unusedAfter is how long an entry may go without use.
	unusedAfter = 90 * 24 * time.Hour
)

// Warnings looks at the entries of an agent, and returns those that permit too
// much here, lead nowhere, or were not used for a long time. An entry that is
// switched off permits nothing.
func (s *Settings) Warnings(agentID string) shown.Warnings {
	ctx, cancel := context.WithTimeout(context.Background(), surveyTime)
	defer cancel()
	return s.app.warnings(s.app.newSurvey(ctx, wildTime), s.whole(agentID).Allowlist)
}

func (a *app) warnings(v survey, list []shown.EntryRow) shown.Warnings {
	found, now := shown.Warnings{List: []shown.EntryWarning{}}, time.Now()
	for _, row := range list {
		if row.Disabled {
			continue
		}
		w, known := v.look(row.Exact.Pattern)
		found.Partial = found.Partial || !known
		if w.Kind == "" {
			w = unused(row, now)
		}
		if w.Kind != "" {
			w.ID, w.From = row.ID, row.From
			found.List = append(found.List, w)
		}
	}
	return found
}

func unused(row shown.EntryRow, now time.Time) shown.EntryWarning {
	last := max(row.LastUsed, row.AddedAt)
	if age := now.Sub(time.UnixMilli(last)); last > 0 && age >= unusedAfter {
		return shown.EntryWarning{Kind: shown.WarnUnused, Days: int(age / (24 * time.Hour))}
	}
	return shown.EntryWarning{}
}

// survey looks at entries for as long as its context lets it, and at one that
// stands for many programs for so long. It knows the names in the search path,
// so that they are read once.
type survey struct {
	app   *app
	ctx   context.Context
	wild  time.Duration
	names map[string]string // where each leads
}

func (a *app) newSurvey(ctx context.Context, wild time.Duration) survey {
	v := survey{a, ctx, wild, map[string]string{}}
	dirs, err := a.host.SearchPath(ctx)
	if err != nil {
		return v // ctx has ended, and nothing is looked at
	}
	for _, dir := range slices.Backward(dirs) {
		list, _ := os.ReadDir(dir) // a folder that is not there holds nothing
		for _, f := range list {
			v.names[f.Name()] = filepath.Join(dir, f.Name())
		}
	}
	return v
}

// look says what is wrong with what an entry covers now. Nothing is known where
// time ran out before anything was found.
func (v survey) look(text string) (w shown.EntryWarning, known bool) {
	pattern, err := glob.Parse(text, v.app.person.Home)
	if err != nil {
		return w, true // the store takes none of these
	}
	at, literal := pattern.Literal()
	if wild := strings.ContainsAny(text, "*?[{"); !wild && pattern.Bare() {
		at, literal = v.names[text], true
	}
	if v.ctx.Err() != nil {
		return w, false
	}
	if literal {
		w.Kind = v.one(at)
		return w, v.ctx.Err() == nil
	}
	ctx, cancel := context.WithTimeout(v.ctx, v.wild)
	defer cancel()
	p := v.app.preview(ctx, shown.EntryEdit{Pattern: text})
	late := ctx.Err() != nil
	w.Count, w.More = p.Count, p.More
	switch folder := openFolder(pattern, text, v.app.person.Home); {
	case p.Count > broad || p.More && !late:
		w.Kind = shown.WarnBroad
	case p.Warning == shown.WarnCode:
		w.Kind = shown.WarnCode
	case folder != "":
		w.Kind, w.Folder = shown.WarnWritable, display.Escape(folder)
	case p.Count == 0 && !late:
		w.Kind = shown.WarnNothing
	}
	return w, !late || w.Kind != ""
}

// one looks at the only program of an entry.
func (v survey) one(at string) shown.Warning {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return shown.WarnNothing
	}
	found, err := v.app.host.Find(v.ctx, at)
	if err == nil && found != nil && (found.Kind == approval.KindShell || found.Kind == approval.KindInterpreter) {
		return shown.WarnCode
	}
	return ""
}

// openFolder returns the folder before the first wildcard if more than root
// can put programs there, as it is written; else "".
func openFolder(pattern glob.Pattern, text, home string) string {
	i := strings.IndexAny(text, "*?[{")
	if i < 0 || pattern.Bare() {
		return ""
	}
	folder := filepath.Dir(text[:i] + "x")
	real, err := filepath.EvalSymlinks(paths.Expand(folder, home))
	if err != nil || (machine.Disk{}).Kept(real) {
		return ""
	}
	return folder
}

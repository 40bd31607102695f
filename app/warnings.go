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
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	// surveyTime bounds the look at all entries of an agent, and wildTime that at
	// one which stands for many programs.
	surveyTime = 2 * time.Second
	wildTime   = 200 * time.Millisecond
	// unusedAfter is how long an entry may go without use (ui.md, allowlist).
	unusedAfter = 90 * 24 * time.Hour
)

// Warnings looks at the entries of an agent, and returns those that permit too
// much here, lead nowhere, or were not used for a long time. An entry that is
// switched off permits nothing.
func (s *Settings) Warnings(agentID string) shown.Warnings {
	ctx, cancel := context.WithTimeout(context.Background(), surveyTime)
	defer cancel()
	found, now := shown.Warnings{List: []shown.EntryWarning{}}, time.Now()
	v := s.app.newSurvey(ctx)
	for _, row := range s.Policy(agentID).Allowlist {
		if row.Disabled {
			continue
		}
		w := v.look(ctx, row.Exact)
		if ctx.Err() != nil {
			found.Partial = true
			break
		}
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

// survey knows the names in the search path, so that they are read once.
type survey struct {
	app   *app
	names map[string]string // where each leads
}

func (a *app) newSurvey(ctx context.Context) survey {
	v := survey{a, map[string]string{}}
	dirs, err := a.host.SearchPath(ctx)
	if err != nil {
		return v // then nothing has a name that leads anywhere, and ctx has ended
	}
	for _, dir := range slices.Backward(dirs) {
		list, _ := os.ReadDir(dir) // a folder that is not there holds nothing
		for _, f := range list {
			v.names[f.Name()] = filepath.Join(dir, f.Name())
		}
	}
	return v
}

// look says what is wrong with what an entry covers now.
func (v survey) look(ctx context.Context, e shown.EntryEdit) shown.EntryWarning {
	pattern, err := glob.Parse(e.Pattern, v.app.person.Home)
	if err != nil {
		return shown.EntryWarning{} // the store takes none of these
	}
	at, literal := pattern.Literal()
	if wild := strings.ContainsAny(e.Pattern, "*?[{"); !wild && pattern.Bare() {
		at, literal = v.names[e.Pattern], true
	}
	if literal {
		return v.one(ctx, at)
	}
	ctx, cancel := context.WithTimeout(ctx, wildTime)
	defer cancel()
	p := v.app.preview(ctx, shown.EntryEdit{Pattern: e.Pattern})
	w := shown.EntryWarning{Count: p.Count, More: p.More}
	switch folder := openFolder(pattern, e.Pattern, v.app.person.Home); {
	case p.Count > broad || p.More:
		w.Kind = shown.WarnBroad
	case p.Warning == shown.WarnCode:
		w.Kind = shown.WarnCode
	case folder != "":
		w.Kind, w.Folder = shown.WarnWritable, display.Escape(folder)
	case p.Count == 0:
		w.Kind = shown.WarnNothing
	}
	return w
}

// one looks at the only program of an entry.
func (v survey) one(ctx context.Context, at string) shown.EntryWarning {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return shown.EntryWarning{Kind: shown.WarnNothing}
	}
	found, err := v.app.host.Find(ctx, at)
	if err != nil || found == nil {
		return shown.EntryWarning{}
	}
	if found.Kind == approval.KindShell || found.Kind == approval.KindInterpreter {
		return shown.EntryWarning{Kind: shown.WarnCode}
	}
	return shown.EntryWarning{}
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
	if err != nil || (command.Disk{}).Kept(real) {
		return ""
	}
	return folder
}

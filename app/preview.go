package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	// previewTime bounds the look at the disk for one preview.
	previewTime = 300 * time.Millisecond
	// previewNames is how many programs are named, and broad from how many on
	// an entry is called too broad.
	previewNames = 5
	broad        = 50
	// previewFiles bounds the files that are looked at.
	previewFiles = 50_000
)

// preview finds the programs on this machine that a pattern means: those in
// the search path, and those below the folder that the pattern begins with.
func (a *app) preview(ctx context.Context, e shown.EntryEdit) shown.Preview {
	shownNow := shown.Preview{Programs: []string{}}
	pattern, err := glob.Parse(e.Pattern, a.person.Home)
	if err == nil {
		err = checkFolder(e.Cwd, a.person.Home)
	}
	if err != nil {
		shownNow.Problem = sentence(err)
		return shownNow
	}
	m := matcher{pattern: pattern, found: map[string]bool{}}
	if at, literal := pattern.Literal(); literal {
		m.look(at)
	} else {
		m.searchPath(ctx, a)
		m.below(ctx, paths.Expand(e.Pattern, a.person.Home))
	}
	names := m.names()
	shownNow.Count, shownNow.More = len(names), m.gaveUp
	for _, name := range names[:min(len(names), previewNames)] {
		shownNow.Programs = append(shownNow.Programs, display.Escape(name))
	}
	if len(names) > 0 || !m.gaveUp { // it may mean what was not looked at
		shownNow.Warning = a.warning(ctx, names)
	}
	return shownNow
}

// checkFolder refuses a folder of an entry that is none: the entry would
// never hold.
func checkFolder(cwd, home string) error {
	if cwd == "" {
		return nil
	}
	if p, err := glob.Parse(cwd, home); err != nil || p.Bare() {
		return errors.New("the folder must be a path that begins with / or ~/")
	}
	return nil
}

// matcher collects programs.
type matcher struct {
	pattern glob.Pattern
	found   map[string]bool
	looked  int
	gaveUp  bool
}

func (m *matcher) names() []string {
	names := []string{}
	for name := range m.found {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// look takes a file if it is a program that the pattern means. The pattern
// may mean its path, the file behind it or, in the search path, its name.
func (m *matcher) look(at string) {
	info, err := os.Stat(at)
	if err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return
	}
	real, err := filepath.EvalSymlinks(at)
	if err == nil && (m.pattern.Match(at) || m.pattern.Match(real) || m.pattern.MatchName(filepath.Base(at))) {
		m.found[at] = true
	}
}

func (m *matcher) full(ctx context.Context) bool {
	m.looked++
	m.gaveUp = m.gaveUp || m.looked > previewFiles || ctx.Err() != nil
	return m.gaveUp
}

func (m *matcher) searchPath(ctx context.Context, a *app) {
	dirs, err := a.host.SearchPath(ctx)
	if err != nil {
		m.gaveUp = true
		return
	}
	for _, dir := range dirs {
		list, _ := os.ReadDir(dir) // a folder that is not there holds nothing
		for _, f := range list {
			if m.full(ctx) {
				return
			}
			m.look(filepath.Join(dir, f.Name()))
		}
	}
}

// below walks the folder that stands before the first wildcard, if any does.
func (m *matcher) below(ctx context.Context, text string) {
	i := strings.IndexAny(text, "*?")
	if i < 0 {
		return
	}
	written := filepath.Dir(text[:i] + "x")
	root, err := filepath.EvalSymlinks(written)
	switch {
	case !strings.Contains(text, "/"): // a name, which only the search path has
		return
	case !filepath.IsAbs(text) || root == "/":
		m.gaveUp = true // below any folder: more than can be looked at here
		return
	case err != nil:
		return // there is no such folder
	}
	_ = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		switch {
		case m.full(ctx):
			return fs.SkipAll
		case err == nil && !d.IsDir():
			m.look(written + strings.TrimPrefix(at, root))
		}
		return nil
	})
}

// warning says what should make a person look twice.
func (a *app) warning(ctx context.Context, names []string) shown.Warning {
	switch {
	case len(names) == 0:
		return shown.WarnNothing
	case len(names) > broad:
		return shown.WarnBroad
	}
	starts := shown.Warning("")
	for _, name := range names {
		found, err := a.host.Find(ctx, name)
		if err != nil || found == nil {
			continue
		}
		switch found.Kind {
		case approval.KindShell, approval.KindInterpreter:
			return shown.WarnCode
		case approval.KindWrapper, approval.KindMultiplexer, approval.KindStarter, approval.KindChanger:
			starts = shown.WarnStarts
		}
	}
	return starts
}

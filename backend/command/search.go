package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// A text may add folders to PATH in which programs are found and started anyway, and
// activate an environment of Python in the project: what that means is known, so that
// what follows is resolved as it will be. Every other change of PATH asks.

// searched are the folders in which a bare name is looked up.
func (j *job) searched() []searchDir {
	if j.added == nil {
		return j.path
	}
	var list []searchDir
	for _, dir := range j.added.Before {
		list = append(list, searchDir{dir: dir, existed: true, venv: j.added.Venv != "" && dir == j.added.Venv+"/bin"})
	}
	list = append(list, j.path...)
	for _, dir := range j.added.After {
		list = append(list, searchDir{dir: dir, existed: true})
	}
	return list
}

// with looks names up as one segment does, until the returned function is called.
func (j *job) with(added *approval.Search) (back func()) {
	had := j.added
	j.added = added
	return func() { j.added = had }
}

// adds changes PATH for what follows in the text.
func (t *textJob) adds(more approval.Search) {
	var now approval.Search
	if t.added != nil {
		now = *t.added
	}
	now.Before, now.After = slices.Concat(more.Before, now.Before), slices.Concat(now.After, more.After)
	if more.Venv != "" {
		now.Venv = more.Venv
	}
	t.added = &now
}

// unsure asks where PATH changed and only the run can tell whether it did.
func (t *textJob) unsure(had *approval.Search) bool {
	if t.added == had {
		return false
	}
	t.ask(approval.ReasonEnvAsks, "it changes PATH where only the run can tell whether it does")
	return true
}

// addsToPath reads `PATH="FOLDER:$PATH"`, with one or more folders on one side of it or
// on both.
func (t *textJob) addsToPath(a *syntax.Assign, as assigning) (*approval.Search, bool) {
	if !t.ring2 || a.Name.Value != "PATH" || a.Value == nil || t.depth > 0 || t.who != approval.Ours || t.noShell {
		return nil, false
	}
	const itself, tilde = "\x00", "\x01"
	var text strings.Builder
	ok := true
	var read func(parts []syntax.WordPart, quoted bool)
	read = func(parts []syntax.WordPart, quoted bool) {
		for _, part := range parts {
			switch part := part.(type) {
			case *syntax.Lit:
				ok = ok && !strings.ContainsAny(part.Value, "\\*?[{$`")
				value := part.Value
				if !quoted {
					value = strings.ReplaceAll(value, "~", tilde)
				}
				text.WriteString(value)
			case *syntax.SglQuoted:
				ok = ok && !part.Dollar
				text.WriteString(part.Value)
			case *syntax.DblQuoted:
				ok = ok && !quoted && !part.Dollar
				read(part.Parts, true)
			case *syntax.ParamExp:
				home, is := t.home(part, quoted, "")
				switch {
				case is:
					text.WriteString(home)
				case plainParameter(part) && part.Param.Value == "PATH" && (quoted || t.grammar == bash || as != forExport):
					text.WriteString(itself)
				default:
					ok = false
				}
			default:
				ok = false
			}
		}
	}
	if read(a.Value.Parts, false); !ok || strings.Count(text.String(), itself) != 1 {
		return nil, false
	}
	s, behind := &approval.Search{}, false
	for dir := range strings.SplitSeq(text.String(), ":") {
		if dir == itself {
			behind = true
			continue
		}
		if rest, ok := strings.CutPrefix(dir, tilde+"/"); ok {
			dir = t.Home + "/" + rest
		}
		if !t.startsAnyway(dir) {
			return nil, false
		}
		if behind {
			s.After = append(s.After, dir)
		} else {
			s.Before = append(s.Before, dir)
		}
	}
	return s, behind
}

// startsAnyway reports whether a folder is one from which a person's programs are
// started by their names, and in which no agent writes: one of PATH, of the system, or
// of a tool that keeps programs in the home folder.
func (t *textJob) startsAnyway(dir string) bool {
	if !path.IsAbs(dir) || path.Clean(dir) != dir || strings.ContainsAny(dir, "\x00\x01") || !t.spend(2) {
		return false
	}
	folder, err := t.look(dir)
	if err != nil || !folder.IsFolder() || folder.Mode&0o002 != 0 || folder.UID != 0 && folder.UID != t.UID {
		return false
	}
	for _, at := range []string{dir, folder.Path} {
		if t.plan.Folder.Holds(at) || within(at, t.plan.Cwd.Path) || t.tempOf(at) != "" {
			return false
		}
	}
	known := slices.ContainsFunc(t.path, func(p searchDir) bool { return p.existed && path.Clean(p.dir) == dir })
	switch {
	case known:
		return true
	case folder.UID == 0 && (paths.OfSystem(folder.Path) || slices.ContainsFunc(sharedPlaces, func(place string) bool { return within(folder.Path, place) })):
		return true
	case slices.ContainsFunc(sharedPlaces[:2], func(place string) bool { return within(folder.Path, place) }):
		return true // Homebrew's belong to the person
	}
	rel, ok := strings.CutPrefix(dir, path.Clean(t.Home)+"/")
	return ok && homeTools().MatchString(rel)
}

// sharedPlaces hold programs that everybody installs, the first two Homebrew's.
var sharedPlaces = []string{"/opt/homebrew", "/home/linuxbrew/.linuxbrew", "/usr/local", "/opt"}

// homeTools are folders in the home folder in which tools keep programs.
var homeTools = expression(`^(\.local/bin|bin|go/bin|\.(cargo|bun|deno|volta|foundry|asdf|nodenv|krew|yarn|npm-global|npm-packages|poetry|rye|pub-cache|composer/vendor|opencode|ghcup|cabal|elan|juliaup|dotnet/tools)/bin` +
	`|\.(asdf|pyenv|rbenv|nodenv|jenv|goenv|volta)/(shims|bin)|\.dotnet(/tools)?|\.nvm/versions/node/v[0-9.]+/bin|\.sdkman/candidates/[a-z]+/current/bin|Library/pnpm|\.local/share/(pnpm|mise/shims)|\.rye/shims)$`)

// activates reads `source VENV/bin/activate`: an environment of Python in the session's
// folder. The file itself is not run; what it does is known.
func (t *textJob) activates(seg *approval.Segment) bool {
	name := first(seg.Argv)
	if name != "source" && name != "." || name == "source" && t.grammar != bash || len(seg.Argv) != 2 || len(seg.Open) > 0 || len(seg.Made) > 0 || len(seg.Assigns) > 0 || len(seg.Redirects) > 0 || len(seg.Findings) > 0 {
		return false
	}
	word := seg.Argv[1]
	if !t.ring2 || t.depth > 0 || t.noShell || seg.Dir == "" && !path.IsAbs(word) || path.Base(word) != "activate" || !strings.Contains(word, "/") || upward(word) || len(word) >= maxPath {
		return false
	}
	at := path.Clean(join(seg.Dir, word))
	venv := path.Dir(path.Dir(at))
	file, err := t.look(at)
	if err != nil || !file.IsRegular() || file.Path != at || path.Base(path.Dir(at)) != "bin" || !t.plan.Folder.Holds(venv) || venv == t.plan.Folder.Path || strings.ContainsAny(venv, ":\n") || !t.spend(reading) {
		return false
	}
	settings, err := t.look(venv + "/pyvenv.cfg")
	if err != nil || !settings.IsRegular() {
		return false
	}
	text, err := t.World.Head(file, maxProgram)
	if err != nil || !strings.Contains(string(text), "deactivate () {") || !strings.Contains(string(text), "VIRTUAL_ENV=") {
		return false
	}
	seg.Builtin = name
	seg.Adds = &approval.Search{Before: []string{venv + "/bin"}, Venv: venv}
	t.adds(*seg.Adds)
	return true
}

// inVenvs asks where a program would find others, by PATH, in an environment of the
// project: it is one of these itself, or starts the project's programs anyway, or none.
func (j *job) inVenvs() {
	for i := range j.plan.Segments {
		seg := &j.plan.Segments[i]
		if seg.Search == nil || seg.Search.Venv == "" || seg.Program == nil {
			continue
		}
		name := path.Base(seg.Program.File.Path)
		switch {
		case within(seg.Program.Path, seg.Search.Venv):
		case interpretedIn(seg.Program, seg.Search.Venv), name == "git" && j.helpsGit(seg.Search.Venv+"/bin"):
			seg.Findings = append(seg.Findings, finding(approval.ReasonStartsProgram, "%s starts a program of %s, which is in PATH", name, seg.Search.Venv))
		case slices.Contains(seg.Effects, approval.EffectProject), startsNone()[name]:
		case seg.Kind == approval.KindReader, seg.Kind == approval.KindWrapper, seg.Builtin != "":
		default:
			seg.Findings = append(seg.Findings, finding(approval.ReasonStartsProgram, "%s may start programs of %s, which is in PATH", name, seg.Search.Venv))
		}
	}
}

// interpretedIn reports whether what interprets a program lies in a folder: a first line
// that names env finds it by PATH.
func interpretedIn(res *approval.Resolution, dir string) bool {
	for by := res.Interpreter; by != nil; by = by.Interpreter {
		if within(by.Path, dir) {
			return true
		}
	}
	return false
}

// helpsGit reports whether a folder of PATH has a program that git starts by its name,
// whatever the project says, or may have.
func (j *job) helpsGit(dir string) bool {
	names, err := j.list(dir)
	return err != nil || slices.ContainsFunc(names, func(name string) bool {
		name = strings.ToLower(name)
		return name == "git" || strings.HasPrefix(name, "git-") || gitStarts()[name]
	})
}

// gitStarts are programs that git starts, besides those whose names begin with its own.
var gitStarts = words("ssh ssh-keygen gpg gpg2 gpgsm less more pager man sh bash env vi vim nano emacs editor sed awk perl cat tar gzip diff")

// startsNone start no other program.
var startsNone = words("mkdir cp mv rm rmdir touch ln chmod tee sed awk gawk mawk nawk jq sort date sleep curl find fd rg grep")

package command

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// output is one file that a redirection or a program writes, and the segments whose
// output may go there: from the first to the one before the last.
type output struct {
	path     string
	about    approval.Finding
	from, to int
	// byWords tells that the program itself writes it, because its words name it.
	byWords bool
}

// toFile reads `> FILE`, which the runner opens itself. The finding names the effect
// that covers it, or says why none does.
func (t *textJob) toFile(seg *approval.Segment, v value, name string, known, adds bool) (approval.Redirect, approval.Finding) {
	switch {
	case !known && (t.who == approval.Theirs || !t.ring2 || t.noShell || t.depth > 0):
		return approval.Redirect{}, openOutput
	case !known:
		return t.toOpenFile(seg, v, adds)
	case t.who == approval.Theirs, t.strict, t.noShell, t.depth > 0:
		return approval.Redirect{}, finding(approval.ReasonWritesFile, "its shell would write %q", name)
	}
	r := approval.Redirect{To: approval.ToFile, Append: adds}
	if !path.IsAbs(name) {
		r.From = seg.Dir
	}
	file, folder, why := t.writes(seg.Dir, name, func(at string) bool { return t.made[at] })
	r.File, r.Folder = &file, &folder
	return r, why
}

var openOutput = finding(approval.ReasonWritesFile, "which file its redirection writes is known only when it runs")

// toOpenFile reads a redirection to a file whose name only the run can tell, with
// variables that the text gives values. It may be written as each of these names may,
// if that is by one effect; which one it is, is judged before it is opened.
func (t *textJob) toOpenFile(seg *approval.Segment, v value, adds bool) (r approval.Redirect, why approval.Finding) {
	if v.open == nil || v.open.Like || len(v.words) != 1 || len(v.open.Maybe) == 0 || seg.Dir == "" {
		return r, openOutput
	}
	for _, part := range v.words[0] {
		if part.Text == approval.AllParameters && part.Kind == approval.PartVar {
			return r, openOutput // more than one name is none to bash, and one with blanks to dash
		}
		if part.Kind != approval.PartText && (part.Kind != approval.PartVar || len(t.values[part.Text]) == 0) {
			return r, openOutput
		}
	}
	r = approval.Redirect{To: approval.ToFile, Append: adds, From: seg.Dir, Word: v.words[0]}
	for _, name := range v.open.Maybe {
		file, _, one := t.writes(seg.Dir, name, func(at string) bool { return t.made[at] })
		if one.Allowed == "" || r.By != "" && r.By != one.Allowed {
			one.Allowed = ""
			return r, one
		}
		r.By, r.Maybe = one.Allowed, append(r.Maybe, file.Path)
	}
	return r, writesAllowed(strings.Join(v.open.Maybe, ", "), r.By)
}

// writes says of the file that a name leads to in a folder whether a redirection may
// write it under an entry: the finding names the effect that covers it then, and
// else says why none does. No link on the way to it is followed that an agent could
// make, so that the path is where the file is.
func (j *job) writes(dir, name string, made func(folder string) bool) (file, folder approval.File, why approval.Finding) {
	no := func(format string, args ...any) (approval.File, approval.File, approval.Finding) {
		return file, folder, finding(approval.ReasonWritesFile, "it writes %q, which "+format, append([]any{name}, args...)...)
	}
	at := path.Clean(join(dir, name))
	base := path.Base(at)
	switch {
	case dir == "" && !path.IsAbs(name):
		return no("is in a folder that only the run can tell")
	case name == "" || len(at) >= maxPath || hasControl(name) || path.Base(name) != base || strings.HasSuffix(name, "/") || upward(name):
		return no("does not say plainly which file it is")
	}
	temp := j.tempOf(at)
	if temp != "" && !j.plan.Folder.Holds(at) {
		at = temp
	}
	if !j.bytes(len(at)) || !j.spend(2) {
		return no("cannot be looked at: %v", errSpent)
	}
	folder, err := j.look(path.Dir(at))
	switch {
	case err != nil && made(path.Dir(at)):
		folder = approval.File{Path: path.Dir(at)}
	case err != nil || !folder.IsFolder():
		return no("is in no folder that is there")
	case folder.Path != path.Dir(at):
		return no("is reached through a link, or in other letters")
	}
	file, err = j.look(at)
	there := err == nil
	switch {
	case there && file.Path != at, !there && j.World.Link(at) != "":
		return no("is a link, or stored in other letters")
	case there && !file.IsRegular():
		return no("is no file")
	case there && file.Links > 1:
		return no("has other names as well")
	case there && file.Mode&0o111 != 0:
		return no("is a program")
	case !there && !errors.Is(err, fs.ErrNotExist):
		return no("cannot be looked at")
	case !there:
		file = approval.File{Path: at}
	}
	if what := j.protected(at, "", &approval.Segment{}); what != "" && what != folderWithSecrets {
		return file, folder, finding(approval.ReasonProtectedState, "it writes to %s", what)
	}
	args := &arguments{job: j, dir: folder.Path}
	switch {
	case args.inGit(base), ofGit(at):
		return no("is git's own")
	case j.inPath(at):
		return no("is where programs are found by their names")
	case j.plan.Folder.Holds(at):
		return file, folder, writesAllowed(name, approval.AllowProjectWrites)
	case temp == "":
		return no("is not in the project")
	case there && !j.wrote(file):
		return no("no command of this session made")
	case folder.Ino != 0 && folder.UID != j.UID && !j.isTemp(folder.Path):
		return no("is in somebody else's folder")
	}
	if _, in := j.checkoutOf(folder.Path); in {
		return no("is in another project")
	}
	return file, folder, writesAllowed(name, approval.AllowTempWrites)
}

func writesAllowed(name string, by approval.Allowed) approval.Finding {
	f := finding(approval.ReasonWritesFile, "it writes %q", name)
	f.Allowed = by
	return f
}

// tempOf returns where a path in the temp folder of the system really is, "" for one
// that is not there. The links that lead to that folder are the system's.
func (j *job) tempOf(at string) string {
	for _, named := range j.Temp {
		real, err := j.look(named)
		if err != nil || !real.IsFolder() || real.Path == "/" || within(j.Home, real.Path) {
			continue
		}
		for _, dir := range []string{path.Clean(named), real.Path} {
			if at != dir && within(at, dir) {
				return real.Path + at[len(dir):]
			}
		}
	}
	return ""
}

// isTemp reports whether a path is the temp folder of the system itself.
func (j *job) isTemp(at string) bool {
	return slices.ContainsFunc(j.Temp, func(named string) bool {
		real, err := j.look(named)
		return err == nil && real.Path == at
	})
}

// wrote reports whether a command of the session made a file, which still is the
// person's.
func (j *job) wrote(file approval.File) bool {
	return file.UID == j.UID && slices.ContainsFunc(j.written, func(f approval.File) bool { return f.Path == file.Path && f.SameFolder(file) })
}

// outputsOf notes the files that redirections write which an entry can cover, as output
// of the segments from one to the one before another.
func (t *textJob) outputsOf(list []approval.Redirect, about []approval.Finding, from, to int) {
	for _, r := range list {
		if r.To != approval.ToFile || len(about) == 0 {
			continue
		}
		names := r.Maybe
		if r.File != nil {
			names = []string{r.File.Path}
		}
		for _, name := range names {
			t.outputs = append(t.outputs, output{name, about[0], from, to, false})
		}
		about = about[1:]
	}
}

// outputsAround has each command of a group answer for the files that redirections of
// the group write. One in which no command is has no entry that could.
func (t *textJob) outputsAround(group *approval.Segment, from int) {
	to := len(t.plan.Segments)
	if len(group.Outputs) == 0 {
		return
	}
	if from == to {
		t.ask(approval.ReasonWritesFile, "%s, and no command in it does", group.Outputs[0].Sentence)
	}
	for i := from; i < to; i++ {
		seg := &t.plan.Segments[i]
		seg.Outputs = slices.Concat(group.Outputs, seg.Outputs)
	}
	t.outputsOf(group.Redirects, group.Outputs, from, to)
}

// Output judges anew a file that a redirection of a plan writes: it, or its folder, is
// not what was seen any more, or only the run could tell its name, which is the path of
// its File then. wrote are the files that commands of the session made in
// the temp folder by now. The finding says why it may not be written, if it may not.
func (a *Analyzer) Output(ctx context.Context, plan *approval.Plan, r approval.Redirect, wrote []approval.File) (approval.Redirect, approval.Finding) {
	j := &job{Analyzer: a, who: approval.Ours, effort: newEffort(ctx), written: wrote}
	j.plan.Cwd, j.plan.Folder = plan.Cwd, plan.Folder
	dir := ""
	if r.Word != nil {
		dir = r.From
	}
	file, folder, why := j.writes(dir, r.File.Path, func(string) bool { return false })
	r.File, r.Folder = &file, &folder
	for i := range plan.Segments {
		if seg := &plan.Segments[i]; r.Word != nil && (j.runsFile(seg, file.Path) || j.buildsFrom(seg, file.Path, false)) {
			why = finding(approval.ReasonWritesFile, "it writes %q, which %s starts", file.Path, first(seg.Argv))
		}
	}
	if r.Word != nil && ignoreFiles()[path.Base(file.Path)] && !slices.Contains(r.Maybe, file.Path) {
		why = finding(approval.ReasonWritesFile, "it writes %q, and nobody saw what reads it meanwhile", file.Path)
	}
	if why.Allowed != "" && (r.By == "" || r.By == why.Allowed) && !j.spent() {
		return r, approval.Finding{}
	}
	why.Allowed = ""
	return r, why
}

// startsOutputs finds files that the text writes and also starts, or that a program
// reads while they are written: no entry covers that.
func (t *textJob) startsOutputs() {
	t.editedOutputs()
	t.startsCopies()
	for _, out := range t.outputs {
		for i := range t.plan.Segments {
			if !t.spend(1) {
				return
			}
			seg := &t.plan.Segments[i]
			switch {
			case t.runsFile(seg, out.path):
				t.never(out, "%s, which %s starts", first(seg.Argv))
			case t.buildsFrom(seg, out.path, out.byWords && i == out.from):
				t.never(out, "%s, from which %s starts what the project says", first(seg.Argv))
			case t.readsMeanwhile(i, out):
				t.never(out, "%s, which %s reads at the same time", first(seg.Argv))
			}
		}
	}
}

// startsCopies asks where a program whose job it is to write files writes one that the text
// also starts. Which files a test or a check is told to look at says nothing of that.
func (t *textJob) startsCopies() {
	for i := range t.plan.Segments {
		seg := &t.plan.Segments[i]
		if seg.Program == nil || !seg.Profiled {
			continue
		}
		if name := path.Base(seg.Program.File.Path); !copiers()[name] && name != "tee" && name != "gtee" {
			continue
		}
		for _, to := range seg.Targets {
			at := path.Clean(to.Path)
			for k := range t.plan.Segments {
				other := &t.plan.Segments[k]
				if to.Path == "" || k == i || !t.spend(1) || !t.runsFile(other, at) && !t.buildsFrom(other, at, true) {
					continue
				}
				why := finding(approval.ReasonWritesFile, "it writes %q, which %s starts", to.Path, first(other.Argv))
				if !slices.Contains(seg.Findings, why) {
					seg.Findings = append(seg.Findings, why)
				}
			}
		}
	}
}

// editedOutputs adds the files that programs write by their words, where an entry can
// cover that.
func (t *textJob) editedOutputs() {
	for i := range t.plan.Segments {
		for _, about := range t.plan.Segments[i].Findings {
			if about.Reason != approval.ReasonWritesFile || about.Allowed == "" {
				continue
			}
			for _, to := range t.plan.Segments[i].Targets {
				if to.Path != "" && t.spend(1) {
					t.outputs = append(t.outputs, output{path.Clean(to.Path), about, i, i + 1, true})
				}
			}
		}
	}
}

// never takes from the finding about a file what covers it.
func (t *textJob) never(out output, format string, by string) {
	for i := range t.plan.Segments {
		for _, list := range [][]approval.Finding{t.plan.Segments[i].Outputs, t.plan.Segments[i].Findings} {
			for k := range list {
				if list[k] == out.about {
					list[k] = finding(approval.ReasonWritesFile, format, out.about.Sentence, by)
				}
			}
		}
	}
}

// tellOutputs adds what is known of the files that redirections write to the findings,
// once nothing else is read by these.
func (j *job) tellOutputs() {
	for i := range j.plan.Segments {
		seg := &j.plan.Segments[i]
		seg.Findings = append(seg.Findings, seg.Outputs...)
	}
}

// runsFile reports whether a segment starts a file, or reads its program from it.
func (j *job) runsFile(seg *approval.Segment, at string) bool {
	for res := seg.Program; res != nil; res = res.Interpreter {
		if res.File.Path == at {
			return true
		}
	}
	return slices.ContainsFunc(seg.Code, func(f approval.File) bool {
		real, err := j.look(f.Path)
		return f.Path == at || err == nil && real.Path == at
	}) || len(seg.Argv) > 0 && strings.Contains(seg.Argv[0], "/") && path.Clean(join(seg.Dir, seg.Argv[0])) == at
}

// recipes are files in which tools that build and test find what they start.
var recipes = words(`makefile gnumakefile justfile rakefile gemfile taskfile.yml taskfile.yaml package.json deno.json go.mod go.work cargo.toml build.rs build.zig
	dockerfile compose.yml compose.yaml docker-compose.yml docker-compose.yaml pyproject.toml setup.py setup.cfg tox.ini noxfile.py tasks.py conftest.py pytest.ini
	gruntfile.js gulpfile.js build.gradle build.gradle.kts settings.gradle pom.xml build.sbt cmakelists.txt meson.build composer.json mix.exs pubspec.yaml melos.yaml build.xml`)

// buildsFrom reports whether a segment starts what the project says, and that is said
// in a file, which is one of these by its name, or is named in its words: of one that it
// writes by itself its words tell no more.
func (j *job) buildsFrom(seg *approval.Segment, at string, writes bool) bool {
	name := strings.ToLower(path.Base(at))
	if !slices.Contains(seg.Effects, approval.EffectProject) {
		return false
	}
	if git := seg.Program != nil && path.Base(seg.Program.File.Path) == "git" && seg.Command > 0; git && storing()[seg.Argv[seg.Command]] {
		// A hook of a commit may start what a recipe says, and git what its own files say.
		return name == ".gitattributes" || name == ".gitmodules" || seg.Argv[seg.Command] == "commit" && recipes()[name]
	}
	return recipes()[name] || settingsCode().MatchString(name) || !writes && j.namesFile(seg, at)
}

// settingsCode are names of files of settings that are code, which tools run as they start.
var settingsCode = expression(`^\..*rc\.[cm]?[jt]s$|\.config\.[cm]?[jt]sx?$`)

// storing are the commands of git that only store and compare the files that they name.
var storing = words("add blame commit diff grep log show status")

// namesFile reports whether the words of a segment name a file.
func (j *job) namesFile(seg *approval.Segment, at string) bool {
	for _, word := range seg.Argv[1:] {
		for _, name := range pieces(word) {
			if !j.tick(1) {
				return true
			}
			real, err := j.look(join(seg.Dir, name))
			if path.Clean(join(seg.Dir, name)) == at || err == nil && real.Path == at {
				return true
			}
		}
	}
	return false
}

// readsMeanwhile reports whether a segment is judged by a file that another command may
// write at the same time: another stage of its pipeline, or one where the one or the other
// is in the background.
func (t *textJob) readsMeanwhile(index int, out output) bool {
	seg := &t.plan.Segments[index]
	leaves := ignoreFiles()[path.Base(out.path)] && (seg.Walks || seg.Stores)
	if seg.Program == nil || !leaves && (seg.Kind == approval.KindReader || seg.Profiled && !seg.Looked && !seg.FromFile) {
		return false
	}
	at := t.outermost(index)
	for _, stages := range t.pipes {
		from, end := stages[0], stages[len(stages)-1]
		if at < from || at >= end || out.to <= from || out.from >= end {
			continue
		}
		if leaves || t.namesFile(seg, out.path) {
			return true
		}
	}
	return slices.ContainsFunc(t.background, func(b background) bool { return b.meets(at, out.from, out.to) }) && (leaves || t.namesFile(seg, out.path))
}

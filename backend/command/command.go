// Package command answers one question: what would this request run? It
// turns an argument vector or a shell text into a plan of resolved programs
// and says of each part what is known about it. It reads the disk through a
// World and nothing else; it starts nothing, writes nothing and decides
// nothing. What it does not understand it marks, never guesses.
//
// Which files hold secrets and which start programs is for package protected
// to know. Of folders, archives and patches that a program reads, brings or removes as a
// whole the names are looked at, within bounds.
//
// What counts as inside is for who asks to say: the session's folder comes with
// the request as a value, and where none comes nothing is inside.
//
// A text that it understands whole becomes Plan.Root, which the runner can run.
// Of every other it shows the parts it finds and leaves Plan.Root nil, so that
// nobody runs it without a person's yes.
package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// World is the disk as the analysis sees it. Tests hand in an invented one.
type World interface {
	// Look follows links and returns the file with its real path.
	Look(path string) (approval.File, error)
	// Head returns the first bytes of a file that was looked at, at most n,
	// and fails where another one is in its place.
	Head(file approval.File, n int) ([]byte, error)
	// Link returns what a link says, "" for what is none.
	Link(path string) string
	// Kept reports whether only root can change where a path leads, or what is
	// there.
	Kept(path string) bool
	// List returns the names in a folder, in any order. It may stop after
	// 50 001 of them, which is more than one analysis looks at.
	List(path string) ([]string, error)
}

// Analyzer says what requests would run on this machine. Its fields are set
// once and then only read, so it may be used by many at once.
type Analyzer struct {
	World World
	// Home is the person's home folder, absolute.
	Home string
	// UID is the person's user id.
	UID int
	// Temp are the temp folders of the system, as this machine names them.
	Temp []string
	// Ours are the files and folders of Countersign itself: asking for one
	// of them, or for something in it, is never harmless.
	Ours []string
	// IsOurs reports whether a program is Countersign's own, also as a copy; nil
	// where nobody knows.
	IsOurs func(approval.File) bool
	// Inherited reports whether programs get a variable of this name anyway; nil
	// where nobody knows.
	Inherited func(name string) bool

	// Secrets reports whether programs get a variable anyway that is secret; nil
	// where nobody knows.
	Secrets func() bool

	path      []searchDir
	heads     heads
	elsewhere elsewhere
}

// searchDir is a folder of the login PATH, and whether it was there when the
// Analyzer was made.
type searchDir struct {
	dir     string
	existed bool
	venv    bool // it is that of an environment of Python that the text activated
}

// SetPath sets the login PATH. The PATH of a request never counts.
func (a *Analyzer) SetPath(dirs []string) {
	a.path, a.elsewhere.read = nil, time.Time{}
	for _, dir := range dirs {
		_, err := a.World.Look(dir)
		a.path = append(a.path, searchDir{dir: dir, existed: err == nil})
	}
}

// Analyze makes the plan of a request of a session whose folder is folder. It
// never fails: what cannot be understood is marked in the plan, and a request
// that means nothing has Plan.Invalid set.
//
// It ends when ctx does, and the plan is Invalid then: parts of the request were
// not looked at.
func (a *Analyzer) Analyze(ctx context.Context, req *approval.Request, folder approval.Folder) approval.Plan {
	return a.analyze(ctx, req, folder).plan
}

func (a *Analyzer) analyze(ctx context.Context, req *approval.Request, folder approval.Folder) *job {
	j := &job{Analyzer: a, who: req.Who, effort: newEffort(ctx), requested: req.Env, written: req.Wrote, began: req.Began, projectOf: req.ProjectOf}
	j.plan.Argv, j.plan.Folder = req.Command, folder
	if why := invalid(req); why != "" {
		j.plan.Invalid = why
		return j
	}
	j.setCwd(req.Cwd)
	switch shell, text, options, ok := shellText(req.Command); {
	case len(req.Command) == 0:
		j.plan.Text = req.Text
		j.text(req.Text, "bash")
	case ok && strings.TrimSpace(text) == "":
		j.plan.Invalid = "command required"
	case ok:
		j.plan.Shell, j.plan.Text, j.plan.Options = shell, text, options
		j.outer(req.Command)
		j.text(text, shell)
		if slices.Contains(options, pipefail) && textShells[shell] == posix {
			j.ask(approval.ReasonUnreadable, "not every %s knows %s", shell, pipefail)
		}
		if slices.Contains(options, "x") {
			j.plan.Root = nil
			j.ask(approval.ReasonApprovalRequired, "its shell would show each command, which is not run from a plan")
		}
	default:
		j.plan.Text = Quote(req.Command)
		j.argv(req.Command)
	}
	j.cap()
	if text := len(req.Command) == 0 || j.plan.Shell != ""; text && len(j.plan.Findings) > 0 {
		j.plan.Root = nil
	}
	return j
}

// job is one analysis.
type job struct {
	*Analyzer
	*effort
	who    approval.Who
	plan   approval.Plan
	linked bool // the working directory was named by a link
	depth  int  // of shell texts inside shell texts
	// feeds counts what makes words of other programs' output around what is
	// walked: substitutions, xargs, parallel.
	feeds int
	// requested are the variables that the request sets.
	requested map[string]string
	// projectOf works out the project that another folder lies in, nil for none.
	projectOf func(dir string) approval.Folder
	// written are the files that commands of the session made in the temp folder.
	written []approval.File
	// began tells of a living process that a command of the session started, nil for none.
	began func(pid int) (approval.ProcessID, bool)
	// added is what the text has added to PATH, nil for nothing.
	added *approval.Search
	// passesOn counts the pipelines around what is walked in which a later stage does
	// so.
	passesOn int
	// handsOn is the input that the wrapper which is walked hands to its one command.
	handsOn []approval.Redirect
	// takers are commands that get words of an input as names.
	takers []taker
}

// everyAgent stands for all agents in the policy file. Who called itself so
// would be remembered for all of them.
const everyAgent = "*"

// Names says why nobody can be called so, or "".
func Names(agentID, sessionKey string) string {
	if len(agentID) > maxName || len(sessionKey) > maxName {
		return "the agent's or the session's name is too long"
	}
	if agentID == everyAgent {
		return "an agent cannot be called " + everyAgent + ", which stands for all of them"
	}
	return ""
}

// invalid says why a request means nothing, or "".
func invalid(req *approval.Request) string {
	if why := Names(req.AgentID, req.SessionKey); why != "" {
		return why
	}
	if len(req.Command) == 0 {
		if strings.TrimSpace(req.Text) == "" {
			return "command required"
		}
		return ""
	}
	if strings.TrimSpace(req.Command[0]) == "" {
		return "command required"
	}
	if req.Command[0] != strings.TrimSpace(req.Command[0]) {
		return "executable has surrounding whitespace"
	}
	for _, word := range req.Command {
		if strings.Contains(word, "\x00") {
			return "command holds a NUL byte"
		}
	}
	if raw := strings.TrimSpace(req.RawCommand); raw != "" && !rawAgrees(raw, req.Command) {
		return "rawCommand mismatch"
	}
	return ""
}

func (j *job) setCwd(cwd string) {
	if cwd == "" {
		cwd = j.Home
	}
	dir, err := j.look(cwd)
	why := ""
	switch {
	case !filepath.IsAbs(cwd):
		why = "is no absolute path"
	case errors.Is(err, fs.ErrNotExist):
		why = "is not there"
	case err != nil:
		why = "cannot be used: " + cause(err).Error()
	case !dir.IsFolder():
		why = "is not a folder"
	}
	if why != "" {
		j.plan.Cwd = approval.File{Path: cwd}
		j.ask(approval.ReasonCwdUnavailable, "the working directory %q %s", cwd, why)
		return
	}
	j.plan.Cwd, j.linked = dir, dir.Path != filepath.Clean(cwd)
}

// argv plans a plain command: one program with final words, no shell.
func (j *job) argv(words []string) {
	seg := approval.Segment{End: len(j.plan.Text), Argv: words, Dir: j.plan.Cwd.Path}
	if hasControl(words[0]) {
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "the program's name holds characters that cannot be read"))
	}
	j.program(&seg)
	j.plan.Segments = append(j.plan.Segments, seg)
	j.plan.Root = &approval.Node{Op: approval.OpRun}
	j.nested(0)
}

// outer resolves the shell that was asked to run a text.
func (j *job) outer(words []string) {
	seg := approval.Segment{Argv: words, Dir: j.plan.Cwd.Path}
	j.program(&seg)
	j.plan.Outer = seg.Program
}

// ask marks the whole plan, once for each reason.
func (j *job) ask(reason approval.Reason, format string, args ...any) {
	if why := finding(reason, format, args...); !slices.Contains(j.plan.Findings, why) {
		j.plan.Findings = append(j.plan.Findings, why)
	}
}

func finding(reason approval.Reason, format string, args ...any) approval.Finding {
	return approval.Finding{Reason: reason, Sentence: fmt.Sprintf(format, args...)}
}

// Limits on the work that one request can cause. They fail to a question, never
// to a weaker rule.
const (
	maxText    = 64 << 10
	maxName    = 1024
	maxNesting = 64
	// maxArithmetic bounds what the parser reads more than once, and braces.
	maxArithmetic = 16
	maxSegments   = 2000
	maxPrograms   = 200
	maxLayers     = 4
)

// Unfinished is what makes a request Invalid that was not understood to its end.
const Unfinished = "nobody waits for the answer any more"

// cap marks plans that went over a limit.
func (j *job) cap() {
	if j.left = j.left || j.ctx.Err() != nil; j.left {
		j.plan.Root, j.plan.Invalid = nil, Unfinished
		return
	}
	programs := map[string]bool{}
	for _, s := range j.plan.Segments {
		if len(s.Argv) > 0 {
			programs[s.Argv[0]] = true
		}
	}
	switch {
	case len(j.plan.Segments) > maxSegments:
		j.complex("it has more than %d commands", maxSegments)
	case len(programs) > maxPrograms:
		j.complex("it has more than %d different programs", maxPrograms)
	case j.spent():
		j.complex("%v", errSpent)
	}
}

func (j *job) complex(format string, args ...any) {
	j.plan.Root = nil
	j.ask(approval.ReasonTooComplex, format, args...)
}

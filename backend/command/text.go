package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// text plans a shell text. Every simple command in it becomes a segment, also
// inside constructs that are not understood, so that a question shows all
// that would run and the denylist sees all of it.
func (j *job) text(text, shell string) {
	file, unread := read(text, shell)
	g := textShells[shell]
	t := &textJob{job: j, text: text, grammar: g, seen: map[syntax.Node]bool{}, values: map[string][]string{}, samples: map[string][]string{}, lost: map[string]bool{}, made: map[string]bool{}, exported: map[string]bool{}, numbers: map[string]bool{}}
	if unread.Reason != "" {
		j.plan.Findings = append(j.plan.Findings, unread)
		t.survey(file)
		return
	}
	t.strict = j.who == approval.Theirs || g == zsh
	t.ring2 = !t.strict
	t.noShell = j.plan.Shell == ""
	t.linked = j.linked
	if t.loose = j.who == approval.Theirs && (t.noShell || g == zsh); t.loose {
		t.typed(file)
	}
	t.collect(file)
	dir := j.plan.Cwd.Path
	if root, ok := t.stmts(file.Stmts, &dir); ok && len(j.plan.Findings) == 0 {
		j.plan.Root = root
	}
	if len(file.Stmts) == 0 {
		j.plan.Root = nil
		j.ask(approval.ReasonUnreadable, "there is no command in it")
	}
	t.setsOnly()
	t.rest(file)
	for i := range len(j.plan.Segments) {
		j.nested(i)
	}
	j.inVenvs()
	t.changedMeanwhile()
	t.startsOutputs()
	t.judgeFed()
	t.fedUnknown()
	t.tellOutputs()
	t.tellBackground()
	if j.who == approval.Theirs {
		j.replaced()
	}
	if j.spent() {
		t.survey(file)
	}
}

// replaced asks where a command may change what a later one was judged by, its
// program, the files that its words name, or what git leaves out: nobody looks
// again when another shell runs the text.
func (j *job) replaced() {
	writer, carrier, unhider := "", "", ""
	for i := range j.plan.Segments {
		seg := &j.plan.Segments[i]
		if seg.Program == nil {
			continue
		}
		if writer != "" && (seg.Looked || within(seg.Program.File.Path, j.plan.Cwd.Path) || j.plan.Folder.Holds(seg.Program.File.Path)) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "%s, before it, may change what %s finds", writer, seg.Argv[0]))
		}
		if carrier != "" && seg.Walks {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "%s, before it, may bring what %s reads", carrier, seg.Argv[0]))
		}
		if unhider != "" && seg.Stores {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "%s, before it, may have %s store what was left out", unhider, seg.Argv[0]))
		}
		if mayReplace(seg) {
			writer = seg.Argv[0]
		}
		if carries(seg) {
			carrier = seg.Argv[0]
		}
		if j.unhides(seg) {
			unhider = seg.Argv[0]
		}
	}
}

// carries reports whether a program may put a file with secrets where it was not, or
// change what a search leaves out.
func carries(seg *approval.Segment) bool {
	name := path.Base(seg.Program.File.Path)
	return carriers()[name] || name == "git" && slices.ContainsFunc(seg.Argv[1:], func(word string) bool { return gitCarriers()[word] }) ||
		slices.ContainsFunc(seg.Targets, func(t approval.Target) bool { return ignoreFiles()[path.Base(t.Path)] })
}

// unhides reports whether a program may have git store what it left out: it changes the
// file that says so, or moves a folder to where that does not hold.
func (j *job) unhides(seg *approval.Segment) bool {
	name, words := path.Base(seg.Program.File.Path), seg.Argv[1:]
	if slices.ContainsFunc(seg.Targets, func(t approval.Target) bool { return ignoreFiles()[path.Base(t.Path)] }) {
		return true
	}
	git := name == "git" && seg.Command > 0
	if git {
		name, words = seg.Argv[seg.Command], seg.Argv[seg.Command+1:]
	}
	if name != "mv" && name != "gmv" {
		return git && gitCarriers()[name]
	}
	for i, word := range words {
		folder, err := j.look(join(seg.Dir, word))
		if ignoreFiles()[path.Base(word)] || i < len(words)-1 && err == nil && folder.IsFolder() {
			return true
		}
	}
	return false
}

var (
	carriers    = words("mv gmv cp gcp ln gln rsync ditto tar gtar bsdtar unzip patch")
	gitCarriers = words("mv apply stash")
	ignoreFiles = words(".gitignore .ignore .rgignore")
)

// mayReplace reports whether a program may put a link or another program where
// one was not. Those that run the project's own code need no later command for
// that; git brings the files of others.
func mayReplace(seg *approval.Segment) bool {
	name := path.Base(seg.Program.File.Path)
	if name == "git" || name == "hg" {
		return true
	}
	return seg.Kind != approval.KindReader && !slices.Contains(seg.Effects, approval.EffectProject) && (seg.Looked || !seg.Profiled) && !plainMakers()[name]
}

// plainMakers make and remove files, but no links and no programs.
var plainMakers = words("mkdir touch rm rmdir")

// hint looks into words that a builtin takes for commands, for the floor and
// the denylist alone: the text asks whatever is in them.
func (t *textJob) hint(seg *approval.Segment) {
	words := seg.Argv[1:]
	switch {
	case len(seg.Open) > 0 || len(words) == 0:
		return
	case seg.Argv[0] == "trap":
		words = words[:1]
	case seg.Argv[0] == "alias":
		_, text, _ := strings.Cut(words[0], "=")
		words = []string{text}
	case seg.Argv[0] == "." || seg.Argv[0] == "source":
		seg.Code = t.bound(seg.Dir, words[0])
		return
	case seg.Argv[0] != "eval":
		return
	}
	t.mention(strings.Join(words, " "), seg)
}

// mention adds the commands of a text that may be run as ones that are only
// named.
func (j *job) mention(text string, by *approval.Segment) {
	if j.depth >= maxLayers || !j.parse(text) {
		return
	}
	inner := &job{Analyzer: j.Analyzer, who: j.who, effort: j.effort, requested: j.requested, linked: j.linked, depth: j.depth + 1, feeds: j.feeds, passesOn: j.passesOn, added: j.added}
	inner.plan.Cwd.Path, inner.plan.Folder, inner.plan.Shell = by.Dir, j.plan.Folder, "sh"
	inner.text(text, "bash")
	for _, seg := range inner.plan.Segments {
		seg.Start, seg.End, seg.Via, seg.Named, seg.Findings = by.Start, by.End, 0, true, nil
		j.plan.Segments = append(j.plan.Segments, seg)
	}
}

// textJob walks one parsed text.
type textJob struct {
	*job
	text    string
	grammar grammar
	// strict: only words that mean the same to every shell. ring2: variables,
	// substitutions and loops are understood. noShell: nobody said which shell
	// the text is for.
	// loose: a shell may read it that is typed into.
	strict, ring2, noShell, loose bool
	seen                          map[syntax.Node]bool
	// values are what the variables may hold, as far as the text tells.
	values map[string][]string
	// samples are like values that commands print for a variable.
	samples map[string][]string
	// lost are variables that also get values which the text does not tell.
	lost map[string]bool
	// tries counts the commands that others were tried as.
	tries int
	// passed is the folder after the last statement if that succeeded.
	passed string
	// linked tells that a cd followed a link, or that the working directory was
	// named by one: shells remember the way they came.
	linked bool
	// pipes are the pipelines: the first segment of each stage, and the one
	// behind the last.
	pipes [][]int
	// upstream are stages of which a later one makes names of what comes out, texts
	// what is fed, and fromFile tells that something is fed from a file.
	upstream []stretch
	texts    []fedText
	fromFile bool
	// feedsGroup tells that a group of commands has an input of its own.
	feedsGroup bool
	// maybeAdded tells that PATH was changed on one side of && or ||.
	maybeAdded bool
	// outputs are the files that redirections and programs write under an entry.
	outputs []output
	// stale tells that a substitution has run since the last command ended.
	stale bool
	// made are folders that the text makes before it goes into them.
	made map[string]bool
	// exported are the names that the text exports, wherever it does, env the
	// variables that reach what starts from here on, and sets all that it gives.
	exported  map[string]bool
	env, sets []approval.Variable
	// loops are those around what is walked, up to the last subshell: the folder in
	// which each round begins.
	loops []string
	// background are the commands in the background; held counts what is around that keeps
	// a command from being one.
	background []background
	held       int
	// numbers are the variables that are given the number of one.
	numbers map[string]bool
	// setsWords tells that it may give positional parameters, and shifts that it may
	// shift them.
	setsWords, shifts bool
}

// collect notes what the text gives to variables, wherever it does.
func (t *textJob) collect(file *syntax.File) {
	for _, name := range []string{"USER", "LOGNAME"} {
		t.values[name] = []string{t.Home[strings.LastIndexByte(t.Home, '/')+1:]}
	}
	var sets [][]*syntax.Word
	syntax.Walk(file, func(n syntax.Node) bool {
		t.exports(n)
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				t.holds(n.Name.Value, n.Value)
			}
		case *syntax.ParamExp:
			if a := assigned(n); a != nil && a.Value != nil {
				t.holds(a.Name.Value, a.Value)
			}
		case *syntax.CallExpr:
			sets = append(sets, t.positionals(n))
		case *syntax.WordIter:
			for _, item := range n.Items {
				t.holds(n.Name.Value, item)
			}
		case *syntax.Word:
			if makesWords()[path.Base(t.plainly(n))] {
				t.feeds++
			}
		}
		return true
	})
	for _, words := range sets { // now it is known whether the text shifts
		t.holdsParameters(words)
	}
}

// holds notes a value whose text is known.
func (t *textJob) holds(name string, word *syntax.Word) {
	if text, ok := t.plainText(word); ok {
		t.values[name] = append(t.values[name], text)
	}
}

// plainText is the text that a word stands for as a value, where that is known.
func (t *textJob) plainText(word *syntax.Word) (text string, ok bool) {
	var s static
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if ok := t.unquoted(&s, part.Value, i == 0, len(word.Parts) == 1, false); !ok {
				return "", false
			}
		case *syntax.SglQuoted:
			s.all(part.Value)
		case *syntax.DblQuoted:
			if len(part.Parts) != 1 || part.Parts[0] == nil {
				return "", false
			}
			lit, ok := part.Parts[0].(*syntax.Lit)
			if !ok {
				return "", false
			}
			s.all(lit.Value)
		default:
			home, ok := t.home(part, true, "")
			if !ok {
				return "", false
			}
			s.all(home)
		}
	}
	return s.text.String(), true
}

// unclear marks the text as one that is not run from its plan.
func (t *textJob) unclear(reason approval.Reason, format string, args ...any) (*approval.Node, bool) {
	t.ask(reason, format, args...)
	return nil, false
}

// rest adds the simple commands that the plan did not reach.
func (t *textJob) rest(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		stmt, ok := node.(*syntax.Stmt)
		if t.spent() || len(t.plan.Segments) > maxSegments {
			return false
		}
		if !ok {
			return true
		}
		call, simple := stmt.Cmd.(*syntax.CallExpr)
		switch {
		case simple && t.seen[call]:
		case simple && len(call.Args) > 0:
			t.seen[call] = true
			index := len(t.plan.Segments)
			t.plan.Segments = append(t.plan.Segments, approval.Segment{})
			seg, _ := t.segment(call, t.plan.Cwd.Path) // as far as can be told without running it
			t.redirects(&seg, stmt.Redirs)
			t.shellWord(&seg)
			t.code(&seg, stmt.Redirs)
			t.plan.Segments[index] = seg
		case !t.seen[stmt]: // redirections of a group, or of nothing
			seg := approval.Segment{Start: int(stmt.Pos().Offset()), End: int(stmt.End().Offset())}
			if t.redirects(&seg, stmt.Redirs); seg.Floor != "" {
				seg.Argv = []string{t.text[seg.Start:seg.End]}
				t.plan.Segments = append(t.plan.Segments, seg)
			}
			t.tellProtected(seg.Findings)
		}
		return true
	})
}

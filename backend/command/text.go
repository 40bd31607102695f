package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// text plans a shell text. Every simple command in it becomes a segment, also
// inside constructs that are not understood, so that a question shows all
// that would run and the denylist sees all of it.
func (j *job) text(text, shell string) {
	file, unread := read(text, shell)
	if unread.Reason != "" {
		j.plan.Findings = append(j.plan.Findings, unread)
		return
	}
	g := textShells[shell]
	t := &textJob{job: j, text: text, grammar: g, seen: map[syntax.Node]bool{}, values: map[string][]string{}, made: map[string]bool{}}
	t.strict = j.who == approval.Theirs || g == zsh
	t.ring2 = !t.strict
	t.noShell = j.plan.Shell == ""
	t.linked = j.linked
	t.collect(file)
	dir := j.plan.Cwd.Path
	if root, ok := t.stmts(file.Stmts, &dir); ok && len(j.plan.Findings) == 0 {
		j.plan.Root = root
	}
	if len(file.Stmts) == 0 {
		j.plan.Root = nil
		j.ask(approval.ReasonUnreadable, "there is no command in it")
	}
	t.rest(file)
	for i := range len(j.plan.Segments) {
		j.nested(i)
	}
	if j.who == approval.Theirs {
		j.replaced()
	}
}

// replaced asks where a command may write the program of a later one: nobody
// compares it again when another shell runs the text.
func (j *job) replaced() {
	writes := false
	for i := range j.plan.Segments {
		seg := &j.plan.Segments[i]
		if writes && seg.Program != nil && within(seg.Program.File.Path, j.plan.Cwd.Path) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "a command before it may change %s", seg.Argv[0]))
		}
		writes = writes || seg.Program != nil && seg.Kind != approval.KindReader
	}
}

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
	case seg.Argv[0] != "eval":
		return
	}
	t.mention(strings.Join(words, " "), seg)
}

// mention adds the commands of a text that may be run as ones that are only
// named.
func (j *job) mention(text string, by *approval.Segment) {
	if j.depth >= maxLayers || !j.spend(5) {
		return
	}
	inner := &job{Analyzer: j.Analyzer, who: j.who, effort: j.effort, linked: j.linked, depth: j.depth + 1, feeds: j.feeds}
	inner.plan.Cwd.Path, inner.plan.Shell = by.Dir, "sh"
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
	strict, ring2, noShell bool
	seen                   map[syntax.Node]bool
	// values are what the variables may hold, as far as the text tells.
	values map[string][]string
	// passed is the folder after the last statement if that succeeded.
	passed string
	// linked tells that a cd followed a link, or that the working directory was
	// named by one: shells remember the way they came.
	linked bool
	// made are folders that the text makes before it goes into them.
	made map[string]bool
}

// collect notes what the text gives to variables, wherever it does.
func (t *textJob) collect(file *syntax.File) {
	for _, name := range []string{"USER", "LOGNAME"} {
		t.values[name] = []string{t.Home[strings.LastIndexByte(t.Home, '/')+1:]}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name != nil && n.Value != nil {
				t.holds(n.Name.Value, n.Value)
			}
		case *syntax.WordIter:
			for _, item := range n.Items {
				t.holds(n.Name.Value, item)
			}
		case *syntax.Lit:
			if n.Value == "xargs" || n.Value == "parallel" || strings.HasSuffix(n.Value, "/xargs") || strings.HasSuffix(n.Value, "/parallel") {
				t.feeds++
			}
		}
		return true
	})
}

// holds notes a value whose text is known.
func (t *textJob) holds(name string, word *syntax.Word) {
	var s static
	for i, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			if ok := t.unquoted(&s, part.Value, i == 0, len(word.Parts) == 1, false); !ok {
				return
			}
		case *syntax.SglQuoted:
			s.all(part.Value)
		case *syntax.DblQuoted:
			if len(part.Parts) != 1 || part.Parts[0] == nil {
				return
			}
			lit, ok := part.Parts[0].(*syntax.Lit)
			if !ok {
				return
			}
			s.all(lit.Value)
		default:
			if home, ok := t.home(part, true, ""); ok {
				s.all(home)
				continue
			}
			return
		}
	}
	t.values[name] = append(t.values[name], s.text.String())
}

// unclear marks the text as one that is not run from its plan.
func (t *textJob) unclear(reason approval.Reason, format string, args ...any) (*approval.Node, bool) {
	t.ask(reason, format, args...)
	return nil, false
}

func (t *textJob) stmts(list []*syntax.Stmt, dir *string) (*approval.Node, bool) {
	seq, ok := approval.Node{Op: approval.OpSeq}, true
	for _, stmt := range list {
		node, fine := t.stmt(stmt, dir)
		if ok = ok && fine; ok {
			seq.Kids = append(seq.Kids, *node)
		}
	}
	if ok && len(seq.Kids) == 1 {
		return &seq.Kids[0], true
	}
	return &seq, ok
}

// stmt plans one statement that runs in dir. A cd changes dir for what
// follows; dir becomes empty when only the run can tell.
func (t *textJob) stmt(stmt *syntax.Stmt, dir *string) (*approval.Node, bool) {
	if !t.spend(1) || len(t.plan.Segments) > maxSegments {
		return nil, false
	}
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		return t.unclear(approval.ReasonApprovalRequired, "it starts something in the background")
	}
	var node *approval.Node
	ok, entered := true, *dir
	if call, simple := stmt.Cmd.(*syntax.CallExpr); simple {
		node, ok = t.call(call, stmt.Redirs, dir)
	} else {
		var around []approval.Redirect
		redirected := true
		if len(stmt.Redirs) > 0 {
			around, redirected = t.around(stmt, *dir)
		}
		if node, ok = t.compound(stmt.Cmd, dir); ok && len(around) > 0 {
			node = &approval.Node{Op: approval.OpSeq, Kids: []approval.Node{*node}, Redirects: around}
		}
		ok = ok && redirected
	}
	switch binary, is := stmt.Cmd.(*syntax.BinaryCmd); {
	case stmt.Negated && *dir != entered:
		t.passed = ""
	case !is || binary.Op != syntax.AndStmt || stmt.Negated:
		t.passed = *dir
	}
	if ok && stmt.Negated {
		node = &approval.Node{Op: approval.OpNot, Kids: []approval.Node{*node}}
	}
	return node, ok
}

// around reads the redirections of a group of commands.
func (t *textJob) around(stmt *syntax.Stmt, dir string) ([]approval.Redirect, bool) {
	if t.who == approval.Theirs {
		t.ask(approval.ReasonApprovalRequired, "it redirects a group of commands")
		return nil, false
	}
	t.seen[stmt] = true
	seg := approval.Segment{Start: int(stmt.Pos().Offset()), End: int(stmt.End().Offset()), Dir: dir}
	t.redirects(&seg, stmt.Redirs)
	t.plan.Findings = append(t.plan.Findings, seg.Findings...)
	if seg.Floor != "" { // a segment of its own says that it never runs
		seg.Argv, seg.Findings = []string{t.text[seg.Start:seg.End]}, nil
		t.plan.Segments = append(t.plan.Segments, seg)
	}
	return seg.Redirects, len(seg.Findings) == 0 && seg.Floor == ""
}

// compound plans what is no simple command.
func (t *textJob) compound(cmd syntax.Command, dir *string) (*approval.Node, bool) {
	switch cmd := cmd.(type) {
	case *syntax.BinaryCmd:
		return t.binary(cmd, dir)
	case *syntax.Block:
		if t.who == approval.Ours {
			return t.stmts(cmd.Stmts, dir)
		}
	case *syntax.Subshell:
		if t.who == approval.Ours {
			inside := *dir
			return wrap(approval.OpSub)(t.stmts(cmd.Stmts, &inside))
		}
	case *syntax.TimeClause:
		if t.who == approval.Ours && t.grammar == bash && cmd.Stmt != nil {
			node, ok := wrap(approval.OpTime)(t.stmt(cmd.Stmt, dir))
			if ok {
				node.Portable = cmd.PosixFormat
			}
			return node, ok
		}
	case *syntax.IfClause:
		if t.ring2 {
			return t.choice(cmd, dir)
		}
	case *syntax.WhileClause:
		if t.ring2 {
			return t.while(cmd, dir)
		}
	case *syntax.ForClause:
		if t.ring2 {
			return t.each(cmd, dir)
		}
	case *syntax.DeclClause:
		if t.ring2 && cmd.Variant.Value == "export" {
			return t.assign(cmd.Args, true, *dir)
		}
		return t.unclear(approval.ReasonEvaluates, "%s is done inside the shell", cmd.Variant.Value)
	}
	return t.unclear(approval.ReasonApprovalRequired, "it uses shell constructs that are not run from a plan")
}

// wrap puts a node into another.
func wrap(op approval.Op) func(*approval.Node, bool) (*approval.Node, bool) {
	return func(node *approval.Node, ok bool) (*approval.Node, bool) {
		if !ok {
			return nil, false
		}
		return &approval.Node{Op: op, Kids: []approval.Node{*node}}, true
	}
}

func (t *textJob) binary(cmd *syntax.BinaryCmd, dir *string) (*approval.Node, bool) {
	var op approval.Op
	switch cmd.Op {
	case syntax.AndStmt:
		op = approval.OpAnd
	case syntax.OrStmt:
		op = approval.OpOr
	case syntax.Pipe, syntax.PipeAll:
		return t.pipe(cmd, *dir)
	default:
		return t.unclear(approval.ReasonApprovalRequired, "it uses %s, which is not run from a plan", cmd.Op)
	}
	before := *dir
	x, okx := t.stmt(cmd.X, dir)
	right := *dir
	switch {
	case op == approval.OpAnd:
		right = t.passed
	case right != before:
		right = "" // the right side runs only if the cd on the left failed
	}
	entered := right
	y, oky := t.stmt(cmd.Y, &right)
	if right != entered {
		*dir = "" // whether the cd on the right ran is known only then
	}
	if !okx || !oky {
		return nil, false
	}
	return &approval.Node{Op: op, Kids: []approval.Node{*x, *y}}, true
}

// pipe plans `x | y`. Each stage is a subshell, so a cd in it does not leak.
func (t *textJob) pipe(cmd *syntax.BinaryCmd, dir string) (*approval.Node, bool) {
	stages, both := stages(cmd)
	ok := true
	if len(stages) > maxStages {
		t.complex("it starts more than %d programs at once", maxStages)
		ok = false
	}
	if slices.Contains(both, true) && (t.who != approval.Ours || t.grammar != bash) {
		t.ask(approval.ReasonApprovalRequired, "it uses |&, which is not run from a plan")
		ok = false
	}
	node := approval.Node{Op: approval.OpPipe}
	for i, stage := range stages {
		inside := dir
		if i > 0 {
			ok = t.startsStage(stage, dir) && ok
		}
		kid, fine := t.stmt(stage, &inside)
		if ok = ok && fine; !ok {
			continue
		}
		if both[i] { // 2>&1 behind the redirections of its own
			both := approval.Redirect{FD: 2, To: 1}
			if _, simple := stage.Cmd.(*syntax.CallExpr); simple && kid.Op == approval.OpRun {
				seg := &t.plan.Segments[kid.Seg]
				seg.Redirects = append(seg.Redirects, both)
			} else {
				kid = &approval.Node{Op: approval.OpSeq, Kids: []approval.Node{*kid}, Redirects: []approval.Redirect{both}}
			}
		}
		node.Kids = append(node.Kids, *kid)
	}
	return &node, ok
}

// startsStage reports whether bash reads the beginning of a later stage as we
// do: there, time is a program, and ! a mistake.
func (t *textJob) startsStage(stage *syntax.Stmt, dir string) bool {
	clause, timed := stage.Cmd.(*syntax.TimeClause)
	if timed {
		at := int(clause.Time.Offset())
		seg := approval.Segment{Start: at, End: at + len("time"), Argv: []string{"time"}, Dir: dir}
		t.shellWord(&seg)
		t.plan.Segments = append(t.plan.Segments, seg)
	}
	if timed || stage.Negated {
		t.ask(approval.ReasonUnreadable, "shells do not agree on how a stage of its pipeline begins")
	}
	return !timed && !stage.Negated
}

// maxStages bounds how many programs run at once (plan-runner.md, limits).
const maxStages = 32

// stages takes a pipeline apart. both tells of each stage whether |& follows,
// which passes its errors on too.
func stages(cmd *syntax.BinaryCmd) (stages []*syntax.Stmt, both []bool) {
	last := &syntax.Stmt{Cmd: cmd}
	for {
		pipe, ok := last.Cmd.(*syntax.BinaryCmd)
		if !ok || pipe.Op != syntax.Pipe && pipe.Op != syntax.PipeAll || last.Negated || len(last.Redirs) > 0 {
			break
		}
		stages, both = append(stages, pipe.Y), append(both, pipe.Op == syntax.PipeAll)
		last = pipe.X
	}
	stages = append(stages, last)
	slices.Reverse(stages)
	slices.Reverse(both)
	return stages, append(both, false)
}

// choice plans if, elif and else. Where the branches end in different folders,
// only the run can tell.
func (t *textJob) choice(cmd *syntax.IfClause, dir *string) (*approval.Node, bool) {
	if len(cmd.Cond) == 0 { // else
		return t.stmts(cmd.Then, dir)
	}
	cond, ok := t.stmts(cmd.Cond, dir)
	then, other := *dir, *dir
	yes, fine := t.stmts(cmd.Then, &then)
	ok = ok && fine
	node := &approval.Node{Op: approval.OpIf}
	if ok {
		node.Kids = []approval.Node{*cond, *yes}
	}
	if cmd.Else != nil {
		no, fine := t.choice(cmd.Else, &other)
		if ok = ok && fine; ok {
			node.Kids = append(node.Kids, *no)
		}
	}
	if *dir = then; then != other {
		*dir = ""
	}
	return node, ok
}

func (t *textJob) while(cmd *syntax.WhileClause, dir *string) (*approval.Node, bool) {
	before := *dir
	cond, ok := t.stmts(cmd.Cond, dir)
	body, fine := t.stmts(cmd.Do, dir)
	if !t.stays(dir, before) || !ok || !fine {
		return nil, false
	}
	op := approval.OpWhile
	if cmd.Until {
		op = approval.OpUntil
	}
	return &approval.Node{Op: op, Kids: []approval.Node{*cond, *body}}, true
}

// each plans a for loop over words.
func (t *textJob) each(cmd *syntax.ForClause, dir *string) (*approval.Node, bool) {
	loop, ok := cmd.Loop.(*syntax.WordIter)
	if !ok || cmd.Select || cmd.Braces || !loop.InPos.IsValid() {
		return t.unclear(approval.ReasonApprovalRequired, "it uses a loop that is not run from a plan")
	}
	ok = t.assignable(loop.Name.Value)
	before := *dir
	node := &approval.Node{Op: approval.OpFor, Name: loop.Name.Value}
	for _, item := range loop.Items {
		if !t.spend(1) {
			return nil, false
		}
		v, fine := t.word(item, *dir)
		if !fine {
			t.ask(approval.ReasonRuntimeValue, "what its loop goes through is known only when it runs")
			ok = false
			continue
		}
		node.Words = append(node.Words, v.words...)
		t.values[node.Name] = append(t.values[node.Name], v.final...)
		if v.open != nil {
			t.values[node.Name] = append(t.values[node.Name], v.open.Maybe...)
		}
	}
	body, fine := t.stmts(cmd.Do, dir)
	if !t.stays(dir, before) || !ok || !fine {
		return nil, false
	}
	node.Kids = []approval.Node{*body}
	return node, true
}

// stays reports whether a loop ends where it began: else only the run can tell
// where its next round begins.
func (t *textJob) stays(dir *string, before string) bool {
	if *dir == before {
		return true
	}
	*dir = ""
	t.ask(approval.ReasonRuntimeValue, "where its loop runs is known only then: there is a cd in it")
	return false
}

// assignable reports whether a text may give a value to a variable, and asks
// where it may not (environment.md, first three lists).
func (t *textJob) assignable(name string) bool {
	class := envnames.Requested(name)
	if class == envnames.Plain || class == envnames.Other && t.who == approval.Ours && !ofShell[name] {
		return true
	}
	t.ask(approval.ReasonEnvAsks, "it sets %s", name)
	return false
}

// assign plans NAME=value, or export with it.
func (t *textJob) assign(list []*syntax.Assign, export bool, dir string) (*approval.Node, bool) {
	node, ok := approval.Node{Op: approval.OpAssign}, true
	for _, a := range list {
		if a.Name == nil || a.Append || a.Index != nil || a.Array != nil || a.Naked && !export {
			return t.unclear(approval.ReasonEvaluates, "it sets variables in a way that is not understood")
		}
		parts, fine := t.one(a.Value, dir)
		if off := fine && !export && t.who == approval.Ours && literal(parts) && envnames.PagerOff(a.Name.Value, textOf(parts)); !off && !t.assignable(a.Name.Value) {
			ok = false
		}
		if !fine || export && !literal(parts) {
			t.ask(approval.ReasonRuntimeValue, "what %s is set to is known only when it runs", a.Name.Value)
			ok = false
		}
		if a.Naked {
			parts = nil
		} else if parts == nil {
			parts = approval.Word{}
		}
		node.Assigns = append(node.Assigns, approval.Assign{Name: a.Name.Value, Value: parts, Export: export})
	}
	return &node, ok
}

// textOf returns the text of a literal word.
func textOf(word approval.Word) string {
	if len(word) == 0 {
		return ""
	}
	return word[0].Text
}

// call plans one simple command.
func (t *textJob) call(call *syntax.CallExpr, redirs []*syntax.Redirect, dir *string) (*approval.Node, bool) {
	t.seen[call] = true
	if len(call.Args) == 0 {
		if len(redirs) > 0 || !t.ring2 {
			return t.unclear(approval.ReasonApprovalRequired, "it sets variables or redirects without a command")
		}
		return t.assign(call.Assigns, false, *dir)
	}
	if list, ok := exports(call); ok && t.ring2 && len(redirs) == 0 && len(call.Assigns) == 0 {
		for _, a := range list {
			if a.Value != nil {
				t.holds(a.Name.Value, a.Value)
			}
		}
		return t.assign(list, true, *dir)
	}
	index := len(t.plan.Segments)
	t.plan.Segments = append(t.plan.Segments, approval.Segment{}) // its place is before what its words run
	seg, ok := t.segment(call, *dir)
	if len(call.Assigns) > 0 {
		node, fine := t.assign(call.Assigns, false, *dir)
		if ok = ok && fine; ok {
			seg.Assigns = node.Assigns
		}
		if slices.ContainsFunc(seg.Assigns, func(a approval.Assign) bool { return !literal(a.Value) }) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what it sets for the command is known only when it runs"))
		}
	}
	t.redirects(&seg, redirs)
	ok = ok && len(seg.Findings) == 0 && seg.Floor == ""
	t.shellWord(&seg)
	ok = ok && (seg.Program != nil || seg.Builtin != "")
	if seg.Builtin == "cd" {
		*dir = t.cd(&seg)
	}
	seg.Fed = t.feeds > 0
	t.makes(&seg)
	t.plan.Segments[index] = seg
	return &approval.Node{Op: approval.OpRun, Seg: index}, ok
}

// exports takes an export apart that stands in a text for sh, where it is no
// word of the grammar.
func exports(call *syntax.CallExpr) (list []*syntax.Assign, ok bool) {
	if call.Args[0].Lit() != "export" || len(call.Args) == 1 {
		return nil, false
	}
	for _, word := range call.Args[1:] {
		first, ok := word.Parts[0].(*syntax.Lit)
		if !ok {
			return nil, false
		}
		name, value, given := strings.Cut(first.Value, "=")
		a := &syntax.Assign{Name: &syntax.Lit{Value: name}, Naked: !given}
		switch {
		case envnames.Requested(name) == envnames.Malformed, !given && len(word.Parts) > 1, strings.HasPrefix(value, "~"):
			return nil, false
		case given && value == "":
			a.Value = &syntax.Word{Parts: word.Parts[1:]}
		case given:
			rest := *first
			rest.Value = value
			a.Value = &syntax.Word{Parts: append([]syntax.WordPart{&rest}, word.Parts[1:]...)}
		}
		list = append(list, a)
	}
	return list, true
}

// segment reads the words of a simple command. Words that only the run can
// tell are kept as they were written.
func (t *textJob) segment(call *syntax.CallExpr, dir string) (approval.Segment, bool) {
	seg := approval.Segment{Start: int(call.Pos().Offset()), End: int(call.End().Offset()), Dir: dir}
	ok, final := true, true
	for i, word := range call.Args {
		if !t.spend(1) {
			return seg, false
		}
		v, fine := t.word(word, dir)
		name := i == 0 && fine && (!v.literal || v.expands)
		if !fine || name {
			what := "an argument"
			if i == 0 {
				what = "the program's name"
			}
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "%s is known only when it runs", what))
			maybe := t.guess(word)
			if name {
				maybe = append(maybe, v.final...)
				if v.open != nil {
					maybe = append(maybe, v.open.Maybe...)
				}
			}
			v = value{open: &approval.Open{Many: true, Maybe: maybe}, written: t.text[word.Pos().Offset():word.End().Offset()]}
			ok = false
		}
		if final = final && v.literal; v.open != nil {
			v.open.At = len(seg.Argv)
			seg.Open, seg.Argv = append(seg.Open, *v.open), append(seg.Argv, v.written)
		} else {
			if !v.literal || v.expands {
				for k := range v.final {
					seg.Made = append(seg.Made, len(seg.Argv)+k)
				}
			}
			seg.Argv = append(seg.Argv, v.final...)
		}
		seg.Words = append(seg.Words, v.words...)
	}
	if final || !ok {
		seg.Words = nil
	}
	if len(seg.Argv) > 1 && seg.Argv[0] == "command" && t.ring2 && !strings.HasPrefix(seg.Argv[1], "-") && (len(seg.Open) == 0 || seg.Open[0].At > 1) && !slices.Contains(seg.Made, 1) {
		seg.Argv = seg.Argv[1:] // it only passes functions by, and there are none
		for i := range seg.Open {
			seg.Open[i].At--
		}
		for i := range seg.Made {
			seg.Made[i]--
		}
		if seg.Words != nil {
			seg.Words = seg.Words[1:]
		}
	}
	return seg, ok
}

// guess returns what a word that is not understood may be: as it was written,
// and with the quotes taken out.
func (t *textJob) guess(word *syntax.Word) []string {
	written := t.text[word.Pos().Offset():word.End().Offset()]
	return []string{written, unquoter.Replace(written)}
}

var unquoter = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// shellWord says what the first word of a command means to a shell: a builtin
// or a program.
func (t *textJob) shellWord(seg *approval.Segment) {
	if len(seg.Argv) == 0 || len(seg.Open) > 0 && seg.Open[0].At == 0 {
		return
	}
	name := seg.Argv[0]
	switch {
	case hasControl(name) || !ascii(name):
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "the program's name is not plain text"))
	case name == "command" && t.ring2 && len(seg.Argv) > 2 && (seg.Argv[1] == "-v" || seg.Argv[1] == "-V"):
		seg.Builtin = name
	case name == "set" && t.ring2 && setsOptions(seg):
		seg.Builtin = name
	case otherBuiltins[name]:
		seg.Findings = append(seg.Findings, finding(approval.ReasonEvaluates, "%s is done inside the shell", name))
		t.hint(seg)
	case t.grammar != bash && len(seg.Assigns) > 0 && (name == ":" || name == "exit"):
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on how long a variable before %s lasts", name))
	case ownBuiltins[name]:
		seg.Builtin = name
		t.sameEverywhere(seg)
		if name == "exit" && t.who == approval.Theirs && !plainOperands(name, seg.Argv[1:]) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on what this exit does"))
		}
	case startedBuiltins[name]:
		t.startedBuiltin(seg)
	default:
		t.program(seg)
		return
	}
	if name != "echo" && name != "printf" {
		return
	}
	if which := t.protectedArgument(seg, nil); which != "" {
		seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s names %s", name, which))
	}
}

// setsOptions reports whether a set only switches on what the runner knows.
func setsOptions(seg *approval.Segment) bool {
	options, ok := shellOptions(seg.Argv[1:], "eu")
	return ok && len(options) > 0 && len(seg.Open) == 0
}

// sameEverywhere marks builtins that shells do not agree on, where we would
// do it as bash does and the text is meant for another shell.
func (t *textJob) sameEverywhere(seg *approval.Segment) {
	if seg.Builtin != "echo" || (t.grammar == bash && t.who == approval.Ours) {
		return
	}
	words := seg.Argv[1:]
	for _, o := range seg.Open {
		words = append(slices.Clone(words), o.Maybe...)
	}
	for _, word := range words {
		if strings.Contains(word, `\`) || (strings.HasPrefix(word, "-") && word != "-n") {
			seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on what this echo prints"))
			return
		}
	}
}

// cd returns the folder after a cd, or "" when only the run can tell.
func (t *textJob) cd(seg *approval.Segment) string {
	args := seg.Argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 && len(seg.Argv) == 1 {
		args = []string{t.Home}
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || args[0] == "" || len(seg.Findings) > 0 || seg.Dir == "" || len(seg.Open) > 0 {
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "where this cd leads is known only when it runs"))
		return ""
	}
	at := join(seg.Dir, args[0])
	if t.made[path.Clean(at)] && !upward(args[0]) {
		return path.Clean(at)
	}
	dir, err := t.look(at)
	if err != nil || !isDir(dir) {
		return "" // the cd will fail, or something makes the folder before
	}
	straight := path.Clean(at) == dir.Path
	if up := slices.Contains(strings.Split(args[0], "/"), ".."); up && (!straight || t.linked) {
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "shells go up from a link in two ways, so where this cd leads is not clear"))
		return ""
	}
	t.linked = t.linked || !straight
	return dir.Path
}

// makes notes the folders that a mkdir makes, where it is sure where they will
// be: below a folder that is there, with no link on the way. The runner starts
// nothing in another folder than the one that was judged.
func (t *textJob) makes(seg *approval.Segment) {
	if !t.ring2 || seg.Program == nil || path.Base(seg.Program.File.Path) != "mkdir" || len(seg.Findings) > 0 || seg.Dir == "" {
		return
	}
	for _, arg := range seg.Argv[1:] {
		if strings.HasPrefix(arg, "-") || upward(arg) {
			continue
		}
		var missing []string
		for at := path.Clean(join(seg.Dir, arg)); at != "/"; at = path.Dir(at) {
			file, err := t.look(at)
			if err == nil {
				if file.Path == at && isDir(file) {
					for _, dir := range missing {
						t.made[dir] = true
					}
				}
				break
			}
			missing = append(missing, at)
		}
	}
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
			t.plan.Segments[index] = seg
		case !t.seen[stmt]: // redirections of a group, or of nothing
			seg := approval.Segment{Start: int(stmt.Pos().Offset()), End: int(stmt.End().Offset())}
			if t.redirects(&seg, stmt.Redirs); seg.Floor != "" {
				seg.Argv = []string{t.text[seg.Start:seg.End]}
				t.plan.Segments = append(t.plan.Segments, seg)
			}
		}
		return true
	})
}

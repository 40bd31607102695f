package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// stmts plans statements that follow each other.
func (t *textJob) stmts(list []*syntax.Stmt, dir *string) (*approval.Node, bool) {
	seq, ok := approval.Node{Op: approval.OpSeq}, true
	for _, stmt := range list {
		if t.maybeAdded { // on the right side of && or ||, in what came before
			t.ask(approval.ReasonEnvAsks, "it changes PATH where only the run can tell whether it does")
			ok = false
		}
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
		return t.inBackground(stmt, *dir)
	}
	return t.foreground(stmt, dir)
}

// foreground plans a statement, whatever stands behind it.
func (t *textJob) foreground(stmt *syntax.Stmt, dir *string) (*approval.Node, bool) {
	var node *approval.Node
	ok, entered, added := true, *dir, t.added
	if stmt.Negated { // what becomes of a status that a break leaves is not the same to all
		defer func(loops []string) { t.loops = loops }(t.loops)
		t.loops = nil
	}
	if redirectsInput(stmt) {
		defer t.hold()()
	}
	if call, simple := stmt.Cmd.(*syntax.CallExpr); simple {
		if node, ok = t.jump(stmt, call, *dir); node == nil && ok {
			node, ok = t.call(call, stmt.Redirs, dir)
		}
	} else {
		var around approval.Segment
		redirected, from := true, len(t.plan.Segments)
		if len(stmt.Redirs) > 0 {
			around, redirected = t.around(stmt, *dir)
		}
		if node, ok = t.compound(stmt.Cmd, dir); ok && len(around.Redirects) > 0 {
			node = &approval.Node{Op: approval.OpSeq, Kids: []approval.Node{*node}, Redirects: around.Redirects}
		}
		t.outputsAround(&around, from)
		ok = ok && redirected
	}
	switch stmt.Cmd.(type) {
	case *syntax.IfClause, *syntax.WhileClause, *syntax.ForClause, *syntax.CaseClause:
		ok = !t.unsure(added) && ok
	}
	if stmt.Negated {
		ok = !t.unsure(added) && ok
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

// around reads the redirections of a group of commands. What an entry can cover of
// them is in Outputs, for the commands inside.
func (t *textJob) around(stmt *syntax.Stmt, dir string) (seg approval.Segment, ok bool) {
	if t.who == approval.Theirs {
		t.ask(approval.ReasonApprovalRequired, "it redirects a group of commands")
		return seg, false
	}
	t.seen[stmt] = true
	seg = approval.Segment{Start: int(stmt.Pos().Offset()), End: int(stmt.End().Offset()), Dir: dir}
	t.redirects(&seg, stmt.Redirs)
	t.feedsGroup = t.feedsGroup || slices.ContainsFunc(seg.Redirects, feeds)
	t.plan.Findings = append(t.plan.Findings, seg.Findings...)
	if seg.Floor != "" { // a segment of its own says that it never runs
		seg.Argv, seg.Findings = []string{t.text[seg.Start:seg.End]}, nil
		t.plan.Segments = append(t.plan.Segments, seg)
		return seg, false
	}
	return seg, len(seg.Findings) == 0
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
			if t.grammar != bash && strings.HasPrefix(t.text[cmd.Lparen.Offset():], "((") {
				return t.unclear(approval.ReasonUnreadable, "to some shells, (( begins arithmetic")
			}
			inside := *dir
			defer t.inside()()
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
	case *syntax.CaseClause:
		if t.ring2 && !cmd.Braces {
			return t.cases(cmd, dir)
		}
	case *syntax.TestClause:
		if t.ring2 && t.grammar == bash {
			asked, ok := t.condition(cmd.X, *dir)
			if !ok {
				t.ask(approval.ReasonApprovalRequired, "it asks something in [[ ]] that is not run from a plan")
			}
			return &approval.Node{Op: approval.OpAsk, Condition: &asked}, ok
		}
	case *syntax.ArithmCmd:
		if t.ring2 && t.grammar == bash && !cmd.Unsigned {
			sum, ok := t.counted(cmd.X, *dir)
			return &approval.Node{Op: approval.OpSum, Sums: []approval.Sum{sum}}, ok
		}
	case *syntax.DeclClause:
		if t.ring2 && cmd.Variant.Value == "export" {
			return t.assign(cmd.Args, forExport, *dir)
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
	right, found := *dir, t.added
	switch {
	case op == approval.OpAnd:
		right = t.passed
	case right != before:
		right = "" // the right side runs only if the cd on the left failed
	}
	entered := right
	if op == approval.OpOr && t.maybeAdded {
		t.ask(approval.ReasonEnvAsks, "it changes PATH where only the run can tell whether it does")
	}
	y, oky := t.stmt(cmd.Y, &right)
	if found != t.added {
		t.maybeAdded = true
	}
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
	starts := make([]int, len(stages), len(stages)+1)
	var upstream []int
	for i, stage := range stages {
		inside := dir
		if i > 0 {
			ok = t.startsStage(stage, dir) && ok
		}
		starts[i] = len(t.plan.Segments)
		passesOn := t.takesNames(stages[i+1:])
		t.passesOn += passesOn
		reads := readLater(stages[i+1:])
		t.feeds += reads
		leave, let := t.inside(), t.hold()
		kid, fine := t.stmt(stage, &inside)
		leave()
		let()
		t.feeds -= reads
		if t.passesOn -= passesOn; passesOn > 0 {
			_, simple := stage.Cmd.(*syntax.CallExpr)
			upstream = append(upstream, len(t.upstream))
			t.upstream = append(t.upstream, stretch{from: starts[i], to: len(t.plan.Segments), first: i == 0, simple: simple})
		}
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
	for _, i := range upstream {
		t.upstream[i].end = len(t.plan.Segments)
	}
	t.pipes = append(t.pipes, append(starts, len(t.plan.Segments)))
	return &node, ok
}

// takesNames returns 1 where a program among the stages of a pipeline that follow
// makes words of what comes in, for another one that does not only list.
func (t *textJob) takesNames(stages []*syntax.Stmt) (n int) {
	for _, stage := range stages {
		syntax.Walk(stage, func(node syntax.Node) bool {
			call, ok := node.(*syntax.CallExpr)
			if !ok {
				return n == 0
			}
			var names []string
			for _, word := range call.Args {
				name := t.plainly(word)
				if base := name[strings.LastIndexByte(name, '/')+1:]; makesWords()[base] || slices.Contains(systemFolders, strings.TrimSuffix(name, base)) {
					name = base // elsewhere it may be another program
				}
				names = append(names, name)
			}
			at := slices.IndexFunc(names, func(name string) bool { return makesWords()[name] })
			if at < 0 {
				return true
			}
			rest := names[at+1:]
			for len(rest) > 0 && (strings.HasPrefix(rest[0], "-") || rest[0] == "{}" || strings.Trim(rest[0], "0123456789") == "") {
				rest = rest[1:]
			}
			if !tellsOnly(rest) || strings.Contains(rest[0], "/") {
				n = 1
			}
			return true
		})
	}
	return n
}

// plainly is a word without its quotes.
func (t *textJob) plainly(word *syntax.Word) string {
	var name strings.Builder
	for _, part := range word.Parts {
		if quoted, ok := part.(*syntax.SglQuoted); ok && quoted.Dollar {
			text, _ := ansi(quoted.Value)
			name.WriteString(text)
		} else {
			unquoter.WriteString(&name, t.text[part.Pos().Offset():part.End().Offset()])
		}
	}
	return name.String()
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

// maxStages bounds how many programs run at once.
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
	before, from, had := *dir, len(t.plan.Segments), len(t.env)
	loops := t.loops
	t.loops = nil // what leaves a loop from its own condition is not clear
	cond, ok := t.stmts(cmd.Cond, dir)
	t.loops = loops
	body, fine := t.round(cmd.Do, dir)
	t.again(from, had)
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
	if counts, is := cmd.Loop.(*syntax.CStyleLoop); is && !cmd.Braces {
		return t.counting(counts, cmd.Do, dir)
	}
	loop, ok := cmd.Loop.(*syntax.WordIter)
	if !ok || cmd.Select || cmd.Braces {
		return t.unclear(approval.ReasonApprovalRequired, "it uses a loop that is not run from a plan")
	}
	before, from, had := *dir, len(t.plan.Segments), len(t.env)
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
		ok = t.goesThrough(node, v) && ok
	}
	if !loop.InPos.IsValid() { // for NAME; do
		ok = t.goesThrough(node, t.allParameters(true, "")) && ok
	}
	body, fine := t.round(cmd.Do, dir)
	t.again(from, had)
	if !t.stays(dir, before) || !ok || !fine {
		return nil, false
	}
	node.Kids = []approval.Node{*body}
	return node, true
}

// goesThrough adds what one word of a loop becomes to what its variable may be.
func (t *textJob) goesThrough(loop *approval.Node, v value) (ok bool) {
	ok = true
	for _, value := range v.final {
		ok = t.given(loop.Name, value, true) && ok
	}
	loop.Words = append(loop.Words, v.words...)
	t.values[loop.Name] = append(t.values[loop.Name], v.final...)
	if v.open != nil {
		ok = t.given(loop.Name, "", false) && ok
		t.lost[loop.Name] = t.lost[loop.Name] || !v.open.Known
		t.values[loop.Name] = append(t.values[loop.Name], v.open.Maybe...)
	}
	return ok
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

package command

import (
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// text plans a shell text. Every simple command in it becomes a segment, also
// inside constructs that are not understood, so that a question shows all
// that would run and the denylist sees all of it.
func (j *job) text(text, shell string) {
	if why := unreadable(text); why != "" {
		j.ask(approval.ReasonUnreadable, "%s", why)
		return
	}
	if len(text) > maxText {
		j.ask(approval.ReasonTooComplex, "the text is longer than %d bytes", maxText)
		return
	}
	if nesting(text) > maxNesting {
		j.ask(approval.ReasonTooComplex, "it is nested more than %d deep", maxNesting)
		return
	}
	g := textShells[shell]
	file, err := parse(text, g)
	if err != nil {
		j.ask(approval.ReasonUnreadable, "it is not a complete text for %s", shell)
		return
	}
	t := &textJob{job: j, text: text, grammar: g, seen: map[*syntax.CallExpr]bool{}}
	t.anyShell = j.who == approval.Theirs || g == zsh
	t.noShell = j.plan.Shell == ""
	dir := j.plan.Cwd.Path
	if root, ok := t.stmts(file.Stmts, &dir); ok && len(file.Stmts) > 0 {
		j.plan.Root = root
	} else if len(file.Stmts) == 0 {
		j.ask(approval.ReasonUnreadable, "there is no command in it")
	}
	t.rest(file)
	for i := range len(j.plan.Segments) {
		j.nested(i)
	}
}

func parse(text string, g grammar) (*syntax.File, error) {
	lang := syntax.LangPOSIX
	switch g {
	case bash:
		lang = syntax.LangBash
	case zsh:
		lang = syntax.LangZsh
	}
	return syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
}

// unreadable says why no two readers can be trusted to read this text alike,
// or "" (judgement.md, step 2).
func unreadable(text string) string {
	for _, r := range text {
		switch {
		case r == '\t' || r == '\n':
		case r < ' ' || r == 0x7f || unicode.Is(unicode.Cc, r):
			return "it holds control characters"
		case r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Cf, r):
			return "it holds invisible characters"
		case r == unicode.ReplacementChar:
			return "it holds bytes that are not text"
		}
	}
	if strings.Contains(text, "\\\n") {
		return "it joins lines with a backslash"
	}
	return ""
}

// nesting is an upper bound on how deep the text is nested, counted before
// the parser sees it, because the parser recurses.
func nesting(text string) int {
	depth, most := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '`', '[':
			depth++
		case ')', '}', ']':
			depth = max(0, depth-1)
		}
		most = max(most, depth)
	}
	for _, word := range strings.Fields(text) {
		switch word {
		case "if", "while", "until", "for", "case", "select", "!", "time", "coproc":
			if depth++; depth > maxNesting {
				return depth
			}
		case "fi", "done", "esac":
			depth = max(0, depth-1)
		}
	}
	return most
}

// textJob walks one parsed text.
type textJob struct {
	*job
	text    string
	grammar grammar
	// anyShell: words must mean the same to zsh too. noShell: nobody said
	// which shell the text is for.
	anyShell, noShell bool
	seen              map[*syntax.CallExpr]bool
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
	if stmt.Background || stmt.Coprocess || stmt.Disown {
		return t.unclear(approval.ReasonApprovalRequired, "it starts something in the background")
	}
	var node *approval.Node
	ok := true
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		node, ok = t.call(cmd, stmt.Redirs, dir)
	case *syntax.BinaryCmd:
		if len(stmt.Redirs) > 0 {
			return t.unclear(approval.ReasonWritesFile, "it redirects a group of commands")
		}
		node, ok = t.binary(cmd, dir)
	default:
		return t.unclear(approval.ReasonApprovalRequired, "it uses shell constructs that are not run from a plan")
	}
	if ok && stmt.Negated {
		node = &approval.Node{Op: approval.OpNot, Kids: []approval.Node{*node}}
	}
	return node, ok
}

func (t *textJob) binary(cmd *syntax.BinaryCmd, dir *string) (*approval.Node, bool) {
	var op approval.Op
	switch cmd.Op {
	case syntax.AndStmt:
		op = approval.OpAnd
	case syntax.OrStmt:
		op = approval.OpOr
	case syntax.Pipe:
		return t.pipe(cmd, *dir)
	default:
		return t.unclear(approval.ReasonApprovalRequired, "it uses %s, which is not run from a plan", cmd.Op)
	}
	before := *dir
	x, okx := t.stmt(cmd.X, dir)
	right := *dir
	if op == approval.OpOr && right != before {
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
	node, ok := approval.Node{Op: approval.OpPipe}, true
	for _, side := range []*syntax.Stmt{cmd.X, cmd.Y} {
		inside := dir
		kid, fine := t.stmt(side, &inside)
		if ok = ok && fine; !ok {
			continue
		}
		if kid.Op == approval.OpPipe && side == cmd.X {
			node.Kids = append(node.Kids, kid.Kids...)
		} else {
			node.Kids = append(node.Kids, *kid)
		}
	}
	return &node, ok
}

// call plans one simple command.
func (t *textJob) call(call *syntax.CallExpr, redirs []*syntax.Redirect, dir *string) (*approval.Node, bool) {
	t.seen[call] = true
	seg := t.segment(call, *dir)
	if len(call.Assigns) > 0 {
		seg.Findings = append(seg.Findings, finding(approval.ReasonEnvAsks, "it sets variables for the command"))
	}
	if len(call.Args) == 0 {
		return t.unclear(approval.ReasonApprovalRequired, "it sets variables or redirects without a command")
	}
	t.redirects(&seg, redirs)
	ok := len(seg.Findings) == 0 && seg.Floor == ""
	t.shellWord(&seg, call.Args[0])
	ok = ok && (seg.Program != nil || seg.Builtin != "")
	if seg.Builtin == "cd" {
		*dir = t.cd(&seg)
	}
	t.plan.Segments = append(t.plan.Segments, seg)
	return &approval.Node{Op: approval.OpRun, Seg: len(t.plan.Segments) - 1}, ok
}

// segment reads the words of a simple command. Words that only the run can
// tell are kept as they were written, with a finding.
func (t *textJob) segment(call *syntax.CallExpr, dir string) approval.Segment {
	seg := approval.Segment{Start: int(call.Pos().Offset()), End: int(call.End().Offset()), Dir: dir}
	for i, word := range call.Args {
		value, ok := t.literal(word)
		if !ok {
			value = t.text[word.Pos().Offset():word.End().Offset()]
			what := "an argument"
			if i == 0 {
				what = "the program's name"
			}
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "%s is known only when it runs", what))
		}
		seg.Argv = append(seg.Argv, value)
	}
	return seg
}

// shellWord says what the first word of a command means to a shell: a builtin
// or a program.
func (t *textJob) shellWord(seg *approval.Segment, first *syntax.Word) {
	name := seg.Argv[0]
	if _, ok := t.literal(first); !ok {
		return
	}
	switch {
	case hasControl(name) || !ascii(name):
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "the program's name is not plain text"))
	case otherBuiltins[name]:
		seg.Findings = append(seg.Findings, finding(approval.ReasonEvaluates, "%s is done inside the shell", name))
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
	}
}

// sameEverywhere marks builtins that shells do not agree on, where we would
// do it as bash does and the text is meant for another shell.
func (t *textJob) sameEverywhere(seg *approval.Segment) {
	if seg.Builtin != "echo" || (t.grammar == bash && t.who == approval.Ours) {
		return
	}
	for _, word := range seg.Argv[1:] {
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
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || args[0] == "" || len(seg.Findings) > 0 || seg.Dir == "" {
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "where this cd leads is known only when it runs"))
		return ""
	}
	dir, err := t.look(join(seg.Dir, args[0]))
	if err != nil || !isDir(dir) {
		return "" // the cd will fail, or something makes the folder before
	}
	return dir.Path
}

// rest adds the simple commands that the plan did not reach.
func (t *textJob) rest(file *syntax.File) {
	syntax.Walk(file, func(node syntax.Node) bool {
		stmt, ok := node.(*syntax.Stmt)
		if !ok || len(t.plan.Segments) > maxSegments {
			return true
		}
		call, simple := stmt.Cmd.(*syntax.CallExpr)
		switch {
		case simple && t.seen[call]:
		case simple && len(call.Args) > 0:
			seg := t.segment(call, t.plan.Cwd.Path) // as far as can be told without running it
			t.redirects(&seg, stmt.Redirs)
			t.shellWord(&seg, call.Args[0])
			t.plan.Segments = append(t.plan.Segments, seg)
		default: // redirections of a group, or of nothing
			seg := approval.Segment{Start: int(stmt.Pos().Offset()), End: int(stmt.End().Offset())}
			if t.redirects(&seg, stmt.Redirs); seg.Floor != "" {
				seg.Argv = []string{t.text[seg.Start:seg.End]}
				t.plan.Segments = append(t.plan.Segments, seg)
			}
		}
		return true
	})
}

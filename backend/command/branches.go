package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// cases plans a case. Where its branches end in different folders, only the run can
// tell.
func (t *textJob) cases(cmd *syntax.CaseClause, dir *string) (*approval.Node, bool) {
	node, ok, before, after := &approval.Node{Op: approval.OpCase}, true, *dir, *dir
	word, fine := t.one(cmd.Word, *dir)
	if !fine {
		t.ask(approval.ReasonRuntimeValue, "what its case is about is known only when it runs")
		ok = false
	}
	if mayHoldNothing(cmd.Word) {
		t.ask(approval.ReasonUnreadable, "shells do not agree on what its case is about where a form leaves nothing of a value")
		ok = false
	}
	node.Words = []approval.Word{word}
	stale := t.stale // at the beginning of each branch
	t.stale = false
	for _, item := range cmd.Items {
		if item.Op != syntax.Break {
			t.ask(approval.ReasonApprovalRequired, "it uses %s, which is not run from a plan", item.Op)
			ok = false
		}
		if n := len(item.Stmts); n > 0 && !item.OpPos.IsValid() && !strings.ContainsAny(t.text[item.Stmts[n-1].End().Offset():cmd.Esac.Offset()], ";\n") && !item.Stmts[n-1].Semicolon.IsValid() {
			t.ask(approval.ReasonUnreadable, "to a shell, the esac of its case is a word")
			ok = false
		}
		var patterns []approval.Word
		for _, p := range item.Patterns {
			if !t.spend(1) {
				return nil, false
			}
			pattern, fine := t.pattern(p, false, *dir)
			if !fine {
				t.ask(approval.ReasonApprovalRequired, "it uses a pattern that is not run from a plan")
				ok = false
			}
			patterns = append(patterns, pattern)
		}
		inside := before
		kid, fine := &approval.Node{Op: approval.OpNone}, true
		if len(item.Stmts) > 0 {
			others := t.stale
			t.stale = stale
			kid, fine = t.stmts(item.Stmts, &inside)
			t.stale = t.stale || others
		}
		if ok = ok && fine; ok {
			node.Kids, node.Cases = append(node.Kids, *kid), append(node.Cases, patterns)
		}
		if inside != before {
			after = ""
		}
	}
	*dir = after
	return node, ok
}

// mayHoldNothing reports whether a form may leave quotes with nothing in them in a part of
// a word, which bash then compares with nothing: it takes them for a sign.
func mayHoldNothing(word *syntax.Word) bool {
	return len(word.Parts) > 1 && slices.ContainsFunc(word.Parts, func(part syntax.WordPart) bool {
		switch part := part.(type) {
		case *syntax.DblQuoted:
			text := func(p syntax.WordPart) bool { _, is := p.(*syntax.Lit); return is }
			return slices.ContainsFunc(part.Parts, isFormed) && !slices.ContainsFunc(part.Parts, text)
		case *syntax.ParamExp:
			return part.Exp != nil && part.Exp.Word != nil && slices.ContainsFunc(part.Exp.Word.Parts, isQuoted)
		}
		return false
	})
}

func isFormed(part syntax.WordPart) bool {
	p, is := part.(*syntax.ParamExp)
	return is && !plainParameter(p)
}

func isQuoted(part syntax.WordPart) bool {
	switch part.(type) {
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// round plans the commands of a loop.
func (t *textJob) round(list []*syntax.Stmt, dir *string) (*approval.Node, bool) {
	t.loops = append(t.loops, *dir)
	node, ok := t.stmts(list, dir)
	t.loops = t.loops[:len(t.loops)-1]
	return node, ok
}

// jump plans break and continue, where a loop is around them in the same shell. For
// any other command it returns nil.
func (t *textJob) jump(stmt *syntax.Stmt, call *syntax.CallExpr, dir string) (*approval.Node, bool) {
	if !t.ring2 || len(call.Args) == 0 || len(call.Assigns) > 0 || len(stmt.Redirs) > 0 || stmt.Negated || len(call.Args) > 2 {
		return nil, true
	}
	node := &approval.Node{Op: approval.OpLeave, Loops: 1}
	switch call.Args[0].Lit() {
	case "break":
	case "continue":
		node.Op = approval.OpAgain
	default:
		return nil, true
	}
	if len(call.Args) == 2 {
		n := call.Args[1].Lit()
		if len(n) != 1 || n[0] < '1' || n[0] > '9' {
			return nil, true
		}
		node.Loops = int(n[0] - '0')
	}
	if node.Loops > len(t.loops) {
		return nil, true
	}
	t.seen[call] = true
	if slices.ContainsFunc(t.loops[len(t.loops)-node.Loops:], func(begins string) bool { return begins != dir }) {
		return t.unclear(approval.ReasonRuntimeValue, "where its loop runs is known only then: there is a cd in it")
	}
	return node, true
}

// reads reports whether a read is one that we do: of a line as it stands, into
// variables that mean nothing to a shell. It judges these.
func (t *textJob) reads(seg *approval.Segment) bool {
	names := approval.ReadNames(seg.Argv)
	if len(names) == 0 || len(seg.Open) > 0 || len(seg.Made) > 0 {
		return false
	}
	for _, name := range names {
		if !t.mayRead(name) {
			return false
		}
	}
	for _, name := range names {
		t.given(name, "", false)
		t.lost[name] = true
		for _, r := range seg.Redirects {
			if line, _, _ := strings.Cut(r.Text, "\n"); r.To == approval.FromText {
				for _, value := range append(strings.Fields(line), line) {
					t.note(t.values, name, value)
				}
			}
		}
	}
	return true
}

// readLater returns 1 where a stage of a pipeline reads lines into variables: what the
// stages before it print may become words.
func readLater(stages []*syntax.Stmt) (n int) {
	for _, stage := range stages {
		syntax.Walk(stage, func(node syntax.Node) bool {
			if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 && call.Args[0].Lit() == "read" {
				n = 1
			}
			return n == 0
		})
	}
	return n
}

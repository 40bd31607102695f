package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// constant returns what `$(cat <<'EOF' …)` becomes in quotes: the text of the
// here-document without the newlines at its end. Agents write long messages so. It
// holds where cat is the system's, which prints its input and nothing else; the cat
// stands in the plan as a command that is only named, for the denylist.
func (t *textJob) constant(part syntax.WordPart, dir string) (string, bool) {
	sub, ok := part.(*syntax.CmdSubst)
	if !ok || !t.ring2 || sub.TempFile || sub.ReplyVar || len(sub.Stmts) != 1 {
		return "", false
	}
	stmt := sub.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || stmt.Negated || stmt.Background || stmt.Coprocess || len(stmt.Redirs) != 1 || len(call.Assigns) > 0 || len(call.Args) != 1 || call.Args[0].Lit() != "cat" {
		return "", false
	}
	if r := stmt.Redirs[0]; r.Op != syntax.Hdoc && r.Op != syntax.DashHdoc {
		return "", false
	}
	seg := approval.Segment{Start: int(call.Pos().Offset()), End: int(call.End().Offset()), Argv: []string{"cat"}, Dir: dir, Env: t.env}
	got, why := t.fed(&seg, stmt.Redirs[0])
	if why.Reason != "" || len(got) != 1 {
		return "", false
	}
	t.program(&seg)
	if len(seg.Findings) > 0 || seg.Program == nil || path.Base(seg.Program.File.Path) != "cat" || !paths.OfSystem(seg.Program.File.Path) || !Kept(seg.Program.File) {
		return "", false
	}
	seg.Named = true
	t.plan.Segments = append(t.plan.Segments, seg)
	t.seen[stmt], t.seen[call], t.stale = true, true, true
	return strings.TrimRight(got[0].Text, "\n"), true
}

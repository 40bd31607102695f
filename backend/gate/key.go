package gate

import (
	"fmt"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// key names a question for merging: requests share one only if everything
// that is shown with it is the same, down to the files that would run.
func (f *flight) key() string {
	parts := []string{string(f.judged.Req.Who), f.judged.Req.AgentID, f.judged.Req.SessionKey, fmt.Sprint(f.judged.Req.Claim, f.judged.Judgement), f.judged.Plan.Shell, f.judged.Plan.Text, fmt.Sprint(f.judged.Plan.Cwd.Path, f.judged.Plan.Cwd.Dev, f.judged.Plan.Cwd.Ino, f.judged.Plan.Folder)}
	parts = append(parts, f.judged.Req.Command...)
	parts = append(parts, "", "")
	for name, value := range sorted(f.judged.Req.Env) {
		parts = append(parts, name, value)
	}
	if t := f.judged.Plan.Tool; t != nil {
		parts = append(parts, "tool", t.Digest, t.Source, fmt.Sprint(t.Files))
	}
	parts = append(parts, "", identity(f.judged.Plan.Outer))
	for _, s := range f.judged.Plan.Segments {
		parts = append(parts, s.Dir, identity(s.Program), fmt.Sprint(s.Code))
	}
	return strings.Join(parts, "\x00")
}

// identity names a program and all that interprets it.
func identity(res *approval.Resolution) string {
	var b strings.Builder
	for ; res != nil; res = res.Interpreter {
		fmt.Fprint(&b, res.Path, res.File, res.InterpreterArg)
	}
	return b.String()
}

// same names a request by what it would run and change, not by how it was judged:
// once for all that its agent asks, in whatever process, and once for all of the
// family that asks, by whatever name.
func (f *flight) same() []answerKey {
	parts := []string{f.judged.Plan.Text, fmt.Sprint(f.judged.Plan.Cwd.Path, f.judged.Plan.Cwd.Dev, f.judged.Plan.Cwd.Ino)}
	for name, value := range sorted(f.judged.Req.Env) {
		parts = append(parts, name, value)
	}
	if t := f.judged.Plan.Tool; t != nil && !t.Command {
		parts = append(parts, "tool", t.FullName(), string(t.Args))
	}
	for _, s := range f.judged.Plan.Segments {
		parts = append(parts, "program", s.Dir, identity(s.Program), fmt.Sprint(s.Code))
	}
	what := strings.Join(parts, "\x00")
	return []answerKey{keyOf("agent "+f.judged.Req.AgentID, what), keyOf(pending.Family(f.judged.Req.Peer, f.judged.Req.AgentID), what)}
}

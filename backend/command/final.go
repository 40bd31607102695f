package command

import (
	"context"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Final makes the plan of one command of a text when its words have become
// final: in dir, which is cwd of the request or where a cd has led. Its first
// segment is the command itself, resolved anew; as is what it was judged as.
func (a *Analyzer) Final(ctx context.Context, plan *approval.Plan, as *approval.Segment, argv []string, dir string) approval.Plan {
	j := &job{Analyzer: a, who: approval.Ours, effort: newEffort(ctx), added: as.Search}
	j.plan.Cwd, j.plan.Folder, j.plan.Shell, j.plan.Text = plan.Cwd, plan.Folder, plan.Shell, Quote(argv)
	if j.plan.Shell == "" {
		j.plan.Shell = "bash"
	}
	if as.Fed {
		j.feeds, j.passesOn = 1, 1
	}
	t := &textJob{job: j, text: j.plan.Text, grammar: textShells[j.plan.Shell], ring2: true}
	seg := approval.Segment{End: len(j.plan.Text), Argv: argv, Dir: dir, Env: as.Env, Redirects: as.Redirects, Outputs: as.Outputs, Search: as.Search}
	t.shellWord(&seg)
	j.plan.Segments = append(j.plan.Segments, seg)
	if len(approval.Lasting(seg.Findings)) == 0 && seg.Floor == "" && (seg.Program != nil || seg.Builtin != "") {
		j.plan.Root = &approval.Node{Op: approval.OpRun}
	}
	j.nested(0)
	j.inVenvs()
	j.tellOutputs()
	if len(as.Open) > 0 || !slices.Equal(argv, as.Argv) { // what feeds it was judged for other words
		for i := range j.plan.Segments {
			notExactly(j.plan.Segments[i].Findings)
		}
	}
	j.cap()
	return j.plan
}

// Find returns what a command word would start, as command -v says it: the
// word itself for a builtin, the path of a program, or "".
func (a *Analyzer) Find(word, dir string) string {
	if ownBuiltins()[word] || startedBuiltins()[word] || otherBuiltins()[word] {
		return word
	}
	j := &job{Analyzer: a, effort: newEffort(context.Background())}
	res, _ := j.find(word, dir)
	switch {
	case res == nil:
		return ""
	case res.Bare:
		return res.Path
	}
	return word
}

// Which returns the path of the program that a bare name starts, or "". A
// builtin is none.
func (a *Analyzer) Which(name string) string {
	if name == "" || strings.Contains(name, "/") {
		return ""
	}
	j := &job{Analyzer: a, effort: newEffort(context.Background())}
	res, _ := j.search(name)
	if res == nil {
		return ""
	}
	return res.Path
}

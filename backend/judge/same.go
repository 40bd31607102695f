package judge

import (
	"context"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Shown is what a yes holds for: what was shown, and what its files held.
type Shown struct {
	Plan      approval.Plan
	Judgement approval.Judgement
	Contents  Contents
}

// Shown is what a question about the case shows.
func (c *Case) Shown() Shown { return Shown{c.Plan, c.Judgement, c.Contents()} }

// Like reports whether the case, judged anew, would run what was shown. Where a
// person said yes to it, it must find nothing to ask about that they did not see.
func (c *Case) Like(ctx context.Context, shown Shown, byPerson bool) bool {
	now := c
	if shown.Plan.Folder.Path == "" && c.Plan.Folder.Path != "" { // it was named meanwhile, which only takes reasons away
		now = &Case{Req: c.Req, judge: c.judge, machine: c.machine, Paid: c.Paid}
		now.Plan = c.judge.analyze(ctx, c.machine, &c.Req, shown.Plan.Folder)
		now.Evaluate(false)
	}
	return SamePlan(&shown.Plan, &now.Plan) && (!byPerson || sameReasons(shown.Judgement, now.Judgement))
}

// Holds reports whether the files of the case hold what they held when it was shown.
func (c *Case) Holds(shown Shown) bool { return shown.Contents.sameAs(c.Contents()) }

// Elsewhere denies what was judged by a folder that is another one now: swapped,
// led elsewhere by a link, or none any more. Where none counted, nothing did. A
// judgement that is fresh needs a look at the folder alone.
func (c *Case) Elsewhere(whole bool) *approval.Denial {
	folder, look := c.Plan.Folder, c.machine.Analyzer.World.Look
	if folder.Path == "" {
		return nil
	}
	now, err := look(folder.Path)
	same := err == nil && now.Path == folder.Path && now.Dev == folder.Dev && now.Ino == folder.Ino
	if same && folder.By == approval.FolderCheckout {
		_, err = look(folder.Path + "/.git")
		same = err == nil
	}
	if same && whole {
		rules, _ := c.judge.rulesFor(c.Req.AgentID)
		same = folder.Same(rules.folder(c.machine, &c.Req))
	}
	if !same {
		return Deny(approval.ReasonDrifted, "the project that it works in is not the one any more that was judged: ask again")
	}
	return nil
}

// FolderMatters reports whether a person could name the folder that the agent works
// in, and the request would be judged otherwise then.
func (c *Case) FolderMatters(ctx context.Context) bool {
	if folder := c.Plan.Folder; folder.Path != "" || folder.Offer == "" || folder.Declined {
		return false
	}
	again := Case{Req: c.Req, judge: c.judge, machine: c.machine, Paid: c.Paid}
	again.Plan = c.judge.analyze(ctx, c.machine, &c.Req, approval.Folder{Path: c.Plan.Folder.Offer, By: approval.FolderNamed})
	again.Evaluate(false)
	same := func(a, b approval.SegmentJudgement) bool { return a.Verdict == b.Verdict && a.Finding == b.Finding }
	return again.Judgement.Verdict != c.Judgement.Verdict || again.Judgement.Finding != c.Judgement.Finding ||
		!slices.EqualFunc(again.Judgement.Segments, c.Judgement.Segments, same)
}

// sameReasons reports whether the second judgement found nothing to ask about
// that the first did not: what an argument leads to may have changed.
func sameReasons(shown, now approval.Judgement) bool {
	for i, s := range now.Segments {
		if s.Verdict != approval.VerdictAllow && (i >= len(shown.Segments) || s.Finding != shown.Segments[i].Finding) {
			return false
		}
	}
	return true
}

// SamePlan reports whether two looks at a request found the same programs,
// files with program text, folder and words.
func SamePlan(a, b *approval.Plan) bool {
	if !sameTool(a.Tool, b.Tool) || a.Text != b.Text || !slices.Equal(a.Argv, b.Argv) || !a.Cwd.SameFolder(b.Cwd) || !a.Folder.Same(b.Folder) || !slices.EqualFunc(a.Others, b.Others, approval.Folder.Same) || len(a.Segments) != len(b.Segments) || !a.Outer.Same(b.Outer) {
		return false
	}
	for i := range a.Segments {
		x, y := &a.Segments[i], &b.Segments[i]
		if !slices.Equal(x.Argv, y.Argv) || x.Dir != y.Dir || !x.Program.Same(y.Program) ||
			!slices.Equal(x.Findings, y.Findings) || !slices.EqualFunc(x.Redirects, y.Redirects, approval.Redirect.Same) ||
			!slices.EqualFunc(x.Code, y.Code, sameFile) || x.Floor != y.Floor {
			return false
		}
	}
	return true
}

func sameFile(a, b approval.File) bool { return a.Path == b.Path && a.Same(b) }

// sameTool reports whether two looks at a call found the same call, and the same
// files behind it.
func sameTool(a, b *approval.Tool) bool {
	if a == nil || b == nil {
		return a == b
	}
	same := func(x, y approval.ToolFile) bool {
		return x.Arg == y.Arg && x.Real == y.Real && x.Inside == y.Inside && x.Protected == y.Protected
	}
	return a.Digest == b.Digest && slices.EqualFunc(a.Files, b.Files, same)
}

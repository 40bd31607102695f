package command

import (
	"path"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// nested adds the programs that the words of a segment name, as segments of
// their own: for a wrapper, a shell or an unknown program, what follows its
// own name may be a command. As the last word of an unknown program, only
// shells and their like count as one (judgement.md, step 4, general rule).
func (j *job) nested(index int) {
	outer := j.plan.Segments[index]
	if outer.Program == nil || layers(j.plan.Segments, index) >= maxLayers {
		return
	}
	switch outer.Kind {
	case approval.KindOther, approval.KindWrapper, approval.KindMultiplexer, approval.KindShell:
	default:
		return
	}
	if outer.Kind == approval.KindShell {
		j.innerText(index, outer)
	}
	for i := 1; i < len(outer.Argv); i++ {
		word := outer.Argv[i]
		if word == "" || strings.HasPrefix(word, "-") || len(j.plan.Segments) > maxSegments {
			continue
		}
		res, why := j.find(word, outer.Dir)
		if res == nil || why.Reason == approval.ReasonNotFound {
			continue
		}
		kind := kindOf(path.Base(res.Path), path.Base(res.File.Path))
		harmless := kind != approval.KindShell && kind != approval.KindInterpreter && kind != approval.KindMultiplexer && kind != approval.KindWrapper
		seg := approval.Segment{
			Start: outer.Start, End: outer.End, Argv: outer.Argv[i:], Dir: outer.Dir, Via: index + 1,
			Named: harmless && outer.Kind == approval.KindOther && i == len(outer.Argv)-1,
		}
		j.program(&seg)
		j.plan.Segments = append(j.plan.Segments, seg)
		j.nested(len(j.plan.Segments) - 1)
		return // its own words were looked at with it
	}
}

// innerText looks into the text of a shell that a command starts, so that
// what it would run is shown and the denylist sees it. The text itself does
// not run from the plan.
func (j *job) innerText(index int, outer approval.Segment) {
	_, text, ok := shellText(outer.Argv)
	if !ok || j.depth >= maxLayers {
		return
	}
	inner := &job{Analyzer: j.Analyzer, who: j.who, seen: j.seen, depth: j.depth + 1}
	inner.plan.Cwd.Path, inner.plan.Shell = outer.Dir, "sh"
	inner.text(text, "bash")
	j.plan.Findings = append(j.plan.Findings, inner.plan.Findings...)
	base := len(j.plan.Segments)
	for _, seg := range inner.plan.Segments {
		if seg.Via > 0 {
			seg.Via += base
		} else {
			seg.Via = index + 1
		}
		seg.Start, seg.End = outer.Start, outer.End
		j.plan.Segments = append(j.plan.Segments, seg)
	}
}

// layers counts how many segments a segment is wrapped in.
func layers(segments []approval.Segment, index int) int {
	n := 0
	for via := segments[index].Via; via > 0 && n <= maxLayers; via = segments[via-1].Via {
		n++
	}
	return n
}

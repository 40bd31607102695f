package preview

import (
	"path"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// told is what a plan says by itself.
func told(plan *approval.Plan) Preview {
	p := Preview{Reads: len(plan.Segments) > 0 && len(plan.Targets) == 0}
	p.add(plan.Targets)
	for i := range plan.Segments {
		s := &plan.Segments[i]
		if s.Named {
			continue
		}
		p.add(s.Targets)
		p.Reads = p.Reads && reads(s)
		word := wordOf(s)
		if s.Program != nil {
			once(&p.Programs, s.Program.File.Path)
		}
		if slices.Contains(s.Effects, approval.EffectNetwork) {
			once(&p.Network, word)
		}
		if slices.Contains(s.Effects, approval.EffectProject) {
			once(&p.Project, word)
		}
		if unknown(s) {
			once(&p.Unknown, word)
		}
	}
	for _, f := range plan.Findings {
		if open[f.Reason] && len(p.Unknown) == 0 { // else it is about one of these
			p.Untold = true
		}
	}
	p.Reads = p.Reads && !p.Untold
	return p
}

func (p *Preview) add(list []approval.Target) {
	for _, t := range list {
		switch one := (Target{Op: t.Op, Path: t.Path}); {
		case t.Path == "":
			p.Untold = true
		case len(p.Targets) > maxTargets: // one more than is looked at
		case !slices.Contains(p.Targets, one):
			p.Targets = append(p.Targets, one)
		}
	}
}

// open are the reasons to ask for which nobody can say what a program changes.
var open = map[approval.Reason]bool{
	approval.ReasonChangesConfig: true, approval.ReasonChangesSystem: true, approval.ReasonEvaluates: true, approval.ReasonInlineCode: true,
	approval.ReasonNotFound: true, approval.ReasonRuntimeValue: true, approval.ReasonStartsProgram: true, approval.ReasonSteersScreen: true,
	approval.ReasonTooComplex: true, approval.ReasonUnreadable: true, approval.ReasonWrapperUnclear: true,
}

// unknown reports whether a segment may change more than it names.
func unknown(s *approval.Segment) bool {
	if s.Builtin == "" && s.Kind != approval.KindReader && !s.Profiled || s.Unseen() {
		return true
	}
	return slices.ContainsFunc(s.Findings, func(f approval.Finding) bool {
		unnamed := f.Reason == approval.ReasonDeletes && len(s.Targets) == 0
		return open[f.Reason] || unnamed
	})
}

// reads reports whether a segment surely changes nothing.
func reads(s *approval.Segment) bool {
	changes := slices.ContainsFunc(s.Findings, func(f approval.Finding) bool {
		return f.Reason == approval.ReasonWritesFile || f.Reason == approval.ReasonDeletes
	})
	return !changes && len(s.Targets) == 0 && !unknown(s) && (s.Kind == approval.KindReader || s.Builtin != "")
}

func wordOf(s *approval.Segment) string {
	if len(s.Argv) == 0 {
		return ""
	}
	return path.Base(s.Argv[0])
}

func once(list *[]string, name string) {
	if name != "" && !slices.Contains(*list, name) {
		*list = append(*list, name)
	}
}

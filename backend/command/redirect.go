package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// redirects reads the redirections of a simple command: duplication among 1
// and 2, and /dev/null. Everything else asks; a network device never runs.
func (t *textJob) redirects(seg *approval.Segment, list []*syntax.Redirect) {
	for _, r := range list {
		if got := t.redirect(seg, r); got != nil {
			seg.Redirects = append(seg.Redirects, got...)
		}
	}
}

func (t *textJob) redirect(seg *approval.Segment, r *syntax.Redirect) []approval.Redirect {
	target, known := "", false
	if r.Word != nil {
		target, known = t.literal(r.Word)
		written := strings.NewReplacer(`"`, "", "'", "", `\`, "").Replace(t.text[r.Word.Pos().Offset():r.Word.End().Offset()])
		if strings.HasPrefix(written, "/dev/tcp/") || strings.HasPrefix(written, "/dev/udp/") {
			seg.Floor = "it opens a network connection through a redirection"
			return nil
		}
	}
	reads := r.Op == syntax.RdrIn || r.Op == syntax.DplIn || r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc
	if known && !reads && isDevice(target) {
		seg.Floor = "it overwrites the device " + target
		return nil
	}
	fd := -1
	if r.N != nil {
		if len(r.N.Value) != 1 || !strings.Contains("012", r.N.Value) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonApprovalRequired, "it uses descriptor %s", r.N.Value))
			return nil
		}
		fd = int(r.N.Value[0] - '0')
	}
	null := known && target == "/dev/null"
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut:
		if null && fd != 0 {
			return []approval.Redirect{{FD: or(fd, 1), To: approval.ToNull}}
		}
	case syntax.RdrIn:
		if null && fd <= 0 {
			return []approval.Redirect{{FD: 0, To: approval.ToNull}}
		}
		seg.Findings = append(seg.Findings, finding(approval.ReasonApprovalRequired, "it reads a file through a redirection"))
		return nil
	case syntax.DplOut:
		if known && (target == "1" || target == "2") && fd != 0 {
			return []approval.Redirect{{FD: or(fd, 1), To: int(target[0] - '0')}}
		}
	case syntax.RdrAll, syntax.AppAll:
		if null && t.grammar == bash && t.who == approval.Ours {
			return []approval.Redirect{{FD: 1, To: approval.ToNull}, {FD: 2, To: approval.ToNull}}
		}
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		seg.Findings = append(seg.Findings, finding(approval.ReasonApprovalRequired, "it feeds a text to the command"))
		return nil
	}
	seg.Findings = append(seg.Findings, finding(approval.ReasonWritesFile, "it redirects to something else than /dev/null"))
	return nil
}

func or(fd, preset int) int {
	if fd < 0 {
		return preset
	}
	return fd
}

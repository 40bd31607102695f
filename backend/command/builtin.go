package command

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// systemFolders hold the programs that stand for builtins.
var systemFolders = []string{"/bin/", "/usr/bin/"}

// startedBuiltin resolves [, test and printf to the system's own programs. An
// option that assigns or looks at variables of the shell has no program.
func (t *textJob) startedBuiltin(seg *approval.Segment) {
	name := seg.Argv[0]
	for _, arg := range seg.Argv[1:] {
		if arg == "-v" || arg == "-R" || name == "printf" && strings.HasPrefix(arg, "-v") {
			seg.Findings = append(seg.Findings, finding(approval.ReasonEvaluates, "%s -v is about the shell's own variables", name))
			return
		}
	}
	if t.grammar != bash && (slices.Contains(seg.Argv, "-nt") || slices.Contains(seg.Argv, "-ot")) {
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree which file is newer when one is missing"))
		return
	}
	if name == "printf" && len(seg.Argv) > 1 && (strings.Contains(seg.Argv[1], "%q") || strings.Contains(seg.Argv[1], "%(") || strings.Contains(seg.Argv[1], "%n") || strings.Contains(seg.Argv[1], `\%`)) {
		seg.Findings = append(seg.Findings, finding(approval.ReasonApprovalRequired, "only the shell's own printf knows this format"))
		return
	}
	if name == "printf" && len(seg.Argv) > 1 && strings.HasPrefix(seg.Argv[1], "-") && seg.Argv[1] != "--" {
		seg.Findings = append(seg.Findings, finding(approval.ReasonApprovalRequired, "shells take the first word of this printf for an option, and other printfs print it"))
		return
	}
	if t.who == approval.Theirs && !plainOperands(name, seg.Argv[1:]) {
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on what this %s does", name))
		return
	}
	for _, folder := range systemFolders {
		res, why := t.find(folder+name, "")
		if why.Reason != "" {
			continue
		}
		res.Word = name
		seg.Builtin, seg.Program, seg.Kind = name, res, approval.KindReader
		return
	}
	why := finding(approval.ReasonNotFound, "there is no program %q in /bin or /usr/bin", name)
	if _, err := t.look(systemFolders[0] + name); err != nil && !missing(err) {
		why = t.unseen(systemFolders[0]+name, err)
	}
	seg.Findings = append(seg.Findings, why)
}

// plainOperands reports whether every shell's own version of a builtin takes
// these words as plain values. Some evaluate what looks like an index of an
// array, and printf's %n assigns.
func plainOperands(name string, args []string) bool {
	for _, arg := range args {
		if strings.ContainsAny(arg, "[$`") {
			return false
		}
	}
	if name != "printf" || len(args) == 0 {
		return true
	}
	_, after, found := strings.Cut(args[0], "%")
	for found {
		if after == "" || !strings.Contains("sb%", after[:1]) {
			return false
		}
		_, after, found = strings.Cut(after[1:], "%")
	}
	return true
}

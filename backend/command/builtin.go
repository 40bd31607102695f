package command

import (
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
	for _, folder := range systemFolders {
		res, why := t.find(folder+name, "")
		if why.Reason != "" {
			continue
		}
		res.Word = name
		seg.Builtin, seg.Program, seg.Kind = name, res, approval.KindReader
		return
	}
	seg.Findings = append(seg.Findings, finding(approval.ReasonNotFound, "there is no program %q in /bin or /usr/bin", name))
}

package command

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
)

// kindOf returns the strictest kind that any of these names stands for.
func kindOf(names ...string) approval.ProgramKind {
	return approval.ProgramKind(programs.KindOf(names...))
}

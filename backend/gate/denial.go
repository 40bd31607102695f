package gate

import (
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
)

func noHistory() *approval.Denial {
	return judge.Deny(approval.ReasonCompanion, "the history cannot be written, so nothing runs: run `countersign doctor`")
}

// failed denies what a mistake of ours made us fail at.
func failed() *approval.Denial {
	return judge.Deny(approval.ReasonInternal, "Countersign failed while it judged or ran this, so it is denied: the log of the host says where")
}

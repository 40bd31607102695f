package command

import "github.com/countersign-app/countersign/backend/approval"

// Measured analyses a request and tells how many steps that took.
func (a *Analyzer) Measured(req *approval.Request) (plan approval.Plan, steps int) {
	j := a.analyze(req)
	return j.plan, j.work
}

// MaxWork bounds these steps, but for those that the names of files cost
// which patterns stand for.
const MaxWork = maxWork

package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign-app/countersign/backend/ipc"
)

// method serves one method of kind call. Its error is a sentence for the
// caller.
type method func(h *Host, ctx context.Context, c ipc.Call) (any, error)

// methods are what this host offers. Which credential each needs is settled
// at the door, in package ipc.
var methods = map[string]method{
	"approved.run":      approvedRun,
	"charters.use":      chartersUse,
	"denylist":          denylist,
	"entries.add":       entriesAdd,
	"entries.list":      entriesList,
	"environment.read":  environmentRead,
	"entries.remove":    entriesRemove,
	"explain":           explain,
	"history.list":      historyList,
	"history.stops":     historyStops,
	"history.verify":    historyVerify,
	"leases.end":        leasesEnd,
	"metrics":           metricsCall,
	"pause":             pauseCall,
	"pending.answer":    pendingAnswer,
	"pending.elicited":  pendingElicited,
	"pending.escalated": pendingEscalated,
	"pending.hold":      pendingHold,
	"pending.list":      pendingList,
	"pending.own":       pendingOwn,
	"pending.watch":     pendingWatch,
	"policy.accept":     policyAccept,
	"policy.federate":   policyFederate,
	"policy.file":       policyFile,
	"policy.follow":     policyFollow,
	"policy.get":        policyGet,
	"policy.propose":    policyPropose,
	"policy.reject":     policyReject,
	"policy.set":        policySet,
	"projects.add":      projectsAdd,
	"projects.list":     projectsList,
	"projects.remove":   projectsRemove,
	"resume":            resumeCall,
	"prepare":           prepare,
	"running.list":      runningList,
	"running.stop":      runningStop,
	"skills.use":        skillsUse,
	"start.show":        startShow,
	"start.take":        startTake,
	"status":            status,
	"standing.forget":   standingForget,
	"standing.list":     standingList,
	"stop":              stopAll,
	"tool.decide":       toolDecide,
	"tool.explain":      toolExplain,
	"tools.denied":      toolsDenied,
	"which":             which,
	"window.open":       windowOpen,
}

// decode reads the parameters of a call strictly: a field that nobody knows
// may have been meant to narrow something.
func decode[T any](c ipc.Call) (T, error) {
	var params T
	d := json.NewDecoder(strings.NewReader(string(c.Params)))
	d.DisallowUnknownFields()
	if err := d.Decode(&params); err != nil {
		return params, fmt.Errorf("cannot read the parameters of %s: %w", c.Method, err)
	}
	return params, nil
}

package gateway

import (
	"context"
	"encoding/json"
	"time"

	"github.com/countersign-app/countersign/backend/link"
)

// methods are everything that a connection may call.
var methods map[string]method

func init() { // they list each other in what they serve
	const node, operator = link.RoleNode, link.RoleOperator
	methods = map[string]method{
		"health": {"", scopeNone, health},

		"device.pair.list":    {operator, scopePairing, pairList(stageDevice, "")},
		"device.pair.approve": {operator, scopePairing, pairApprove(stageDevice, "device.pair.resolved")},
		"device.pair.reject":  {operator, scopePairing, pairReject(stageDevice, "device.pair.resolved")},
		"device.pair.remove":  {operator, scopePairing, pairRemove("")},
		"node.pair.list":      {operator, scopePairing, pairList(stageSurface, node)},
		"node.pair.approve":   {operator, scopePairing, pairApprove(stageSurface, "node.pair.resolved")},
		"node.pair.reject":    {operator, scopePairing, pairReject(stageSurface, "node.pair.resolved")},
		"node.pair.remove":    {operator, scopePairing, pairRemove(node)},
		"node.rename":         {operator, scopePairing, rename},
		"node.list":           {operator, scopeRead, nodeList},
		"node.describe":       {operator, scopeRead, nodeDescribe},
		"node.invoke":         {operator, scopeWrite, nodeInvoke},

		"exec.approval.request":      {operator, scopeApprovals, askApproval},
		"exec.approval.waitDecision": {operator, scopeApprovals, waitApproval},
		"exec.approval.get":          {operator, scopeApprovals, getApproval},
		"exec.approval.list":         {operator, scopeApprovals, listApprovals},
		"exec.approval.resolve":      {operator, scopeApprovals, resolveApproval},

		"exec.run":    {operator, scopeWrite, execRun},
		"exec.status": {operator, scopeWrite, execStatus},
		"exec.output": {operator, scopeWrite, execOutput},
		"exec.stop":   {operator, scopeWrite, execStop},

		"session.command": {operator, scopeAdmin, sessionCommand},
		"session.events":  {operator, scopeWrite, sessionEvents},
		"session.end":     {operator, scopeWrite, sessionEnd},

		"node.invoke.result":   {node, scopeNone, invokeResult},
		"node.invoke.progress": {node, scopeNone, invokeProgress},
		"node.event":           {node, scopeNone, nodeEvent},
		"skills.bins":          {node, scopeNone, skillsBins},

		"policy.pull": {node, scopeNone, pullPolicy},

		methodEscalated:          {node, scopeNone, askForNode},
		"node.approval.withdraw": {node, scopeNone, withdrawForNode},
	}
}

func health(p *peer, _ context.Context, _ json.RawMessage) (any, error) {
	return map[string]any{"ok": true, "ts": time.Now().UnixMilli(), "version": p.opt.Version}, nil
}

// skillsBins answers nodes that ask which programs skills bring. Ours bring
// none: an exec host keeps that list for itself.
func skillsBins(*peer, context.Context, json.RawMessage) (any, error) {
	return map[string]any{"bins": []string{}}, nil
}

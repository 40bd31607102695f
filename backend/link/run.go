package link

import (
	"encoding/json"

	"github.com/countersign-app/countersign/backend/approval"
)

// CommandRun is what a node must offer to be one where commands run.
const CommandRun = "system.run"

// RunParams are those of system.run.
type RunParams struct {
	Command    []string `json:"command"`
	RawCommand string   `json:"rawCommand,omitempty"`
	// Plan is what the command was when it was prepared.
	Plan                 json.RawMessage   `json:"systemRunPlan,omitempty"`
	Cwd                  string            `json:"cwd,omitempty"`
	Env                  map[string]string `json:"env,omitempty"`
	TimeoutMs            int64             `json:"timeoutMs,omitempty"`
	NeedsScreenRecording bool              `json:"needsScreenRecording,omitempty"`
	AgentID              string            `json:"agentId,omitempty"`
	SessionKey           string            `json:"sessionKey,omitempty"`
	RunID                string            `json:"runId,omitempty"`
	SuppressNotify       bool              `json:"suppressNotifyOnExit,omitempty"`
	// Security and Ask hold at least; they are of our gateway.
	Security approval.Security `json:"security,omitempty"`
	Ask      approval.Ask      `json:"ask,omitempty"`
	// Decision and Source say what was answered elsewhere.
	Decision approval.Decision `json:"approvalDecision,omitempty"`
	Source   string            `json:"approvalSource,omitempty"`
	// Operator is who answered; of our gateway.
	Operator string `json:"approvalOperator,omitempty"`
}

// RunResult is what system.run returns.
type RunResult struct {
	ExitCode *int    `json:"exitCode"`
	TimedOut bool    `json:"timedOut"`
	Success  bool    `json:"success"`
	Stdout   string  `json:"stdout"`
	Stderr   string  `json:"stderr"`
	Error    *string `json:"error"`
}

package ipc

import (
	"encoding/json"
	"fmt"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// Askers are processes for which one of our own programs asks.
type Askers struct {
	AgentID   string    `json:"agentId"`
	Processes []proc.ID `json:"processes"`
}

// maxAskers is more than have one socket.
const maxAskers = 64

// addAskers remembers the families of those for whom the peer asks. It only makes
// more processes such that do not operate.
func (c *conn) addAskers(params json.RawMessage) CallAnswer {
	var a Askers
	if err := json.Unmarshal(params, &a); err != nil || len(a.Processes) == 0 || len(a.Processes) > maxAskers {
		return CallAnswer{Refused: invalidPayload()}
	}
	for _, id := range a.Processes {
		if err := c.s.door.Remember(approval.Peer{PID: id.PID, Started: id.Started}, a.AgentID); err != nil {
			c.s.log.Warn("a process that asks over a connection of this machine cannot be seen", "pid", id.PID, "why", err)
			return CallAnswer{Refused: &Error{Code: CodeForbidden, Message: fmt.Sprintf("process %d, which asks, cannot be seen: %v", id.PID, err), Reason: approval.ReasonInvalid}}
		}
	}
	return CallAnswer{}
}

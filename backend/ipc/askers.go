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

// addAskers remembers the families of those for whom the peer asks, as whose it
// asks from now on. It only makes more processes such that do not operate.
func (c *conn) addAskers(params json.RawMessage) CallAnswer {
	var a Askers
	if err := json.Unmarshal(params, &a); err != nil || len(a.Processes) == 0 || len(a.Processes) > maxAskers {
		return CallAnswer{Refused: invalidPayload()}
	}
	asker := ""
	for i, id := range a.Processes {
		family, err := c.s.door.Remember(approval.Peer{PID: id.PID, Started: id.Started}, a.AgentID)
		if err != nil {
			c.s.log.Warn("a process that asks over a connection of this machine cannot be seen", "pid", id.PID, "why", err)
			return CallAnswer{Refused: &Error{Code: CodeForbidden, Message: fmt.Sprintf("process %d, which asks, cannot be seen: %v", id.PID, err), Reason: approval.ReasonInvalid}}
		}
		if i == 0 {
			asker = family
		}
	}
	c.mu.Lock()
	c.asker = asker
	c.mu.Unlock()
	return CallAnswer{}
}

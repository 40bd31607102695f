package node

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/store"
)

// State is how far a node service came with its gateway.
type State string

// States of the connection.
const (
	// Stopped means that no node service runs.
	Stopped State = "stopped"
	// Away means that the gateway does not answer, or refuses.
	Away State = "away"
	// Unpaired means that a person has to let this device in at the gateway.
	Unpaired State = "unpaired"
	// Connected means that the gateway let this device in.
	Connected State = "connected"
)

// Status is what the node service of a state folder tells of itself.
type Status struct {
	State   State  `json:"state"`
	Gateway string `json:"gateway,omitempty"`
	// Since is when it came to this state, Called when the gateway first called a
	// command in this connection, both in unix milliseconds. A gateway calls only
	// what a person approved there.
	Since  int64  `json:"since,omitempty"`
	Called int64  `json:"called,omitempty"`
	Error  string `json:"error,omitempty"`

	PID     int    `json:"pid,omitempty"`
	Started uint64 `json:"started,omitempty"` // tells the process from a later one
}

// ReadStatus reads what the service wrote, and whether it still lives.
func ReadStatus(path string) (s Status, err error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{State: Stopped}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return Status{}, err
	}
	if p, err := proc.Stat(s.PID); err != nil || p.Started != s.Started || p.Zombie {
		return Status{State: Stopped}, nil
	}
	return s, nil
}

// board is where a node service tells its status.
type board struct {
	path string
	self proc.Info
	mu   sync.Mutex
	last Status
}

func newBoard(path, gateway string) *board {
	b := &board{path: path, last: Status{Gateway: gateway}}
	b.self, _ = proc.Stat(os.Getpid()) // without it nobody takes us for alive
	return b
}

// tell writes a change. Nobody waits for it, and it keeps nothing from running.
func (b *board) tell(change func(*Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.last
	change(&now)
	if now == b.last {
		return
	}
	if now.State != b.last.State {
		now.Since = time.Now().UnixMilli()
	}
	b.last = now
	now.PID, now.Started = os.Getpid(), b.self.Started
	if text, err := json.Marshal(now); err == nil {
		_ = store.Replace(b.path, append(text, '\n')) // the log has it too
	}
}

func (b *board) connected() {
	b.tell(func(s *Status) { s.State, s.Error, s.Called = Connected, "", 0 })
}

func (b *board) away(err error) {
	state := Away
	var refused *link.Error
	if errors.As(err, &refused) && refused.Detail() == link.PairingRequired {
		state = Unpaired
	}
	b.tell(func(s *Status) { s.State, s.Error, s.Called = state, display.Escape(err.Error()), 0 })
}

// called notes the first command of a connection.
func (b *board) called() {
	b.tell(func(s *Status) {
		if s.Called == 0 {
			s.Called = time.Now().UnixMilli()
		}
	})
}

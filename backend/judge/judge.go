// Package judge says of a request what it would run and what the policy of this
// moment makes of it: allow, ask or deny, and why. It explains, supposes, replays
// what is recorded, suggests entries, offers what an answer may write, prepares
// runs, and writes the denials.
//
// It reads the policy, files and the history. It asks nobody, writes nothing and
// starts nothing but, on a Mac, codesign (package machine): package gate does, and a
// test of the house holds what is imported and used here.
package judge

import (
	"context"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/store"
)

// Machine is what must be known of the machine to judge: how words lead to
// programs, and the environment that programs get.
type Machine struct {
	Analyzer *command.Analyzer
	Env      environ.Base
}

// Policies are read from the policy file.
type Policies interface {
	// Current is the policy of this moment, after a look whether the file changed.
	Current() store.Snapshot
	// Snapshot is that of the last look.
	Snapshot() store.Snapshot
}

// Records are read from the history.
type Records interface {
	List(ctx context.Context, q history.Query) ([]history.Row, error)
}

// Config holds what a judge reads. All fields are required, but for Policies and
// Records where a judge is only asked about policies that it is handed.
type Config struct {
	// Machine returns the machine, and waits for it at the first request: the
	// login environment is read in the background when a host starts.
	Machine func(ctx context.Context) (*Machine, error)
	// Home is the person's home folder, for patterns.
	Home     string
	Policies Policies
	Records  Records
	// Charters are those that the policy names.
	Charters *config.Charters
	Hashes   *machine.Hashes
	Signers  *machine.Signers
	Now      func() time.Time
	// Able reports whether a plan can be run without its shell.
	Able func(*approval.Plan) bool
	// Waits reports whether something of an agent that was let through waits to be
	// run under an id.
	Waits func(id, agentID string) bool
	// Began tells of a living process by its number, where a command of a request's session
	// that is not over started it; nil where nobody knows.
	Began func(req *approval.Request, pid int) (approval.ProcessID, bool)
	// Wrote returns the files that commands of a session made in the temp folder; nil
	// where nobody knows.
	Wrote func(agentID, sessionKey string) []approval.File
}

// Judge judges requests. It may be used by many at once.
type Judge struct {
	reads Config
	mu    sync.Mutex
	rules map[string]prepared // by agent
}

// New makes a judge.
func New(c Config) *Judge { return &Judge{reads: c, rules: map[string]prepared{}} }

// prepared are the rules of one agent, made from one state of the store.
type prepared struct {
	generation uint64
	rules      *rules
}

// maxAgents bounds the agents whose rules are kept prepared.
const maxAgents = 64

// rulesFor returns the rules that hold for an agent now, and the generation
// of the store they were made from.
func (j *Judge) rulesFor(agentID string) (*rules, uint64) {
	now := j.reads.Policies.Current()
	j.mu.Lock()
	have, ok := j.rules[agentID]
	j.mu.Unlock()
	if ok && have.generation == now.Generation && (have.rules.charters == "" || have.rules.charters == j.reads.Charters.Stamp()) {
		return have.rules, now.Generation
	}
	rules := j.prepare(now.Policy(agentID))
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.rules) >= maxAgents {
		clear(j.rules)
	}
	j.rules[agentID] = prepared{now.Generation, rules}
	return rules, now.Generation
}

// realPath follows the links of a path, and returns "" where nothing is.
func realPath(name string) string {
	file, err := machine.Disk{}.Look(name)
	if err != nil {
		return ""
	}
	return file.Path
}

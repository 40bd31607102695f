package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/countersign-app/countersign/backend/agents/opencode"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// hookOpencode answers the permission requests of a running opencode, which has
// no hook that is started for each. Without --url one request is read as the hook
// of another agent reads its event, and where it cannot be answered nothing is said.
type hookOpencode struct {
	URL   string `help:"Where opencode's server listens, on this machine: http://127.0.0.1:4096. Its password is taken from OPENCODE_SERVER_PASSWORD." required:"" placeholder:"URL" name:"url"`
	Agent string `help:"Agent id (default: opencode)." placeholder:"ID"`
}

func (c *hookOpencode) Run(p *program) error {
	one := hookCommand{For: "opencode", Agent: c.Agent, stateDir: p.state.Dir}
	if err := one.check(); err != nil {
		return exit{exitUsage, err.Error()}
	}
	err := opencode.Follow(p.ctx, opencode.Options{
		URL: c.URL, Password: os.Getenv("OPENCODE_SERVER_PASSWORD"), Log: slog.New(slog.NewTextHandler(p.stderr, nil)),
		Decide: func(ctx context.Context, call approval.ToolCall, askers []proc.ID) (approval.Outcome, error) {
			call.Deadline = time.Now().Add(hookWait).UnixMilli() // opencode waits without end
			if c.Agent != "" {
				call.AgentID = c.Agent
			}
			return one.decide(ctx, call, askers)
		},
	})
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	return nil
}

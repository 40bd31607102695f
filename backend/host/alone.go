package host

import (
	"context"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
	"github.com/countersign-app/countersign/backend/vault"
)

// Alone judges a call of an agent by the files of the state folder, where no host
// runs: by the stricter of the policy file and what was accepted last, and denies
// everything while the file is broken. unasked tells that the agent would ask
// nobody (see gate.Alone). It writes nothing. Of the options it takes State, Home,
// User, Shell, Environ, Programs and Log.
func Alone(ctx context.Context, opt Options, call approval.ToolCall, unasked bool) (approval.Outcome, error) {
	snap := store.Standing(store.Options{State: opt.State, Home: opt.Home, Log: opt.Log, Vault: vault.Open(opt.State.Dir)})
	h := &Host{opt: opt, log: opt.Log}
	here := func(ctx context.Context) (*judge.Machine, error) {
		env, err := h.login(ctx)
		if err != nil {
			env = environ.FromProcess(opt.Environ)
		}
		return h.machineWith(env, h.oursAt(snap.SocketPath)), ctx.Err()
	}
	j := judge.New(judge.Config{
		Machine: here, Home: opt.Home, Charters: &config.Charters{Dir: opt.State.Charters()},
		Hashes: &h.hashes, Signers: &machine.Signers{}, Now: time.Now, Able: runner.Able,
	})
	return j.Alone(ctx, snap.Policy(store.AgentID(call.AgentID)), call, unasked)
}

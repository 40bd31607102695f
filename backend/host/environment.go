package host

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/rescue"
)

// readMachine reads the login environment when the host starts.
func (h *Host) readMachine(ctx context.Context) {
	defer close(h.machineDone)
	defer rescue.Catch(h.log, "the login environment", nil) // without it nothing is judged
	env, err := h.login(ctx)
	if ctx.Err() != nil {
		return // nothing runs any more
	}
	if err != nil {
		h.log.Warn("the login environment cannot be read; using that of this process", "error", err)
		env = environ.FromProcess(h.opt.Environ)
	}
	h.use(env)
}

// ReadEnvironment reads the login environment again, for the requests to come:
// what is judged, asked or running keeps the one that it began with. On an
// error the one of before holds on.
func (h *Host) ReadEnvironment(ctx context.Context) error {
	if _, err := h.ready(ctx); err != nil {
		return err
	}
	env, err := h.login(ctx)
	if err == nil {
		h.use(env)
	}
	return err
}

func (h *Host) login(ctx context.Context) (environ.Base, error) {
	return environ.Login(ctx, h.opt.Shell, h.opt.Home, h.opt.User)
}

func (h *Host) use(env environ.Base) {
	h.machine.Store(h.machineWith(env, h.ours()))
	h.environment.Store(time.Now().UnixMilli())
	debug.FreeOSMemory() // what reading a large policy left behind
}

// machineWith is the machine with an environment, and these files of ours.
func (h *Host) machineWith(env environ.Base, ours []string) *judge.Machine {
	a := &command.Analyzer{World: machine.Disk{}, Home: h.opt.Home, UID: os.Getuid(), Ours: ours, IsOurs: machine.OwnPrograms(&h.hashes, h.programs())}
	a.SetPath(env.Path())
	a.Temp = []string{"/tmp"}
	if own, _ := env.Get("TMPDIR"); filepath.IsAbs(own) {
		a.Temp = append(a.Temp, own)
	}
	a.Inherited = func(name string) bool { _, ok := env.Get(name); return ok }
	secret := env.Has(func(name, value string) bool { return envnames.Secret(name) || display.Redact(value) != value })
	a.Secrets = func() bool { return secret }
	return &judge.Machine{Analyzer: a, Env: env}
}

func environmentRead(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	// Another PATH makes other programs of the same names.
	if _, err := h.person(ctx, c, difference{lines: sentences("Reads the login environment again: commands can find other programs then")}); err != nil {
		return nil, err
	}
	return struct{}{}, h.ReadEnvironment(ctx)
}

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/descriptors"
)

// wrapBox is what bubblewrap makes anew for each command of a session: they
// share the workspace and nothing else.
type wrapBox struct {
	c     config.Sandbox
	bwrap string
	gone  context.Context
	over  context.CancelFunc
}

func openBubblewrap(c config.Sandbox) (box, error) {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("bubblewrap is not installed: install the package bubblewrap, or set tools.exec.sandbox.engine to docker; nothing runs outside of the sandbox instead")
	}
	b := &wrapBox{c: c, bwrap: path}
	b.gone, b.over = context.WithCancel(context.Background())
	return b, nil
}

func (b *wrapBox) end() { b.over() }

func (b *wrapBox) ended() bool { return b.gone.Err() != nil }

// system is what a box sees of this machine's programs, and what they need to
// tell names of people and to find their libraries.
var system = []string{
	"/usr", "/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/nsswitch.conf", "/etc/passwd", "/etc/group",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/pki/ca-trust",
}

// forNetwork is what looking up names of machines needs beside that.
var forNetwork = []string{"/etc/hosts", "/etc/resolv.conf", "/etc/services"}

// args are those of bwrap, up to the command.
func (b *wrapBox) args(j Job) []string {
	args := []string{"--unshare-user", "--disable-userns", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "sandbox", "--clearenv"}
	seen := system
	if b.c.Network {
		args, seen = append(args, "--share-net"), slices.Concat(system, forNetwork)
	}
	for _, f := range seen {
		args = append(args, "--ro-bind-try", f, f)
	}
	for _, f := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if to, err := os.Readlink(f); err == nil {
			args = append(args, "--symlink", to, f)
		} else {
			args = append(args, "--ro-bind-try", f, f)
		}
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	for _, f := range []string{"/dev/shm", "/tmp"} {
		args = append(args, "--perms", "1777", "--size", strconv.FormatInt(b.c.Memory/4, 10), "--tmpfs", f)
	}
	for _, m := range b.c.Mounts {
		args = append(args, "--ro-bind", m, m)
	}
	args = append(args, "--bind", b.c.Workspace, b.c.Workspace, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", j.Dir)
	for _, kv := range environment(j, b.c.Workspace) {
		name, value, _ := strings.Cut(kv, "=")
		args = append(args, "--setenv", name, value)
	}
	return args
}

// Descriptors of bwrap: its arguments, what it tells, and what it waits for.
const (
	fdArgs   = 3
	fdStatus = 4
	fdBlock  = 5
)

// stuckTime is how long bwrap may take to end after its command was ended. What
// the kernel does not let go, such as a disk that is away, is not waited for.
const stuckTime = 10 * time.Second

// run starts bwrap, which takes its arguments from a pipe: among them are the
// values of variables, and everybody can read those of a process.
func (b *wrapBox) run(ctx context.Context, j Job, out *output) (status int, err error) {
	if b.ended() {
		return 0, errVanished
	}
	pipes, err := newPipes()
	if err != nil {
		return 0, err
	}
	defer pipes.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(b.gone, func() { cancel(errEnded) })()
	stuck, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	defer context.AfterFunc(ctx, func() {
		time.AfterFunc(stuckTime, func() {
			giveUp()
			_ = pipes.status[0].SetReadDeadline(time.Now()) // it is closed where all went well
		})
	})()
	cmd := exec.CommandContext(stuck, b.bwrap, append([]string{
		"--args", strconv.Itoa(fdArgs), "--json-status-fd", strconv.Itoa(fdStatus), "--block-fd", strconv.Itoa(fdBlock), "--",
	}, j.Argv...)...)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{}, "/", termTime
	cmd.ExtraFiles = []*os.File{pipes.args[0], pipes.status[1], pipes.block[0]}
	cmd.Stdout, cmd.Stderr = out.stream(0), out.stream(1)
	// bwrap ends with the thread that started it, so that one stays.
	over := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := descriptors.Keep() // what is in a box has nothing of what is outside
		if err == nil {
			err = cmd.Start()
		}
		pipes.closeTheirs()
		if err == nil {
			_, _ = io.WriteString(pipes.args[1], strings.Join(b.args(j), "\x00")+"\x00") // it says so itself if it misses some
			pipes.args[1].Close()
			err = cmd.Wait()
		}
		over <- err
	}()
	ran := b.follow(ctx, j, pipes)
	err = <-over
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case ran == nil:
		_, said := out.texts()
		if said == "" && err != nil {
			said = err.Error()
		}
		return 0, fmt.Errorf("bubblewrap cannot make the sandbox, which needs version 0.8 and user namespaces: %s", strings.TrimSpace(said[max(0, len(said)-300):]))
	}
	return *ran, nil
}

// follow reads what bwrap tells, sets the limits of the command before it
// begins, and ends it with ctx. It returns the status of the command, nil if
// it never began.
//
// The command is ended by its first process, without which nothing in its box
// lives. bwrap itself is left to end then: killed too early, it would leave
// that one behind.
func (b *wrapBox) follow(ctx context.Context, j Job, pipes *pipes) (status *int) {
	var child struct {
		sync.Mutex
		fd   int
		over bool
	}
	child.fd = -1
	kill := func() {
		child.Lock()
		defer child.Unlock()
		if child.fd >= 0 && !child.over {
			_ = unix.PidfdSendSignal(child.fd, unix.SIGKILL, nil, 0) // it may have ended
		}
	}
	defer context.AfterFunc(ctx, kill)()
	defer func() {
		child.Lock()
		defer child.Unlock()
		if child.over = true; child.fd >= 0 {
			unix.Close(child.fd)
		}
	}()
	for d := json.NewDecoder(pipes.status[0]); ; {
		var told struct {
			Child *int `json:"child-pid"`
			Exit  *int `json:"exit-code"`
		}
		if d.Decode(&told) != nil {
			return status
		}
		if told.Exit != nil {
			status = told.Exit
		}
		if told.Child == nil {
			continue
		}
		fd, err := unix.PidfdOpen(*told.Child, 0)
		if err == nil {
			child.Lock()
			child.fd = fd
			child.Unlock()
			err = b.limit(*told.Child)
		}
		if err != nil || ctx.Err() != nil {
			kill()
			continue
		}
		pipes.block[1].Close() // it goes on
		if j.Started != nil {
			j.Started()
		}
	}
}

// limit sets the limits of a process, which what it starts inherits. In its
// own user namespace, only what runs in the box counts.
func (b *wrapBox) limit(pid int) error {
	for resource, most := range map[int]uint64{unix.RLIMIT_NPROC: uint64(b.c.Processes), unix.RLIMIT_DATA: uint64(b.c.Memory), unix.RLIMIT_CORE: 0} {
		if err := unix.Prlimit(pid, resource, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return err
		}
	}
	return nil
}

// pipes are those between us and bwrap.
type pipes struct{ args, status, block [2]*os.File } // for reading, for writing

func newPipes() (*pipes, error) {
	p := &pipes{}
	for _, one := range []*[2]*os.File{&p.args, &p.status, &p.block} {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, err
		}
		one[0], one[1] = r, w
	}
	return p, nil
}

// closeTheirs closes what bwrap has by now.
func (p *pipes) closeTheirs() {
	p.args[0].Close()
	p.status[1].Close()
	p.block[0].Close()
}

func (p *pipes) close() {
	for _, f := range []*os.File{p.args[0], p.args[1], p.status[0], p.status[1], p.block[0], p.block[1]} {
		f.Close() // nil and what is closed already are errors that say nothing
	}
}

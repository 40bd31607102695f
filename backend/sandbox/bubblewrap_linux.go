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
	"github.com/countersign-app/countersign/backend/rescue"
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
	args := []string{"--unshare-user", "--disable-userns", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--seccomp", strconv.Itoa(fdFilter), "--cap-drop", "ALL", "--hostname", "sandbox", "--clearenv"}
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
	// /proc as well: root owns the files in it by which a kernel is changed, and
	// writes them by their mode, without any right. bwrap covers only some of them.
	args = append(args, "--bind", b.c.Workspace, b.c.Workspace, "--remount-ro", "/proc", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", j.Dir)
	return args
}

// Descriptors of bwrap: its arguments, what it tells, what it waits for, its
// filter of system calls, what the starter is told, and the starter itself.
const (
	fdArgs = 3 + iota
	fdStatus
	fdBlock
	fdFilter
	fdErrand
	fdStarter
)

// stuckTime is how long bwrap may take to end after its command was ended. What
// the kernel does not let go, such as a disk that is away, is not waited for.
const stuckTime = 10 * time.Second

// run starts bwrap. What the command gets travels through a pipe: among that are
// the values of variables, and everybody can read the arguments of a process.
// It returns once nothing in the box lives any more.
func (b *wrapBox) run(ctx context.Context, j Job, out *output) (status int, err error) {
	if b.ended() {
		return 0, errVanished
	}
	calls, err := filter()
	if err != nil {
		return 0, err
	}
	work, err := json.Marshal(errand{Argv: j.Argv, Env: environment(j, b.c.Workspace), Processes: uint64(b.c.Processes), Memory: uint64(b.c.Memory)})
	if err != nil {
		return 0, err
	}
	self, err := os.Open("/proc/self/exe") // the file that runs, also after an upgrade
	if err != nil {
		return 0, err
	}
	defer self.Close()
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
	defer context.AfterFunc(ctx, rescue.Guarded(nil, "the end of a sandbox", func() {
		time.AfterFunc(stuckTime, rescue.Guarded(nil, "a sandbox that does not end", func() {
			giveUp()
			_ = pipes.status[0].SetReadDeadline(time.Now()) // it is closed where all went well
		}))
	}))()
	cmd := b.command(stuck, pipes, self)
	cmd.Stdout, cmd.Stderr = out.stream(0), out.stream(1)
	over := begin(cmd, pipes, func() { pipes.feed(b.args(j), calls, work) }, func() { cancel(errFailed) }) // which ends the box
	ran, began, gone := b.follow(ctx, j, pipes)
	err = <-over
	switch {
	case !gone:
		return 0, errors.New("the sandbox of this command cannot be ended: what the kernel holds in it, such as a disk that is away, must go first")
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case ran == nil && began:
		return 0, errors.New("bubblewrap was ended by others: nobody knows how the command ended, and nothing of it runs on")
	case ran == nil:
		_, said := out.texts()
		if said == "" && err != nil {
			said = err.Error()
		}
		return 0, fmt.Errorf("bubblewrap cannot make the sandbox, which needs version 0.8 and user namespaces: %s", strings.TrimSpace(said[max(0, len(said)-300):]))
	}
	return *ran, nil
}

// begin starts bwrap, feeds it and tells how it ended. failed is called where we
// fail at that.
func begin(cmd *exec.Cmd, pipes *pipes, feed, failed func()) <-chan error {
	// bwrap ends with the thread that started it, so that one stays.
	over := make(chan error, 1)
	go func() {
		defer rescue.Catch(nil, "a command in a sandbox", func() {
			failed()
			pipes.closeTheirs()
			if cmd.Process != nil {
				_ = cmd.Wait()
			}
			over <- errFailed
		})
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := descriptors.Keep() // what is in a box has nothing of what is outside
		if err == nil {
			err = cmd.Start()
		}
		pipes.closeTheirs()
		if err == nil {
			feed()
			err = cmd.Wait()
		}
		over <- err
	}()
	return over
}

// command is bwrap, which starts the starter from the file self. It ends with ctx.
func (b *wrapBox) command(ctx context.Context, pipes *pipes, self *os.File) *exec.Cmd {
	cmd := exec.CommandContext(ctx, b.bwrap, "--args", strconv.Itoa(fdArgs), "--json-status-fd", strconv.Itoa(fdStatus), "--block-fd", strconv.Itoa(fdBlock),
		"--", "/proc/self/fd/"+strconv.Itoa(fdStarter), starterWord)
	cmd.Env, cmd.Dir, cmd.WaitDelay = []string{}, "/", termTime
	cmd.ExtraFiles = []*os.File{pipes.args[0], pipes.status[1], pipes.block[0], pipes.filter[0], pipes.errand[0], self}
	return cmd
}

// follow reads what bwrap tells, lets the command begin once its box can be
// ended, and ends it with ctx and when bwrap says no more. It returns the status
// of the command, nil if nobody knows it; whether it began; and whether all of
// the box is gone.
//
// The box is ended by its first process, without which nothing in it lives.
// bwrap itself is left to end then: killed too early, it would leave that one
// behind.
func (b *wrapBox) follow(ctx context.Context, j Job, pipes *pipes) (status *int, began, gone bool) {
	var boxed struct {
		sync.Mutex
		fd int
	}
	boxed.fd = -1
	kill := func() {
		boxed.Lock()
		defer boxed.Unlock()
		if boxed.fd >= 0 {
			_ = unix.PidfdSendSignal(boxed.fd, unix.SIGKILL, nil, 0) // it may have ended
		}
	}
	stop := context.AfterFunc(ctx, rescue.Guarded(nil, "the end of a command in a sandbox", kill))
	defer func() {
		stop()
		kill()
		boxed.Lock()
		defer boxed.Unlock()
		if gone = boxed.fd < 0 || ends(boxed.fd); boxed.fd >= 0 {
			unix.Close(boxed.fd)
			boxed.fd = -1
		}
	}()
	for d := json.NewDecoder(pipes.status[0]); ; {
		var told struct {
			Child *int `json:"child-pid"`
			Exit  *int `json:"exit-code"`
		}
		if d.Decode(&told) != nil {
			return status, began, false
		}
		if told.Exit != nil {
			status = told.Exit
		}
		if told.Child == nil || began {
			continue
		}
		fd, err := unix.PidfdOpen(*told.Child, 0)
		if err == nil {
			boxed.Lock()
			boxed.fd = fd
			boxed.Unlock()
		}
		if err != nil || ctx.Err() != nil {
			kill()
			continue
		}
		began = true
		pipes.block[1].Close() // it goes on
		if j.Started != nil {
			j.Started()
		}
	}
}

// ends waits for the end of a process that was killed. That of the first process
// of a box comes after that of all others in it.
func ends(pidfd int) bool {
	for end := time.Now().Add(stuckTime); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}, int(time.Until(end).Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n > 0
		}
	}
}

// pipes are those between us and bwrap.
type pipes struct{ args, status, block, filter, errand [2]*os.File } // for reading, for writing

func newPipes() (*pipes, error) {
	p := &pipes{}
	for _, one := range []*[2]*os.File{&p.args, &p.status, &p.block, &p.filter, &p.errand} {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, err
		}
		one[0], one[1] = r, w
	}
	return p, nil
}

// feed gives bwrap its arguments and its filter of system calls, and the starter
// what it is told.
func (p *pipes) feed(args []string, calls, work []byte) {
	_, _ = io.WriteString(p.args[1], strings.Join(args, "\x00")+"\x00") // it says so itself if it misses some
	p.args[1].Close()
	_, _ = p.filter[1].Write(calls) // one that is cut is refused by bwrap
	p.filter[1].Close()
	go func() { // it is read once the box is made, and may be long
		defer p.errand[1].Close()
		defer rescue.Catch(nil, "what a command in a sandbox is told", nil)
		_, _ = p.errand[1].Write(work) // one that is cut is refused by the starter
	}()
}

// closeTheirs closes what bwrap has by now.
func (p *pipes) closeTheirs() {
	p.args[0].Close()
	p.status[1].Close()
	p.block[0].Close()
	p.filter[0].Close()
	p.errand[0].Close()
}

func (p *pipes) close() {
	for _, one := range [][2]*os.File{p.args, p.status, p.block, p.filter, p.errand} {
		one[0].Close() // nil and what is closed already are errors that say nothing
		one[1].Close()
	}
}

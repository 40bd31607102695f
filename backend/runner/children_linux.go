package runner

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// subreaper tells that orphans of our descendants become our children.
const subreaper = true

func orphan(p proc.Info) bool { return p.Parent == os.Getpid() }

// platformChildren is what Linux needs: a goroutine that reaps orphans, and
// the kernel's counter of process ids.
type platformChildren struct {
	loadavg int
	// lap is less than the time in which the counter can go once around.
	lap time.Duration

	stop, poke chan struct{}
	signals    chan os.Signal
	reaping    sync.WaitGroup
	watching   int  // runs that are not young
	blocked    bool // one of ours stood before the orphans
}

func (c *children) open() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	c.openCounter()
	c.stop, c.poke = make(chan struct{}), make(chan struct{}, 1)
	c.signals = make(chan os.Signal, 1)
	c.reaping.Go(func() {
		for {
			select {
			case <-c.stop:
				return
			case <-c.signals:
			case <-c.poke:
			}
			c.reapSafely()
		}
	})
	return nil
}

func (c *children) reapSafely() {
	defer rescue.Catch(nil, "the orphans of programs", nil)
	c.reapOrphans()
}

func (c *children) close() {
	close(c.stop)
	c.reaping.Wait()
	unix.Close(c.loadavg)
}

// watch makes the reaper listen to the kernel while a run is not young.
func (c *children) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watching++; c.watching == 1 {
		signal.Notify(c.signals, unix.SIGCHLD)
		c.wake()
	}
}

func (c *children) unwatch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watching--; c.watching == 0 {
		signal.Stop(c.signals)
	}
}

// wake makes the reaper look once.
func (c *children) wake() {
	select {
	case c.poke <- struct{}{}:
	default:
	}
}

// openCounter finds the number that the next process gets. Where /proc is
// not the kernel's own (a container may fake single files), nobody uses it.
func (c *children) openCounter() {
	c.loadavg = -1
	size, err := os.ReadFile("/proc/sys/kernel/pid_max")
	if err != nil {
		return
	}
	highest, err := strconv.Atoi(string(bytes.TrimSpace(size)))
	if err != nil {
		return
	}
	fd, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.PROC_SUPER_MAGIC {
		unix.Close(fd)
		return
	}
	// No machine makes a process or thread every 2 µs for long.
	c.loadavg, c.lap = fd, time.Duration(highest)*2*time.Microsecond
}

// lastPID is the process id that was given last.
func (c *children) lastPID() (int, bool) {
	var b [128]byte
	n, err := unix.Pread(c.loadavg, b[:], 0)
	if err != nil || n <= 0 {
		return 0, false
	}
	line := bytes.TrimSpace(b[:n])
	pid, err := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
	return pid, err == nil
}

// looks is how many process ids are looked at one by one; a list of all
// processes is cheaper for more.
const looks = 256

// quiet reports that there is no orphan which came into being after this
// program. It looks only at the process ids that were given since,
// because a list of all processes costs more than a start. In doubt it says
// no, and the caller makes that list.
func (c *children) quiet(p *process) bool {
	c.mu.Lock()
	orphans := c.orphans
	c.mu.Unlock()
	last, ok := c.lastPID()
	if !ok || last < p.PID || last-p.PID > looks || time.Since(p.when) > c.lap {
		return false
	}
	c.mu.Lock()
	unclaimed := c.unclaimed
	c.mu.Unlock()
	if unclaimed {
		return false
	}
	if last > p.PID {
		c.settle()
	}
	for pid := p.PID + 1; pid <= last; pid++ {
		if c.known(pid) {
			continue
		}
		info, err := proc.Stat(pid)
		if errors.Is(err, proc.ErrGone) {
			continue
		}
		if err != nil || orphan(info) && info.Group != c.host && !c.known(pid) {
			return false
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.orphans == orphans // one that was reaped may have started others
}

// child is what waitid says of a child: the head of siginfo_t on 64-bit
// machines.
type child struct {
	signo, errno, code, _ int32
	pid                   int32
	uid                   uint32
	status                int32
	_                     [100]byte
}

func waitid(kind, id, options int, used *unix.Rusage) (child, error) {
	for {
		var c child
		err := unix.Waitid(kind, id, (*unix.Siginfo)(unsafe.Pointer(&c)), options|unix.WEXITED|unix.WNOWAIT, used)
		if !errors.Is(err, unix.EINTR) {
			return c, err
		}
	}
}

// exited as child.code says that a program ended by itself (CLD_EXITED).
const exited = 1

// await waits until a program of ours has ended, and leaves it in the
// kernel's table.
func await(pid int) (ending, usage, error) {
	var r unix.Rusage
	c, err := waitid(unix.P_PID, pid, 0, &r)
	if err != nil {
		return ending{}, usage{}, err
	}
	used := usage{time.Duration(r.Utime.Nano()), time.Duration(r.Stime.Nano())}
	if c.code == exited {
		return ending{code: int(c.status)}, used, nil
	}
	return ending{signal: unix.Signal(c.status)}, used, nil
}

// tellsUsage: the kernel says what a program used when it has ended.
const tellsUsage = true

// reaped tells the reaper to go on where one of ours stood in its way.
func (c *children) reaped() {
	c.mu.Lock()
	again := c.blocked
	c.blocked = false
	c.mu.Unlock()
	if again {
		c.wake()
	}
}

// reapOrphans reaps ended children that no run started and no other part of
// the host did. It looks first and takes then, so that it never takes the
// status of a child that somebody waits for.
func (c *children) reapOrphans() {
	for {
		c.mu.Lock()
		found, err := waitid(unix.P_ALL, 0, unix.WNOHANG, nil)
		pid := int(found.pid)
		c.blocked = err == nil && pid != 0 && c.kids[pid] != nil
		stop := err != nil || pid == 0 || c.blocked
		c.mu.Unlock()
		if stop {
			return
		}
		c.settle()
		if !c.reapOrphan(pid) {
			c.reapBehind()
			return
		}
	}
}

// reapOrphan reaps one ended child if it is an orphan, and reports false if
// it stays.
func (c *children) reapOrphan(pid int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kids[pid] != nil {
		return true // it was on its way when we saw it; look again
	}
	info, err := proc.Stat(pid)
	if err != nil {
		return true // reaped meanwhile
	}
	if info.Group == c.host {
		return false
	}
	_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	c.orphans++
	return true
}

// reapBehind reaps orphans that the kernel lists behind a child that stays.
func (c *children) reapBehind() {
	list, err := proc.All()
	if err != nil {
		return
	}
	c.settle()
	for _, p := range list {
		if p.Zombie && orphan(p) {
			c.reapOrphan(p.PID)
		}
	}
}

// signalExactly signals the process that was seen, and no other that got its
// id since: a descriptor of the process keeps the id while we compare.
func signalExactly(p proc.Info, sig unix.Signal) error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if now, err := proc.Stat(p.PID); err != nil || now.Started != p.Started {
		return nil
	}
	if err := unix.PidfdSendSignal(fd, sig, nil, 0); !errors.Is(err, unix.ESRCH) {
		return err
	}
	return nil
}

// sameUser reports whether a process belongs to the user we are.
func sameUser(pid int) bool {
	var st unix.Stat_t
	return unix.Stat("/proc/"+strconv.Itoa(pid), &st) == nil && int(st.Uid) == os.Geteuid()
}

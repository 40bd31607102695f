//go:build linux || darwin

package runner

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// task is a command in the background. It ends by itself, by a kill, or with its text.
type task struct {
	text  string // how it is written
	needs need   // what it takes of the room
	alone bool   // it is one program
	outer *task  // the one that started it, nil for none
	// begun is closed when its first program has started, killed when nothing of it starts
	// any more, and over when it has ended, with its status.
	begun, killed, over chan struct{}
	status              ending
	told                bool // the shell that started it waited for it, by its number

	mu       sync.Mutex
	number   string // what $! is, once the text asked
	pid      int    // of its first program
	programs []*process
	signal   unix.Signal // what killed it
	asked    bool        // the text told it to end
}

// runs notes a program that was started for the task.
func (t *task) runs(p *process) {
	if t == nil {
		return
	}
	t.mu.Lock()
	t.programs = append(slices.DeleteFunc(t.programs, func(o *process) bool { return !ours.has(o) }), p)
	signal := t.signal
	t.begin(p.PID)
	t.mu.Unlock()
	if signal != 0 {
		ours.signal(p, signal)
	}
	for o := t.outer; o != nil; o = o.outer {
		o.mu.Lock()
		o.begin(0)
		o.mu.Unlock()
	}
}

// begin notes that the task has begun. The lock is held.
func (t *task) begin(pid int) {
	select {
	case <-t.begun:
	default:
		t.pid = pid
		close(t.begun)
	}
}

// end notes that the task has ended.
func (t *task) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.over)
}

// as is how the task ended, when what it ran ended so.
func (t *task) as(e ending) ending {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.signal != 0 {
		return ending{signal: t.signal}
	}
	return e
}

// stopped reports whether the text told the task to end.
func (t *task) stopped() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.asked
}

// isKilled reports whether nothing of the task starts any more.
func (t *task) isKilled() bool {
	if t == nil {
		return false
	}
	select {
	case <-t.killed:
		return true
	default:
		return false
	}
}

// kill signals the programs of a task, and ends what else it does. It reports false
// where it has ended.
func (t *task) kill(signal unix.Signal) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-t.over:
		return false
	default:
	}
	if signal == 0 {
		return true
	}
	t.asked = true
	if (!t.alone || len(t.programs) == 0) && t.signal == 0 {
		t.signal = signal
		close(t.killed)
	}
	for _, p := range t.programs {
		ours.signal(p, signal)
	}
	return true
}

// noProcess is more than any system numbers processes by.
const noProcess = 1 << 22

// numberOf is what $! stands for: the number of the first program of the task that was
// started last, or one that is no process for a task that starts none itself.
func (sh *shell) numberOf() (string, bool) {
	t := sh.latest
	if t == nil {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "nothing was started in the background, so $! is no number"))
		return "", false
	}
	select {
	case <-t.begun:
	case <-t.over:
	case <-sh.killed():
		return "", false
	case <-sh.ctx.Done():
		return "", false
	}
	sh.tasks.mu.Lock()
	defer sh.tasks.mu.Unlock()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.number == "" {
		t.number = strconv.Itoa(t.pid)
		if t.pid == 0 {
			t.number = strconv.Itoa(noProcess + 1 + len(sh.tasks.numbered))
		}
		if sh.tasks.numbered == nil {
			sh.tasks.numbered = map[string]*task{}
		}
		sh.tasks.numbered[t.number] = t
	}
	return t.number, true
}

// numbered returns the task with a number that the text knows. It denies the run for what
// is no number.
func (sh *shell) numbered(number string) (t *task, ok bool) {
	if n, err := strconv.Atoi(number); err != nil || n <= 0 || strconv.Itoa(n) != number {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "%q is not the number of a command in the background", number))
		return nil, false
	}
	sh.tasks.mu.Lock()
	defer sh.tasks.mu.Unlock()
	return sh.tasks.numbered[number], true
}

// awaits does what wait does: it waits for these tasks of this shell, or for all.
func (sh *shell) awaits(numbers []string, stderr int) ending {
	if len(numbers) == 0 {
		for _, t := range sh.jobs[sh.waited:] {
			sh.awaitTask(t)
		}
		sh.waited = len(sh.jobs)
		return ending{}
	}
	last := ending{}
	for _, number := range numbers {
		t, ok := sh.numbered(number)
		at := slices.Index(sh.jobs, t)
		switch {
		case !ok:
			return ending{}
		case at < 0 && sh.posix():
			last = ending{code: 127}
		case at < 0:
			last = say(stderr, 127, "wait: pid %s is not a child of this shell", number)
		case at < sh.waited || t.told && sh.posix():
			sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on what is told to a second wait for %s", number))
			return ending{}
		default:
			last, t.told = sh.awaitTask(t), true
		}
	}
	return ending{code: last.status()}
}

// killed is closed when the shell is part of a task that was killed.
func (sh *shell) killed() <-chan struct{} {
	if sh.task == nil {
		return nil
	}
	return sh.task.killed
}

// awaitTask waits until a task, or the run, or the shell is over.
func (sh *shell) awaitTask(t *task) ending {
	select {
	case <-t.over:
		return t.status
	case <-sh.killed():
	case <-sh.ctx.Done():
	}
	return ending{}
}

// kills does what kill does, to tasks of this run and to the processes that were judged.
func (sh *shell) kills(s *approval.Segment, stderr int) ending {
	args := s.Argv[1:]
	signal, numbers := unix.SIGTERM, args
	if len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name := strings.TrimPrefix(args[0], "-")
		if numbers = args[1:]; name == "s" && len(numbers) > 0 {
			name, numbers = numbers[0], numbers[1:]
		}
		var ok bool
		if signal, ok = signalNamed(name); !ok {
			numbers = nil
		}
	}
	if len(numbers) == 0 {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "kill %s names no command in the background", strings.Join(args, " ")))
		return ending{}
	}
	gone := 0
	for _, number := range numbers {
		t, ok := sh.numbered(number)
		judged := slices.IndexFunc(s.Ends, func(id approval.ProcessID) bool { return strconv.Itoa(id.PID) == number })
		err := error(unix.ESRCH)
		switch {
		case !ok:
			return ending{}
		case t != nil && (signal == unix.SIGINT || signal == unix.SIGQUIT):
			sh.deny(Outer, denied(approval.ReasonRuntimeValue, "only a shell can say what this signal does to a command in the background"))
			return ending{}
		case t != nil && t.kill(signal):
			err = nil
		case t == nil && judged >= 0:
			err = tell(s.Ends[judged], signal)
		case t == nil:
			sh.deny(Outer, denied(approval.ReasonRuntimeValue, "%q is not the number of a command in the background of this text", number))
			return ending{}
		}
		if err != nil {
			gone++
			say(stderr, 1, "kill: (%s) - %s", number, reason(err))
		}
	}
	switch {
	case gone == len(numbers):
		return ending{code: 1}
	case gone > 0 && sh.posix():
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on the status of a kill where some have ended"))
	}
	return ending{}
}

// tell signals a process that was judged, unless it has ended since.
func tell(id approval.ProcessID, signal unix.Signal) error {
	p, err := proc.Stat(id.PID)
	if err != nil || p.Started != id.Started {
		return unix.ESRCH
	}
	return signalExactly(p, signal)
}

// signalNamed is the signal that a word of kill stands for, 0 for none that is sent.
func signalNamed(name string) (unix.Signal, bool) {
	switch strings.TrimPrefix(name, "SIG") {
	case "TERM", "15":
		return unix.SIGTERM, true
	case "KILL", "9":
		return unix.SIGKILL, true
	case "HUP", "1":
		return unix.SIGHUP, true
	case "INT", "2":
		return unix.SIGINT, true
	case "QUIT", "3":
		return unix.SIGQUIT, true
	case "0":
		return 0, true
	}
	return 0, false
}

//go:build linux || darwin

package runner

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// tasks are the commands of a run in the background.
type tasks struct {
	mu      sync.Mutex
	running []*task
	// takes is what these take of the room, and most the most that it ever was.
	takes, most need
	// ended tells how those are written that the end of the text ended.
	ended []string
	// numbered are those of which the text knows the number.
	numbered map[string]*task
}

// errOver ends what runs in the background when the text is over. It is no reason why a
// run ended.
var errOver = errors.New("the text is over")

// taskFiles are the descriptors of each command in the background: where its output goes,
// and its folder, and one that a cd leads to.
const taskFiles = 4

// background starts a command in the background, in a subshell. It reads nothing.
func (sh *shell) background(n *approval.Node, io stdio, tested bool) {
	kid := &n.Kids[0]
	if tested && sh.posix() && !isSimple(kid) && sh.mayExit() {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on what set -e does to a command in the background here"))
		return
	}
	needs, err := sh.taskNeeds(kid)
	if err != nil {
		sh.deny(Outer, err)
		return
	}
	t := &task{
		text: sh.written(n), needs: needs, alone: kid.Op == approval.OpRun && !isBuiltin(&sh.job.Plan.Segments[kid.Seg]), outer: sh.task,
		begun: make(chan struct{}), killed: make(chan struct{}), over: make(chan struct{}),
	}
	if err := sh.enlist(t); err != nil {
		sh.deny(Outer, err)
		return
	}
	sub, all, done, failure := sh.apart(io)
	if failure != nil {
		sh.discharge(t)
		sh.deny(Outer, denied(approval.ReasonTooComplex, "a command in the background cannot begin: %v", failure))
		return
	}
	sub.inner = sub.inner || !isSimple(kid)
	sub.task = t
	sh.jobs, sh.latest = append(sh.jobs, t), t
	sh.wrote.Store(true) // whatever follows is judged anew, as it may change files until the end
	go func() {
		defer sh.discharge(t)
		defer done()
		defer rescue.Catch(sh.log, "a command in the background", func() { sh.deny(Outer, failed()) })
		t.status = t.as(sub.walk(kid, all, tested))
	}()
}

// written is how a command in the background is written.
func (u *run) written(n *approval.Node) string {
	text := u.job.Plan.Text
	if n.Start < 0 || n.Start > n.End || n.End > len(text) {
		return ""
	}
	return text[n.Start:n.End]
}

// mayExit reports whether the shell has the option -e, or may get it.
func (sh *shell) mayExit() bool {
	return sh.errexit || slices.ContainsFunc(sh.job.Plan.Segments, func(s approval.Segment) bool { return s.Builtin == "set" })
}

// isSimple reports whether a part of a plan is one simple command.
func isSimple(n *approval.Node) bool {
	return (n.Op == approval.OpRun || n.Op == approval.OpAssign) && len(n.Redirects) == 0
}

// apart returns a copy of the shell that has its own folder and descriptors, since this
// one goes on and closes its own. done closes them.
func (sh *shell) apart(io stdio) (sub *shell, all stdio, done func(), err error) {
	sub = sh.sub()
	all[0] = sh.null
	for i := 1; i < len(io); i++ {
		if all[i], err = unix.FcntlInt(uintptr(io[i]), unix.F_DUPFD_CLOEXEC, len(io)); err != nil {
			closeAll(all[1:i]...)
			return nil, stdio{}, nil, err
		}
	}
	if sub.dir, err = sh.dir.again(); err != nil {
		closeAll(all[1:]...)
		return nil, stdio{}, nil, err
	}
	sub.own = true
	return sub, all, func() { closeAll(all[1:]...); sub.leave() }, nil
}

// taskNeeds is what a command in the background takes of the room.
func (sh *shell) taskNeeds(n *approval.Node) (need, *Denied) {
	m, err := measureNode(sh.job.Plan, n, 1)
	if d := (*Denied)(nil); errors.As(err, &d) {
		return need{}, d
	}
	if err != nil {
		return need{}, failed()
	}
	return need{files: m.files + taskFiles, places: max(1, m.atOnce)}, nil
}

// enlist takes room for a command in the background, if there may be one more.
func (u *run) enlist(t *task) *Denied {
	u.tasks.mu.Lock()
	defer u.tasks.mu.Unlock()
	takes := u.tasks.takes.plus(t.needs)
	switch {
	case takes.places+u.size.atOnce > maxAtOnce:
		return denied(approval.ReasonTooComplex, "more than %d programs would run at once", maxAtOnce)
	case takes.files+u.size.files > maxFiles:
		return denied(approval.ReasonTooComplex, "this needs more than %d descriptors of pipes, files and folders at once", maxFiles)
	}
	most := need{files: max(takes.files, u.tasks.most.files), places: max(takes.places, u.tasks.most.places)}
	if more := most.minus(u.tasks.most); more != (need{}) && !u.take(more) {
		return crowded()
	}
	u.tasks.takes, u.tasks.most = takes, most
	u.tasks.running = append(u.tasks.running, t)
	return nil
}

// discharge notes that a command in the background has ended.
func (u *run) discharge(t *task) {
	u.tasks.mu.Lock()
	defer u.tasks.mu.Unlock()
	u.tasks.takes = u.tasks.takes.minus(t.needs)
	u.tasks.running = slices.DeleteFunc(u.tasks.running, func(o *task) bool { return o == t })
	t.end()
}

// endTasks ends what still runs in the background, and returns when it has ended. It is
// ended as everything of the run is: nothing starts any more.
func (u *run) endTasks() {
	for {
		u.tasks.mu.Lock()
		running := slices.Clone(u.tasks.running)
		u.tasks.mu.Unlock()
		if len(running) == 0 {
			return
		}
		if u.ctx.Err() == nil {
			for _, t := range running {
				if !t.stopped() {
					u.tasks.ended = append(u.tasks.ended, t.text)
				}
			}
			u.cancel(errOver)
		}
		for _, t := range running {
			<-t.over
		}
	}
}

// Bounds of what is told of the commands that the end of the text ended.
const (
	maxTold     = 3
	maxToldText = 120 // characters of each
)

// told is a line about the commands that the end of the text ended, "" for none.
func (t *tasks) told() string {
	var list []string
	for _, text := range t.ended[:min(len(t.ended), maxTold)] {
		first, _, more := strings.Cut(text, "\n")
		if letters := []rune(first); len(letters) > maxToldText {
			first, more = string(letters[:maxToldText]), true
		}
		if more {
			first += "…"
		}
		list = append(list, first)
	}
	if len(list) == 0 {
		return ""
	}
	line := "countersign: ended with the text: " + strings.Join(list, "; ")
	if more := len(t.ended) - len(list); more > 0 {
		line += fmt.Sprintf("; and %d more", more)
	}
	return line + "\n"
}

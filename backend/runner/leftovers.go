//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/proc"
)

const (
	// grace is how long programs may clean up between TERM and KILL.
	grace = 2 * time.Second
	// hurried is the same where everything is to be gone within a second.
	hurried = 500 * time.Millisecond
	// giveUp is how long KILL is repeated for what does not die, such as a
	// program of another user or one that waits for a broken disk.
	giveUp = 2 * time.Second

	firstLook, lastLook = time.Millisecond, 50 * time.Millisecond
)

// end ends what find finds, again and again until it finds nothing: TERM
// once for each process, KILL for all after the grace, which may become shorter
// meanwhile. groups signals whole
// groups at once, which a program that forks cannot outrun. It returns the
// names of what was found.
func end(find func() ([]proc.Info, error), groups func(unix.Signal) map[int]bool, grace func() time.Duration) ([]string, error) {
	type key struct {
		pid     int
		started uint64
	}
	told := map[key]bool{}
	var names []string
	var refused error
	var begin time.Time // of the first look's end: where many end at once, a look takes long
	killed := false
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		living, err := find()
		if err != nil {
			groups(unix.SIGKILL) // these are known without a look
			return names, err
		}
		if len(living) == 0 {
			return names, nil
		}
		if begin.IsZero() {
			begin = time.Now()
		}
		waited := time.Since(begin)
		if killed && waited > grace()+giveUp {
			return names, errors.Join(fmt.Errorf("%d of them do not end, such as %s", len(living), nameOf(living[0])), refused)
		}
		sig, inGroup := unix.SIGTERM, map[int]bool(nil)
		if waited >= grace() {
			sig, killed = unix.SIGKILL, true
		}
		for _, p := range living {
			if !told[key{p.PID, p.Started}] {
				names = append(names, nameOf(p))
			}
		}
		if len(told) == 0 || sig == unix.SIGKILL {
			inGroup = groups(sig)
		}
		refused = nil
		for _, p := range living {
			k := key{p.PID, p.Started}
			if !inGroup[p.Group] && (!told[k] || sig == unix.SIGKILL) {
				refused = errors.Join(refused, signalExactly(p, sig))
			}
			told[k] = true
		}
		time.Sleep(pause)
	}
}

// nameOf is what a person is told about a process.
func nameOf(p proc.Info) string {
	_, name, err := proc.Exe(p.PID)
	if err != nil {
		name = "a program"
	}
	return fmt.Sprintf("%s (process %d)", name, p.PID)
}

// EndLeftovers ends what an earlier host left running when it crashed: every
// process of this user that carries a run id with this prefix, and the
// sessions of these programs, each as long as the program is still the same
// process. It returns the names of what it ended. This process, those above it
// and those below it are spared.
func (r *Runner) EndLeftovers(ctx context.Context, prefix string, known []Process) ([]string, error) {
	if prefix == "" {
		return nil, errors.New("internal error: every process would be left over")
	}
	above, err := proc.Ancestors(os.Getpid())
	list, listErr := proc.All()
	if err = errors.Join(err, listErr); err != nil {
		return nil, fmt.Errorf("cannot tell our own processes from others: %w", err)
	}
	spared := map[int]bool{os.Getpid(): true}
	for _, p := range slices.Concat(above, proc.Descendants(os.Getpid(), list)) {
		spared[p.PID] = true
	}
	return endLeftovers(ctx, prefix, known, spared)
}

func endLeftovers(ctx context.Context, prefix string, known []Process, spared map[int]bool) ([]string, error) {
	find := func() ([]proc.Info, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return leftovers(prefix, known, spared)
	}
	names, err := end(find, func(unix.Signal) map[int]bool { return nil }, func() time.Duration { return grace })
	if err != nil {
		err = fmt.Errorf("cannot end what an earlier host left: %w", err)
	}
	return names, err
}

func leftovers(prefix string, known []Process, spared map[int]bool) ([]proc.Info, error) {
	list, err := proc.All()
	if err != nil {
		return nil, fmt.Errorf("cannot list processes: %w", err)
	}
	sessions := map[int]bool{}
	for _, p := range list {
		if slices.Contains(known, Process{PID: p.PID, PGID: p.PID, Started: p.Started}) {
			sessions[p.PID] = true
		}
	}
	var found []proc.Info
	for _, p := range list {
		if p.Zombie || spared[p.PID] || !sameUser(p.PID) {
			continue
		}
		id, _ := proc.Getenv(p.PID, marker)
		if sessions[p.Session] || sessions[p.Group] || strings.HasPrefix(id, prefix) {
			found = append(found, p)
		}
	}
	return found, nil
}

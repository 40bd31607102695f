package ipc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
)

const (
	// gentle is how long a holder has to end by itself.
	gentle = 5 * time.Second
	// lookAgain is how often Takeover tries the lock; it runs by hand and
	// for seconds only.
	lookAgain = 20 * time.Millisecond
)

// Takeover ends the host that holds a lock and does not answer, and returns
// when the lock is free, at once if nobody holds it. It ends only a process
// that runs one of our programs: this one, or one of the further paths.
func Takeover(ctx context.Context, lock string, further ...string) error {
	if err := takeover(ctx, lock, further, gentle); err != nil {
		return fmt.Errorf("cannot take over the local socket: %w", err)
	}
	return nil
}

func takeover(ctx context.Context, lock string, further []string, gentle time.Duration) error {
	if pid, err := lockHolder(lock); err == nil && pid == os.Getpid() {
		return errors.New("this process holds the lock")
	}
	f, err := openLock(lock)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := tryLock(f); !errors.Is(err, ErrLive) {
		return err
	}
	holder, err := findHolder(f, further)
	if err != nil {
		return err
	}
	if err := holder.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	soon, cancel := context.WithTimeout(ctx, gentle)
	defer cancel()
	if waitLock(soon, f) == nil {
		return nil
	}
	if err := holder.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return waitLock(ctx, f)
}

// findHolder reads from the lock who has it and makes sure that it is one of
// ours. The text may be written by anybody who is us, so it is only a hint.
func findHolder(f *os.File, further []string) (*os.Process, error) {
	b := make([]byte, 64)
	n, _ := f.ReadAt(b, 0)
	var id process
	if _, err := fmt.Sscanf(string(b[:n]), "%d %d\n", &id.PID, &id.Started); err != nil {
		return nil, errors.New("the lock does not say who holds it: end that process yourself")
	}
	own, err := openPrograms(further)
	if err != nil {
		return nil, err
	}
	defer own.close()
	// The handle comes first: where the system has such, it stays on this
	// process while we look at it.
	holder, err := os.FindProcess(id.PID)
	if err != nil {
		return nil, err
	}
	info, err := proc.Stat(id.PID)
	if err != nil || info.Started != id.Started || id.PID == os.Getpid() || !own.run(id.PID) {
		return nil, fmt.Errorf("the lock names process %d, which is not of this installation of Countersign: end the process that holds it yourself", id.PID)
	}
	return holder, nil
}

func waitLock(ctx context.Context, f *os.File) error {
	for {
		if err := tryLock(f); !errors.Is(err, ErrLive) {
			return err
		}
		select {
		case <-time.After(lookAgain):
		case <-ctx.Done():
			return fmt.Errorf("the lock is still held: %w", ctx.Err())
		}
	}
}

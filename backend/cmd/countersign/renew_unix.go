//go:build linux || darwin

package main

import (
	"context"
	"io/fs"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/backend/ownfile"
)

// renewEvery is how often a host looks for an upgrade of its program. More often
// would wake an idle machine.
const renewEvery = 10 * time.Second

// upgraded returns once root has put another program in the place of this one and
// idle tells that the host may end, true then; or when ctx is over. Of a program
// that somebody else can write it never returns true: who wrote it would have it
// run in place of the host.
func upgraded(ctx context.Context, self string, idle func() bool) bool {
	was, err := os.Stat(self)
	if err != nil {
		<-ctx.Done()
		return false
	}
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for before := was; ; {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		now, err := os.Stat(self)
		if err != nil {
			continue // the upgrade is on its way
		}
		whole := unchanged(before, now) // it is not being written
		if before = now; whole && !unchanged(was, now) && rootsAlone(self) && idle() {
			return true
		}
	}
}

func unchanged(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// rootsAlone reports whether a program can be run that nobody but root can change.
// Where this user is root it is false: nothing is guarded from them.
func rootsAlone(program string) bool {
	info, err := os.Lstat(program)
	runs := err == nil && info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) == 0 && info.Mode().Perm()&0o111 != 0 && info.Size() > 0
	return runs && os.Geteuid() != 0 && ownfile.RootAlone(program) == nil
}

// become runs a program in place of this one, with the same arguments and more.
func become(program string, more ...string) error {
	return syscall.Exec(program, append(slices.Clone(os.Args), more...), os.Environ())
}

//go:build unix

package vault

import (
	"fmt"
	"os"
	"syscall"
)

// openPrivate opens a file that is ours alone: no link, no second name, no
// right for others.
func openPrivate(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		st := info.Sys().(*syscall.Stat_t)
		if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
			err = fmt.Errorf("%s must be a plain file of this user with mode 0600 and one name", path)
		}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

//go:build linux || darwin

package mac

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxLog is the size in bytes from which a log is set aside at the next start.
const maxLog = 1 << 20

// openLog opens a log for writing at its end. A large one is set aside, in
// place of the one before.
func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New(path + " is no file")
	case info.Size() >= maxLog:
		if err := os.Rename(path, path+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|unix.O_NOFOLLOW, 0o600)
}

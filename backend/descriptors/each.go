//go:build linux || darwin

package descriptors

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepEach marks them one by one.
//
// The names alone are read: macOS gives entries of this folder no type, so
// that os.ReadDir looks at each, and a look at a kernel queue, which the Go
// runtime itself has open, is an error there.
func keepEach() error {
	folder, err := os.Open("/dev/fd")
	if err != nil {
		return err
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

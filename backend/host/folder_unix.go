//go:build linux || darwin

package host

import (
	"fmt"
	"os"
	"syscall"
)

// folderID names a folder, whatever its path leads to later.
func folderID(dir string) (device, inode uint64, err error) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, 0, fmt.Errorf("cannot look at the state folder: %w", err)
	}
	stat := info.Sys().(*syscall.Stat_t)
	return uint64(stat.Dev), stat.Ino, nil
}

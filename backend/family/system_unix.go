//go:build linux || darwin

package family

import (
	"os"
	"syscall"
)

// byRoot reports whether only root can change a file.
func byRoot(file os.FileInfo) bool {
	stat, ok := file.Sys().(*syscall.Stat_t)
	return ok && stat.Uid == 0 && file.Mode().Perm()&0o022 == 0
}

//go:build linux || darwin

package descriptors

import "golang.org/x/sys/unix"

// limit is how many files this process may have open: Go has raised it as far as it
// may.
func limit() (uint64, error) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return l.Cur, err
}

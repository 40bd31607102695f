//go:build linux || darwin

package store

import "golang.org/x/sys/unix"

// stampAt looks at a file, or at a link.
func stampAt(path string) (stamp, error) {
	var st unix.Stat_t
	err := unix.Lstat(path, &st)
	return stamp{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}, err
}

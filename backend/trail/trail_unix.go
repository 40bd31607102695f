//go:build linux || darwin

package trail

import (
	"os"

	"golang.org/x/sys/unix"
)

func look(name string) (step, error) {
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		return step{}, err
	}
	s := step{dev: uint64(st.Dev), ino: st.Ino, mode: uint32(st.Mode), uid: st.Uid, gid: st.Gid}
	s.folder, s.link = st.Mode&unix.S_IFMT == unix.S_IFDIR, st.Mode&unix.S_IFMT == unix.S_IFLNK
	if s.link {
		s.changed = st.Ctim.Nano()
	}
	return s, nil
}

func target(link string) (string, error) { return os.Readlink(link) }

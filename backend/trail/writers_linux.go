package trail

import "golang.org/x/sys/unix"

// Writers fails with ErrWritten if a file that is open for reading alone is
// also open for writing, by whomever, or mapped so. Shell and interpreter would
// read it all the same; of a program the kernel says that its text is busy.
//
// shows tells that every later change shows in the file's times. It is false
// where the kernel does not say who writes: to the files of others than this
// user and root, and on file systems without leases.
//
// The first write through a mapping changes the times, and those that follow
// need not, until the page is on the disk (file_update_time, mm/memory.c). So
// nobody may have one when a file is read. The kernel gives out a lease for
// reading only where nobody writes (fcntl(2), F_SETLEASE).
func Writers(fd int) (shows bool, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return false, err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
		return err == nil && !inMemory(fd), nil
	}
	if err == unix.EAGAIN {
		return false, ErrWritten
	}
	return st.Uid == 0 && st.Mode&(groupWrite|otherWrite) == 0, nil
}

// inMemory reports whether a file is on a file system that has no disk. There a
// mapping is written without any trace.
func inMemory(fd int) bool {
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil {
		return true
	}
	return fs.Type == unix.TMPFS_MAGIC || fs.Type == unix.RAMFS_MAGIC || fs.Type == unix.HUGETLBFS_MAGIC
}

package trail

import (
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stored follows the links of a path and returns it as the disk keeps it, with
// what is there: in the case and with the composition of letters that it was
// made with, and not through /System/Volumes/Data, which holds the same files.
// It opens nothing, so that macOS asks nobody whether it may.
func Stored(path string) (string, unix.Stat_t, error) {
	var st, there unix.Stat_t
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", st, err
	}
	if err := unix.Lstat(real, &st); err != nil {
		return "", st, err
	}
	name, err := storedName(real, &st)
	if err != nil || unix.Lstat(name, &there) != nil || there.Dev != st.Dev || there.Ino != st.Ino || there.Nlink != st.Nlink {
		return real, st, nil // as it was written
	}
	return name, st, nil
}

// storedName asks about the file. Of one with several names the kernel may tell
// any, so that its folder is asked about then, and only a name that differs in
// case is taken from the file.
func storedName(real string, st *unix.Stat_t) (string, error) {
	name, err := ask(real)
	if err != nil || st.Nlink == 1 || st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return name, err
	}
	folder, err := ask(filepath.Dir(real))
	return oneOfSeveral(name, folder, filepath.Base(real)), err
}

// attrList is struct attrlist (sys/attr.h).
type attrList struct {
	sets, _                            uint16
	common, volume, folder, file, fork uint32
}

const (
	attrSets     = 5           // ATTR_BIT_MAP_COUNT
	attrFullPath = 0x0800_0000 // ATTR_CMN_FULLPATH
	noFollow     = 1           // FSOPT_NOFOLLOW
	answerSize   = 12 + 4*unix.PathMax
)

func ask(path string) (string, error) {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return "", err
	}
	want := attrList{sets: attrSets, common: attrFullPath}
	var answer [answerSize]byte
	_, _, errno := unix.Syscall6(unix.SYS_GETATTRLIST, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&want)),
		uintptr(unsafe.Pointer(&answer)), answerSize, noFollow, 0)
	if errno != 0 {
		return "", errno
	}
	return fullPath(answer[:])
}

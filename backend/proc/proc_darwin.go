package proc

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

func info(k *unix.KinfoProc) Info {
	p := ofKinfo(unsafe.Slice((*byte)(unsafe.Pointer(k)), unsafe.Sizeof(*k)))
	p.Session, _ = unix.Getsid(p.PID)
	return p
}

func stat(pid int) (Info, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Info{}, ErrGone
	}
	return info(k), nil
}

func all() ([]Info, error) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	list := make([]Info, len(procs))
	for i := range procs {
		list[i] = info(&procs[i])
	}
	return list, nil
}

// Numbers of proc_info.h and codesign.h. libproc cannot be called without cgo.
const (
	infoOfPID = 2    // PROC_INFO_CALL_PIDINFO
	infoOfFD  = 3    // PROC_INFO_CALL_PIDFDINFO
	fileOfFD  = 1    // PROC_PIDFDVNODEINFO
	itsPath   = 11   // PROC_PIDPATHINFO
	pathSize  = 4096 // PROC_PIDPATHINFO_MAXSIZE

	codeStatus = 0 // CS_OPS_STATUS
	codeHash   = 5 // CS_OPS_CDHASH
)

// exe asks the kernel: the path that a process shows in kern.procargs2 lies
// where the process itself can write.
func exe(pid int) (string, string, error) {
	var buf [pathSize]byte
	_, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, infoOfPID, uintptr(pid), itsPath, 0, uintptr(unsafe.Pointer(&buf)), pathSize)
	if errno != 0 {
		return "", "", errno
	}
	path := unix.ByteSliceToString(buf[:])
	return path, path, nil
}

func codeOf(pid int) (Code, error) {
	var flags uint32
	if errno := csops(pid, codeStatus, unsafe.Pointer(&flags), unsafe.Sizeof(flags)); errno != 0 {
		return Code{}, errno
	}
	var hash [hashSize]byte
	if errno := csops(pid, codeHash, unsafe.Pointer(&hash), hashSize); errno != 0 {
		return Code{}, nil // it has none
	}
	return ofCode(flags, hash), nil
}

func csops(pid, op int, buf unsafe.Pointer, size uintptr) unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_CSOPS, uintptr(pid), uintptr(op), uintptr(buf), size, 0, 0)
	return errno
}

// asideOf: macOS has no namespaces.
func asideOf(pid int) (Aside, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return Aside{}, ErrGone
	}
	return Aside{Traced: k.Proc.P_flag&isTraced != 0}, nil
}

// environ returns the environment block of a process. The kernel keeps it back
// for Apple's own programs, which then have none.
func environ(pid int) ([]byte, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	_, block, err := ofArguments(b)
	return block, err
}

func argv(pid int) ([]string, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	words, _, err := ofArguments(b)
	return words, err
}

func inputTerminal(pid int) (int, error) {
	var buf [vnodeSize]byte
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, infoOfFD, uintptr(pid), fileOfFD, 0, uintptr(unsafe.Pointer(&buf)), vnodeSize)
	switch {
	case errno == unix.ENOENT, errno == unix.EBADF: // not a file, or none
		return 0, nil
	case errno != 0:
		return 0, errno
	case n != vnodeSize:
		return 0, errors.New("internal error: proc_pidfdinfo answers with another size")
	}
	return ofVnode(buf[:]), nil
}

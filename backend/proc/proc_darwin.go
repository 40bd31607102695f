package proc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

func info(k *unix.KinfoProc) Info {
	session, _ := unix.Getsid(int(k.Proc.P_pid))
	return Info{
		PID: int(k.Proc.P_pid), Parent: int(k.Eproc.Ppid), Group: int(k.Eproc.Pgid), Session: session,
		Started: uint64(k.Proc.P_starttime.Sec)*1_000_000 + uint64(k.Proc.P_starttime.Usec),
		Zombie:  k.Proc.P_stat == 5, // SZOMB in sys/proc.h
	}
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
	itsPath   = 11   // PROC_PIDPATHINFO
	pathSize  = 4096 // PROC_PIDPATHINFO_MAXSIZE

	codeStatus = 0 // CS_OPS_STATUS
	codeHash   = 5 // CS_OPS_CDHASH
	hashSize   = 20

	isValid    = 0x0000_0001 // CS_VALID
	isHardened = 0x0001_0000 // CS_RUNTIME
	isDebugged = 0x1000_0000 // CS_DEBUGGED
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
	return Code{hex.EncodeToString(hash[:]), flags&isValid != 0, flags&isHardened != 0, flags&isDebugged != 0}, nil
}

func csops(pid, op int, buf unsafe.Pointer, size uintptr) unix.Errno {
	_, _, errno := unix.Syscall6(unix.SYS_CSOPS, uintptr(pid), uintptr(op), uintptr(buf), size, 0, 0)
	return errno
}

// environ returns the environment block of a process: kern.procargs2 is argc,
// the path, padding, argc arguments, the environment.
func environ(pid int) ([]byte, error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return nil, errors.New("internal error: kern.procargs2 is too short")
	}
	argc, b := int(binary.LittleEndian.Uint32(b)), b[4:]
	_, b, _ = bytes.Cut(b, []byte{0})
	b = bytes.TrimLeft(b, "\x00")
	for range argc {
		if _, b, _ = bytes.Cut(b, []byte{0}); len(b) == 0 {
			break
		}
	}
	return b, nil
}

package proc

import (
	"bytes"
	"encoding/binary"
	"errors"

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

// args returns the program path and the environment block of a process:
// kern.procargs2 is argc, the path, padding, argc arguments, the environment.
func args(pid int) (path string, env []byte, err error) {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return "", nil, err
	}
	if len(b) < 4 {
		return "", nil, errors.New("internal error: kern.procargs2 is too short")
	}
	argc, b := int(binary.LittleEndian.Uint32(b)), b[4:]
	name, b, _ := bytes.Cut(b, []byte{0})
	b = bytes.TrimLeft(b, "\x00")
	for range argc {
		if _, b, _ = bytes.Cut(b, []byte{0}); len(b) == 0 {
			break
		}
	}
	return string(name), b, nil
}

func exe(pid int) (string, string, error) {
	path, _, err := args(pid)
	return path, path, err
}

func environ(pid int) ([]byte, error) {
	_, env, err := args(pid)
	return env, err
}

package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// statSize is more than the kernel writes: 52 numbers of up to 20 digits and a
// name of up to 64 bytes.
const statSize = 2048

// stat reads /proc/PID/stat. The name field is in parentheses and may hold
// anything, so the fields are counted from the last parenthesis.
//
// It is asked for every program that starts. An os.File would make ten system
// calls of these three, because it tries to poll what cannot be polled.
func stat(pid int) (Info, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return Info{}, gone(pid, err)
	}
	defer unix.Close(fd)
	var buf [statSize]byte
	n, err := unix.Read(fd, buf[:]) // it is all there at once
	if err != nil {
		return Info{}, gone(pid, err)
	}
	b := buf[:n]
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 || n == statSize {
		return Info{}, fmt.Errorf("internal error: /proc/%d/stat has %d fields in %d bytes", pid, len(f), n)
	}
	num := func(i int) int { v, _ := strconv.Atoi(string(f[i])); return v }
	uid, err := realUser(fd, pid)
	if err != nil {
		return Info{}, err
	}
	started, err := strconv.ParseUint(string(f[19]), 10, 64)
	if err != nil {
		return Info{}, fmt.Errorf("internal error: /proc/%d/stat: %w", pid, err)
	}
	return Info{
		PID: pid, Parent: num(1), Group: num(2), Session: num(3), UID: uid, Terminal: num(4), Foreground: max(num(5), 0),
		Started: started, Zombie: f[0][0] == 'Z' || f[0][0] == 'X',
	}, nil
}

// realUser is who started a process. Its files in /proc belong to the user whose
// rights it has, and to root where nobody may look into it: only then is the
// longer answer read.
func realUser(fd, pid int) (int, error) {
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return 0, gone(pid, err)
	}
	if own := os.Getuid(); own != 0 && int(info.Uid) == own {
		return own, nil
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, gone(pid, err)
	}
	_, after, _ := bytes.Cut(status, []byte("\nUid:\t"))
	real, _, found := bytes.Cut(after, []byte("\t"))
	uid, err := strconv.Atoi(string(real))
	if !found || err != nil {
		return 0, fmt.Errorf("internal error: /proc/%d/status names no user", pid)
	}
	return uid, nil
}

// gone is what an error says of a process: that it is not there or not to be
// seen, unless we could not look for want of something of our own.
func gone(pid int, err error) error {
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EINTR):
		return fmt.Errorf("cannot look at process %d: %w", pid, err)
	}
	return ErrGone
}

func all() ([]Info, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if info, err := stat(pid); err == nil {
			list = append(list, info)
		}
	}
	return list, nil
}

func exe(pid int) (string, string, error) {
	link := fmt.Sprintf("/proc/%d/exe", pid)
	name, err := os.Readlink(link)
	if err != nil {
		return "", "", err
	}
	return link, name, nil
}

// codeOf has nothing to tell: Linux checks no signatures of programs.
func codeOf(int) (Code, error) { return Code{}, nil }

func asideOf(pid int) (a Aside, err error) {
	for _, kind := range []string{"user", "pid"} {
		mine, err := os.Stat("/proc/self/ns/" + kind)
		if err != nil {
			return a, err
		}
		its, err := os.Stat(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
		if err != nil {
			return a, gone(pid, err)
		}
		a.Namespace = a.Namespace || !os.SameFile(mine, its)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return a, gone(pid, err)
	}
	_, after, found := bytes.Cut(status, []byte("\nTracerPid:\t"))
	tracer, _, _ := bytes.Cut(after, []byte("\n"))
	if !found {
		return a, fmt.Errorf("internal error: /proc/%d/status names no tracer", pid)
	}
	a.Traced = string(tracer) != "0"
	return a, nil
}

func environ(pid int) ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) }

func argv(pid int) ([]string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil, gone(pid, err)
	}
	return words(b), nil
}

func inputTerminal(pid int) (int, error) {
	var info unix.Stat_t
	if err := unix.Stat(fmt.Sprintf("/proc/%d/fd/0", pid), &info); err != nil {
		return 0, err
	}
	if info.Mode&unix.S_IFMT != unix.S_IFCHR {
		return 0, nil
	}
	// /proc/PID/stat writes a device as 12 bits of its major number between
	// two parts of its minor one.
	major, minor := unix.Major(info.Rdev), unix.Minor(info.Rdev)
	return int(minor&0xff | major<<8 | minor&^0xff<<12), nil
}

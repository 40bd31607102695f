//go:build linux || darwin

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// foreground reports whether a file is this program's terminal and the
// program may read from it.
func foreground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// echo has a terminal show what is typed, or not.
func echo(f *os.File, on bool) error {
	t, err := unix.IoctlGetTermios(int(f.Fd()), getSettings)
	if err != nil {
		return err
	}
	t.Lflag &^= unix.ECHO
	if on {
		t.Lflag |= unix.ECHO
	}
	return unix.IoctlSetTermios(int(f.Fd()), setSettings, t)
}

// signalNumber returns the number of a signal, 0 for a name nobody knows.
func signalNumber(name string) int { return int(unix.SignalNum(name)) }

// leads reports whether this process leads a session that has a terminal.
func leads() bool {
	session, err := unix.Getsid(0)
	if err != nil || session != unix.Getpid() {
		return false
	}
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	unix.Close(tty)
	return true
}

// detach lets go of the controlling terminal, so that no command started
// from here has one: a program with a terminal can type into it.
func detach() error {
	tty, err := unix.Open("/dev/tty", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil // there is none
	}
	if err != nil {
		return err
	}
	defer unix.Close(tty)
	return unix.IoctlSetInt(tty, unix.TIOCNOTTY, 0)
}

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// undumpable keeps other processes of the user from looking into this one, and its
// memory out of crash reports. The hardened runtime of a signed program keeps them
// out in any case.
func undumpable() error {
	return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

// What the settings of a terminal are read and written with.
const (
	getSettings = unix.TIOCGETA
	setSettings = unix.TIOCSETA
)

// inputQueue is FREAD of sys/fcntl.h.
const inputQueue = 1

// forget throws away what was typed before.
func forget(f *os.File) error {
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, inputQueue)
}

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// What the settings of a terminal are read and written with.
const (
	getSettings = unix.TCGETS
	setSettings = unix.TCSETS
)

// undumpable keeps other processes of the user from looking into this one, and its
// memory out of crash reports.
func undumpable() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

// forget throws away what was typed before.
func forget(f *os.File) error { return unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }

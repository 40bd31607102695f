// Package ownfile opens files of this user without being led elsewhere, and
// writes them whole or not at all.
//
// It touches the paths that it is given and nothing else. What must never happen
// here: a link in the last place of a path is followed, a pipe there makes us
// wait, or a file is left half written under its name.
package ownfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrLocked says that somebody else holds a lock.
var ErrLocked = errors.New("another program holds the lock")

// Open opens a file to read. It does not follow a last link, and does not wait
// for the other end of a pipe.
func Open(path string) (*os.File, error) { return open(path) }

// Ours reports whether a file belongs to the user that we run as.
func Ours(info fs.FileInfo) bool { return ours(info) }

// RootAlone returns nil where nobody but root can change what lies at a path: it is
// a plain file, it and all folders above are root's, none is a link, and no others may
// write one. An access list that lets this user write counts too, unless this user is
// root.
func RootAlone(path string) error { return rootAlone(path) }

// Lock takes the lock of a file, which it makes where there is none, and gives
// ErrLocked where somebody else holds it. It ends with the file.
func Lock(path string, mode fs.FileMode) (*os.File, error) { return lock(path, mode) }

// Write writes a text into a new file beside a path, down to the disk, and returns
// its name, which is made from pattern as os.CreateTemp does. Whoever renames it
// syncs the folder.
func Write(path, pattern string, text []byte, mode fs.FileMode) (temp string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), pattern)
	if err != nil {
		return "", err
	}
	if err = f.Chmod(mode); err == nil { // so that no umask changes it
		_, err = f.Write(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// SyncFolder has the names of a folder survive a loss of power.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/ownfile"
)

const (
	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
	// lockWait is how long an edit waits for those of other processes, and
	// turnWait for those of this one.
	lockWait = 2 * time.Second
	turnWait = 10 * time.Second
	lockStep = time.Millisecond
)

// privateFolder makes sure that a folder is there, and as checkFolder wants it.
func privateFolder(dir string) error {
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := makeFolder(dir); err != nil {
			return err
		}
	}
	return checkFolder(dir)
}

// checkFolder makes sure that a folder is real, ours and closed to others.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link: name the folder that it leads to", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !ownfile.Ours(info):
		return fmt.Errorf("%s belongs to another user", dir)
	case info.Mode().Perm() != folderMode:
		return os.Chmod(dir, folderMode)
	}
	return nil
}

// makeFolder makes a folder and the missing ones above it. The modes are set
// afterwards, so that no umask changes them.
func makeFolder(dir string) error {
	if up := filepath.Dir(dir); up != dir {
		if _, err := os.Stat(up); errors.Is(err, fs.ErrNotExist) {
			if err := makeFolder(up); err != nil {
				return err
			}
		}
	}
	if err := os.Mkdir(dir, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot make the folder: %w", err)
	}
	return os.Chmod(dir, folderMode)
}

// readPrivate reads a file as openPrivate wants it.
func readPrivate(path string) ([]byte, error) {
	f, err := openPrivate(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readCapped(f)
}

// openPrivate opens a file that must be regular, ours and not a link. A mode
// that lets others in is repaired.
func openPrivate(path string) (_ *os.File, err error) {
	f, err := ownfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case !ownfile.Ours(info):
		return nil, fmt.Errorf("%s belongs to another user", path)
	}
	if info.Mode().Perm()&^fileMode != 0 {
		if err := f.Chmod(fileMode); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readCapped reads a file up to one byte more than a policy may have.
func readCapped(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	text := bytes.NewBuffer(make([]byte, 0, min(info.Size(), MaxSize)+bytes.MinRead))
	_, err = text.ReadFrom(io.LimitReader(f, MaxSize+1))
	return text.Bytes(), err
}

// Replace puts a text in the place of a file, 0600, whole or not at all, and
// returns when it would survive a loss of power.
func Replace(path string, text []byte) error {
	temp, err := writeTemp(path, text)
	if err != nil {
		return err
	}
	return moveInto(temp, path)
}

// writeTemp writes a text beside a file, down to the disk.
func writeTemp(path string, text []byte) (temp string, err error) {
	temp, err = ownfile.Write(path, filepath.Base(path)+".*"+tempSuffix, text, fileMode)
	if err != nil {
		return "", fmt.Errorf("cannot save: %w", err)
	}
	return temp, nil
}

// moveInto gives a written file its name.
func moveInto(temp, path string) error {
	err := os.Rename(temp, path)
	if err == nil {
		err = ownfile.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(temp)
		return fmt.Errorf("cannot save: %w", err)
	}
	return nil
}

// tempSuffix ends the names of files that are being written.
const tempSuffix = ".tmp"

// sweep removes what killed processes left behind in a folder. The caller
// holds the lock, so nobody is writing.
func sweep(dir string) {
	for _, prefix := range []string{filePrefix, digestName + ".", "federated.json."} {
		for _, name := range names(dir, prefix, tempSuffix) {
			os.Remove(filepath.Join(dir, name))
		}
	}
}

// filePrefix begins the names of the policy file and of all that belongs to it.
const filePrefix = "exec-approvals."

// names returns the names in a folder that begin and end like this.
func names(dir, prefix, suffix string) (list []string) {
	found, _ := os.ReadDir(dir)
	for _, f := range found {
		if strings.HasPrefix(f.Name(), prefix) && strings.HasSuffix(f.Name(), suffix) {
			list = append(list, f.Name())
		}
	}
	return list
}

// lock takes the lock beside a file, against other processes.
func lock(path string, end time.Time) (unlock func(), err error) {
	for ; ; time.Sleep(lockStep) {
		f, err := ownfile.Lock(path+".lock", fileMode)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, ownfile.ErrLocked) || time.Now().After(end):
			return nil, fmt.Errorf("cannot lock %s: %w", path, err)
		}
	}
}

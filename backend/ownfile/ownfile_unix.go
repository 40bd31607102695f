//go:build linux || darwin

package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}

func ours(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

func lock(path string, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, mode)
	if err != nil {
		return nil, err
	}
	if err = f.Chmod(mode); err == nil { // so that no umask changes it
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			err = ErrLocked
		}
		return nil, err
	}
	return f, nil
}

func rootAlone(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is no absolute path", path)
	}
	path = filepath.Clean(path)
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		kind := info.IsDir()
		if at == path {
			kind = info.Mode().IsRegular()
		}
		mayWrite := os.Geteuid() != 0 && unix.Access(at, unix.W_OK) == nil
		if !kind || mayWrite || info.Sys().(*syscall.Stat_t).Uid != 0 || info.Mode().Perm()&0o022 != 0 {
			return fmt.Errorf("%s must be root's, no link, and nobody else may write it", at)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

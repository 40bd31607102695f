//go:build !linux && !darwin

package store

import (
	"errors"
	"io/fs"
	"os"
)

var errPlatform = errors.New("the policy file is not supported on this platform")

func openNoFollow(string) (*os.File, error) { return nil, errPlatform }

func stampAt(string) (stamp, error) { return stamp{}, errPlatform }

func ours(fs.FileInfo) bool { return false }

func openLock(string) (*os.File, error) { return nil, errPlatform }

func tryLock(*os.File) error { return errPlatform }

func exchange(string, string) error { return errPlatform }

func openToWrite(*os.File) bool { return true }

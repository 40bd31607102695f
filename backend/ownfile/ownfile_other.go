//go:build !linux && !darwin

package ownfile

import (
	"errors"
	"io/fs"
	"os"
)

var errPlatform = errors.New("files are not opened safely on this platform")

func open(string) (*os.File, error) { return nil, errPlatform }

func rootAlone(string) error { return errPlatform }

func ours(fs.FileInfo) bool { return false }

func lock(string, fs.FileMode) (*os.File, error) { return nil, errPlatform }

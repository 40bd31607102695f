//go:build !linux && !darwin

package setup

import (
	"errors"
	"io/fs"
	"os"
)

var errPlatform = errors.New("settings files of agents are not edited on this platform")

func openNoFollow(string) (*os.File, error) { return nil, errPlatform }

func ours(fs.FileInfo) bool { return false }

func tryLock(string) (*os.File, error) { return nil, errPlatform }

//go:build !linux && !darwin

package preview

import (
	"errors"
	"os"
)

var errPlatform = errors.New("nothing is opened: this platform has no host")

func openFile(string) (*os.File, error) { return nil, errPlatform }

func openFolder(string) (*os.File, error) { return nil, errPlatform }

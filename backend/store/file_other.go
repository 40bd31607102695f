//go:build !linux && !darwin

package store

import (
	"errors"
	"os"
)

var errPlatform = errors.New("the policy file is not supported on this platform")

func stampAt(string) (stamp, error) { return stamp{}, errPlatform }

func exchange(string, string) error { return errPlatform }

func openToWrite(*os.File) bool { return true }

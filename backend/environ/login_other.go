//go:build !linux && !darwin

package environ

import (
	"errors"
	"os/exec"
)

func detach(*exec.Cmd) error {
	return errors.New("this platform has no login shells")
}

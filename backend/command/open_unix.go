//go:build unix

package command

import (
	"os"
	"syscall"
)

// open opens for reading without ever waiting, so that a pipe in the place
// of a program cannot hold us up.
func open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}

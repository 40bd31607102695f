//go:build !linux && !darwin

package main

import (
	"errors"
	"os"
)

func undumpable() error { return errors.ErrUnsupported }

func forget(*os.File) error { return errors.ErrUnsupported }

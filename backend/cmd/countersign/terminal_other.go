//go:build !linux && !darwin

package main

import (
	"errors"
	"os"
)

func foreground(*os.File) bool { return false }

func echo(*os.File, bool) error { return errors.ErrUnsupported }

func signalNumber(string) int { return 0 }

func leads() bool { return false }

func detach() error { return nil }

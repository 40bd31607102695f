//go:build !linux

package main

import (
	"errors"

	"github.com/countersign-app/countersign/backend/paths"
)

// opensAtLogin is nil: this platform is not asked yet.
func opensAtLogin(paths.State, string) *bool { return nil }

func openAtLogin(paths.State, string) error {
	return errors.New("this platform is not asked to open the app at login yet")
}

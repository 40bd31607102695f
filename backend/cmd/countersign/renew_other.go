//go:build !linux && !darwin

package main

import (
	"context"
	"errors"
)

// upgraded waits for the end: no host runs on this platform.
func upgraded(ctx context.Context, _ string, _ func() bool) bool {
	<-ctx.Done()
	return false
}

func become(string, ...string) error { return errors.ErrUnsupported }

//go:build !darwin || !cgo

package mac

import (
	"context"
	"errors"
)

// WatchScreen is for macOS.
func WatchScreen(context.Context, func(away bool)) error {
	return errors.New("whether the screen is locked is not known on this system")
}

//go:build !linux

package screen

import (
	"context"
	"errors"
)

// Watch is not there yet on this platform.
func Watch(context.Context, func(away bool)) error {
	return errors.New("whether the screen is locked is not known on this system")
}

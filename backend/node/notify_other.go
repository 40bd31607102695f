//go:build !linux && !darwin

package node

import (
	"context"
	"errors"
)

func notify(context.Context, note) error {
	return errors.New("notifications are not supported on this platform")
}

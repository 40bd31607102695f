//go:build !linux

package sandbox

import (
	"errors"

	"github.com/countersign-app/countersign/backend/config"
)

func openBubblewrap(config.Sandbox) (box, error) {
	return nil, errors.New("bubblewrap runs on Linux only: set tools.exec.sandbox.engine to docker")
}

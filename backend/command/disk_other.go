//go:build !linux && !darwin

package command

import (
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
)

func look(string) (approval.File, error) {
	return approval.File{}, errors.New("cannot resolve programs: this platform has no host")
}

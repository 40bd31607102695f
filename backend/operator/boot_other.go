//go:build !linux && !darwin

package operator

import "errors"

// Boot names this start of the machine.
func Boot() (string, error) { return "", errors.New("this platform does not name its starts") }

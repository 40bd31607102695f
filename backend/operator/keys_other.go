//go:build !linux && !darwin

package operator

import "errors"

// ReadRoot reads the keys of a file that root alone can change.
func ReadRoot(string) ([]Key, error) {
	return nil, errors.New("this platform does not tell whose a file is")
}

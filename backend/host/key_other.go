//go:build !unix

package host

import (
	"errors"
	"os"
)

func openPrivate(string) (*os.File, error) {
	return nil, errors.New("this platform has no host")
}

//go:build !unix

package vault

import (
	"errors"
	"os"
)

func openPrivate(string) (*os.File, error) {
	return nil, errors.New("this platform has no host")
}

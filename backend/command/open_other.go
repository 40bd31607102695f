//go:build !unix

package command

import "os"

func open(path string) (*os.File, error) { return os.Open(path) }

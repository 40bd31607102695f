package command

import (
	"errors"
	"io"
	"os"

	"github.com/countersign-app/countersign/backend/approval"
)

// Disk is the real World.
type Disk struct{}

// Look follows links and returns the file with its real path.
func (Disk) Look(path string) (approval.File, error) { return look(path) }

// Head returns the first bytes of a file, at most n.
func (Disk) Head(path string, n int) ([]byte, error) { return head(path, n) }

// List returns the names in a folder.
func (Disk) List(path string) ([]string, error) {
	dir, err := os.Open(path + "/.") // nothing else than a folder, and so nothing that waits
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(maxListed + 1)
	if errors.Is(err, io.EOF) { // an empty one
		err = nil
	}
	return names, err
}

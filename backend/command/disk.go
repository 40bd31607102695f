package command

import "github.com/countersign-app/countersign/backend/approval"

// Disk is the real World.
type Disk struct{}

// Look follows links and returns the file with its real path.
func (Disk) Look(path string) (approval.File, error) { return look(path) }

// Head returns the first bytes of a file, at most n.
func (Disk) Head(path string, n int) ([]byte, error) { return head(path, n) }

package command

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// look resolves the path by name and stats the result. A swap between the
// two shows as another file at the comparison before the start.
func look(path string) (approval.File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return approval.File{}, err
	}
	var st unix.Stat_t
	if err := unix.Lstat(real, &st); err != nil {
		return approval.File{}, &os.PathError{Op: "look at", Path: path, Err: err}
	}
	return fileOf(real, &st), nil
}

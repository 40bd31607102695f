// Package machine says what the disk of this machine says: what a path leads to,
// what files hold, who signed them, and which package brought them. Nothing but
// codesign is started for it, nothing is written, and nothing is judged.
//
// What is told of a file is of one file: names may lead elsewhere between two looks,
// and a file may be written to while it is read. Both end in an error, never in an
// answer about another file.
package machine

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/trail"
)

// Disk is the disk as package command sees it.
type Disk struct{}

// Look follows links and returns the file with its real path.
func (Disk) Look(path string) (approval.File, error) { return look(path) }

// Head returns the first bytes of a file that was looked at, at most n. It fails
// with trail.ErrWritten while a program may be writing to it.
func (Disk) Head(file approval.File, n int) ([]byte, error) {
	f, _, err := openSame(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(n)))
	if err == nil && !stillSame(f, file) {
		err = errOther(file)
	}
	return text, err
}

// errOther says that a name leads to another file than the one that was seen.
func errOther(file approval.File) error {
	return fmt.Errorf("cannot read %s: it is not the file any more that was seen", file.Path)
}

// Link returns what a link says, "" for what is none.
func (Disk) Link(path string) string {
	to, _ := os.Readlink(path)
	return to
}

// Kept reports whether only root can change where a path leads, or what is
// there.
func (Disk) Kept(path string) bool {
	way, err := trail.Walk(path)
	return err == nil && way.Kept()
}

// MaxNames is where List stops. Nobody looks at as many in one folder.
const MaxNames = 50_001

// List returns the names in a folder, at most 50 001 of them.
func (Disk) List(path string) ([]string, error) {
	dir, err := os.Open(path + "/.") // nothing else than a folder, and so nothing that waits
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(MaxNames)
	if errors.Is(err, io.EOF) { // an empty one
		err = nil
	}
	return names, err
}

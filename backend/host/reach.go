package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

// ErrNobody says that no host answers for a state folder, and ErrNoPolicy that
// it has no policy file.
var (
	ErrNobody   = errors.New("no host is running here")
	ErrNoPolicy = errors.New("there is no policy here yet")
)

// Dial connects to the host of a state folder, as ipc.Dial does; where that says
// ErrAbsent it is ErrNobody. The document is its policy file,
// with the request token; it is nil while that file is broken, which keeps
// nobody from stopping a run.
func Dial(state paths.State, home string) (*ipc.Client, *store.Document, error) {
	doc, broken := ReadDocument(state, home)
	if errors.Is(broken, ErrNoPolicy) {
		return nil, nil, broken
	}
	client, err := ipc.Dial(state, Neighbours()...)
	switch {
	case errors.Is(err, ipc.ErrAbsent) && broken != nil:
		return nil, nil, broken
	case errors.Is(err, ipc.ErrAbsent):
		return nil, doc, ErrNobody
	}
	return client, doc, err
}

// ReadDocument reads the policy file of a state folder as it is on disk.
func ReadDocument(state paths.State, home string) (*store.Document, error) {
	text, err := ReadPolicyFile(state)
	if err != nil {
		return nil, err
	}
	return store.Parse(state.Approvals(), text, home)
}

// maxPolicy is more than any policy file that a host takes, in bytes.
const maxPolicy = 16 << 20

// ReadPolicyFile reads the text of the policy file. What is put in its place
// cannot hang us.
func ReadPolicyFile(state paths.State) ([]byte, error) {
	f, err := os.OpenFile(state.Approvals(), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoPolicy
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no plain file: move it away", state.Approvals())
	}
	return io.ReadAll(io.LimitReader(f, maxPolicy))
}

package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
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

// Dial connects to the host of a state folder. The document is its policy file,
// with the request token; it is nil while that file is broken, which keeps
// nobody from stopping a run.
func Dial(state paths.State, home string) (*ipc.Client, *store.Document, error) {
	doc, broken := ReadDocument(state, home)
	if errors.Is(broken, ErrNoPolicy) {
		return nil, nil, broken
	}
	socket := state.Socket()
	if broken == nil && doc.Socket.Path != "" {
		socket = paths.Expand(doc.Socket.Path, home)
	}
	client, err := ipc.Dial(socket)
	switch {
	case nobody(err) && broken != nil:
		return nil, nil, broken
	case nobody(err):
		return nil, doc, ErrNobody
	}
	return client, doc, err
}

// nobody reports whether an error says that there is no socket, or nobody
// behind it.
func nobody(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, net.ErrClosed)
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

package ipc

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign-app/countersign/backend/paths"
)

// wayOut is what to do when a process holds the socket and does not answer.
const wayOut = "use it, or end it with `countersign doctor --takeover`"

// checkPath refuses what the kernel would cut or resolve in its own way.
func checkPath(path string) error {
	if !filepath.IsAbs(path) || path != filepath.Clean(path) {
		return fmt.Errorf("the path must be absolute and without . or ..: %q", path)
	}
	if limit := paths.SocketLimit(); len(path) > limit {
		return fmt.Errorf("the path has %d bytes and at most %d are possible: choose a shorter state folder (%s)", len(path), limit, path)
	}
	return nil
}

// clearPath removes a socket that nobody listens on. Anything else at the
// path stays, and is an error.
func clearPath(path string) error {
	old, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if old.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is not a socket: move it away", path)
	}
	nc, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		nc.Close()
	}
	if !refusedByNobody(err) {
		return fmt.Errorf("%s: %w: %s", path, ErrLive, wayOut)
	}
	if now, err := os.Lstat(path); err != nil || !os.SameFile(old, now) {
		return fmt.Errorf("%s changes while we look: try again", path)
	}
	return os.Remove(path)
}

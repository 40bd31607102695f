//go:build linux || darwin

package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The person is told when something removes the socket.
func TestTroubles(t *testing.T) {
	b := newBench(t)
	socket := b.opt.State.Socket()
	must(t, os.Remove(socket))
	eventually(t, "status tells", func() bool {
		var s Status
		return b.call("status", nil, &s) == nil && len(s.Troubles) == 1 && strings.Contains(s.Troubles[0], filepath.Base(socket))
	})
}

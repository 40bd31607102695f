package machine_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/machine"
)

// A file is only read once the clock of file times has moved on since its last
// change: a change behind the reading gets another time, and shows.
func TestHashOfWhatJustChanged(t *testing.T) {
	at := filepath.Join(realDir(t), "tool")
	for range 20 {
		if err := os.WriteFile(at, []byte("text"), 0o755); err != nil {
			t.Fatal(err)
		}
		seen := lookAt(t, at)
		if _, err := new(machine.Hashes).Of(seen); err != nil {
			t.Fatal(err)
		}
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now); err != nil {
			t.Fatal(err)
		}
		if now.Nano() <= seen.Changed {
			t.Fatalf("read at %d, and changed at %d", now.Nano(), seen.Changed)
		}
	}
}

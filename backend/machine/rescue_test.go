package machine

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanicsOfHashes: a file whose reading panics has no sum, for all who wait, and
// the next reading is made.
func TestPanicsOfHashes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour) // so that its sum is kept
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	file, err := Disk{}.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	h := &Hashes{}
	h.prepare()
	good := h.small
	h.small = make(chan struct{})
	close(h.small) // to enter it panics
	before := rescue.Caught()
	if sum, err := h.Of(file); !errors.Is(err, errFailed) || sum != "" {
		t.Errorf("%q, %v", sum, err)
	}
	if n := rescue.Caught() - before; n != 1 {
		t.Errorf("%d were counted", n)
	}
	h.mu.Lock()
	h.small = good
	busy := len(h.busy)
	h.mu.Unlock()
	if busy != 0 {
		t.Errorf("%d are read for ever", busy)
	}
	if sum, err := h.Of(file); err != nil || sum == "" {
		t.Errorf("then %q, %v", sum, err)
	}
}

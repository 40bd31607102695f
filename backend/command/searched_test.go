//go:build linux || darwin

package command

import (
	"fmt"
	"os"
	"testing"

	"github.com/countersign-app/countersign/backend/machine"
)

// TestSearcher: all folders of one search are looked at with one effort.
func TestSearcher(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range maxWalked/2 - 1 {
		if err := os.Symlink("nothing", fmt.Sprintf("%s/%d", dir, i)); err != nil {
			t.Fatal(err)
		}
	}
	a := &Analyzer{World: machine.Disk{}, Home: "/home/dev"}
	s := a.Searcher(t.Context())
	const names = maxWalked/2 - 1
	for i := range maxWalks/names + 2 {
		if found, whole := s.Searched(dir, nil, nil, false); found != "" || whole != (i < maxWalks/names) {
			t.Errorf("look %d: %q, whole %v", i, found, whole)
		}
	}
	if _, whole := a.Searcher(t.Context()).Searched(dir, nil, nil, false); !whole {
		t.Error("another search begins with what this one spent")
	}
}

// TestListIsWhole: what one analysis looks at, the real disk lists.
func TestListIsWhole(t *testing.T) {
	if machine.MaxNames <= maxListed {
		t.Errorf("a folder of %d names looks as if it had %d", maxListed+1, machine.MaxNames)
	}
}

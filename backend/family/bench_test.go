package family_test

import (
	"os"
	"testing"

	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/proc"
)

// What each request pays for.
func BenchmarkTake(b *testing.B) {
	me, err := proc.Stat(os.Getpid())
	if err != nil {
		b.Skip(err) // the platform does not tell
	}
	book := family.New(family.System(), proc.ID{}, os.Getuid())
	defer book.Close()
	for b.Loop() {
		if _, err := book.Take(me.ID(), "main"); err != nil {
			b.Fatal(err)
		}
	}
}

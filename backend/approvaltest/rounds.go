package approvaltest

import (
	"os"
	"testing"
)

// Rounds is how often a test does what has no end by its nature: random texts
// and walks, changed archives, races, growth of work. It is all where everything
// is tested (COUNTERSIGN_TEST=all, as make unit does) and few where somebody waits
// for one package. What has a name or stands in a table is tested always, and is
// none of this. The test still says from which number its randomness begins.
func Rounds(t testing.TB, all, few int) int {
	t.Helper()
	if os.Getenv("COUNTERSIGN_TEST") != "all" {
		t.Logf("%d of %d rounds: COUNTERSIGN_TEST=all does all", few, all)
		return few
	}
	return all
}

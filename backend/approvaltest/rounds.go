package approvaltest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
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

// Randomly draws from a seed that is logged and can be given again.
func Randomly(t testing.TB) *rand.Rand {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv("COUNTERSIGN_RANDOM_SEED"), 10, 64)
	if err != nil {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("COUNTERSIGN_RANDOM_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

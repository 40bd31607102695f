package approvaltest

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// Rounds is how often a test does what has no end by its nature: random texts
// and walks, changed archives, races, growth of work. It is few where somebody waits
// for one package, and under the race detector, which takes six times as long; and
// all where everything is tested (COUNTERSIGN_TEST=all) without it. What has a name
// or stands in a table is tested always, and is none of this. The test still says
// from which number its randomness begins. build/unit.sh finds the callers.
func Rounds(t testing.TB, all, few int) int {
	t.Helper()
	if raced || os.Getenv("COUNTERSIGN_TEST") != "all" {
		t.Logf("%d of %d rounds: make unit does all, without the race detector", few, all)
		return few
	}
	return all
}

// Long is said by a test that works long in one goroutine, or in programs that it
// starts one after another. The race detector would find nothing in it and take
// minutes, so the test is left out under it, and build/unit.sh, which finds the
// callers, runs it without.
func Long(t testing.TB) {
	t.Helper()
	if raced {
		t.Skip("long work of one goroutine: make unit runs it without the race detector")
	}
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

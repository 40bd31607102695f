package host

import (
	"os"
	"testing"
)

// threadsOf counts the threads of this process.
func threadsOf(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/task")
	must(t, err)
	return len(list)
}

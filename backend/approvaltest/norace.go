//go:build !race

package approvaltest

// raced says that this was built with the race detector.
const raced = false

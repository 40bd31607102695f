package host

import "testing"

// threadsOf is not known here without a task port.
func threadsOf(*testing.T) int { return 0 }

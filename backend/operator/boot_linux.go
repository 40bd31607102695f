package operator

import (
	"os"
	"strings"
)

// Boot names this start of the machine.
func Boot() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(text)), err
}

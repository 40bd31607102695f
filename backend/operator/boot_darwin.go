package operator

import "golang.org/x/sys/unix"

// Boot names this start of the machine.
func Boot() (string, error) { return unix.Sysctl("kern.bootsessionuuid") }

package host

import (
	"os"
	"os/user"
)

// Person returns the name and the login shell of who runs this process, for
// Options.
func Person() (name, shell string) {
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if shell = os.Getenv("SHELL"); shell == "" {
		shell = "/bin/sh"
	}
	return name, shell
}

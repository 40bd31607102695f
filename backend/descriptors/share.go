package descriptors

import "fmt"

// Least is the limit of open files below which a host does not start: what is
// left beside its own files would be too little for commands and connections.
const Least = 256

// Shares says who may have how many of the descriptors of this process. What all
// take together is never more than its limit, so that nobody who fills their own
// share takes what another needs.
type Shares struct {
	// Host is for its own files and those that it looks at while it judges, for
	// programs on their way to the kernel, and for what a window has open.
	Host int
	// Connections is of the socket. A question has none besides its connection.
	Connections int
	// Commands is for the output, folders and files of commands that run.
	Commands int
}

// Where the limit is high, more is of no use to the host and the socket.
const (
	mostHost        = 280
	mostConnections = 1_000
	mostCommands    = 1 << 20
)

// Share shares out what this process may have open now. It is an error where
// that is too little for a host.
func Share() (Shares, error) {
	most, err := limit()
	if err != nil {
		return Shares{}, fmt.Errorf("cannot tell how many files this process may have open: %w", err)
	}
	if most < Least {
		return Shares{}, fmt.Errorf("this process may have %d files open, and a host needs %d: raise the limit (ulimit -n) and start again", most, Least)
	}
	return share(most), nil
}

func share(most uint64) (s Shares) {
	left := int(min(most, mostHost+mostConnections+mostCommands))
	s.Host = min(mostHost, left/4)
	left -= s.Host
	s.Connections = min(mostConnections, left/2)
	s.Commands = left - s.Connections
	return s
}

// Package proc asks the kernel about processes: who started whom, when, from
// which program, and with which mark in the environment. It only looks; it
// never signals, and it knows nothing of requests.
//
// Both ends need it: the socket to tell who is at the door, the runner to
// find what a command left behind. Where the platform cannot answer, every
// function says so with an error, and callers must treat that as "no".
package proc

import (
	"errors"
	"strings"
)

// ErrGone says that there is no such process (any more).
var ErrGone = errors.New("no such process")

// Info is what the kernel says about one process.
type Info struct {
	PID, Parent, Group, Session int
	// UID is the real user: a program that a person starts with the rights of
	// another user is still theirs.
	UID int
	// Terminal is the device of its session's terminal, 0 for none, and
	// Foreground the group that has that terminal now.
	Terminal, Foreground int
	// Started is when it started, in the kernel's own units. Together with
	// PID it names one process for as long as the machine is up.
	Started uint64
	// Zombie tells that it has ended and waits to be reaped.
	Zombie bool
}

// ID names one process for as long as the machine is up: its number is given to
// another one later.
type ID struct {
	PID     int
	Started uint64
}

// ID is which process this is about.
func (i Info) ID() ID { return ID{i.PID, i.Started} }

// Stat returns what the kernel says about one process.
func Stat(pid int) (Info, error) { return stat(pid) }

// All returns every process that can be seen.
func All() ([]Info, error) { return all() }

// Exe returns a path that opens the program of a process (on Linux the
// kernel's own link to it, which holds also when the file was renamed), and
// the name to show.
func Exe(pid int) (open, name string, err error) { return exe(pid) }

// Code is what the kernel checks the pages of a running program against. The
// zero value is a program without a signature, or a platform without them.
type Code struct {
	// Hash names exactly what runs: the hash of its code directory, in hex.
	Hash string
	// Valid tells that nothing of it was changed since, Hardened that it takes no
	// libraries and variables of others into itself, Debugged that somebody
	// looks into it all the same.
	Valid, Hardened, Debugged bool
}

// CodeOf returns what the kernel knows of the program that a process runs. It
// fails where it cannot tell.
func CodeOf(pid int) (Code, error) { return codeOf(pid) }

// Aside is what lets others decide what a process does, whichever program it
// runs.
type Aside struct {
	// Namespace tells that it is in another user or pid namespace than this
	// process: who makes such a namespace is root in it, and names programs and
	// files there as they like.
	Namespace bool
	// Traced tells that another process looks into it and can change it.
	Traced bool
}

// AsideOf returns what the kernel says of that now. It fails where it cannot
// tell.
func AsideOf(pid int) (Aside, error) { return asideOf(pid) }

// Getenv returns the value that a variable had when the process started its
// program. A program can overwrite it, and in the first moment after its start
// it reads as missing: use it to find, never to trust.
func Getenv(pid int, name string) (string, bool) {
	block, err := environ(pid)
	if err != nil {
		return "", false
	}
	for _, kv := range strings.Split(string(block), "\x00") {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// Argv returns the words that a process was started with, the first its name.
// A program can overwrite them.
func Argv(pid int) ([]string, error) { return argv(pid) }

// words are those of a block that ends each with a zero byte.
func words(b []byte) []string {
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
}

// InputTerminal returns the device of a terminal that a process reads its
// standard input from, in the numbers of Info.Terminal; 0 for anything else.
func InputTerminal(pid int) (int, error) { return inputTerminal(pid) }

// maxDepth bounds a walk to the root, so that a loop cannot hang it.
const maxDepth = 1000

// Ancestors returns the parents of a process, nearest first, as far as they
// can be seen. It fails when the process itself cannot be seen.
func Ancestors(pid int) ([]Info, error) {
	info, err := stat(pid)
	if err != nil {
		return nil, err
	}
	var up []Info
	for len(up) < maxDepth && info.Parent > 0 && info.Parent != info.PID {
		if info, err = stat(info.Parent); err != nil {
			break
		}
		up = append(up, info)
	}
	return up, nil
}

// Descendants returns the processes below pid in a list made by All, without
// pid itself.
func Descendants(of int, list []Info) []Info {
	kids := map[int][]Info{}
	for _, p := range list {
		kids[p.Parent] = append(kids[p.Parent], p)
	}
	var found []Info
	for queue := []int{of}; len(queue) > 0; queue = queue[1:] {
		for _, kid := range kids[queue[0]] {
			if kid.PID != of && len(found) < len(list) {
				found = append(found, kid)
				queue = append(queue, kid.PID)
			}
		}
	}
	return found
}

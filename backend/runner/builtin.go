//go:build linux || darwin

package runner

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// isBuiltin tells what we do ourselves from builtins for which a program was
// found ([, test and printf).
func isBuiltin(s *approval.Segment) bool { return s.Builtin != "" && s.Program == nil }

// takesNumbers reports whether a builtin takes numbers of commands in the background.
func takesNumbers(s *approval.Segment) bool {
	return isBuiltin(s) && (s.Builtin == "wait" || s.Builtin == "kill")
}

// builtin does what a shell would do itself.
func (sh *shell) builtin(seg int, s *approval.Segment, io stdio) ending {
	args := s.Argv[1:]
	switch s.Builtin {
	case ":", "true":
		return ending{}
	case "false":
		return ending{code: 1}
	case "pwd":
		return write(io[1], sh.dir.path+"\n")
	case "echo":
		return write(io[1], echo(args))
	case "exit":
		return sh.exit(args, io[2])
	case "cd":
		return sh.cd(args, io[2])
	case "wait":
		return sh.awaits(args, io[2])
	case "kill":
		return sh.kills(s, io[2])
	case "read":
		return sh.read(s, io[0])
	case "set":
		if args[0] == "--" {
			sh.params = args[1:]
			return ending{}
		}
		return sh.options(args)
	case "shift":
		return sh.shift(args)
	case "command":
		return sh.find(args[1:], io[1])
	case "source", ".":
		if err := sh.inFolder(s.Dir, strings.Join(s.Argv, " ")); err != nil {
			sh.deny(seg, err)
			return ending{}
		}
		if s.Adds != nil {
			sh.search(s.Adds)
			return ending{}
		}
	}
	sh.deny(seg, denied(approval.ReasonTooComplex, "%q cannot be done without a shell", s.Builtin))
	return ending{}
}

// exit ends the shell with a status, or with the last one.
func (sh *shell) exit(args []string, stderr int) ending {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		sh.exited = true
		return ending{code: sh.last.status()}
	}
	n, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		sh.exited = true
		return say(stderr, 2, "exit: %s: numeric argument required", args[0])
	}
	if len(args) > 1 {
		return say(stderr, 1, "exit: too many arguments")
	}
	sh.exited = true
	return ending{code: int(uint8(n))}
}

// cd changes the folder of this shell. The folder is opened, so that what
// runs in it later runs in this one and no other.
func (sh *shell) cd(args []string, stderr int) ending {
	options := true
	if len(args) > 0 && args[0] == "--" {
		args, options = args[1:], false
	}
	if len(args) > 1 {
		return say(stderr, 1, "cd: too many arguments")
	}
	to, _ := sh.inherited("HOME")
	switch {
	case len(args) == 0 && to == "":
		return say(stderr, 1, "cd: HOME not set")
	case len(args) == 1 && args[0] == "":
		return ending{} // bash stays where it is
	case len(args) == 1:
		to = args[0]
		if options && to[0] == '-' || to == "-" {
			return say(stderr, 2, "cd: %s: only a folder can be named here", to)
		}
	}
	dir, err := openFolder(sh.dir, to)
	if err != nil {
		return say(stderr, 1, "cd: %s: %s", to, reason(err))
	}
	sh.leave()
	sh.setenv("OLDPWD", sh.dir.path)
	sh.setenv("PWD", dir.path)
	sh.dir, sh.own = dir, true
	return ending{}
}

// options does what set -e and its like do; what it does not know was not
// judged to pass.
func (sh *shell) options(args []string) ending {
	for i := 0; i < len(args); i++ {
		for _, letter := range strings.TrimPrefix(args[i], "-") {
			if letter == 'o' && i+1 < len(args) {
				i++
				sh.option(args[i])
				break
			}
			sh.option(string(letter))
		}
	}
	return ending{}
}

// shift does what shift does: the first of the positional parameters are gone.
func (sh *shell) shift(args []string) ending {
	n := 1
	if len(args) > 0 {
		n = int(args[0][0] - '0')
	}
	switch {
	case n <= len(sh.params):
		sh.params = sh.params[n:]
	case sh.posix():
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on a shift by more words than there are"))
	default:
		return ending{code: 1}
	}
	return ending{}
}

// find does what command -v does: it says what the names would start.
func (sh *shell) find(names []string, stdout int) ending {
	status := ending{code: 1}
	for _, name := range names {
		if sh.job.Find == nil {
			continue
		}
		if at := sh.job.Find(name, sh.dir.path); at != "" {
			status = write(stdout, at+"\n")
		}
	}
	return status
}

// setenv replaces a variable; no name is ever in the environment twice.
func (sh *shell) setenv(name, value string) {
	sh.env = slices.DeleteFunc(sh.env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	sh.env = append(sh.env, name+"="+value)
}

// say writes one line to stderr and returns a status.
func say(fd, status int, format string, a ...any) ending {
	if e := write(fd, fmt.Sprintf(format, a...)+"\n"); e.signal != 0 {
		return e
	}
	return ending{code: status}
}

// write writes text as a program would: a closed pipe ends it.
func write(fd int, text string) ending {
	for b := []byte(text); len(b) > 0; {
		n, err := unix.Write(fd, b)
		switch {
		case err == nil:
			b = b[n:]
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN): // a program made our pipe non-blocking
			_, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, -1)
		case errors.Is(err, unix.EPIPE):
			return ending{signal: unix.SIGPIPE}
		default:
			return ending{code: 1}
		}
	}
	return ending{}
}

package ipc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/proc"
)

// What Dial says where there is no host to ask. errors.Is tells which; an error
// that is none of these is of this process or of its machine, and denies as
// ErrSilent does.
var (
	// ErrAbsent: nobody answers, and nobody holds the state folder.
	ErrAbsent = errors.New("no host is running here")
	// ErrSilent: somebody holds the state folder and does not answer, or not as a
	// host would. That is no absence: what is asked is denied.
	ErrSilent = errors.New("a host holds this state folder and does not answer: see `countersign doctor`")
	// ErrUnproven: what answers is not the host of this state folder.
	ErrUnproven = errors.New("what answers at the socket is not the host of this state folder")
	// ErrReplaced: an upgrade put another program in the place of the host's, or of
	// this one. What is asked is denied until it is started again.
	ErrReplaced = errors.New("another version of Countersign was installed while it ran: restart Countersign")
)

const (
	// mendTime is how long a host that lives may take until its socket leads to it:
	// it starts, or mends what somebody did to it.
	mendTime = 2 * time.Second
	mendLook = 10 * time.Millisecond
)

// place is where the host of a state folder answers, for a client.
type place struct {
	state   paths.State
	further []string // programs of ours beside the one that this process runs
	wait    time.Duration
}

// dial connects to the host, once it has shown that it is.
func (p place) dial() (*Client, error) {
	if err := supported(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(mendTime); ; time.Sleep(mendLook) {
		c, err := p.try()
		if err == nil || errors.Is(err, ErrAbsent) || errors.Is(err, ErrReplaced) || !p.lives() {
			return c, err
		}
		if time.Now().Before(end) {
			continue
		}
		if errors.Is(err, ErrUnproven) { // but there is a host
			err = fmt.Errorf("%w: %v", ErrSilent, err)
		}
		return nil, err
	}
}

// lives reports whether the lock is held by a program of ours, which mends its
// socket.
func (p place) lives() bool {
	pid, err := lockHolder(p.state.Lock())
	if err != nil || pid <= 0 {
		return false
	}
	own, err := openPrograms(p.further)
	if err != nil {
		return false
	}
	defer own.close()
	return own.run(pid)
}

func (p place) try() (*Client, error) {
	socket := p.state.Socket()
	info, err := os.Lstat(socket)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, p.nobody()
	case err != nil:
		return nil, err
	case info.Mode().Type() != fs.ModeSocket:
		return nil, unproven("there is something else in the place of the socket")
	}
	nc, err := dialSocket(socket)
	switch {
	case refusedByNobody(err), errors.Is(err, fs.ErrNotExist):
		return nil, p.nobody()
	case os.IsTimeout(err):
		return nil, ErrSilent
	case err != nil:
		return nil, err
	}
	c := &Client{nc: nc, done: make(chan struct{}), waiting: map[string]waiter{}}
	if err := steady(nc, func() (err error) { c.at, err = p.look(nc); return err }); err != nil {
		nc.Close()
		return nil, err
	}
	go c.hear()
	if err := p.greet(c); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// nobody is the error where nobody answers.
func (p place) nobody() error {
	if Held(p.state.Lock()) {
		return ErrSilent
	}
	return ErrAbsent
}

// Held reports whether a process holds the lock of a host, whichever that is. A
// lock that cannot be looked at counts as held.
func Held(lock string) bool {
	pid, err := lockHolder(lock)
	return err != nil || pid != 0
}

// look proves by what the kernel tells that the process at the other end is a
// host, and holds the lock of this folder.
func (p place) look(nc *net.UnixConn) (holder, error) {
	who, err := peerOf(nc)
	if err != nil {
		return who, err
	}
	switch {
	case who.uid != os.Geteuid():
		return who, unproven("it is held by another user")
	case who.pid == os.Getpid():
		return who, nil
	case who.pid <= 0:
		return who, unproven("its process cannot be seen from here")
	}
	before, err := proc.Stat(who.pid)
	if err != nil {
		return who, unproven("its process has ended")
	}
	if err := p.program(who.pid); err != nil {
		return who, err
	}
	aside, err := proc.AsideOf(who.pid)
	switch {
	case err != nil:
		return who, unproven("its process cannot be looked at")
	case aside.Namespace:
		return who, unproven("it is in another user or pid namespace")
	case aside.Traced:
		return who, unproven("another program looks into it")
	}
	if pid, err := lockHolder(p.state.Lock()); err != nil || pid != who.pid {
		return who, unproven("it does not hold the lock of this folder")
	}
	if after, err := proc.Stat(who.pid); err != nil || after.ID() != before.ID() {
		return who, unproven("its process has ended")
	}
	return who, nil
}

// program proves that a process runs one of our programs.
func (p place) program(pid int) error {
	own, err := openPrograms(p.further)
	if err != nil {
		return err
	}
	defer own.close()
	if own.run(pid) {
		return nil
	}
	_, name, err := proc.Exe(pid)
	if err != nil {
		return unproven("its program cannot be seen")
	}
	_, self, err := proc.Exe(os.Getpid())
	if err != nil {
		return err
	}
	if slices.ContainsFunc(append(p.further, self), func(ours string) bool { return samePlace(ours, name) }) {
		return ErrReplaced
	}
	return unproven(fmt.Sprintf("it runs %q, and this is %q: where both are Countersign use the programs of one package, remove the other, and start Countersign again; else a program stands in its place", name, self))
}

// gone is what Linux writes behind the path of a program whose file has no name
// any more.
const gone = " (deleted)"

// samePlace reports whether two programs were started from one path, or from
// versions of one package.
func samePlace(a, b string) bool {
	a, b = strings.TrimSuffix(a, gone), strings.TrimSuffix(b, gone)
	return a == b || slices.ContainsFunc(paths.PackageStores(), func(store string) bool {
		of := func(path string) (string, bool) {
			rest, in := strings.CutPrefix(path, store+"/")
			words := strings.SplitN(rest, "/", 3) // name, version, path
			return words[0] + "/" + words[len(words)-1], in && len(words) == 3
		}
		x, inX := of(a)
		y, inY := of(b)
		return inX && inY && x == y
	})
}

// helloWire asks the host which state folder it serves. Its answer has the id,
// which nobody knew before the look at the host.
type helloWire struct {
	Type string `json:"type"`
	ID   string `json:"id"`
}

// folderWire names a folder, whatever its path leads to later.
type folderWire struct {
	Device uint64 `json:"dev"`
	Inode  uint64 `json:"ino"`
}

// greet has the host say which folder it serves: our own program that serves
// another one passes the rest.
func (p place) greet(c *Client) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.wait)
	defer cancel()
	id := uuid.NewString()
	a, err := c.do(ctx, id, waiter{kind: kindHello}, func() any { return helloWire{kindHello, id} })
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	info, err := os.Stat(p.state.Dir)
	switch {
	case err != nil:
		return err
	case inodeOf(info) != a.Folder:
		return unproven("it serves another state folder")
	}
	c.challenge = a.Challenge
	return nil
}

func unproven(why string) error { return fmt.Errorf("%w: %s", ErrUnproven, why) }

package family

import (
	"errors"
	"path/filepath"

	"github.com/countersign-app/countersign/backend/proc"
)

// Seat is a place at a terminal: a shell that somebody types into, and the program
// that shows it.
type Seat struct {
	// Terminal is the device, and Session the session that has it.
	Terminal, Session int
	// Shell is the name of the shell's file, which it cannot choose as it can its
	// first word, and In that of the terminal's program, empty
	// where that cannot be seen.
	Shell, In string
}

// String names the seat for a person.
func (s Seat) String() string {
	if s.In == "" {
		return name(s.Shell)
	}
	return name(s.Shell) + " in " + name(s.In)
}

// Errors of Seat.
var (
	ErrNotInFront = errors.New("it is not in front at a terminal")
	ErrBetween    = errors.New("another program is between it and the shell of a terminal")
)

// Seat tells from which shell a process was started: it is in front at its
// terminal, and between it and the shell there are only programs of ours. Who is
// in no seat is not asked for; that a person types there is not proven.
func (b *Book) Seat(id proc.ID, ours func(pid int) bool) (Seat, error) {
	chain, err := b.Chain(id.PID)
	if err != nil {
		return Seat{}, err
	}
	peer := chain[0]
	switch {
	case peer.ID() != id || peer.Zombie:
		return Seat{}, errors.New("this process has ended")
	case peer.Terminal == 0 || peer.Foreground == 0 || peer.Group != peer.Foreground:
		return Seat{}, ErrNotInFront
	}
	for i, p := range chain {
		if p.UID != b.uid || p.Session != peer.Session || p.Terminal != peer.Terminal {
			return Seat{}, ErrBetween
		}
		if ours(p.PID) {
			continue
		}
		program, err := b.look.Program(p)
		if i == 0 || err != nil || !program.interactive(p) {
			return Seat{}, ErrBetween
		}
		return Seat{peer.Terminal, peer.Session, filepath.Base(program.Path), b.shows(chain[i+1:])}, nil
	}
	return Seat{}, ErrBetween
}

// shows names the program of a terminal: the first above the shells that a person
// started.
func (b *Book) shows(above []proc.Info) string {
	for i := range above {
		if above[i].UID != b.uid || above[i].PID == 1 {
			continue
		}
		program, err := b.look.Program(above[i])
		if err != nil {
			return ""
		}
		if !program.Shell {
			return filepath.Base(program.Path)
		}
	}
	return ""
}

package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

const (
	// maxShown is how many lines of a change the window shows: nobody reads more.
	maxShown = 40
	// quietTime is how long a terminal is not heard after a change from it was not
	// wanted, and maxUnwanted how many such changes in a row end the asking.
	quietTime   = 10 * time.Minute
	maxUnwanted = 3
)

// Change is what a command line wants and a person is asked about in the window:
// exactly this, or nothing.
type Change struct {
	// ID names all of it, for a click.
	ID string `json:"-"`
	// Who is the shell and the program of its terminal, and Process the one that
	// calls.
	Who     string
	Process string
	// Lines say what it changes. InForce tells that what is tighter holds already.
	Lines   []Line
	InForce bool
	// Base and Result are hashes of what holds before and after it, empty where it
	// leaves the policy alone.
	Base, Result string
	Asked, Until time.Time
}

// difference is what a call changes.
type difference struct {
	lines        []Line
	inForce      bool // what is tighter holds already
	base, result string
}

// differenceOf compares what holds with what an edit made of it, where that is
// looser.
func (h *Host) differenceOf(old, new *store.Document, by maker) (d difference, err error) {
	reasons := store.Loosens(old, new)
	if len(reasons) == 0 {
		return d, nil
	}
	d.lines = h.tightened.lines(store.Differences(old, new), by, time.Now())
	if len(d.asked()) == 0 { // then the sentences are all that can be shown
		d.lines = append(sentences(reasons...), d.lines...)
	}
	if d.base, err = old.Meaning(); err == nil {
		d.result, err = new.Meaning()
	}
	return d, err
}

// equal tells whether two differences are about the same; who made what they undo
// may be forgotten meanwhile.
func (d difference) equal(other difference) bool {
	same := func(a, b Line) bool { return reflect.DeepEqual(a.Line, b.Line) }
	return slices.EqualFunc(d.sorted(), other.sorted(), same) && d.base == other.base && d.result == other.result
}

// sorted are the lines in an order that does not hang on what undoes what.
func (d difference) sorted() []Line {
	return slices.SortedStableFunc(slices.Values(d.lines), func(a, b Line) int { return strings.Compare(a.Key(), b.Key()) })
}

// asked are the lines that the person is asked about.
func (d difference) asked() []Line {
	return slices.DeleteFunc(slices.Clone(d.lines), func(l Line) bool { return !l.asks() })
}

// Refusals of a change that belongs to the window.
var (
	errUnwanted  = errors.New("nobody accepted this in Countersign's window, so nothing was changed")
	errQuiet     = errors.New("changes from this terminal were not wanted in Countersign's window")
	errShutOut   = errors.New("three changes in a row were not wanted in Countersign's window: until the app starts anew make changes in its settings")
	errTooLong   = fmt.Errorf("this loosens more than %d lines, which nobody reads in a window: make it in smaller parts, or in Countersign's settings", maxShown)
	errOtherwise = errors.New("what would change is something else by now: try again")
)

// askWindow shows a change in the window and returns nil once the person accepted
// exactly that, in time, and the command line still waits where it was.
func (h *Host) askWindow(ctx context.Context, c ipc.Call, d difference) error {
	if h.opt.AskPerson == nil || c.Method == "pending.answer" {
		return errPanel
	}
	seat, err := h.seat(c.Peer)
	if err != nil {
		h.log.Info("a change is not shown", "method", c.Method, "process", c.Peer.PID, "why", err)
		if errors.Is(err, family.ErrNotInFront) || errors.Is(err, family.ErrBetween) {
			return fmt.Errorf("%w; what is typed at a terminal's prompt is asked about there, but %w", errPanel, err)
		}
		return errPanel
	}
	now := time.Now()
	if err := h.unwanted.hears(seat, now); err != nil {
		return err
	}
	if len(d.asked()) > maxShown {
		return errTooLong
	}
	change := Change{
		Who: seat.String(), Process: h.caller(c), Lines: d.lines, InForce: d.inForce, Base: d.base, Result: d.result,
		Asked: now, Until: now.Add(confirmTime),
	}
	if change.ID, err = change.name(); err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, change.Until)
	defer cancel()
	accepted, err := h.opt.AskPerson(ctx, change)
	switch again, lost := h.seat(c.Peer); {
	case err != nil && ctx.Err() == nil:
		return err // it was not shown
	case err != nil || ctx.Err() != nil || accepted != change.ID:
		return h.unwanted.add(seat, time.Now())
	case lost != nil || again != seat:
		return errPanel
	}
	h.unwanted.forget()
	return nil
}

// name is a hash of all that is shown, and of chance: each asking is its own.
func (c Change) name() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	var chance [16]byte
	rand.Read(chance[:]) // never fails
	sum := sha256.Sum256(append(text, chance[:]...))
	return hex.EncodeToString(sum[:]), nil
}

// unwanted counts the changes to which the person said no, or nothing, or that went
// before they answered: else a program could have the window come as often as it
// likes.
type unwanted struct {
	mu    sync.Mutex
	row   int // since one was accepted
	until map[terminal]time.Time
}

// terminal is a device with the session that has it.
type terminal struct{ device, session int }

func terminalOf(s family.Seat) terminal { return terminal{s.Terminal, s.Session} }

// hears returns nil where a change from a terminal may be shown.
func (u *unwanted) hears(s family.Seat, now time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.row >= maxUnwanted {
		return errShutOut
	}
	if until := u.until[terminalOf(s)]; now.Before(until) {
		return fmt.Errorf("%w: none is shown before %s; its settings take them meanwhile", errQuiet, until.Format("15:04"))
	}
	return nil
}

// add counts one and returns what to tell its terminal.
func (u *unwanted) add(s family.Seat, now time.Time) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.row++
	if u.row >= maxUnwanted {
		return fmt.Errorf("%w: it was the third in a row, and until the app starts anew changes are made in its settings", errUnwanted)
	}
	if u.until == nil {
		u.until = map[terminal]time.Time{}
	}
	u.until[terminalOf(s)] = now.Add(quietTime)
	return fmt.Errorf("%w: no change from this terminal is shown for %d minutes; Countersign's settings take them meanwhile", errUnwanted, int(quietTime.Minutes()))
}

// forget begins the row anew: a person is there and wants changes.
func (u *unwanted) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.row = 0
}

// errPanel says that a yes belongs to the panel.
var errPanel = errors.New("the app is running, so this is for its window: answer there, or switch on \"Answer from the terminal\" in its settings")

// panelOnly reports whether only the panel may allow and loosen.
func (h *Host) panelOnly() bool {
	return h.opt.Panel && (h.opt.FromTerminal == nil || !h.opt.FromTerminal())
}

// Opened is what `window.open` returns.
type Opened struct {
	// GivesWay tells that this host ends, so that the caller can be the host.
	GivesWay bool `json:"givesWay,omitempty"`
}

var errPausedHost = errors.New("a host runs here without a window and is paused, and its end would end the pause: run `countersign resume` first")

func windowOpen(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	switch {
	case h.opt.OpenWindow != nil:
		h.opt.OpenWindow()
		return Opened{}, nil
	case h.opt.GiveWay != nil:
		if _, paused := h.Paused(); paused {
			return nil, errPausedHost // another host would know nothing of it
		}
		h.opt.GiveWay()
		return Opened{GivesWay: true}, nil
	}
	return nil, errors.New("this host has no window")
}

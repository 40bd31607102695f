package host

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/store"
)

// confirmTime is how long a person may take to read and to type.
const confirmTime = 2 * time.Minute

// confirms are calls that wait for a person's signature, by their connections:
// each has one at a time, the last, and none outlives it. So there are no more
// than connections, and nobody fills a place that the person needs.
type confirms struct {
	mu      sync.Mutex
	waiting map[uint64]confirm
}

type confirm struct {
	nonce string
	text  [sha256.Size]byte // hash of what was shown
	until time.Time
	stop  func() bool // of what forgets it with its connection
}

// take returns what waits on a connection, and it waits no more.
func (c *confirms) take(conn uint64) (w confirm, there bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w, there = c.waiting[conn]; there {
		w.stop()
		delete(c.waiting, conn)
	}
	return w, there
}

// put has a call wait until its connection, which ctx is of, ends.
func (c *confirms) put(ctx context.Context, conn uint64, w confirm) {
	c.take(conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	w.stop = context.AfterFunc(ctx, rescue.Guarded(nil, "a change that a person was asked about", func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.waiting[conn].nonce == w.nonce {
			delete(c.waiting, conn)
		}
	}))
	if c.waiting == nil {
		c.waiting = map[uint64]confirm{}
	}
	c.waiting[conn] = w
}

// began is when a call was answered with the nonce that it comes back with, else
// now: ages in the text stay as they were shown.
func (c *confirms) began(conn uint64, said *ipc.Confirmation) time.Time {
	if said != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if w, there := c.waiting[conn]; there && w.nonce == said.Nonce {
			return w.until.Add(-confirmTime)
		}
	}
	return time.Now()
}

// ErrTooMuch says that not all of a change can be shown, so that nobody can sign it.
var ErrTooMuch = fmt.Errorf("this loosens more than %d lines, which cannot be shown before a signature: make it in smaller parts", store.MaxReasons)

// errNoPassphrase says that nobody can be known to be the person here.
var errNoPassphrase = errors.New("this needs the person, and no passphrase is set: end the host, run `countersign operator passphrase`, and start it again; or start it with `--operate=anyone`, if no agent runs on this machine")

// How it was known that the person agrees; a row of the history says it.
const (
	byTerminal  = "terminal"
	byWindow    = "window"
	bySignature = "command line"
	byAnyone    = "command line, --operate=anyone"
)

// person returns nil where a call that loosens, says yes or stops guarding may go
// on: the person agreed to exactly this. how says by what that is known. With a
// signature still to come the error is an *ipc.Error of code CONFIRM; a window is
// waited for.
func (h *Host) person(ctx context.Context, c ipc.Call, d difference) (how string, err error) {
	defer func() {
		if err == nil {
			h.log.Info("the person agreed", "by", how, "method", c.Method, "process", c.Peer.PID, "to", logged(d.asked()))
		}
	}()
	own := c.Peer.PID == os.Getpid()
	switch {
	case own && len(h.keys) == 0 && !h.opt.Panel:
		return byTerminal, nil // what is typed at the host's own terminal
	case h.opt.OperateAnyone:
		return byAnyone, nil
	case h.panelOnly():
		return byWindow, h.askWindow(ctx, c, d)
	case len(h.keys) == 0:
		return "", errNoPassphrase
	}
	if len(d.asked()) > store.MaxReasons {
		return "", ErrTooMuch
	}
	text := h.confirmText(c, d, h.confirms.began(c.Conn, c.Confirmation))
	if c.Confirmation == nil {
		return "", h.askSignature(ctx, c, text)
	}
	return bySignature, h.checkSignature(c, text)
}

// confirmText is what a person reads before the passphrase: sentences, and lines in
// cells, which the terminal lays out. Nothing in it is hidden as a secret may be:
// what looks like one can be what a command does. now is when they began to read.
func (h *Host) confirmText(c ipc.Call, d difference, now time.Time) string {
	var b strings.Builder
	var rules []Line
	for _, line := range d.lines {
		if line.Agent != "" {
			rules = append(rules, line)
			continue
		}
		b.WriteString(line.text(now, d.inForce) + "\n")
	}
	if len(rules) > 0 && b.Len() > 0 {
		b.WriteString("\n")
	}
	b.WriteString(headline(rules))
	for i, line := range rules {
		if line.Word == Undoes && i > 0 && rules[i-1].Word != Undoes {
			b.WriteString("\n")
		}
		b.WriteString(line.text(now, d.inForce) + "\n")
	}
	fmt.Fprintf(&b, "\nAsked by %s\n", h.caller(c))
	fmt.Fprintf(&b, "Host     Countersign %s, process %d, started %s, in %s", h.opt.Version, os.Getpid(), h.started.Format("2006-01-02 15:04"), display.Line(h.opt.State.Dir))
	return b.String()
}

// caller names the process that calls and the program that started it.
func (h *Host) caller(c ipc.Call) string {
	named := func(pid int) string {
		_, path, err := proc.Exe(pid)
		if err != nil {
			return fmt.Sprintf("process %d", pid)
		}
		return fmt.Sprintf("%s (process %d)", display.Line(filepath.Base(path)), pid)
	}
	text := named(c.Peer.PID)
	if len(c.Peer.Ancestors) > 0 && c.Peer.Ancestors[0] > 1 {
		text += ", started by " + named(c.Peer.Ancestors[0])
	}
	return text
}

// askSignature gives a call the nonce with which it may come again.
func (h *Host) askSignature(ctx context.Context, c ipc.Call, text string) error {
	if _, err := h.statement(c, text); err != nil {
		return err // nobody could sign it
	}
	var b [16]byte
	rand.Read(b[:]) // never fails
	nonce := hex.EncodeToString(b[:])
	h.confirms.put(ctx, c.Conn, confirm{nonce: nonce, text: sha256.Sum256([]byte(text)), until: time.Now().Add(confirmTime)})
	return &ipc.Error{Code: ipc.CodeConfirm, Message: "this needs the person's passphrase", Confirm: &ipc.ConfirmAsk{Nonce: nonce, Text: text}}
}

// checkSignature takes a nonce back, whatever comes of it.
func (h *Host) checkSignature(c ipc.Call, text string) error {
	w, there := h.confirms.take(c.Conn)
	statement, err := h.statement(c, text)
	if err != nil {
		return err
	}
	statement.Nonce = c.Confirmation.Nonce
	switch {
	case !there || w.nonce != c.Confirmation.Nonce || time.Now().After(w.until):
		return errors.New("the time for the passphrase is over: try again")
	case w.text != sha256.Sum256([]byte(text)):
		return errOtherwise
	case !slices.ContainsFunc(h.keys, func(k operator.Key) bool { return k.Verify(statement, c.Confirmation.Signature) }):
		return operator.ErrWrong
	}
	return nil
}

func (h *Host) statement(c ipc.Call, text string) (operator.Statement, error) {
	return Statement(h.opt.State.Dir, c.Method, c.Params, text)
}

// Statement is what is signed of a call to the host of a state folder, without
// the nonce.
func Statement(dir, method string, params []byte, text string) (operator.Statement, error) {
	boot, err := operator.Boot()
	if err != nil {
		return operator.Statement{}, err
	}
	device, inode, err := folderID(dir)
	return operator.Statement{Device: device, Inode: inode, Boot: boot, Method: method, Params: params, Text: text}, err
}

// needsPerson ends an edit that a person has to agree to first.
type needsPerson struct{ difference }

func (needsPerson) Error() string { return "this edit needs the person" }

// accepted tells the window of a change that was accepted in it.
func (h *Host) accepted(how string, before, after *store.Document) {
	if how == byWindow && h.opt.Accepted != nil {
		h.opt.Accepted(before, after)
	}
}

// update edits the policy for the command line, once the person agreed to what it
// loosens, and lets the new one answer the questions it covers. also are lines on
// what the policy only names.
func (h *Host) update(ctx context.Context, c ipc.Call, baseHash string, edit func(*store.Document) error, also ...string) (any, error) {
	return h.updateShown(ctx, c, baseHash, edit, func(_ *store.Document, now *difference) error {
		now.lines = slices.Concat(sentences(also...), now.lines)
		return nil
	})
}

// updateShown is update with the lines that show makes of a difference.
func (h *Host) updateShown(ctx context.Context, c ipc.Call, baseHash string, edit func(*store.Document) error, show func(before *store.Document, now *difference) error) (any, error) {
	var agreed difference
	var how string
	by := h.makerOf(c)
	for {
		var before *store.Document
		snap, err := h.edit(baseHash, by, func(d *store.Document) error {
			if err := edit(d); err != nil {
				return err
			}
			before = h.store.Snapshot().Document
			now, err := h.differenceOf(before, d, by)
			if err != nil || len(now.asked()) == 0 {
				return err
			}
			if err := show(before, &now); err != nil {
				return err
			}
			if now.equal(agreed) {
				return nil
			}
			return needsPerson{now}
		})
		var first needsPerson
		switch {
		case err == nil:
			h.accepted(how, before, snap.Document)
			return map[string]string{"hash": snap.Hash}, nil
		case !errors.As(err, &first):
			return nil, err
		case how == byWindow:
			return nil, errOtherwise // a click is good for what was shown
		}
		if how, err = h.person(ctx, c, first.difference); err != nil {
			return nil, err
		}
		agreed = first.difference
	}
}

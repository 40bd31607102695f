package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/countersign-app/countersign/backend/display"
)

// personTerminal is the terminal of this process, to show a text to a person and
// to read what they alone know. Nothing that was typed before the question counts.
type personTerminal struct {
	*os.File
	ctx   context.Context
	state *term.State // as it was found
	done  func() bool
}

var errNoTerminal = errors.New("this needs the person at a terminal, and there is none: run it in one, or give --signer")

// openPersonTerminal opens the terminal. From then on no other process of the user
// can look into this one.
func openPersonTerminal(ctx context.Context) (*personTerminal, error) {
	if err := undumpable(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return nil, errNoTerminal
	}
	state, err := term.GetState(int(f.Fd()))
	if err != nil || !foreground(f) {
		f.Close()
		return nil, errNoTerminal
	}
	t := &personTerminal{File: f, ctx: ctx, state: state}
	// Ctrl-C ends the program while the terminal shows nothing of what is typed.
	t.done = context.AfterFunc(ctx, func() {
		_ = term.Restore(int(f.Fd()), state)
		fmt.Fprintln(f)
		os.Exit(exitInterrupted)
	})
	return t, nil
}

// Close leaves the terminal as it was found.
func (t *personTerminal) Close() {
	t.done()
	_ = term.Restore(int(t.Fd()), t.state)
	t.File.Close()
}

func (t *personTerminal) line(text string) { fmt.Fprintln(t, display.Escape(text)) }

const (
	// maxPage is how many rows are shown before the person goes on to the next ones.
	maxPage = 20
	// fold begins the further rows of a line, so that no part of a long line looks
	// like a line of its own. A terminal below foldWidth has no room for it.
	fold      = "    "
	foldWidth = 20
)

// pageOf is maxPage, or what a terminal of this height shows with the question
// below it: what has gone off the screen is not read.
func pageOf(height int) int {
	if height <= 0 {
		return maxPage
	}
	return max(1, min(maxPage, height-2))
}

// show shows a text, a page at a time.
func (t *personTerminal) show(text string) error {
	width, height, err := term.GetSize(int(t.Fd()))
	if err != nil || width < foldWidth {
		width = 80
	}
	shown, page := rows(laidOut(text, width, knowsUTF8(os.Getenv)), width), pageOf(height)
	for len(shown) > page {
		fmt.Fprintln(t, strings.Join(shown[:page], "\n"))
		shown = shown[page:]
		if _, err := t.secret(fmt.Sprintf("(%d more lines: Enter) ", len(shown))); err != nil {
			return err
		}
	}
	fmt.Fprintln(t, strings.Join(shown, "\n"))
	return nil
}

// rows are the lines of a text as a terminal of this width breaks them. A letter
// takes two columns at most.
func rows(text string, width int) (rows []string) {
	for _, line := range strings.Split(text, "\n") {
		row, columns := []rune(nil), 0
		for _, r := range display.Escape(line) {
			size := 1
			if r >= 0x1100 { // it may be wide
				size = 2
			}
			if columns+size > width {
				rows, row, columns = append(rows, string(row)), nil, 0
				if width >= foldWidth {
					row, columns = []rune(fold), len(fold)
				}
			}
			columns += size
			row = append(row, r)
		}
		rows = append(rows, string(row))
	}
	return rows
}

// secret asks for a line that is not shown.
func (t *personTerminal) secret(question string) ([]byte, error) {
	if err := errors.Join(echo(t.File, false), forget(t.File)); err != nil {
		return nil, err
	}
	fmt.Fprint(t, question)
	typed, err := term.ReadPassword(int(t.Fd()))
	_ = term.Restore(int(t.Fd()), t.state)
	fmt.Fprintln(t)
	if err != nil {
		return nil, fmt.Errorf("nothing was typed: %w", err)
	}
	return typed, nil
}

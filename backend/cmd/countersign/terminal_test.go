//go:build linux || darwin

package main

import (
	"bytes"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// terminal is a pseudo terminal: what is written to it is typed, and what the
// program shows is kept.
type terminal struct {
	master, slave *os.File
	name          string
	mu            sync.Mutex
	shown         bytes.Buffer
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	master, slave, name, err := approvaltest.OpenTerminal()
	if err != nil {
		t.Fatalf("cannot open a terminal: %v", err)
	}
	term := &terminal{master: master, slave: slave, name: name}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			term.mu.Lock()
			term.shown.Write(buf[:n])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		slave.Close()
		master.Close()
		<-reading
	})
	return term
}

// text is everything that was shown so far, with plain line ends.
func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ReplaceAll(t.shown.String(), "\r\n", "\n")
}

// shows waits until a text is shown.
func (t *terminal) shows(tt *testing.T, want string) {
	tt.Helper()
	if !eventually(func() bool { return strings.Contains(t.text(), want) }) {
		tt.Fatalf("the terminal never showed %q:\n%s", want, t.text())
	}
}

// answers waits until one of two texts is shown after mark, and reports
// whether it is the first.
func (t *terminal) answers(tt *testing.T, mark int, first, second string) (isFirst bool) {
	tt.Helper()
	if !eventually(func() bool {
		since := t.text()[mark:]
		isFirst = strings.Contains(since, first)
		return isFirst || strings.Contains(since, second)
	}) {
		tt.Fatalf("the terminal showed neither %q nor %q:\n%s", first, second, t.text())
	}
	return isFirst
}

func (t *terminal) types(tt *testing.T, text string) {
	tt.Helper()
	if _, err := t.master.WriteString(text); err != nil {
		tt.Fatal(err)
	}
}

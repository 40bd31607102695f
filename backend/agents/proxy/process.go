package proxy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// How a server is ended: its input is closed, then it is told to end, then it is
// killed with all that it started.
const (
	untilTold   = time.Second
	untilKilled = 2 * time.Second
	// untilRead is how long what a server started may hold its output open when
	// it has ended itself.
	untilRead = 500 * time.Millisecond
)

// Process is a server that was started here, in a process group of its own.
type Process struct {
	cmd  *exec.Cmd
	out  *os.File
	over chan struct{} // closed when it has ended

	writing sync.Mutex
	in      io.WriteCloser
	closing sync.Once
}

// Start starts a server with our environment and folder. What it writes to its
// standard error goes to errors.
func Start(words []string, errors *os.File) (*Process, error) {
	s := &Process{cmd: exec.Command(words[0], words[1:]...), over: make(chan struct{})}
	s.cmd.Stderr = errors
	ownGroup(s.cmd)
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	s.out, s.cmd.Stdout = out, theirs
	if err := s.cmd.Start(); err != nil {
		out.Close()
		return nil, fmt.Errorf("cannot start the MCP server: %w", err)
	}
	go func() {
		defer close(s.over)
		_ = s.cmd.Wait() // its state tells
	}()
	return s, nil
}

// StartAlone starts a server as the only child of this process. What the server
// leaves without a parent becomes our child too, where the system lets us (Linux):
// so it stays below who asks, and is not taken for a person.
func StartAlone(words []string, errors *os.File) (*Process, error) {
	if err := adopt(); err != nil {
		return nil, fmt.Errorf("cannot keep what the MCP server starts: %w", err)
	}
	s, err := Start(words, errors)
	if err != nil {
		return nil, err
	}
	go rescue.Guarded(nil, "what the server left", s.reap)()
	return s, nil
}

// Send writes one message. It waits while the server does not read.
func (s *Process) Send(m Message) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	// One write, so that a server that goes leaves no half of a line behind.
	line := append(m.Raw[:len(m.Raw):len(m.Raw)], '\n')
	if _, err := s.in.Write(line); err != nil {
		return errors.New("the MCP server does not take messages any more")
	}
	return nil
}

// Receive reads lines until the server has ended.
func (s *Process) Receive(take func([]byte) error) error {
	reading := make(chan struct{})
	defer close(reading)
	go func() {
		select {
		case <-s.over:
			_ = s.out.SetReadDeadline(time.Now().Add(untilRead))
		case <-reading:
		}
	}()
	in := newLines(s.out)
	for {
		line, err := in.next()
		switch {
		case errors.Is(err, errTooLong):
			return &Ended{Code: 1, Why: "the MCP server was ended: it sent a line of more than 16 MiB"}
		case errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed):
			return s.ended()
		case err != nil:
			return err
		}
		if err := take(line); err != nil {
			return err
		}
	}
}

// ended waits for the end of a server that has closed its output, and says how
// it ended.
func (s *Process) ended() error {
	select {
	case <-s.over:
	case <-time.After(untilRead):
		return &Ended{Code: 1, Why: "the MCP server closed its output, so it was ended"}
	}
	code := exitCode(s.cmd.ProcessState)
	return &Ended{Code: code, Why: fmt.Sprintf("the MCP server ended by itself (%s)", s.cmd.ProcessState)}
}

// Close ends the server and what it started in its group.
func (s *Process) Close() {
	s.closing.Do(func() {
		_ = s.in.Close()
		if !s.within(untilTold) {
			tell(s.cmd.Process)
			s.within(untilKilled)
		}
		kill(s.cmd.Process)
		<-s.over
		_ = s.out.Close()
	})
}

// within reports whether the server ends in this time.
func (s *Process) within(limit time.Duration) bool {
	select {
	case <-s.over:
		return true
	case <-time.After(limit):
		return false
	}
}

package ipc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"time"
)

const (
	// maxLine is the longest request line, without its newline.
	maxLine = 256_000
	// patience is how long one line may take to arrive, and one answer to be
	// taken, and how long who connects may say nothing. A connection that has
	// sent a whole line may stay open for ever without another one.
	patience = 15 * time.Second
	// smallBuffer is what an idle connection holds on to.
	smallBuffer = 4096
)

var errTooLong = errors.New("the line is too long")

// lines cuts what a connection receives into lines. A started line must be
// complete within its patience, however it trickles in.
type lines struct {
	nc       *net.UnixConn
	from     holder // who writes
	patience time.Duration
	buf      []byte
	start    int // where the next line begins
	scanned  int // up to where there is no newline
	end      int // how far the buffer is filled
	armed    bool
	spoke    bool // a whole line came
}

// next returns the next line without its newline; it is good until the next
// call. Text before the end of the stream is a line too. Then it is io.EOF.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexByte(l.buf[l.scanned:l.end], '\n'); i >= 0 {
			line := l.buf[l.start : l.scanned+i]
			l.start = l.scanned + i + 1
			l.scanned, l.spoke = l.start, true
			l.arm(false)
			return limited(line)
		}
		l.scanned = l.end
		if l.end-l.start > maxLine {
			return nil, errTooLong
		}
		l.makeRoom()
		l.arm(l.end > 0 || !l.spoke)
		n, err := readFrom(l.nc, l.from, l.buf[l.end:])
		l.end += n
		if err == io.EOF && l.end > l.start {
			line := l.buf[l.start:l.end]
			l.start, l.scanned = l.end, l.end
			l.arm(false)
			return limited(line)
		}
		if err != nil {
			return nil, err
		}
	}
}

func limited(line []byte) ([]byte, error) {
	if len(line) > maxLine {
		return nil, errTooLong
	}
	return line, nil
}

// makeRoom moves the started line to the front and sees that there is room
// to read more of it.
func (l *lines) makeRoom() {
	n := copy(l.buf, l.buf[l.start:l.end])
	l.start, l.scanned, l.end = 0, n, n
	if n == 0 && len(l.buf) > smallBuffer {
		l.buf = nil
	}
	if n == len(l.buf) {
		bigger := make([]byte, max(smallBuffer, min(4*n, maxLine+1)))
		copy(bigger, l.buf[:n])
		l.buf = bigger
	}
}

// arm starts the clock at the first byte of a line, that of the first line at
// once, and stops it when the line is complete.
func (l *lines) arm(on bool) {
	if on == l.armed {
		return
	}
	l.armed = on
	var at time.Time
	if on {
		at = time.Now().Add(l.patience)
	}
	l.nc.SetReadDeadline(at)
}

package proxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errTooLong = errors.New("the message is longer than 16 MiB")

// lines cuts a stream into lines of at most maxMessage bytes.
type lines struct{ in *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReaderSize(r, 64<<10)} }

// next returns the next line that is not empty, without its end. It is the
// caller's. A line gives errTooLong as soon as it is too long; what comes before
// the end of the stream is a line too.
func (l lines) next() ([]byte, error) {
	for {
		line, err := l.line()
		if err != nil || len(line) > 0 {
			return line, err
		}
	}
}

func (l lines) line() (line []byte, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxMessage+len("\r\n"):
			if err == nil {
				_ = l.in.UnreadByte() // for skip
			}
			return nil, errTooLong
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && len(line) == 0:
			return nil, err
		}
		return bytes.TrimRight(line, "\r\n"), nil
	}
}

// skip reads the rest of a line that was too long.
func (l lines) skip() error {
	for {
		_, err := l.in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

var errNoSocket = errors.New("the policy file names no socket: run `countersign doctor`")

// ReadSocket returns what a policy file says about the local socket, for those
// who have no time for the rest of it: of a large file it skips the entries. It
// promises nothing about what it skips.
func ReadSocket(path string) (Socket, error) {
	text, err := readPlain(path)
	if err != nil {
		return Socket{}, fmt.Errorf("cannot read the policy file: %w", err)
	}
	return socketIn(text)
}

// readPlain reads a plain file of at most MaxSize. What is put in its place
// cannot hang us.
func readPlain(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > MaxSize:
		return nil, errors.New("it is no plain file of at most 8 MiB")
	}
	text := make([]byte, info.Size())
	n, err := io.ReadFull(f, text)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return text[:n], err
}

// socketIn finds the object of the socket in the text of a document.
func socketIn(text []byte) (Socket, error) {
	value, ok := (&skipper{text: text}).member("socket")
	if !ok {
		return Socket{}, errNoSocket
	}
	var fields map[string]json.RawMessage // which takes names as they are
	var s Socket
	err := json.Unmarshal(value, &fields)
	for name, to := range map[string]*string{"path": &s.Path, "token": &s.Token} {
		if v, ok := fields[name]; ok && err == nil {
			err = json.Unmarshal(v, to)
		}
	}
	if err != nil {
		return Socket{}, errors.New("the socket of the policy file cannot be read: run `countersign doctor`")
	}
	return s, nil
}

// skipper walks through a text that should be JSON. Of one that is not it finds
// anything or nothing.
type skipper struct {
	text []byte
	pos  int
}

// member returns the value of a member of the object that the text is.
func (s *skipper) member(name string) (value []byte, ok bool) {
	if s.peek() != '{' {
		return nil, false
	}
	for s.pos++; s.peek() == '"'; {
		key := s.value()
		if s.peek() != ':' {
			return nil, false
		}
		s.pos++
		s.peek()
		value := s.value()
		if unquoted(key) == name {
			return value, true
		}
		if s.peek() == ',' {
			s.pos++
		}
	}
	return nil, false
}

func unquoted(key []byte) (name string) {
	if bytes.IndexByte(key, '\\') < 0 {
		return string(bytes.Trim(key, `"`))
	}
	_ = json.Unmarshal(key, &name) // no name then
	return name
}

// peek goes over blanks and returns the byte that it stands at, 0 at the end.
func (s *skipper) peek() byte {
	for ; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case ' ', '\t', '\r', '\n':
		default:
			return s.text[s.pos]
		}
	}
	return 0
}

// value goes over the value that it stands at and returns it.
func (s *skipper) value() []byte {
	start, depth := s.pos, 0
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case '"':
			s.str()
			if depth == 0 {
				return s.text[start:s.pos]
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 { // of the object around a number or a word
				return s.text[start:s.pos]
			}
			if depth == 0 {
				s.pos++
				return s.text[start:s.pos]
			}
		case ',':
			if depth == 0 {
				return s.text[start:s.pos]
			}
		}
		s.pos++
	}
	return s.text[start:]
}

// str goes over the string that it stands at.
func (s *skipper) str() {
	for s.pos++; ; {
		i := bytes.IndexByte(s.text[s.pos:], '"')
		if i < 0 {
			s.pos = len(s.text)
			return
		}
		end := s.pos + i
		back := end
		for back > s.pos && s.text[back-1] == '\\' {
			back--
		}
		if s.pos = end + 1; (end-back)%2 == 0 {
			return
		}
	}
}

package proxy

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"
)

// Tries to take up a stream that broke: how often without anything new, and how
// long to wait where the server does not say.
const (
	maxTries  = 5
	resumeIn  = time.Second
	minResume = 100 * time.Millisecond
	maxResume = 30 * time.Second
)

var errNoAnswer = errors.New("the MCP server ended the stream without an answer")

// listen takes what the server sends by itself, if it has a stream for that.
func (r *Remote) listen() {
	resp, err := r.get(r.ctx, "")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_ = r.follow(r.ctx, resp, Message{}) // it was a stream; a server need not have one
}

// get opens the stream of the server, or takes one up after an event.
func (r *Remote) get(ctx context.Context, last string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, nil)
	if err != nil {
		return nil, err
	}
	r.sign(req)
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set(headerLast, last)
	}
	resp, err := r.do(req, "")
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		resp.Body.Close()
		return nil, r.status(resp)
	}
	return resp, nil
}

// follow delivers the messages of a stream up to the answer to a request, and
// takes the stream up again where it broke. Without a request it goes on for ever.
func (r *Remote) follow(ctx context.Context, resp *http.Response, m Message) error {
	s := stream{wait: resumeIn}
	for tries := 0; ; tries++ {
		s.moved = false
		found, err := r.drain(ctx, resp, &s, m)
		switch {
		case found || ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errTooLong):
			return r.flooded()
		case s.last == "" && m.ID != nil:
			return errNoAnswer
		case s.moved:
			tries = 0
		}
		if resp, err = r.resume(ctx, s, tries); err != nil {
			return errNoAnswer
		}
	}
}

// resume opens a stream again.
func (r *Remote) resume(ctx context.Context, s stream, tries int) (*http.Response, error) {
	for ; tries < maxTries; tries++ {
		select {
		case <-time.After(s.wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if resp, err := r.get(ctx, s.last); err == nil {
			return resp, nil
		}
	}
	return nil, errNoAnswer
}

// drain delivers what one connection brings, and tells whether the answer was
// there.
func (r *Remote) drain(ctx context.Context, resp *http.Response, s *stream, m Message) (found bool, err error) {
	defer resp.Body.Close()
	s.in = bufio.NewReaderSize(resp.Body, 64<<10)
	for ctx.Err() == nil && !found {
		data, err := s.next()
		if err != nil {
			return false, err
		}
		if found = m.ID != nil && answers(data, m.ID); found {
			r.learn(m, data)
		}
		r.deliver(oneLine(data))
		s.moved = true
	}
	return found, nil
}

// stream is a stream of events.
type stream struct {
	in   *bufio.Reader
	last string        // id of the last event
	wait time.Duration // before it is taken up again
	// moved tells that the connection brought something.
	moved bool
}

// next returns the data of the next event that has some. An event that the end
// of the stream cuts off does not count.
func (s *stream) next() ([]byte, error) {
	var data []byte
	name, size := "", 0
	for {
		line, err := s.line(&size)
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			if len(data) > 0 && (name == "" || name == "message") {
				return bytes.TrimSuffix(data, []byte("\n")), nil
			}
			data, name, size = nil, "", 0
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			data = append(append(data, value...), '\n')
		case "event":
			name = string(value)
		case "id":
			if plainHeader(value) {
				s.last = string(value)
			}
		case "retry":
			if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
				s.wait = min(max(time.Duration(ms)*time.Millisecond, minResume), maxResume)
			}
		}
	}
}

// line reads one line and adds its length to that of its event.
func (s *stream) line(size *int) (line []byte, err error) {
	for {
		part, err := s.in.ReadSlice('\n')
		if *size += len(part); *size > maxMessage {
			return nil, errTooLong
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, io.ErrUnexpectedEOF
		default:
			return bytes.TrimRight(line, "\r\n"), nil
		}
	}
}

// plainHeader reports whether an id can be sent back in a header.
func plainHeader(id []byte) bool {
	return len(id) <= maxID && !bytes.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' })
}

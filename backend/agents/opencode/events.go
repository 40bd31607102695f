package opencode

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
)

// event is one event of the stream, as far as it is looked at. The stream of all
// folders wraps it into a payload and says which folder it is from.
type event struct {
	Directory  string          `json:"directory"`
	Payload    json.RawMessage `json:"payload"`
	Type       string          `json:"type"`
	Properties json.RawMessage `json:"properties"`
	Data       json.RawMessage `json:"data"`
}

// body is what an event tells. Its second generation calls it data in a stream
// of its own.
func (e event) body() json.RawMessage {
	if len(e.Properties) > 0 {
		return e.Properties
	}
	return e.Data
}

// replied is the id of the request that was answered, "" if it is not there.
func (e event) replied() string {
	var ids struct {
		RequestID    string `json:"requestID"`
		PermissionID string `json:"permissionID"` // as it was called before
	}
	if json.Unmarshal(e.body(), &ids) != nil {
		return ""
	}
	if ids.RequestID == "" {
		return ids.PermissionID
	}
	return ids.RequestID
}

// readEvents reads a stream of server-sent events until it ends. An event that
// is too large, or cannot be read, is left out.
func readEvents(stream io.Reader, log *slog.Logger, take func(event)) error {
	r := bufio.NewReaderSize(stream, 64<<10)
	var data []byte
	large := false
	for {
		line, long, err := readLine(r, maxEvent+64)
		if err != nil {
			return err
		}
		if long || len(line) > 0 {
			value, _ := bytes.CutPrefix(line, []byte("data:"))
			if len(value) < len(line) {
				data = append(append(data, value...), '\n')
			}
			if large = large || long || len(data) > maxEvent; large {
				data = nil
			}
			continue
		}
		if e, ok := readEvent(data); ok {
			take(e)
		} else if large || len(data) > 0 {
			log.Warn("an event of opencode is larger than 1 MiB or cannot be read")
		}
		data, large = nil, false
	}
}

// readLine reads a line without its end, and nothing of one that is longer than
// limit.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = errors.New("the server ended the stream")
			}
			return nil, false, err
		}
		if long = long || len(line)+len(part) > limit; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err == nil {
			return bytes.TrimRight(line, "\r\n"), long, nil
		}
	}
}

func readEvent(data []byte) (e event, ok bool) {
	if len(bytes.TrimSpace(data)) == 0 || json.Unmarshal(data, &e) != nil {
		return e, false
	}
	if len(e.Payload) == 0 {
		return e, true
	}
	inner := event{}
	if json.Unmarshal(e.Payload, &inner) != nil {
		return e, false
	}
	inner.Directory = e.Directory
	return inner, true
}

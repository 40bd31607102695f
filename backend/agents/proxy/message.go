package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxMessage bounds one message, in bytes.
const maxMessage = 16 << 20

// Message is one JSON-RPC message. The fields beside Raw are parts of it.
type Message struct {
	// Raw are the bytes as they came, without the newline.
	Raw []byte
	// ID is nil where there is none; Method is empty for an answer.
	ID     json.RawMessage
	Method string
	Params json.RawMessage

	result, failure json.RawMessage
}

// Why a text is no message.
var (
	errNotJSON = errors.New("this is no JSON")
	errBatch   = errors.New("batches are not taken: send each message alone")
)

// members are the names that a message knows.
var members = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// parse reads the envelope of a message. Whatever two readers could take for
// different messages is refused; the message is returned as far as it was read.
func parse(raw []byte) (Message, error) {
	m := Message{Raw: raw}
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return m, errNotJSON
	}
	switch bytes.TrimLeft(raw, blanks)[0] {
	case '{':
	case '[':
		return m, errBatch
	default:
		return m, errors.New("a message is a JSON object")
	}
	version := ""
	err := object(raw, members, func(name string, value json.RawMessage) (err error) {
		switch name {
		case "jsonrpc":
			version = string(value)
		case "id":
			m.ID = value
		case "method":
			if m.Method, err = text(value); err == nil && m.Method == "" {
				err = errors.New("the method is empty")
			}
		case "params":
			m.Params = value
		case "result":
			m.result = value
		case "error":
			m.failure = value
		}
		return err
	})
	switch {
	case err != nil:
		return m, err
	case version != `"2.0"`:
		return m, errors.New(`the message needs "jsonrpc": "2.0"`)
	case m.Method != "" && (m.result != nil || m.failure != nil):
		return m, errors.New("the message is a request and an answer")
	case m.Method == "" && (m.result == nil) == (m.failure == nil):
		return m, errors.New("an answer has a result or an error")
	}
	return m, nil
}

// blanks are what JSON allows between its parts.
const blanks = " \t\r\n"

// object hands over the fields of a well-formed JSON object in order; the values
// are parts of data. It refuses a name that is there twice, also one in other
// case, and one that differs from a known name in case only: many readers fold
// case, and take the last of two.
func object(data []byte, known []string, field func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("a JSON object is needed")
	}
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errNotJSON
		}
		value, err := next(d, data, blanks+":")
		if err != nil {
			return err
		}
		key := name.(string)
		if folded := fold(key); seen[folded] {
			return fmt.Errorf("%.100q is there twice", key)
		} else {
			seen[folded] = true
		}
		for _, k := range known {
			if key != k && strings.EqualFold(key, k) {
				return fmt.Errorf("%.100q must be written %q", key, k)
			}
		}
		if err := field(key, value); err != nil {
			return err
		}
	}
	return nil
}

// elements hands over the values of a well-formed JSON array.
func elements(data []byte, element func(value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("a JSON array is needed")
	}
	for d.More() {
		value, err := next(d, data, blanks+",")
		if err != nil {
			return err
		}
		if err := element(value); err != nil {
			return err
		}
	}
	return nil
}

// next returns the value that a decoder of data comes to. It is a part of data,
// so that it can be found there again.
func next(d *json.Decoder, data []byte, before string) (json.RawMessage, error) {
	from := d.InputOffset()
	var skipped skip
	if err := d.Decode(&skipped); err != nil {
		return nil, errNotJSON
	}
	value := bytes.TrimLeft(data[from:d.InputOffset()], before)
	return bytes.TrimRight(value, blanks), nil
}

// skip is a value that is not kept.
type skip struct{}

func (*skip) UnmarshalJSON([]byte) error { return nil }

// fold makes texts alike that differ in case only.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// text reads a JSON string. Null is not one.
func text(value json.RawMessage) (s string, err error) {
	if value[0] != '"' {
		return "", errors.New("a text is needed")
	}
	return s, json.Unmarshal(value, &s)
}

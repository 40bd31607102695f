package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

const (
	// maxMessage bounds one message of a client, in bytes, and maxDepth how deep
	// it may be nested.
	maxMessage = 1 << 20
	maxDepth   = 64
)

// unambiguous refuses a text that is not exactly one JSON value, or that two
// readers could take for different ones: a name that comes twice, or bytes that
// are no UTF-8.
func unambiguous(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("the message is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := value(d, 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the message")
	}
	return nil
}

var errNoJSON = errors.New("the message is not JSON")

func value(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("the message is nested more than %d deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return errNoJSON
	}
	begin, _ := token.(json.Delim)
	if begin == 0 {
		return nil
	}
	seen := map[string]bool{}
	for d.More() {
		if begin == '{' {
			token, err := d.Token()
			name, is := token.(string)
			if err != nil || !is {
				return errNoJSON
			}
			if seen[name] {
				return fmt.Errorf("the name %.40q is there twice in one object", name)
			}
			seen[name] = true
		}
		if err := value(d, depth+1); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errNoJSON
	}
	return nil
}

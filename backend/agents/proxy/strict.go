package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// maxDepth is how deep the parameters of a judged request may be nested.
const maxDepth = 64

// strict refuses a well-formed JSON value that readers understand in different
// ways: an object with a name that is there twice, half a character of two
// halves, or more nesting than some follow.
func strict(value json.RawMessage) error {
	if err := pairs(value); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return unique(d, 0)
}

func unique(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	token, err := d.Token()
	if err != nil {
		return errNotJSON
	}
	if token != json.Delim('{') && token != json.Delim('[') {
		return nil
	}
	names := map[string]bool{}
	for d.More() {
		if token == json.Delim('{') {
			name, err := d.Token()
			if err != nil {
				return errNotJSON
			}
			if key := name.(string); names[key] {
				return fmt.Errorf("%.100q is there twice", key)
			} else {
				names[key] = true
			}
		}
		if err := unique(d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

var errHalf = errors.New(`it holds half of a character, written as \u`)

// pairs refuses \u escapes of one half of a character: some readers make another
// character of it, others any byte.
func pairs(value []byte) error {
	for i := 0; i < len(value)-1; i++ {
		if value[i] != '\\' {
			continue
		}
		if i++; value[i] != 'u' {
			continue
		}
		switch half(value[i+1:]) {
		case highHalf:
			if i+6 >= len(value) || value[i+5] != '\\' || value[i+6] != 'u' || half(value[i+7:]) != lowHalf {
				return errHalf
			}
			i += 10
		case lowHalf:
			return errHalf
		}
	}
	return nil
}

const (
	noHalf = iota
	highHalf
	lowHalf
)

// half tells which half of a character the four digits at the front name.
func half(digits []byte) int {
	if len(digits) < 4 {
		return noHalf
	}
	n, err := strconv.ParseUint(string(digits[:4]), 16, 16)
	switch {
	case err != nil || n < 0xD800 || n > 0xDFFF:
		return noHalf
	case n < 0xDC00:
		return highHalf
	}
	return lowHalf
}

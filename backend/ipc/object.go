package ipc

import (
	"bytes"
	"encoding/json"
)

// object reads one JSON object and nothing after it, and hands over its
// fields in order. Names are taken exactly as they are written, unlike in
// encoding/json, which folds case; and one that comes twice is an error: two
// readers could take different ones. The values are parts of data.
func object(data []byte, field func(key string, v json.RawMessage) error) error {
	rest := bytes.TrimLeft(data, blanks)
	if len(rest) == 0 || rest[0] != '{' || !json.Valid(rest) {
		return errFrame
	}
	seen := make(map[string]struct{}, 16)
	// From here on the text is known to be well formed.
	for rest = bytes.TrimLeft(rest[1:], blanks); rest[0] != '}'; {
		var name, v []byte
		name, rest = cutValue(rest)
		rest = bytes.TrimLeft(rest, blanks)
		v, rest = cutValue(bytes.TrimLeft(rest[1:], blanks)) // after the colon
		rest = bytes.TrimLeft(rest, blanks)
		if rest[0] == ',' {
			rest = bytes.TrimLeft(rest[1:], blanks)
		}
		var key string
		if err := text(name, &key); err != nil {
			return err
		}
		if _, twice := seen[key]; twice {
			return errFrame
		}
		seen[key] = struct{}{}
		if err := field(key, v); err != nil {
			return err
		}
	}
	return nil
}

// blanks are what JSON allows between its parts.
const blanks = " \t\r\n"

// cutValue cuts the first value from well-formed JSON text.
func cutValue(b []byte) (v, rest []byte) {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:])
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth == 0 {
				end := i + wordEnd(b[i:])
				return b[:end], b[end:]
			}
			continue
		}
		if depth == 0 {
			return b[:i+1], b[i+1:]
		}
	}
}

// stringEnd returns the index of the quote that ends the string at b[0].
func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
}

// wordEnd returns the length of the number or literal at b[0].
func wordEnd(b []byte) int {
	if i := bytes.IndexAny(b, ",}]"+blanks); i >= 0 {
		return i
	}
	return len(b)
}

// text reads a JSON string. Null is not one.
func text(v json.RawMessage, to *string) error {
	if v[0] != '"' {
		return errFrame
	}
	if inner := v[1 : len(v)-1]; bytes.IndexByte(inner, '\\') < 0 {
		*to = string(inner)
		return nil
	}
	return json.Unmarshal(v, to)
}

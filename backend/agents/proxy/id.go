package proxy

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// Bounds of an id: its bytes, and the exponent of a number.
const (
	maxID       = 1024
	maxExponent = 1_000_000
)

var errID = errors.New("the id must be a text or a number of at most 1024 bytes")

// keyOf names an id so that two spellings of the same one are equal, such as 1
// and 1.0, and two others never are, such as 1 and "1", or numbers that only a
// double cannot tell apart.
func keyOf(id json.RawMessage) (string, error) {
	if len(id) == 0 || len(id) > maxID {
		return "", errID
	}
	switch c := id[0]; {
	case c == '"':
		s, err := text(id)
		return "text " + s, err
	case c == '-' || '0' <= c && c <= '9':
		return number(string(id))
	}
	return "", errID
}

// number writes a JSON number as its sign, its digits without zeros at either
// end, and the power of ten of the last one.
func number(s string) (string, error) {
	s, negative := strings.CutPrefix(s, "-")
	power := 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		var err error
		if power, err = strconv.Atoi(s[i+1:]); err != nil || max(power, -power) > maxExponent {
			return "", errID
		}
		s = s[:i]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	power -= len(fraction)
	short := strings.TrimRight(digits, "0")
	power += len(digits) - len(short)
	if short == "" {
		return "number 0", nil
	}
	if negative {
		short = "-" + short
	}
	return "number " + short + " " + strconv.Itoa(power), nil
}

package store

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// FieldError says what is wrong in a document, and where.
type FieldError struct {
	File    string // name of the file
	Line    int    // counted from 1; 0 when the text is not that of a file
	Field   string // such as "agents.main.allowlist[3].pattern"; may be empty
	Problem string
}

func (e *FieldError) Error() string {
	where := e.File
	if e.Line > 0 {
		where += ":" + strconv.Itoa(e.Line)
	}
	if e.Field != "" {
		where += ": " + e.Field
	}
	return where + ": " + e.Problem
}

// fault is a FieldError in the making: the offset becomes a line only once,
// and the field grows on the way up.
type fault struct {
	at      int
	field   string
	problem string
}

func (f *fault) Error() string { return f.problem }

// within says in which key or item an error happened.
func within(err error, step string) error {
	if f, ok := err.(*fault); ok {
		f.field = step + f.field
	}
	return err
}

// reader walks through a text that json.Valid has accepted, so it has to
// find no errors of syntax. It refuses what JSON permits and we do not:
// a key that comes twice, and "__proto__".
//
// Strings are parts of the text, without a copy.
type reader struct {
	text string
	pos  int
}

// peek goes to the next value and returns its first byte.
func (r *reader) peek() byte {
	for {
		switch r.text[r.pos] {
		case ' ', '\t', '\r', '\n', ',', ':':
			r.pos++
		default:
			return r.text[r.pos]
		}
	}
}

// wrong is the error for a value of another type than expected.
func (r *reader) wrong(want string) error {
	have := "a number"
	switch r.peek() {
	case '{':
		have = "an object"
	case '[':
		have = "a list"
	case '"':
		have = "a string"
	case 't', 'f':
		have = "true or false"
	case 'n':
		have = "null"
	}
	return r.bad("must be %s, not %s", want, have)
}

func (r *reader) bad(format string, args ...any) error {
	return &fault{at: r.pos, problem: fmt.Sprintf(format, args...)}
}

func (r *reader) str() (string, error) {
	if r.peek() != '"' {
		return "", r.wrong("a string")
	}
	start, escaped := r.pos, false
	for r.pos++; r.text[r.pos] != '"'; r.pos++ {
		if r.text[r.pos] == '\\' {
			escaped = true
			r.pos++
		}
	}
	r.pos++
	if !escaped {
		return r.text[start+1 : r.pos-1], nil
	}
	var s string
	if err := json.Unmarshal([]byte(r.text[start:r.pos]), &s); err != nil {
		return "", &fault{at: start, problem: err.Error()}
	}
	return s, nil
}

func (r *reader) boolean() (bool, error) {
	switch r.peek() {
	case 't':
		r.pos += len("true")
		return true, nil
	case 'f':
		r.pos += len("false")
		return false, nil
	}
	return false, r.wrong("true or false")
}

// number returns a number between least and most, without its fraction.
// Other programs write times with one.
func (r *reader) number(least, most int64) (int64, error) {
	if c := r.peek(); c != '-' && (c < '0' || c > '9') {
		return 0, r.wrong("a number")
	}
	start := r.pos
	end := start + strings.IndexFunc(r.text[start:], func(c rune) bool {
		return !strings.ContainsRune("+-.eE0123456789", c)
	})
	f, err := strconv.ParseFloat(r.text[start:end], 64)
	if err != nil || math.Trunc(f) < float64(least) || f > float64(most) {
		return 0, r.bad("must be a number from %d to %d", least, most)
	}
	r.pos = end
	return int64(f), nil
}

// object calls each for every key; each must read the value.
func (r *reader) object(each func(key string) error) error {
	if r.peek() != '{' {
		return r.wrong("an object")
	}
	var seen keys
	for r.pos++; r.peek() != '}'; {
		at := r.pos
		key, err := r.str()
		if err != nil {
			return err
		}
		switch {
		case key == "__proto__":
			err = &fault{at, "", "this key is not allowed"}
		case !seen.add(key):
			err = &fault{at, "", "this key comes twice"}
		default:
			err = each(key)
		}
		if err != nil {
			return within(err, "."+plain(key))
		}
	}
	r.pos++
	return nil
}

// list calls each for every item; each must read it.
func (r *reader) list(each func() error) error {
	if r.peek() != '[' {
		return r.wrong("a list")
	}
	r.pos++
	for i := 0; r.peek() != ']'; i++ {
		if err := each(); err != nil {
			return within(err, "["+strconv.Itoa(i)+"]")
		}
	}
	r.pos++
	return nil
}

// raw reads any value and returns its text.
func (r *reader) raw() (json.RawMessage, error) {
	var err error
	c := r.peek()
	start := r.pos
	skip := func() error { _, err := r.raw(); return err }
	switch c {
	case '{':
		err = r.object(func(string) error { return skip() })
	case '[':
		err = r.list(skip)
	case '"':
		_, err = r.str()
	default:
		for !strings.ContainsRune(" \t\r\n,]}", rune(r.text[r.pos])) {
			r.pos++
		}
	}
	return json.RawMessage(r.text[start:r.pos]), err
}

// keys is a set that needs no memory of its own while it is small.
type keys struct {
	few  [16]string
	n    int
	many map[string]bool
}

// add reports whether the key is new.
func (k *keys) add(key string) bool {
	for _, have := range k.few[:k.n] {
		if have == key {
			return false
		}
	}
	if k.n < len(k.few) {
		k.few[k.n] = key
		k.n++
		return true
	}
	if k.many == nil {
		k.many = map[string]bool{}
	}
	isNew := !k.many[key]
	k.many[key] = true
	return isNew
}

// plain is a key as it is shown in a field's name: quoted unless it is simple.
func plain(key string) string {
	for _, c := range key {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '*') {
			return strconv.Quote(key)
		}
	}
	return key
}

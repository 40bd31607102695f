package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reader walks through a JSON text and knows where it is. Every method reads
// one value. The text is known to be valid JSON before it starts.
type reader struct {
	name    string
	text    []byte
	tokens  *json.Decoder
	steps   []string // to the field that is read
	ignored []string
}

// place is a field and where its value begins, in bytes.
type place struct {
	field  string
	offset int64
}

func newReader(name string, text []byte) (*reader, error) {
	r := &reader{name: name, text: text, tokens: json.NewDecoder(bytes.NewReader(text))}
	r.tokens.UseNumber()
	if len(text) > MaxSize {
		return nil, fmt.Errorf("%s: is larger than %d MiB", name, MaxSize>>20)
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		at := place{}
		if bad := (*json.SyntaxError)(nil); errors.As(err, &bad) {
			at.offset = bad.Offset
		}
		return nil, r.bad(at, "is not JSON: %v", err)
	}
	if !utf8.Valid(text) {
		at := bytes.IndexFunc(text, func(c rune) bool { return c == utf8.RuneError })
		return nil, r.bad(place{offset: int64(at)}, "is not UTF-8")
	}
	return r, nil
}

// line counts from 1.
func (r *reader) line(offset int64) int {
	return 1 + bytes.Count(r.text[:min(offset, int64(len(r.text)))], []byte("\n"))
}

// here is where the next value begins.
func (r *reader) here() place {
	return place{strings.TrimPrefix(strings.Join(r.steps, ""), "."), r.offset()}
}

func (r *reader) offset() int64 {
	at := r.tokens.InputOffset()
	for at < int64(len(r.text)) && strings.IndexByte(" \t\r\n,:", r.text[at]) >= 0 {
		at++
	}
	return at
}

// next is the first byte of the next value.
func (r *reader) next() byte { return r.text[r.offset()] }

// wrong is the error for a value of another type than expected.
func (r *reader) wrong(want string) error {
	have := "a number"
	switch r.next() {
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
	return r.bad(r.here(), "must be %s, not %s", want, have)
}

// token takes the next token. It cannot fail in a valid text.
func (r *reader) token() json.Token {
	token, _ := r.tokens.Token()
	return token
}

func (r *reader) str() (string, error) {
	if r.next() != '"' {
		return "", r.wrong("a string")
	}
	return r.token().(string), nil
}

func (r *reader) boolean() (bool, error) {
	if c := r.next(); c != 't' && c != 'f' {
		return false, r.wrong("true or false")
	}
	return r.token().(bool), nil
}

// raw takes the text of any value.
func (r *reader) raw() json.RawMessage {
	var text json.RawMessage
	_ = r.tokens.Decode(&text)
	return text
}

func (r *reader) skip() error {
	r.raw()
	return nil
}

// unknown skips a field that nobody knows and notes its name, once for all
// items of a list: a word that was mistyped changes what is counted.
func (r *reader) unknown() error {
	var name strings.Builder
	for _, step := range r.steps {
		if step[0] == '[' {
			step = "[]"
		}
		name.WriteString(step)
	}
	if field := strings.TrimPrefix(name.String(), "."); !slices.Contains(r.ignored, field) && len(r.ignored) < maxUnknown {
		r.ignored = append(r.ignored, field)
	}
	return r.skip()
}

const maxUnknown = 100

// object calls each for every key; each must read the value.
func (r *reader) object(each func(key string) error) error {
	if r.next() != '{' {
		return r.wrong("an object")
	}
	r.token()
	seen := map[string]bool{}
	for r.tokens.More() {
		key := r.token().(string)
		r.steps = append(r.steps, "."+plain(key))
		if seen[key] {
			return r.bad(r.here(), "this key comes twice")
		}
		seen[key] = true
		if err := each(key); err != nil {
			return err
		}
		r.steps = r.steps[:len(r.steps)-1]
	}
	r.token()
	return nil
}

// list calls each for every item; each must read it.
func (r *reader) list(each func() error) error {
	if r.next() != '[' {
		return r.wrong("a list")
	}
	r.token()
	for i := 0; r.tokens.More(); i++ {
		r.steps = append(r.steps, "["+strconv.Itoa(i)+"]")
		if err := each(); err != nil {
			return err
		}
		r.steps = r.steps[:len(r.steps)-1]
	}
	r.token()
	return nil
}

func (r *reader) strings() ([]string, error) {
	list := []string{}
	err := r.list(func() error {
		text, err := r.str()
		list = append(list, text)
		return err
	})
	return list, err
}

// plain is a key as it is shown in a field's name: quoted unless it is simple.
func plain(key string) string {
	for _, c := range key {
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return strconv.Quote(key)
		}
	}
	return key
}

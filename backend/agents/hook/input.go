package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
)

const (
	// maxDepth is how deep objects and lists of an input may be nested, and
	// maxValues how many values it may hold: agents come nowhere near.
	maxDepth  = 64
	maxValues = 100_000
)

// object is one JSON object. Its names are taken exactly as they were written,
// unlike in encoding/json, which folds case.
type object map[string]json.RawMessage

// parse reads the one JSON object that an input must be. A name that comes
// twice is an error: the agent and we could take different ones.
func parse(input []byte) (object, error) {
	switch {
	case len(input) > MaxInput:
		return nil, ErrTooLarge
	case !utf8.Valid(input):
		return nil, errors.New("the input is not UTF-8")
	case !json.Valid(input):
		return nil, errors.New("the input is not one JSON value")
	}
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	if err := (&walker{d: d}).value(0); err != nil {
		return nil, err
	}
	return asObject("the input", input)
}

// walker looks at every value of a well-formed text.
type walker struct {
	d      *json.Decoder
	values int
}

func (w *walker) value(depth int) error {
	if w.values++; w.values > maxValues {
		return fmt.Errorf("the input holds more than %d values", maxValues)
	}
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	open, nested := token.(json.Delim)
	if !nested {
		return nil
	}
	if depth == maxDepth {
		return fmt.Errorf("the input is nested more than %d deep", maxDepth)
	}
	seen := map[string]bool{}
	for w.d.More() {
		if open == '{' {
			if err := w.name(seen); err != nil {
				return err
			}
		}
		if err := w.value(depth + 1); err != nil {
			return err
		}
	}
	_, err = w.d.Token()
	return err
}

func (w *walker) name(seen map[string]bool) error {
	token, err := w.d.Token()
	if err != nil {
		return err
	}
	name, _ := token.(string)
	switch {
	case seen[name]:
		return fmt.Errorf("the input holds %.40q twice", name)
	case name == approval.Elided: // it would look like something that we left out
		return fmt.Errorf("the input holds %q, which only we write", name)
	}
	seen[name] = true
	return nil
}

// asObject reads a value that must be an object.
func asObject(what string, value json.RawMessage) (object, error) {
	var o object
	if err := json.Unmarshal(value, &o); err != nil || o == nil {
		return nil, fmt.Errorf("%s is no JSON object", what)
	}
	return o, nil
}

// copyOf is an object with the same fields, which may be changed.
func copyOf(o object) object {
	c := make(object, len(o)+1)
	maps.Copy(c, o)
	return c
}

// has reports whether a field is there and not null.
func (o object) has(name string) bool {
	value, ok := o[name]
	return ok && string(bytes.TrimSpace(value)) != "null"
}

// text returns a field that is a string, "" where it is not there or null.
func (o object) text(name string) (string, error) {
	if !o.has(name) {
		return "", nil
	}
	var s string
	if err := json.Unmarshal(o[name], &s); err != nil {
		return "", fmt.Errorf("%s is no text", name)
	}
	return s, nil
}

// boolean returns a field that is true or false, false where it is not there.
func (o object) boolean(name string) (bool, error) {
	switch value, ok := o[name]; {
	case !ok, string(value) == "false":
		return false, nil
	case string(value) == "true":
		return true, nil
	}
	return false, fmt.Errorf("%s is neither true nor false", name)
}

// number returns a field that is a whole number between two others.
func (o object) number(name string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(string(o[name]), 10, 64)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s is no whole number from %d to %d", name, least, most)
	}
	return n, nil
}

// words returns these fields, which are texts, in their order.
func (o object) words(names ...string) ([]string, error) {
	texts := make([]string, len(names))
	for i, name := range names {
		text, err := o.text(name)
		if err != nil {
			return nil, err
		}
		texts[i] = text
	}
	return texts, nil
}

// object returns a field that is an object, an empty one where it is not there
// or null.
func (o object) object(name string) (object, error) {
	if !o.has(name) {
		return object{}, nil
	}
	return asObject(name, o[name])
}

// set writes a value that cannot fail to be JSON.
func (o object) set(name string, value any) { o[name] = bytes.TrimSpace(encode(value)) }

// rename gives a field our name for it. Where both are there nobody can tell
// which one the agent takes.
func (o object) rename(from, to string) error {
	value, ok := o[from]
	if !ok || from == to {
		return nil
	}
	if _, both := o[to]; both {
		return fmt.Errorf("the arguments hold both %s and %s", from, to)
	}
	o[to] = value
	delete(o, from)
	return nil
}

// encode writes a value as one line of JSON, with <, > and & as they are. The
// value is one that encodes.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only values that encode come here
	}
	return b.Bytes()
}

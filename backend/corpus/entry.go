package corpus

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
)

// entry reads an entry as the policy file has it, or its pattern alone.
func (r *reader) entry() (e approval.Entry, err error) {
	at := r.here()
	if r.next() == '"' {
		e.Pattern, err = r.str()
	} else {
		err = r.fields(&e)
	}
	if err == nil {
		err = r.pattern(at, e.Pattern)
	}
	if err == nil && e.Cwd != "" {
		err = r.pattern(at, e.Cwd)
	}
	if _, bad := regexp.Compile(e.ArgPattern); bad != nil && err == nil {
		err = r.bad(at, "%v", bad)
	}
	return e, err
}

// denyRule reads a rule of a denylist, or its pattern alone.
func (r *reader) denyRule() (d approval.DenyRule, err error) {
	at := r.here()
	if r.next() == '"' {
		d.Pattern, err = r.str()
	} else {
		err = r.fields(&d)
	}
	if err == nil {
		err = r.pattern(at, d.Pattern)
	}
	return d, err
}

// pattern checks a pattern, because a policy drops in silence what it cannot
// read.
func (r *reader) pattern(at place, text string) error {
	if _, err := glob.Parse(text, "/home"); err != nil {
		return r.bad(at, "%v", err)
	}
	return nil
}

// fields reads an object by the JSON names of to. A field that is not known
// might narrow what is allowed, so it is refused.
func (r *reader) fields(to any) error {
	at, fields := r.here(), map[string]json.RawMessage{}
	err := r.object(func(key string) error {
		if r.next() == 'n' {
			return r.wrong("a value")
		}
		fields[key] = r.raw()
		return nil
	})
	if err != nil {
		return err
	}
	text, err := json.Marshal(fields)
	if err == nil {
		values := json.NewDecoder(bytes.NewReader(text))
		values.DisallowUnknownFields()
		err = values.Decode(to)
	}
	if err != nil {
		return r.bad(at, "%v", err)
	}
	return nil
}

func add[T any](list *[]T, read func() (T, error)) error {
	item, err := read()
	*list = append(*list, item)
	return err
}

package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// span is a part of a text.
type span struct {
	At  int `json:"at"`
	Len int `json:"len"`
}

// draft is a settings file with what is put into it. Nothing that was there is
// touched: taking the spans out again gives the same bytes.
type draft struct {
	document
	spans []span   // what was put in, in order
	made  []string // the names of what was made for it, outer ones first
}

// putIn puts elements at the ends of the lists of events, and makes what they
// need around them.
func putIn(text []byte, t target, c call) (*draft, error) {
	d := &draft{}
	err := d.read(text)
	if err == errNoValue {
		err = d.begin()
	}
	if err == nil && t.versioned {
		err = d.version()
	}
	if err == nil {
		err = d.ensure([]string{}, "hooks", "{}")
	}
	for _, e := range t.events {
		if err == nil {
			err = d.ensure([]string{"hooks"}, e.name, "[]")
		}
		if err == nil {
			err = d.add([]string{"hooks", e.name}, "", t.element(e, c))
		}
	}
	return d, err
}

// bytes is the text with what was put in, as it goes into the file.
func (d *draft) bytes() []byte { return append([]byte(d.mark), d.text...) }

// read parses a text.
func (d *draft) read(text []byte) (err error) {
	d.document, err = parse(text)
	return err
}

// begin puts an object into a text that has no value.
func (d *draft) begin() error {
	ahead := ""
	if n := len(d.text); n > 0 && d.text[n-1] != '\n' {
		ahead = d.newline()
	}
	d.put(len(d.text), ahead+"{}"+d.newline())
	return d.again()
}

// version makes sure of "version": 1. A file of another version may want hooks
// that look different.
func (d *draft) version() error {
	v := member(&d.root, "version")
	if v == nil {
		return d.ensure([]string{}, "version", "1")
	}
	if small(v) != "1" {
		return fault(d.text, v.StartOffset, "this version of the file is not known, so no hook is written into it")
	}
	return nil
}

// ensure adds a member to an object if it is not there. One of another kind is
// left alone.
func (d *draft) ensure(path []string, name, empty string) error {
	v := member(d.at(path), name)
	if v == nil {
		d.made = append(d.made, name)
		return d.add(path, name, []byte(empty))
	}
	if v.Value.Kind() != hujson.Kind(empty[0]) && name != "version" {
		return fault(d.text, v.StartOffset, fmt.Sprintf("%q is not what the agent wants it to be: mend it first", name))
	}
	return nil
}

// at returns the value under some names.
func (d *draft) at(path []string) *hujson.Value {
	v := &d.root
	for _, name := range path {
		v = member(v, name)
	}
	return v
}

// add puts a member or an element at the end of an object or of a list. It
// stands as its neighbours do: in a line of its own, or in theirs.
func (d *draft) add(path []string, name string, value []byte) error {
	v := d.at(path)
	last, extra := ends(v)
	multi := d.multi(path)
	item := d.render(value, d.indent(v, last), multi)
	if name != "" {
		item = string(compact(name)) + ": " + item
	}
	after := v.EndOffset - 1 - len(extra) // behind the last value, or its comma
	at := after + len(bytes.TrimRight(extra, " \t\r\n"))
	switch {
	case multi:
		item = d.newline() + d.indent(v, last) + item
		if last == nil && !bytes.ContainsRune(extra[at-after:], '\n') {
			item += d.newline() + d.margin(v.StartOffset)
		}
	case last != nil:
		item, at = " "+item, after
	}
	switch {
	case last == nil:
		d.put(at, item)
	case last.AfterExtra != nil: // the others end in a comma, so ours does
		d.put(at, item+",")
	case at == after:
		d.put(at, ","+item)
	default:
		d.put(at, item)
		d.put(after, ",")
	}
	return d.again()
}

// put puts a text in at an offset.
func (d *draft) put(at int, what string) {
	inside := false
	for i, s := range d.spans {
		switch {
		case at <= s.At:
			d.spans[i].At += len(what)
		case at < s.At+s.Len:
			d.spans[i].Len += len(what)
			inside = true
		}
	}
	if !inside {
		d.spans = append(d.spans, span{at, len(what)})
		slices.SortFunc(d.spans, func(a, b span) int { return a.At - b.At })
	}
	d.text = slices.Concat(d.text[:at], []byte(what), d.text[at:])
}

// again reads the text with what was put in.
func (d *draft) again() error { return d.read(d.bytes()) }

// ends returns the last value of an object or list, nil if it is empty, and
// what stands behind it.
func ends(v *hujson.Value) (last *hujson.Value, extra hujson.Extra) {
	switch c := v.Value.(type) {
	case *hujson.Object:
		if n := len(c.Members); n > 0 {
			last = &c.Members[n-1].Value
		}
		extra = c.AfterExtra
	case *hujson.Array:
		if n := len(c.Elements); n > 0 {
			last = &c.Elements[n-1]
		}
		extra = c.AfterExtra
	}
	return last, extra
}

// before returns what stands before the last member or element.
func before(v *hujson.Value) hujson.Extra {
	switch c := v.Value.(type) {
	case *hujson.Object:
		return c.Members[len(c.Members)-1].Name.BeforeExtra
	case *hujson.Array:
		return c.Elements[len(c.Elements)-1].BeforeExtra
	}
	return nil
}

// multi reports whether what is in an object or list stands in lines of its
// own. An empty one does as the one around it.
func (d *draft) multi(path []string) bool {
	v := d.at(path)
	last, extra := ends(v)
	switch {
	case bytes.ContainsRune(extra, '\n'):
		return true
	case last != nil:
		return bytes.ContainsRune(before(v), '\n')
	}
	return len(path) == 0 || d.multi(path[:len(path)-1])
}

// indent is the space before a new line in an object or list.
func (d *draft) indent(v, last *hujson.Value) string {
	if last != nil {
		return d.margin(last.StartOffset)
	}
	return d.margin(v.StartOffset) + d.unit()
}

// margin is the space at the begin of the line that has this offset.
func (d *draft) margin(at int) string {
	line := d.text[bytes.LastIndexByte(d.text[:at], '\n')+1 : at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// unit is by how much one level is indented in this file.
func (d *draft) unit() string {
	if o := d.root.Value.(*hujson.Object); len(o.Members) > 0 && bytes.ContainsRune(o.Members[0].Name.BeforeExtra, '\n') {
		if unit := d.margin(o.Members[0].Name.StartOffset); unit != "" {
			return unit
		}
	}
	return "  "
}

// newline is how lines end in this file.
func (d *draft) newline() string {
	if bytes.Contains(d.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// render lays a value out as the file is.
func (d *draft) render(value []byte, indent string, multi bool) string {
	if !multi {
		return string(value)
	}
	var b bytes.Buffer
	_ = json.Indent(&b, value, indent, d.unit()) // it was made by compact
	return string(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.newline())))
}

// without takes spans out of a text.
func without(text []byte, spans []span) ([]byte, error) {
	text = bytes.Clone(text)
	for _, s := range slices.Backward(spans) {
		if s.At < 0 || s.Len < 0 || s.At > len(text) || s.Len > len(text)-s.At {
			return nil, fmt.Errorf("the record of what was written does not fit the file")
		}
		text = slices.Delete(text, s.At, s.At+s.Len)
	}
	return text, nil
}

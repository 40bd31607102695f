package setup

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxDepth bounds how deep a settings file is nested: its parser would follow
// it down to the end of the memory.
const maxDepth = 200

// document is the text of a settings file, JSON with comments and trailing
// commas. Offsets count from its begin, without the byte order mark.
type document struct {
	mark string // the byte order mark, if there is one
	text []byte
	root hujson.Value // an object
}

// errNoValue says that a text is empty, or holds nothing but comments.
var errNoValue = errors.New("there is no value in it")

// parse reads a settings file. Its errors say line and column. A text that
// holds nothing but space and comments is a document with errNoValue.
func parse(text []byte) (d document, err error) {
	d.text = text
	if rest, ok := bytes.CutPrefix(text, []byte("\uFEFF")); ok {
		d.mark, d.text = "\uFEFF", rest
	}
	if at := invalid(d.text); at >= 0 {
		return d, fault(d.text, at, "this is not UTF-8")
	}
	if at := tooDeep(d.text); at >= 0 {
		return d, fault(d.text, at, fmt.Sprintf("this is nested deeper than %d levels", maxDepth))
	}
	// A last line that is a comment may end with the file.
	d.root, err = hujson.Parse(append(bytes.Clone(d.text), '\n'))
	if err != nil {
		if d.empty() {
			return d, errNoValue
		}
		if _, own := hujson.Parse(d.text); own != nil { // it knows where the text ends
			err = own
		}
		return d, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := d.root.Value.(*hujson.Object); !ok {
		return d, fault(d.text, d.root.StartOffset, "this is not an object")
	}
	if at, name := duplicate(&d.root); at >= 0 {
		return d, fault(d.text, at, fmt.Sprintf("the name %q is there twice, so one of the two does not count: take one out", name))
	}
	return d, nil
}

// empty reports whether a value could still follow.
func (d document) empty() bool {
	v, err := hujson.Parse(append(bytes.Clone(d.text), "\n{}"...))
	return err == nil && v.StartOffset == len(d.text)+1
}

// fault is an error at a place of a text.
func fault(text []byte, at int, what string) error {
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	column := at - bytes.LastIndexByte(text[:at], '\n')
	return fmt.Errorf("line %d, column %d: %s", line, column, what)
}

// invalid returns where a text stops being UTF-8, -1 if nowhere.
func invalid(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// tooDeep returns where a text is nested too deep, -1 if nowhere. Brackets in
// strings and comments do not count, as for the parser.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			i = endOfString(text, i)
		case c == '/':
			i = endOfComment(text, i)
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// endOfString returns the offset of the quote that closes a string.
func endOfString(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// endOfComment returns the offset of the last byte of a comment.
func endOfComment(text []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(text[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(text[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(text[i+2:], []byte(end))
	if n < 0 {
		return len(text)
	}
	return i + 2 + n + len(end) - 1
}

// duplicate returns the second of two equal names in one object, -1 for none.
func duplicate(root *hujson.Value) (at int, name string) {
	for v := range root.All() {
		object, ok := v.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for i := range object.Members {
			name := nameOf(object, i)
			if seen[name] {
				return object.Members[i].Name.StartOffset, name
			}
			seen[name] = true
		}
	}
	return -1, ""
}

func nameOf(o *hujson.Object, i int) string { return o.Members[i].Name.Value.(hujson.Literal).String() }

// member returns the value of a name in an object, nil if there is none.
func member(v *hujson.Value, name string) *hujson.Value {
	if v == nil {
		return nil
	}
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range object.Members {
		if nameOf(object, i) == name {
			return &object.Members[i].Value
		}
	}
	return nil
}

// items returns the elements of a list; none if it is not one.
func items(v *hujson.Value) []hujson.Value {
	if v == nil {
		return nil
	}
	if list, ok := v.Value.(*hujson.Array); ok {
		return list.Elements
	}
	return nil
}

// stringOf returns a string, "" for everything else.
func stringOf(v *hujson.Value) string {
	if v != nil && v.Value.Kind() == '"' {
		return v.Value.(hujson.Literal).String()
	}
	return ""
}

// small returns a value without space and comments.
func small(v *hujson.Value) string {
	if v == nil {
		return ""
	}
	c := v.Clone()
	c.BeforeExtra, c.AfterExtra = nil, nil
	c.Minimize()
	return c.String()
}

// commented reports whether there is a comment inside of a value.
func commented(v *hujson.Value) bool {
	for part := range v.All() {
		extra := hujson.Extra(nil)
		switch c := part.Value.(type) {
		case *hujson.Object:
			extra = c.AfterExtra
		case *hujson.Array:
			extra = c.AfterExtra
		}
		if part != v {
			extra = append(append(bytes.Clone(extra), part.BeforeExtra...), part.AfterExtra...)
		}
		if bytes.IndexByte(extra, '/') >= 0 {
			return true
		}
	}
	return false
}

package store

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// opaque compares what only others understand, and says all that differs.
func (c *comparison) opaque(id, key string, old, new Extra) {
	if bytes.Equal(compact(old[key]), compact(new[key])) {
		return
	}
	if !c.differ(id, key, valueOf(old[key]), valueOf(new[key])) {
		c.say(Line{Agent: whose(id), Kind: LineOther}, "%s changes, which may permit more", key)
	}
}

// differ says where two values differ, down to what is in objects of both.
func (c *comparison) differ(id, at string, old, new any) (said bool) {
	was, is := asObject(old), asObject(new)
	switch {
	case reflect.DeepEqual(old, new):
		return false
	case was == nil || is == nil:
		line := Line{Agent: whose(id), Kind: LineValue, Name: at, Was: textOf(old), Is: textOf(new)}
		c.say(line, "%s changes, which may permit more: from %s to %s", at, line.Was, line.Is)
		return true
	}
	all := slices.Concat(slices.Collect(maps.Keys(was)), slices.Collect(maps.Keys(is)))
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		said = c.differ(id, at+"."+plain(name), was[name], is[name]) || said
	}
	return said
}

func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

// valueOf decodes a value, nil for none. Numbers stay as they are written.
func valueOf(text json.RawMessage) (value any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	_ = d.Decode(&value) // it was read when the file was
	return value
}

func textOf(value any) string {
	if value == nil {
		return "nothing"
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(value) // it was decoded from JSON
	return strings.TrimSpace(b.String())
}

func compact(text json.RawMessage) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return text
	}
	return b.Bytes()
}

package setup

import (
	"bytes"
	"errors"
	"slices"

	"github.com/tailscale/hujson"
)

// maxOwn bounds how many hooks of ours are taken out of one file.
const maxOwn = 64

// takeOut takes our handlers out of a text that others may have edited since,
// and what was made around them where nothing else came into it. made are the
// names of that, outer ones first. Comments stay.
func takeOut(text []byte, t target, made []string) ([]byte, error) {
	for range maxOwn {
		d, err := parse(text)
		if err != nil {
			return nil, err
		}
		list := ownHandlers(&d.root, t.agent)
		if len(list) == 0 {
			return emptied(d, made)
		}
		if text, err = d.drop(list[0], t, made); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("there are too many hooks of ours in it: take them out by hand")
}

// drop takes one handler out, and its group if that is the one that we made.
func (d document) drop(o own, t target, made []string) ([]byte, error) {
	list := member(member(&d.root, "hooks"), o.event)
	if o.handler < 0 {
		return d.cut(list, o.element)
	}
	group := &items(list)[o.element]
	handlers := member(group, "hooks")
	if len(items(handlers)) == 1 && made != nil && !commented(group) && t.makes(o.event, group) {
		return d.cut(list, o.element)
	}
	return d.cut(handlers, o.handler)
}

// makes reports whether a group looks like one that we make.
func (t target) makes(name string, group *hujson.Value) bool {
	for _, m := range group.Value.(*hujson.Object).Members {
		if n := m.Name.Value.(hujson.Literal).String(); n != "hooks" && n != "matcher" {
			return false
		}
	}
	return slices.ContainsFunc(t.events, func(e event) bool {
		return e.name == name && e.matcher == stringOf(member(group, "matcher"))
	})
}

// emptied takes out what was made for our hooks and is empty now.
func emptied(d document, made []string) ([]byte, error) {
	for _, name := range slices.Backward(made) {
		parent := &d.root
		if name != "hooks" {
			parent = member(parent, "hooks")
		}
		v := member(parent, name)
		if v == nil || name == "version" || (small(v) != "{}" && small(v) != "[]") || commented(v) {
			continue
		}
		object := parent.Value.(*hujson.Object)
		i := slices.IndexFunc(object.Members, func(m hujson.ObjectMember) bool {
			return m.Name.Value.(hujson.Literal).String() == name
		})
		if bytes.IndexByte(object.Members[i].Name.AfterExtra, '/') >= 0 || bytes.IndexByte(v.BeforeExtra, '/') >= 0 {
			continue // a comment before or behind the colon
		}
		text, err := d.cut(parent, i)
		if err == nil {
			d, err = parse(text)
		}
		if err != nil {
			return nil, err
		}
	}
	return append([]byte(d.mark), d.text...), nil
}

// bare reports whether nothing is left in a text but what was made for us.
func bare(text []byte, made []string) bool {
	d, err := parse(text)
	if err != nil {
		return false
	}
	rest := small(&d.root)
	return !commented(&d.root) && bytes.IndexByte(d.root.BeforeExtra, '/') < 0 && bytes.IndexByte(d.root.AfterExtra, '/') < 0 &&
		(rest == "{}" || rest == `{"version":1}` && slices.Contains(made, "version"))
}

// cut takes the member or element number i out of an object or a list, with
// its line and its comma.
func (d document) cut(parent *hujson.Value, i int) ([]byte, error) {
	first, last, n := parts(parent, i)
	from, to := first.StartOffset, last.EndOffset
	// The space before it goes too, unless a comment would then go on over what
	// follows.
	space := len(first.BeforeExtra) - len(bytes.TrimRight(first.BeforeExtra, " \t\r\n"))
	if at := bytes.LastIndexByte(first.BeforeExtra[len(first.BeforeExtra)-space:], '\n'); at >= 0 {
		space -= at
		if start := from - space; start > 0 && d.text[start-1] == '\r' {
			space++
		}
	}
	comma := -1
	switch {
	case i < n-1 || last.AfterExtra != nil:
		comma = to + len(last.AfterExtra)
	case i > 0:
		comma = first.StartOffset - len(first.BeforeExtra) - 1
	}
	if !d.swallows(first, to, comma) {
		from -= space
	}
	text := slices.Delete(bytes.Clone(d.text), from, to)
	switch {
	case comma >= to:
		text = slices.Delete(text, comma-(to-from), comma-(to-from)+1)
	case comma >= 0:
		text = slices.Delete(text, comma, comma+1)
	}
	return append([]byte(d.mark), text...), nil
}

// swallows reports whether a comment before something would swallow what
// stands behind it, if the line between them went.
func (d document) swallows(first *hujson.Value, to, comma int) bool {
	if !bytes.Contains(first.BeforeExtra, []byte("//")) {
		return false
	}
	line, _, _ := bytes.Cut(d.text[to:], []byte("\n"))
	if comma >= to && comma-to < len(line) {
		line = slices.Concat(line[:comma-to], line[comma-to+1:])
	}
	return len(bytes.TrimSpace(line)) > 0
}

// parts returns where a member or element begins and ends, and how many there
// are.
func parts(parent *hujson.Value, i int) (first, last *hujson.Value, n int) {
	switch c := parent.Value.(type) {
	case *hujson.Object:
		return &c.Members[i].Name, &c.Members[i].Value, len(c.Members)
	case *hujson.Array:
		return &c.Elements[i], &c.Elements[i], len(c.Elements)
	}
	panic("cut: not an object or list")
}

package menubar

import (
	"slices"
	"strings"

	"github.com/godbus/dbus/v5"
)

// view is a Menu as panels see it. It is never changed; a new Menu makes a new
// view, in which what stays keeps its number. Numbers are not used twice, so
// that a late click never reaches another row.
type view struct {
	icon     Icon
	title    string
	revision uint32 // changes when rows come, go or move
	rows     map[int32]*node
	numbers  map[place]int32
	last     int32
}

// node is one row; number 0 is the menu itself.
type node struct {
	number   int32
	item     Item
	values   values
	children []*node
}

// place tells which row of the old view a new one is.
type place struct {
	parent int32
	kind   Kind
	id     string
	opens  bool
	nth    int // among the same
}

// update and removed are the parts of ItemsPropertiesUpdated.
type update struct {
	Number int32
	Values values
}

type removed struct {
	Number int32
	Names  []string
}

func newView(old *view, m Menu) *view {
	if old == nil {
		old = &view{}
	}
	v := &view{
		icon: m.Icon, title: m.Tooltip, revision: old.revision, last: old.last,
		rows: map[int32]*node{}, numbers: map[place]int32{},
	}
	root := &node{values: values{"children-display": dbus.MakeVariant("submenu")}}
	v.rows[0] = root
	v.add(old, root, m.Items)
	if !v.sameRows(old) {
		v.revision++
	}
	return v
}

func (v *view) add(old *view, parent *node, items []Item) {
	for _, item := range items {
		at := place{parent: parent.number, kind: item.Kind, id: item.ID, opens: len(item.Children) > 0}
		for v.numbers[at] != 0 {
			at.nth++
		}
		number := old.numbers[at]
		if number == 0 {
			v.last++
			number = v.last
		}
		n := &node{number: number, item: item, values: itemValues(item)}
		v.numbers[at], v.rows[number] = number, n
		parent.children = append(parent.children, n)
		v.add(old, n, item.Children)
	}
}

func (v *view) sameRows(old *view) bool {
	if len(v.rows) != len(old.rows) {
		return false
	}
	same := func(a, b *node) bool { return a.number == b.number }
	for number, n := range v.rows {
		was := old.rows[number]
		if was == nil || !slices.EqualFunc(n.children, was.children, same) {
			return false
		}
	}
	return true
}

// changes are the properties that differ in rows of both views, by number.
func (v *view) changes(old *view) []update {
	var list []update
	for number, n := range v.rows {
		was := old.rows[number]
		if was == nil {
			continue
		}
		changed := values{}
		for name, value := range n.values {
			if value.Value() != was.values[name].Value() {
				changed[name] = value
			}
		}
		if len(changed) > 0 {
			list = append(list, update{number, changed})
		}
	}
	slices.SortFunc(list, func(a, b update) int { return int(a.Number - b.Number) })
	return list
}

// itemValues are the properties of a row; those of one place always have the
// same names. An underscore in a label would mark a key, two are one.
func itemValues(item Item) values {
	if item.Kind == Separator {
		return values{"type": dbus.MakeVariant("separator")}
	}
	all := values{
		"label":   dbus.MakeVariant(strings.ReplaceAll(item.Title, "_", "__")),
		"enabled": dbus.MakeVariant(item.Enabled),
	}
	if len(item.Children) > 0 {
		all["children-display"] = dbus.MakeVariant("submenu")
	}
	if verb, _, _ := Parse(item.ID); verb == "mode" || verb == "login" {
		state := int32(0)
		if item.Checked {
			state = 1
		}
		all["toggle-type"] = dbus.MakeVariant("checkmark")
		all["toggle-state"] = dbus.MakeVariant(state)
	}
	return all
}

package menubar

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/godbus/dbus/v5"

	"github.com/countersign-app/countersign/backend/rescue"
)

// menu is the com.canonical.dbusmenu object; its methods are called by panels.
type menu struct {
	now   *atomic.Pointer[view]
	press chan<- string
}

// layout is a row with those below it.
type layout struct {
	Number   int32
	Values   values
	Children []dbus.Variant // of layout
}

// event is something that a person did to a row.
type event struct {
	Number int32
	Name   string
	Data   dbus.Variant
	Time   uint32
}

var errNoRow = dbus.MakeFailedError(errors.New("the menu has no such row"))

func menuProperties() values {
	return values{
		"Version":       dbus.MakeVariant(uint32(3)),
		"TextDirection": dbus.MakeVariant("ltr"),
		"Status":        dbus.MakeVariant("normal"),
		"IconThemePath": dbus.MakeVariant([]string{}),
	}
}

// GetLayout returns a row and those below it to a depth, -1 for all.
func (m menu) GetLayout(parent, depth int32, names []string) (revision uint32, root layout, err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	v := m.now.Load()
	n := v.rows[parent]
	if n == nil {
		return 0, layout{}, errNoRow
	}
	return v.revision, n.layout(depth, names), nil
}

func (n *node) layout(depth int32, names []string) layout {
	l := layout{n.number, n.named(names), []dbus.Variant{}}
	if depth == 0 {
		return l
	}
	for _, child := range n.children {
		l.Children = append(l.Children, dbus.MakeVariant(child.layout(depth-1, names)))
	}
	return l
}

// named returns the values that were asked for; no names stand for all.
func (n *node) named(names []string) values {
	if len(names) == 0 {
		return n.values
	}
	some := values{}
	for name, value := range n.values {
		if slices.Contains(names, name) {
			some[name] = value
		}
	}
	return some
}

// GetGroupProperties returns the properties of rows; no numbers stand for all
// rows. Rows that are gone are left out.
func (m menu) GetGroupProperties(numbers []int32, names []string) (list []update, err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	v := m.now.Load()
	if len(numbers) == 0 {
		for number := range v.rows {
			numbers = append(numbers, number)
		}
	}
	list = []update{}
	for _, number := range numbers {
		if n := v.rows[number]; n != nil {
			list = append(list, update{number, n.named(names)})
		}
	}
	return list, nil
}

// GetProperty returns one property of a row.
func (m menu) GetProperty(number int32, name string) (value dbus.Variant, err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	n := m.now.Load().rows[number]
	if n == nil {
		return dbus.Variant{}, errNoRow
	}
	value, ok := n.values[name]
	if !ok {
		return dbus.Variant{}, dbus.MakeFailedError(errors.New("the row has no such property"))
	}
	return value, nil
}

// Event takes a click; others do not matter.
func (m menu) Event(number int32, name string, _ dbus.Variant, _ uint32) (err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	n := m.now.Load().rows[number]
	if n == nil {
		return errNoRow
	}
	if name != "clicked" || n.item.Kind != Row || !n.item.Enabled || len(n.children) > 0 {
		return nil
	}
	select {
	case m.press <- n.item.ID:
	default: // nobody has taken the last 16: more of the same do not help
	}
	return nil
}

// EventGroup takes several events and returns the numbers of rows that are
// gone.
func (m menu) EventGroup(events []event) (gone []int32, err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	gone = []int32{}
	for _, e := range events {
		if m.Event(e.Number, e.Name, e.Data, e.Time) != nil {
			gone = append(gone, e.Number)
		}
	}
	return gone, nil
}

// AboutToShow says that no row needs to be read anew: what changed was
// announced.
func (m menu) AboutToShow(int32) (bool, *dbus.Error) { return false, nil }

// AboutToShowGroup says the same for several rows.
func (m menu) AboutToShowGroup([]int32) (updates, gone []int32, err *dbus.Error) {
	return []int32{}, []int32{}, nil
}

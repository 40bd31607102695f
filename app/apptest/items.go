//go:build linux

package apptest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	itemName    = "org.kde.StatusNotifierItem"
	menuName    = "com.canonical.dbusmenu"
)

// Watcher stands for a desktop's panel: status items register with it.
type Watcher struct {
	bus   *dbus.Conn
	found chan string
}

// RegisterStatusNotifierItem is called by an app, over the bus.
func (w *Watcher) RegisterStatusNotifierItem(sender dbus.Sender, _ string) *dbus.Error {
	select {
	case w.found <- string(sender):
	default: // one is enough
	}
	return nil
}

// RegisterStatusNotifierHost is part of the interface.
func (w *Watcher) RegisterStatusNotifierHost(string) *dbus.Error { return nil }

// Watch takes the place of the panel on the session bus.
func Watch() (*Watcher, error) {
	bus, err := dbus.ConnectSessionBus()
	if err != nil {
		return nil, err
	}
	w := &Watcher{bus, make(chan string, 1)}
	err = bus.Export(w, "/StatusNotifierWatcher", watcherName)
	if err == nil {
		_, err = prop.Export(bus, "/StatusNotifierWatcher", prop.Map{watcherName: {
			"IsStatusNotifierHostRegistered": {Value: true}, "ProtocolVersion": {Value: int32(0)},
			"RegisteredStatusNotifierItems": {Value: []string{}},
		}})
	}
	if err == nil {
		var reply dbus.RequestNameReply
		reply, err = bus.RequestName(watcherName, dbus.NameFlagDoNotQueue)
		if err == nil && reply != dbus.RequestNameReplyPrimaryOwner {
			err = errors.New("another panel has its place")
		}
	}
	if err != nil {
		bus.Close()
		return nil, fmt.Errorf("cannot stand for the panel: %w", err)
	}
	return w, nil
}

// Close gives the place free.
func (w *Watcher) Close() { w.bus.Close() }

// Item returns the next status item that registers.
func (w *Watcher) Item(patience time.Duration) (Item, error) {
	select {
	case dest := <-w.found:
		menu, err := w.bus.Object(dest, "/StatusNotifierItem").GetProperty(itemName + ".Menu")
		if err != nil {
			return Item{}, err
		}
		at, _ := menu.Value().(dbus.ObjectPath)
		return Item{w.bus, dest, at}, nil
	case <-time.After(patience):
		return Item{}, errors.New("no status item registers")
	}
}

// Item is the status item of an app.
type Item struct {
	bus  *dbus.Conn
	dest string
	menu dbus.ObjectPath
}

// Icon returns the picture that the item shows, in some form that is the same
// for the same picture.
func (i Item) Icon() string {
	v, err := i.bus.Object(i.dest, "/StatusNotifierItem").GetProperty(itemName + ".IconPixmap")
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(v.Value())
}

// row is one row of a menu, as the protocol carries it.
type row struct {
	ID    int32
	Props map[string]dbus.Variant
	Kids  []dbus.Variant
}

func (i Item) layout() (row, error) {
	var revision uint32
	var top row
	err := i.bus.Object(i.dest, i.menu).Call(menuName+".GetLayout", 0, int32(0), int32(-1), []string{}).Store(&revision, &top)
	return top, err
}

// each goes through the rows below, depth first, until stop.
func (r row) each(stop func(row, string) bool) bool {
	for _, v := range r.Kids {
		var kid row
		if dbus.Store([]any{v.Value()}, &kid) != nil {
			continue
		}
		label, _ := kid.Props["label"].Value().(string)
		if stop(kid, strings.ReplaceAll(label, "__", "_")) || kid.each(stop) {
			return true
		}
	}
	return false
}

// Rows returns the titles of all rows of the menu, a line each.
func (i Item) Rows() string {
	top, err := i.layout()
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	top.each(func(_ row, title string) bool {
		b.WriteString(title + "\n")
		return false
	})
	return b.String()
}

// Press clicks the row with this title, else the first one whose title begins
// so.
func (i Item) Press(title string) error {
	top, err := i.layout()
	if err != nil {
		return err
	}
	var found *row
	top.each(func(r row, have string) bool {
		if have == title || found == nil && strings.HasPrefix(have, title) {
			found = &r
		}
		return have == title
	})
	if found == nil {
		return fmt.Errorf("there is no row %q in:\n%s", title, i.Rows())
	}
	return i.bus.Object(i.dest, i.menu).Call(menuName+".Event", 0, found.ID, "clicked", dbus.MakeVariant(""), uint32(0)).Err
}

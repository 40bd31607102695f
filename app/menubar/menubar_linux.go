package menubar

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/godbus/dbus/v5"

	"github.com/countersign-app/countersign/backend/rescue"
)

const (
	watcherName = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	itemName    = "org.kde.StatusNotifierItem"
	itemPath    = "/StatusNotifierItem"
	menuName    = "com.canonical.dbusmenu"
	menuPath    = "/StatusNotifierItem/menu"
)

// Bar is the status item, a StatusNotifierItem on the session bus. It registers
// with the panel that is there, and again with each that comes later; without
// one nothing is seen and nothing fails.
type Bar struct {
	conn  *dbus.Conn // nil: there is no bus
	press chan string
	now   atomic.Pointer[view] // what the panel is told when it asks

	mu sync.Mutex // orders Show
}

// Start shows the item with the menu of an app that knows nothing yet. The ID
// of a pressed row goes to press, one at a time and on a goroutine of the Bar,
// so that press may call Show and Close.
//
// The error means that there can be no item, because there is no session bus.
// The Bar can be used all the same and shows nothing.
func Start(press func(id string)) (*Bar, error) {
	b := &Bar{press: make(chan string, 16)}
	b.now.Store(newView(nil, Build(Facts{})))
	conn, err := connect()
	if err != nil {
		return b, fmt.Errorf("cannot reach the session bus, start Countersign from the desktop: %w", err)
	}
	panels := make(chan *dbus.Signal, 16)
	conn.Signal(panels)
	if err := b.export(conn); err != nil {
		conn.Close()
		return b, fmt.Errorf("cannot offer a status item on the session bus: %w", err)
	}
	b.conn = conn
	b.register()
	go b.follow(panels)
	go b.deliver(press)
	return b, nil
}

// follow registers with every panel that comes; the channel is closed with the
// connection.
func (b *Bar) follow(panels <-chan *dbus.Signal) {
	defer rescue.Catch(nil, "the panels", nil)
	for s := range panels {
		if s.Name == "org.freedesktop.DBus.NameOwnerChanged" && len(s.Body) == 3 && s.Body[2] != "" {
			b.register()
		}
	}
}

func (b *Bar) deliver(press func(id string)) {
	defer rescue.Catch(nil, "the menu", nil)
	closed := b.conn.Context()
	for {
		select {
		case id := <-b.press:
			if closed.Err() != nil {
				return // select takes either when both are ready
			}
			rescue.Guarded(nil, "a row of the menu", func() { press(id) })()
		case <-closed.Done():
			return
		}
	}
}

// Show replaces the menu. Rows that stay are changed in place, so that a menu
// that is open stays open; a menu that is the same again costs nothing.
func (b *Bar) Show(m Menu) {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.now.Load()
	v := newView(old, m)
	b.now.Store(v)
	if b.conn == nil {
		return
	}
	// An error here means that the bus is gone, and the session with it.
	if v.icon != old.icon {
		b.conn.Emit(itemPath, itemName+".NewIcon")
	}
	if v.title != old.title {
		b.conn.Emit(itemPath, itemName+".NewTitle")
		b.conn.Emit(itemPath, itemName+".NewToolTip")
	}
	if changed := v.changes(old); len(changed) > 0 {
		b.conn.Emit(menuPath, menuName+".ItemsPropertiesUpdated", changed, []removed{})
	}
	if v.revision != old.revision {
		b.conn.Emit(menuPath, menuName+".LayoutUpdated", v.revision, int32(0))
	}
}

// Close takes the item away, and nothing is pressed any more. It does not wait
// for a press that runs.
func (b *Bar) Close() {
	if b.conn != nil {
		b.conn.Close()
	}
}

// connect opens a connection of its own, and does not start a bus where there
// is none, as the shared one would.
func connect() (*dbus.Conn, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return nil, err
	}
	if err := conn.Auth(nil); err != nil {
		conn.Close()
		return nil, err
	}
	if err := conn.Hello(); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// export offers the objects and listens for panels. It must be done before the
// first register, or a panel that starts in between would be missed.
func (b *Bar) export(conn *dbus.Conn) error {
	const name = "org.freedesktop.DBus.Properties"
	pictures, err := pictures()
	if err != nil {
		return err
	}
	item := properties{itemName, func() values { return b.now.Load().properties(pictures) }}
	if err := conn.Export(item, itemPath, name); err != nil {
		return err
	}
	if err := conn.Export(properties{menuName, menuProperties}, menuPath, name); err != nil {
		return err
	}
	if err := conn.Export(menu{&b.now, b.press}, menuPath, menuName); err != nil {
		return err
	}
	return conn.AddMatchSignal(
		dbus.WithMatchSender("org.freedesktop.DBus"),
		dbus.WithMatchInterface("org.freedesktop.DBus"),
		dbus.WithMatchMember("NameOwnerChanged"),
		dbus.WithMatchArg(0, watcherName),
	)
}

// register waits for no answer: without a watcher there is none, and one that
// hangs must not hold us up.
func (b *Bar) register() {
	b.conn.Object(watcherName, watcherPath).
		Go(watcherName+".RegisterStatusNotifierItem", dbus.FlagNoReplyExpected, nil, itemPath)
}

// errFailed answers a call at which a mistake of ours was caught.
var errFailed = dbus.MakeFailedError(errors.New("Countersign failed at this"))

// values are properties by name.
type values = map[string]dbus.Variant

// properties answers who reads the properties of an object. There is no Set:
// nobody but us writes them.
type properties struct {
	name string
	all  func() values
}

// GetAll is called over D-Bus.
func (p properties) GetAll(name string) (all values, err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	if name != p.name {
		return values{}, nil
	}
	return p.all(), nil
}

// Get is called over D-Bus.
func (p properties) Get(name, property string) (value dbus.Variant, err *dbus.Error) {
	defer rescue.Catch(nil, "a call over D-Bus", func() { err = errFailed })
	if v, ok := p.all()[property]; ok && name == p.name {
		return v, nil
	}
	return dbus.Variant{}, dbus.NewError("org.freedesktop.DBus.Error.UnknownProperty", []any{"no property " + property})
}

//go:build linux

package apptest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// Role is the kind of an accessible object (AtspiRole).
type Role uint32

const (
	AnyRole    Role = 0
	Alert      Role = 2
	CheckBox   Role = 7
	MenuButton Role = 11 // a combo box to AT-SPI
	MenuItem   Role = 35
	Button     Role = 43
	Radio      Role = 44
	Cell       Role = 56
	Field      Role = 79
	Heading    Role = 83
	Link       Role = 88

	registry   = "org.a11y.atspi.Registry"
	desktop    = "/org/a11y/atspi/accessible/root"
	accessed   = "org.a11y.atspi.Accessible"
	maxDepth   = 60
	maxObjects = 20_000

	checked   = 4 // AtspiStateType
	keyString = 4 // AtspiKeySynthType
)

// Tree is the accessible tree of a desktop.
type Tree struct{ bus *dbus.Conn }

// Object is one thing in the tree.
type Object struct {
	bus  *dbus.Conn
	dest string
	path dbus.ObjectPath
}

// Open connects to the accessibility bus of the session.
func Open() (*Tree, error) {
	session, err := dbus.ConnectSessionBus()
	if err != nil {
		return nil, fmt.Errorf("no session bus: %w", err)
	}
	defer session.Close()
	var at string
	if err := session.Object("org.a11y.Bus", "/org/a11y/bus").Call("org.a11y.Bus.GetAddress", 0).Store(&at); err != nil {
		return nil, fmt.Errorf("no accessibility bus: %w", err)
	}
	bus, err := dbus.Connect(at)
	if err != nil {
		return nil, err
	}
	return &Tree{bus}, nil
}

// Close ends the connection.
func (t *Tree) Close() { t.bus.Close() }

// Find returns the first object with this role whose name begins so.
func (t *Tree) Find(role Role, name string) (Object, bool) {
	found, ok := Object{}, false
	t.walk(func(o Object) bool {
		if (role == AnyRole || o.Role() == role) && strings.HasPrefix(o.Name(), name) {
			found, ok = o, true
		}
		return ok
	})
	return found, ok
}

// Text returns all names and texts in the tree, for looking in them and for
// messages.
func (t *Tree) Text() string {
	var b strings.Builder
	t.walk(func(o Object) bool {
		fmt.Fprintf(&b, "%d %q %q\n", o.Role(), o.Name(), o.Text())
		return false
	})
	return b.String()
}

// ErrNever says that something did not come.
var ErrNever = errors.New("it is not in the accessible tree")

// Wait waits until Find finds it.
func (t *Tree) Wait(role Role, name string, patience time.Duration) (Object, error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if o, ok := t.Find(role, name); ok {
			return o, nil
		}
	}
	return Object{}, fmt.Errorf("%q: %w; it holds:\n%s", name, ErrNever, t.Text())
}

func (t *Tree) walk(stop func(Object) bool) {
	left := maxObjects
	Object{t.bus, registry, desktop}.walk(stop, maxDepth, &left)
}

func (o Object) walk(stop func(Object) bool, depth int, left *int) bool {
	if depth == 0 || *left == 0 {
		return false
	}
	*left--
	if stop(o) {
		return true
	}
	for i := range o.count() {
		var child struct {
			Dest string
			Path dbus.ObjectPath
		}
		// GetChildren leaves out the page, which lives in another process.
		if o.object().Call(accessed+".GetChildAtIndex", 0, int32(i)).Store(&child) != nil {
			continue
		}
		if (Object{o.bus, child.Dest, child.Path}).walk(stop, depth-1, left) {
			return true
		}
	}
	return false
}

func (o Object) object() dbus.BusObject { return o.bus.Object(o.dest, o.path) }

func (o Object) count() int {
	v, err := o.object().GetProperty(accessed + ".ChildCount")
	if err != nil {
		return 0
	}
	n, _ := v.Value().(int32)
	return int(n)
}

// Name returns its accessible name.
func (o Object) Name() string {
	v, err := o.object().GetProperty(accessed + ".Name")
	if err != nil {
		return ""
	}
	s, _ := v.Value().(string)
	return s
}

// Role returns its role.
func (o Object) Role() Role {
	var r uint32 // the objects of a page answer only the call, not the property
	if o.object().Call(accessed+".GetRole", 0).Store(&r) != nil {
		return AnyRole
	}
	return Role(r)
}

// Text returns the text in it, if it holds any.
func (o Object) Text() string {
	var interfaces []string
	if o.object().Call(accessed+".GetInterfaces", 0).Store(&interfaces) != nil || !slices.Contains(interfaces, "org.a11y.atspi.Text") {
		return ""
	}
	var s string
	if o.object().Call("org.a11y.atspi.Text.GetText", 0, int32(0), int32(-1)).Store(&s) != nil {
		return ""
	}
	return s
}

// Press does its first action.
func (o Object) Press() error {
	var done bool
	if err := o.object().Call("org.a11y.atspi.Action.DoAction", 0, int32(0)).Store(&done); err != nil {
		return err
	}
	if !done {
		return errors.New("it cannot be pressed")
	}
	return nil
}

// Focus gives it the keyboard.
func (o Object) Focus() error {
	var done bool
	return o.object().Call("org.a11y.atspi.Component.GrabFocus", 0).Store(&done)
}

// Parent returns what it is in.
func (o Object) Parent() Object {
	v, err := o.object().GetProperty(accessed + ".Parent")
	if err != nil {
		return o
	}
	if at, ok := v.Value().([]any); ok && len(at) == 2 {
		dest, _ := at[0].(string)
		path, _ := at[1].(dbus.ObjectPath)
		return Object{o.bus, dest, path}
	}
	return o
}

// Checked reports whether it is a box or a choice that is on.
func (o Object) Checked() bool {
	var states []uint32
	return o.object().Call(accessed+".GetState", 0).Store(&states) == nil && len(states) > 0 && states[0]&(1<<checked) != 0
}

// Type types a text on the keyboard, for whatever has the focus.
func (t *Tree) Type(text string) error {
	keyboard := t.bus.Object(registry, "/org/a11y/atspi/registry/deviceeventcontroller")
	return keyboard.Call("org.a11y.atspi.DeviceEventController.GenerateKeyboardEvent", 0, int32(0), text, uint32(keyString)).Err
}

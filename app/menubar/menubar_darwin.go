//go:build cgo

package menubar

import (
	"embed"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/progrium/macdriver/cocoa"
	"github.com/progrium/macdriver/core"
	"github.com/progrium/macdriver/objc"
)

// The pictures are templates: macOS takes their shape and not their grey.
// `make icons` renders them from the vectors beside them.
//
//go:embed icons/*-16.png icons/*-32.png
var iconFiles embed.FS

// itemPoints is the size of a picture in the menu bar.
const itemPoints = 16

// autosave is the name under which macOS keeps where a person put the item.
const autosave = "app.countersign.statusitem"

// Bar is the status item. Everything of it that is AppKit's lives on the main
// queue, in bar.
type Bar struct {
	press  chan string
	work   chan func() // for the main queue, in this order
	closed chan struct{}
	once   sync.Once
}

// bar holds what AppKit keeps no hold of itself. Only the main queue touches
// it.
var bar struct {
	of     *Bar
	item   cocoa.NSStatusItem
	menu   cocoa.NSMenu
	target objc.Object
	images map[Icon]cocoa.NSImage
	rows   []cocoa.NSMenuItem // as flat gives them
	tags   tags
	shows  Menu
	next   *Menu // waits until the menu is closed
	open   bool
}

// target answers the rows of the menu, and hears when it opens and closes.
func newTarget() objc.Object {
	class := objc.NewClass("CountersignMenuTarget", "NSObject")
	class.AddMethod("pressed:", func(_, sender objc.Object) { pressed(int(cocoa.NSMenuItem_fromRef(sender).Tag())) })
	class.AddMethod("menuWillOpen:", func(_, _ objc.Object) { bar.open = true })
	class.AddMethod("menuDidClose:", func(_, _ objc.Object) { closes() })
	objc.RegisterClass(class)
	return objc.Get("CountersignMenuTarget").Alloc().Init().Retain()
}

// Start shows the item with the menu of an app that knows nothing yet. It must
// be called once the app runs; a second item is refused. The ID of a pressed
// row goes to press, one at a time and on a goroutine of the Bar.
func Start(press func(id string)) (*Bar, error) {
	b := &Bar{press: make(chan string, 16), work: make(chan func(), 16), closed: make(chan struct{})}
	go b.deliver(press)
	go b.dispatch()
	result := make(chan error, 1)
	b.work <- func() { result <- b.show() }
	return b, <-result
}

// dispatch hands work to the main queue, one at a time: macdriver has room for
// one, and would wait on the main queue for itself.
func (b *Bar) dispatch() {
	for {
		select {
		case do := <-b.work:
			done := make(chan struct{})
			core.Dispatch(func() {
				defer close(done)
				do()
			})
			<-done
		case <-b.closed:
			return
		}
	}
}

func (b *Bar) deliver(press func(id string)) {
	for {
		select {
		case id := <-b.press:
			press(id)
		case <-b.closed:
			return
		}
	}
}

// onMain has something done on the main queue, unless the Bar is closed.
func (b *Bar) onMain(do func()) {
	select {
	case b.work <- do:
	case <-b.closed:
	}
}

// show makes the item. It runs on the main queue.
func (b *Bar) show() error {
	if bar.of != nil {
		return errors.New("there is a status item already")
	}
	images, err := pictures()
	if err != nil {
		return err
	}
	// Wails makes the app a regular one when it starts, with a place in the Dock.
	cocoa.NSApp().SetActivationPolicy(cocoa.NSApplicationActivationPolicyAccessory)
	item := cocoa.NSStatusBar_System().StatusItemWithLength(cocoa.NSVariableStatusItemLength)
	if item.Pointer() == 0 || item.Button().Pointer() == 0 {
		return errors.New("macOS gives no room in the menu bar")
	}
	item.Retain()
	item.Send("setAutosaveName:", core.String(autosave))
	bar.of, bar.item, bar.images, bar.target = b, item, images, newTarget()
	bar.menu = cocoa.NSMenu_New()
	bar.menu.SetAutoenablesItems(false)
	bar.menu.SetDelegate(bar.target)
	item.SetMenu(bar.menu)
	apply(Build(Facts{}))
	return nil
}

// pictures are the three states, each at 1× and 2×.
func pictures() (map[Icon]cocoa.NSImage, error) {
	all := map[Icon]cocoa.NSImage{}
	for _, icon := range []Icon{Quiet, Waiting, Paused} {
		image := cocoa.NSImage_alloc().Init_asNSImage()
		for _, size := range []int{itemPoints, 2 * itemPoints} {
			data, err := iconFiles.ReadFile(fmt.Sprintf("icons/%s-%d.png", icon, size))
			if err != nil {
				return nil, err
			}
			picture := objc.Get("NSBitmapImageRep").Send("imageRepWithData:", core.NSData_WithBytes(data, uint64(len(data))))
			if picture.Pointer() == 0 {
				return nil, fmt.Errorf("macOS cannot read the picture %s", icon)
			}
			image.Send("addRepresentation:", picture)
		}
		image.SetSize(core.Size(itemPoints, itemPoints))
		image.SetTemplate(true)
		all[icon] = image
	}
	return all, nil
}

// Show replaces the menu. Rows that stay where they are change in place, also
// while the menu is open; others wait until it is closed.
func (b *Bar) Show(m Menu) {
	b.onMain(func() {
		if bar.of == b {
			apply(m)
		}
	})
}

func apply(m Menu) {
	button := bar.item.Button()
	button.SetImage(bar.images[m.Icon])
	button.SetToolTip(m.Tooltip)
	button.SetAppearsDisabled_(m.Icon == Paused)
	title := ""
	if m.Count > 0 {
		title = fmt.Sprint(m.Count)
	}
	button.SetTitle(title)
	button.Send("setAccessibilityLabel:", core.String(m.Tooltip))
	switch {
	case len(bar.rows) > 0 && sameRows(bar.shows.Items, m.Items):
		rows := flat(m.Items)
		for _, i := range changed(bar.shows.Items, m.Items) {
			fill(bar.rows[i], rows[i])
		}
		bar.shows, bar.next = m, nil
	case bar.open:
		bar.next = &m
	default:
		rebuild(m)
	}
}

func closes() {
	bar.open = false
	if bar.next != nil {
		rebuild(*bar.next)
	}
}

func rebuild(m Menu) {
	bar.menu.RemoveAllItems()
	bar.rows, bar.shows, bar.next = nil, m, nil
	bar.tags.renew()
	add(bar.menu, m.Items)
}

// add adds rows to a menu.
func add(menu cocoa.NSMenu, items []Item) {
	for _, it := range items {
		var row cocoa.NSMenuItem
		switch {
		case it.Kind == Separator:
			row = cocoa.NSMenuItem_Separator()
		case it.Kind == Row && len(it.Children) == 0:
			row = cocoa.NSMenuItem_Init(it.Title, objc.Sel("pressed:"), it.Key)
			row.SetTarget(bar.target)
		default:
			row = cocoa.NSMenuItem_New()
		}
		row.SetTag_(core.NSInteger(bar.tags.take(it.ID)))
		bar.rows = append(bar.rows, row)
		if it.Kind != Separator {
			fill(row, it)
		}
		if len(it.Children) > 0 {
			inner := cocoa.NSMenu_New()
			inner.SetAutoenablesItems(false)
			add(inner, it.Children)
			row.SetSubmenu(inner)
			inner.Release() // the row keeps it
		}
		menu.AddItem(row)
		if it.Kind != Separator { // macOS keeps those itself
			row.Release() // the menu keeps it
		}
	}
}

// fill has a row say what an item does.
func fill(row cocoa.NSMenuItem, it Item) {
	row.SetTitle(it.Title)
	row.SetEnabled(it.Kind == Row && it.Enabled)
	state := 0
	if it.Checked {
		state = 1
	}
	row.SetState(state)
}

// pressed tells which row was pressed. AppKit closes the menu first, which may
// make it anew.
func pressed(tag int) {
	id := bar.tags.id(tag)
	if bar.of == nil || id == "" {
		return
	}
	select {
	case bar.of.press <- id:
	default: // sixteen presses wait already
	}
}

// closeTime is how long the main queue has to take the item away: it may have
// ended already, and the item goes with the app then.
const closeTime = time.Second

// Close takes the item away.
func (b *Bar) Close() {
	b.once.Do(func() {
		gone := make(chan struct{})
		go b.onMain(func() {
			defer close(gone)
			if bar.of == b {
				cocoa.NSStatusBar_System().RemoveStatusItem(bar.item)
				bar.of = nil
			}
		})
		select {
		case <-gone:
		case <-time.After(closeTime):
		}
		close(b.closed)
	})
}

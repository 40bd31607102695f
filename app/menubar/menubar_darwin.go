//go:build cgo

package menubar

/*
#cgo CFLAGS: -fobjc-arc
#cgo LDFLAGS: -framework AppKit -framework Foundation
#include <stdlib.h>
#include "statusitem_darwin.h"
*/
import "C"

import (
	"embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/progrium/macdriver/core"

	"github.com/countersign-app/countersign/backend/rescue"
)

// The pictures are templates: macOS takes their shape and not their grey.
// `make icons` renders them from the vectors beside them.
//
//go:embed icons/*-16.png icons/*-32.png
var iconFiles embed.FS

// pictures are the states of the icon, as their places are called in C.
var pictures = []Icon{Quiet, Waiting, Paused}

// pictureSizes are in pixels, for screens of both kinds.
var pictureSizes = []int{16, 32}

// Bar is the status item. Everything of it that is AppKit's lives on the main
// queue.
type Bar struct {
	press  chan string
	work   chan func() // for the main queue, in this order
	closed chan struct{}
	once   sync.Once
	sheet  sheet // only the main queue touches it
}

// shown is the one Bar that has the status item, which AppKit's calls are for.
// Only the main queue touches it.
var shown *Bar

// Start shows the item with the menu of an app that knows nothing yet. It must
// be called once the app runs; a second item is refused. The ID of a pressed
// row goes to press, one at a time and on a goroutine of the Bar.
func Start(press func(id string)) (*Bar, error) {
	b := &Bar{press: make(chan string, 16), work: make(chan func(), 16), closed: make(chan struct{})}
	go b.deliver(press)
	go b.dispatch()
	result := make(chan error, 1)
	b.work <- func() {
		defer rescue.Catch(nil, "the status item", func() { result <- errFailed })
		result <- b.show()
	}
	return b, <-result
}

var errFailed = errors.New("Countersign failed at it: its log says where")

// dispatch hands work to the main queue, one at a time: macdriver has room for
// one, and would wait on the main queue for itself.
func (b *Bar) dispatch() {
	defer rescue.Catch(nil, "the menu", nil)
	for {
		select {
		case do := <-b.work:
			done := make(chan struct{})
			core.Dispatch(func() {
				defer close(done)
				defer rescue.Catch(nil, "the menu", nil)
				do()
			})
			<-done
		case <-b.closed:
			return
		}
	}
}

func (b *Bar) deliver(press func(id string)) {
	defer rescue.Catch(nil, "the menu", nil)
	for {
		select {
		case id := <-b.press:
			rescue.Guarded(nil, "a row of the menu", func() { press(id) })()
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
	if shown != nil {
		return errors.New("there is a status item already")
	}
	for place, icon := range pictures {
		for _, size := range pictureSizes {
			data, err := iconFiles.ReadFile(fmt.Sprintf("icons/%s-%d.png", icon, size))
			if err != nil {
				return err
			}
			if C.CSBarPicture(C.int(place), unsafe.Pointer(&data[0]), C.int(len(data))) == 0 {
				return fmt.Errorf("macOS cannot read the picture %s", icon)
			}
		}
	}
	if C.CSBarMake() == 0 {
		return errors.New("macOS gives no room in the menu bar")
	}
	shown = b
	b.apply(Build(Facts{}))
	return nil
}

// Show replaces the menu. Rows that stay where they are change in place, also
// while the menu is open; others wait until it is closed.
func (b *Bar) Show(m Menu) {
	b.onMain(func() {
		if shown == b {
			b.apply(m)
		}
	})
}

func (b *Bar) apply(m Menu) {
	place := max(0, slices.Index(pictures, m.Icon))
	title := ""
	if m.Count > 0 {
		title = fmt.Sprint(m.Count)
	}
	inC(title, m.Tooltip, func(title, tooltip *C.char) {
		C.CSBarButton(C.int(place), title, tooltip, isTrue(m.Icon == Paused))
	})
	places, anew := b.sheet.take(m)
	if anew {
		b.draw()
		return
	}
	rows := flat(b.sheet.shows.Items)
	for _, i := range places {
		it := rows[i]
		inC(it.Title, "", func(title, _ *C.char) {
			C.CSBarWrite(C.int(i), title, isTrue(it.pressable()), isTrue(it.Checked))
		})
	}
}

// draw makes all rows anew.
func (b *Bar) draw() {
	C.CSBarClear()
	b.add(b.sheet.shows.Items, 0)
}

func (b *Bar) add(items []Item, depth int) {
	for _, it := range items {
		inC(it.Title, it.Key, func(title, key *C.char) {
			C.CSBarAdd(C.int(depth), C.int(b.sheet.tags.take(it.ID)), title, key, isTrue(it.Kind == Separator), isTrue(len(it.Children) > 0))
			C.CSBarWrite(-1, title, isTrue(it.pressable()), isTrue(it.Checked))
		})
		b.add(it.Children, depth+1)
	}
}

// inC lends two texts to C.
func inC(a, b string, use func(a, b *C.char)) {
	x, y := C.CString(a), C.CString(b)
	defer C.free(unsafe.Pointer(x))
	defer C.free(unsafe.Pointer(y))
	use(x, y)
}

func isTrue(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

// CSBarPressed tells which row was pressed.
//
//export CSBarPressed
func CSBarPressed(tag C.int) {
	if shown == nil {
		return
	}
	id := shown.sheet.tags.id(int(tag))
	if id == "" {
		return
	}
	select {
	case shown.press <- id:
	default: // sixteen presses wait already
	}
}

// CSBarOpened tells that the menu is open.
//
//export CSBarOpened
func CSBarOpened() {
	if shown != nil {
		shown.sheet.open = true
	}
}

// CSBarClosed tells that the menu is closed and that what was pressed was told.
//
//export CSBarClosed
func CSBarClosed() {
	if shown != nil && shown.sheet.closed() {
		shown.draw()
	}
}

// Close ends the calls of press. The item goes with the app: by then nothing
// runs on the main queue any more.
func (b *Bar) Close() { b.once.Do(func() { close(b.closed) }) }

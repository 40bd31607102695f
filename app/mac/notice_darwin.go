//go:build cgo

package mac

/*
#cgo LDFLAGS: -framework Carbon -framework UserNotifications
#include <stdlib.h>
#include "notice_darwin.h"
*/
import "C"

import "unsafe"

// Notify shows a notification whose only button is Review. Another one of the
// same name takes its place. Without the permission nothing is shown.
func Notify(name, title, body string) {
	n, t, b := C.CString(name), C.CString(title), C.CString(body)
	defer C.free(unsafe.Pointer(n))
	defer C.free(unsafe.Pointer(t))
	defer C.free(unsafe.Pointer(b))
	C.CSNotify(n, t, b)
}

// Unnotify takes a notification away.
func Unnotify(name string) {
	n := C.CString(name)
	defer C.free(unsafe.Pointer(n))
	C.CSUnnotify(n)
}

// HearNotices has presses of notifications heard, also the one that started the
// app, and takes older notifications away. It must be called before the app
// runs, because macOS tells of that press at once.
func HearNotices() { C.CSHearNotices() }

// TakeShortcut asks macOS for the global shortcut, ⌃⌥⌘C.
func TakeShortcut() { C.CSTakeShortcut() }

// HearEvents has the app hear when the system ends it and when somebody opens
// it once more. Wails takes the first for the close button, which hides the
// window and would hold a log-out up, and knows nothing of the second.
func HearEvents() { C.CSHearEvents() }

//export CSReopened
func CSReopened() { hearReopened() }

//export CSQuit
func CSQuit() { hearQuit() }

//export CSReviewed
func CSReviewed(name *C.char) { hearReviewed(C.GoString(name)) }

//export CSSummoned
func CSSummoned() { hearSummoned() }

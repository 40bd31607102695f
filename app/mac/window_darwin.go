//go:build cgo

package mac

/*
#cgo LDFLAGS: -framework AppKit
#include <stdlib.h>
#include "window_darwin.h"
*/
import "C"

import "unsafe"

// OrderFront shows the window without taking the keyboard, and reports that it
// did.
func OrderFront() bool {
	C.CSOrderFront()
	return true
}

// TakeKeyboard gives the window the keyboard, for a person who asked to see it.
func TakeKeyboard() { C.CSTakeKeyboard() }

// GiveBack gives the keyboard to the app that had it before. It is for a window
// that is hidden.
func GiveBack() { C.CSGiveBack() }

// LiveInMenuBar makes this an app of the menu bar, with no place in the Dock. It
// must be called on the main thread before the app runs.
func LiveInMenuBar() { C.CSLiveInMenuBar() }

// StayAwake keeps macOS from slowing the app down while nobody sees it, as it
// does with apps without a window, or lets it.
func StayAwake(awake bool) {
	on := C.int(0)
	if awake {
		on = 1
	}
	C.CSStayAwake(on)
}

// Alert shows a sentence in a window and waits until it is closed. It is for
// the main thread, where the app does not run. Without it a start from Finder
// would fail in silence.
func Alert(title, text string) {
	t, s := C.CString(title), C.CString(text)
	defer C.free(unsafe.Pointer(t))
	defer C.free(unsafe.Pointer(s))
	C.CSAlert(t, s)
}

// Settle has the window stay on the space where the person opened it, as
// windows do that nobody has to answer.
func Settle() { C.CSSettle() }

// InView reports whether a person could see a part of the window. It is true
// where that cannot be told within a quarter of a second.
func InView() bool { return C.CSInView() != 0 }

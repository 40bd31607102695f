//go:build cgo

package mac

/*
#cgo LDFLAGS: -framework AppKit
#include "window_darwin.h"
*/
import "C"

// OrderFront shows the window without taking the keyboard, and reports that it
// did.
func OrderFront() bool {
	C.CSOrderFront()
	return true
}

// TakeKeyboard gives the window the keyboard, for a person who asked to see it.
func TakeKeyboard() { C.CSTakeKeyboard() }

// InView reports whether a person could see a part of the window. It waits for
// the main thread.
func InView() bool { return C.CSInView() != 0 }

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

// Settle has the window stay on the space where the person opened it, as
// windows do that nobody has to answer.
func Settle() { C.CSSettle() }

// InView reports whether a person could see a part of the window. It is true
// where that cannot be told within a quarter of a second.
func InView() bool { return C.CSInView() != 0 }

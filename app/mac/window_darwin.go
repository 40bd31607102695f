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

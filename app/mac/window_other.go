//go:build !darwin || !cgo

package mac

// OrderFront does nothing here: the window manager decides who has the
// keyboard.
func OrderFront() bool { return false }

//go:build !darwin || !cgo

package mac

// OrderFront does nothing here: the window manager decides who has the
// keyboard.
func OrderFront() bool { return false }

// TakeKeyboard does nothing here: a window that is shown asks for it.
func TakeKeyboard() {}

// Settle does nothing here.
func Settle() {}

// InView is true here: nobody tells what covers a window.
func InView() bool { return true }

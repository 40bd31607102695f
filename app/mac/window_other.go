//go:build !darwin || !cgo

package mac

// OrderFront does nothing here: the window manager decides who has the
// keyboard.
func OrderFront() bool { return false }

// TakeKeyboard does nothing here: a window that is shown asks for it.
func TakeKeyboard() {}

// GiveBack does nothing here: the window manager does it.
func GiveBack() {}

// LiveInMenuBar does nothing here.
func LiveInMenuBar() {}

// StayAwake does nothing here.
func StayAwake(bool) {}

// Alert does nothing here: who starts the app reads what it prints.
func Alert(title, text string) {}

// Settle does nothing here.
func Settle() {}

// InView is true here: nobody tells what covers a window.
func InView() bool { return true }

//go:build !darwin || !cgo

package mac

// Notify does nothing here: the panel comes to the front.
func Notify(name, title, body string) {}

// Unnotify does nothing here.
func Unnotify(name string) {}

// ObeyQuit does nothing here: the system ends programs by signals.
func ObeyQuit() {}

// TakeShortcut does nothing here: desktops have shortcuts of their own.
func TakeShortcut() {}

//go:build !darwin || !cgo

package mac

// Notify does nothing here: the panel comes to the front.
func Notify(name, title, body string) {}

// Unnotify does nothing here.
func Unnotify(name string) {}

// HearNotices does nothing here.
func HearNotices() {}

// HearEvents does nothing here: the system ends programs by signals, and a
// second start tells the first.
func HearEvents() {}

// TakeShortcut does nothing here: desktops have shortcuts of their own.
func TakeShortcut() {}

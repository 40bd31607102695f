//go:build !linux && !(darwin && cgo)

package menubar

// Bar shows nothing here: this platform has no status item yet, and the window
// is the whole app.
type Bar struct{}

// Start returns a Bar that shows nothing and never calls press.
func Start(press func(id string)) (*Bar, error) { return &Bar{}, nil }

// Show does nothing.
func (b *Bar) Show(m Menu) {}

// Close does nothing.
func (b *Bar) Close() {}

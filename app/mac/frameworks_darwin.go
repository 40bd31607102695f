//go:build cgo

package mac

// The file dialogs of Wails use UTType, and its packages do not link it: its own
// build command adds the framework, which go build does not.

// #cgo LDFLAGS: -framework UniformTypeIdentifiers
import "C"

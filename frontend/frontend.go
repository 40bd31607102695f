// Package frontend holds the built page of the window. It is empty until
// `make build` has built it.
package frontend

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// Assets returns the files of the page.
func Assets() (fs.FS, error) { return fs.Sub(dist, "dist") }

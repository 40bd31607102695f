//go:build dev

package main

// A build of Wails for development opens a WebSocket that takes calls from
// any web page.
const (
	refusal    = "this is a build for development, which any web page could operate: build it with `make build`"
	generating = false
)

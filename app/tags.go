//go:build !dev && !bindings

package main

// refusal says why this build does not start, and generating that it only
// writes the bindings of the page.
const (
	refusal    = ""
	generating = false
)

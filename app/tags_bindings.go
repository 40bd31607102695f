//go:build bindings

package main

const (
	refusal    = ""
	generating = true
)

//go:build !darwin

package main

// hasApple tells that Apple's tools are here.
const hasApple = false

func sign(string, options, profiles) error { return nil }

//go:build !linux

package main

import "github.com/countersign-app/countersign/app/mac"

// watchScreen tells whether the screen is locked.
var watchScreen = mac.WatchScreen

// hasDisplay is true: a person who can start the app has a screen.
func hasDisplay() bool { return true }

// barFirst is false: the status item lives on the main thread, which runs
// once the window is there.
const barFirst = false

// menuIsOpen is false: the menu belongs to this process alone.
const menuIsOpen = false

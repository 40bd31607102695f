package main

import (
	"os"

	"github.com/countersign-app/countersign/app/screen"
)

// watchScreen tells whether the screen is locked.
var watchScreen = screen.Watch

// hasDisplay reports whether there is a screen to show a window on.
func hasDisplay() bool {
	return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
}

// barFirst tells that the status item can be there before the window: on the
// bus it needs no main thread.
const barFirst = true

// menuIsOpen tells that the rows of the menu can be pressed by any program on
// the session's bus.
const menuIsOpen = true

//go:build cgo

package mac

/*
#cgo LDFLAGS: -framework AppKit -framework CoreGraphics
#include "screen_darwin.h"
*/
import "C"

import "context"

// WatchScreen tells whether the person is away, first as it is and then at every
// change, until ctx ends: the screen is locked or asleep, or another user's
// session is shown.
func WatchScreen(ctx context.Context, tell func(away bool)) error {
	C.CSWatchScreen()
	watched := screenWatch{tell: tell}
	watched.begin(screenState(C.CSScreenState()))
	for {
		select {
		case what := <-screenHeard:
			watched.hear(what)
		case <-ctx.Done():
			return nil
		}
	}
}

// screenHeard is in the order of what happens. The main thread does not wait for
// whoever is told.
var screenHeard = make(chan int, 64)

//export CSScreenHeard
func CSScreenHeard(what C.int) { screenHeard <- int(what) }

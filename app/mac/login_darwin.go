//go:build cgo

package mac

/*
#cgo LDFLAGS: -framework ServiceManagement
#include "login_darwin.h"
*/
import "C"

import (
	"errors"
	"os"
)

// OpensAtLogin reports whether macOS opens the app at login, nil where it
// cannot be told to.
func OpensAtLogin() *bool {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	return atLogin(int(C.CSLoginItemStatus()), program)
}

// OpenAtLogin has macOS open the app at login, or not any more.
func OpenAtLogin(on bool) error {
	want := C.int(0)
	if on {
		want = 1
	}
	done := C.CSLoginItemSet(want) != 0
	if err := approval(on, int(C.CSLoginItemStatus())); err != nil {
		return err
	}
	if !done {
		return errors.New("macOS did not change what opens at login: is Countersign in the Applications folder?")
	}
	return nil
}

//go:build cgo

package mac

/*
#cgo LDFLAGS: -framework LocalAuthentication
#include <stdlib.h>
#include "presence_darwin.h"
*/
import "C"

import "unsafe"

// CanConfirm tells whether a person can be asked to show that it is them.
const CanConfirm = true

func authenticate(w way, reason string) int {
	r := C.CString(reason)
	defer C.free(unsafe.Pointer(r))
	return int(C.CSAuthenticate(C.int(w), r))
}

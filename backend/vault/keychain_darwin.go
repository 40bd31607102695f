//go:build cgo

package vault

/*
#cgo CFLAGS: -fobjc-arc
#cgo LDFLAGS: -framework Foundation -framework Security
#include <stdlib.h>
#include "keychain_darwin.h"
*/
import "C"

import "unsafe"

const hasKeychain = true

// keychain is the part of the Keychain for one state folder.
type keychain struct{ dir, team string }

func (k keychain) get(name string) ([]byte, status) {
	group, service, account := k.names(name)
	defer free(group, service, account)
	var value unsafe.Pointer
	var size C.size_t
	s := status(C.CSSecretGet(group, service, account, &value, &size))
	if s != done {
		return nil, s
	}
	defer C.free(value)
	return C.GoBytes(value, C.int(size)), done
}

func (k keychain) set(name string, value []byte) status {
	group, service, account := k.names(name)
	defer free(group, service, account)
	text := C.CBytes(value)
	defer C.free(text)
	return status(C.CSSecretSet(group, service, account, text, C.size_t(len(value))))
}

func (k keychain) names(name string) (group, service, account *C.char) {
	return C.CString(groupOf(k.team)), C.CString(name), C.CString(k.dir)
}

func free(texts ...*C.char) {
	for _, t := range texts {
		C.free(unsafe.Pointer(t))
	}
}

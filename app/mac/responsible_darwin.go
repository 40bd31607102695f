//go:build cgo

package mac

/*
#include "responsible_darwin.h"
*/
import "C"

// Responsible returns the call that tells which process macOS holds responsible
// for another one.
func Responsible() func(pid int) (int, error) {
	return func(pid int) (int, error) { return responsible(int(C.CSResponsibleFor(C.int(pid)))) }
}

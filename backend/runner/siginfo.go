//go:build linux || darwin

package runner

import (
	"encoding/binary"
	"syscall"
)

// What waitid of macOS writes about a child (sys/signal.h): siginfoSize bytes,
// of which the third word says how it ended and the sixth with what.
const (
	siginfoSize = 104
	siCode      = 2 * 4
	siStatus    = 5 * 4
	siExited    = 1 // CLD_EXITED
)

// endingOf is how a child ended. The kernel of macOS keeps all 32 bits that a
// program gave to exit, of which everybody else, shells among them, sees eight.
func endingOf(info []byte) ending {
	word := func(at int) int32 { return int32(binary.LittleEndian.Uint32(info[at:])) }
	if word(siCode) == siExited {
		return ending{code: int(word(siStatus) & 0xff)}
	}
	return ending{signal: syscall.Signal(word(siStatus))}
}

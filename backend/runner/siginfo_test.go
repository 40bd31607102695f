//go:build linux || darwin

package runner

import (
	"encoding/binary"
	"syscall"
	"testing"
)

// TestEndingOf reads what the kernel of macOS writes: signal number, error,
// code, process, user, status.
func TestEndingOf(t *testing.T) {
	const ended, killed, dumped = 1, 2, 3
	for _, row := range []struct {
		what         string
		code, status int32
		want         ending
	}{
		{"exit(0)", ended, 0, ending{}},
		{"exit(3)", ended, 3, ending{code: 3}},
		{"exit(255)", ended, 255, ending{code: 255}},
		{"exit(256)", ended, 256, ending{}},
		{"exit(-1)", ended, -1, ending{code: 255}},
		{"exit(0x12345678)", ended, 0x12345678, ending{code: 0x78}},
		{"SIGKILL", killed, 9, ending{signal: syscall.SIGKILL}},
		{"SIGSEGV with a dump", dumped, 11, ending{signal: syscall.SIGSEGV}},
	} {
		info := make([]byte, siginfoSize)
		for i, word := range []int32{20, 0, row.code, 4242, 501, row.status} {
			binary.LittleEndian.PutUint32(info[4*i:], uint32(word))
		}
		if got := endingOf(info); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.what, got, row.want)
		}
	}
}

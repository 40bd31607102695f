package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"

	"golang.org/x/sys/unix"
)

// abi is one way to call this kernel, and what ioctl is in it.
type abi struct {
	arch, ioctl uint32
}

// abis are those of each machine. A call by another one ends the process.
var abis = map[string][]abi{
	"amd64": {{unix.AUDIT_ARCH_X86_64, 16}, {unix.AUDIT_ARCH_I386, 54}},
	"arm64": {{unix.AUDIT_ARCH_AARCH64, 29}, {unix.AUDIT_ARCH_ARM, 54}},
}

const (
	x32 = 0x40000000 // the bit of a call by x32, which has the arch of x86-64

	// Where a filter finds a call: its number, its arch, and the low half of its
	// second argument. Machines here have the low half first.
	atNumber, atArch, atCommand = 0, 4, 24

	tiocsti, tioclinux = 0x5412, 0x541c
)

// filter is a program for the kernel, as bubblewrap takes it: it refuses the
// calls that put characters into the input of a terminal. The kernel looks at
// the low 32 bits of the command of ioctl, so the filter does, too: what stands
// above them changes nothing.
func filter() ([]byte, error) {
	known := abis[runtime.GOARCH]
	if known == nil {
		return nil, errors.New("bubblewrap has no filter of system calls for this machine: set tools.exec.sandbox.engine to docker")
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	end := func(k uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k}
	}
	refused := end(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	program := []unix.SockFilter{load(atArch)}
	for _, a := range known {
		rest := []unix.SockFilter{
			load(atNumber),
			{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: 5, K: x32}, // to refused; no other ABI has such numbers
			equal(a.ioctl, 0, 3),
			load(atCommand),
			equal(tiocsti, 2, 0),
			equal(tioclinux, 1, 0),
			end(unix.SECCOMP_RET_ALLOW),
			refused,
		}
		program = append(append(program, equal(a.arch, 0, uint8(len(rest)))), rest...)
	}
	program = append(program, end(unix.SECCOMP_RET_KILL_PROCESS))
	var text bytes.Buffer
	err := binary.Write(&text, binary.NativeEndian, program)
	return text.Bytes(), err
}

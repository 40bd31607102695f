package proc

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net/netip"
)

// What the kernel of macOS answers, read apart from the asking, so that bytes
// can test it on every platform. Offsets are those of 64-bit programs.
const (
	// struct kinfo_proc (sys/sysctl.h).
	kinfoSize    = 648
	kinfoSeconds = 0
	kinfoMicros  = 8
	kinfoStat    = 36
	kinfoPID     = 40
	kinfoUser    = 392
	kinfoParent  = 560
	kinfoGroup   = 564
	kinfoDevice  = 572
	kinfoFront   = 576
	noDevice     = -1 // NODEV (sys/types.h)
	zombie       = 5  // SZOMB (sys/proc.h)

	isTraced = 0x0000_0800 // P_TRACED (sys/proc.h)

	// Flags of csops (codesign.h), and the size of a hash of code.
	isValid    = 0x0000_0001 // CS_VALID
	isHardened = 0x0001_0000 // CS_RUNTIME
	isDebugged = 0x1000_0000 // CS_DEBUGGED
	hashSize   = 20
)

// ofKinfo reads a struct kinfo_proc, which does not tell the session.
func ofKinfo(b []byte) Info {
	word := func(at int) int { return int(int32(binary.LittleEndian.Uint32(b[at:]))) }
	terminal := word(kinfoDevice)
	if terminal == noDevice {
		terminal = 0
	}
	return Info{
		PID: word(kinfoPID), Parent: word(kinfoParent), Group: word(kinfoGroup),
		UID: word(kinfoUser), Terminal: terminal, Foreground: max(word(kinfoFront), 0),
		Started: binary.LittleEndian.Uint64(b[kinfoSeconds:])*1_000_000 + uint64(word(kinfoMicros)),
		Zombie:  b[kinfoStat] == zombie,
	}
}

// ofCode reads the flags and the hash of a program that is signed.
func ofCode(flags uint32, hash [hashSize]byte) Code {
	return Code{hex.EncodeToString(hash[:]), flags&isValid != 0, flags&isHardened != 0, flags&isDebugged != 0}
}

// Parts of struct vnode_fdinfo (sys/proc_info.h): the file's mode and the device
// that it stands for.
const (
	vnodeSize   = 176
	vnodeMode   = 28
	vnodeDevice = 140
	typeOfFile  = 0o170000 // S_IFMT
	aDevice     = 0o020000 // S_IFCHR
)

// ofVnode is the terminal behind a descriptor that is a file; 0 for none.
func ofVnode(b []byte) int {
	if binary.LittleEndian.Uint16(b[vnodeMode:])&typeOfFile != aDevice {
		return 0
	}
	return int(int32(binary.LittleEndian.Uint32(b[vnodeDevice:])))
}

// ofArguments returns the words and the environment in what kern.procargs2 says of a process:
// the number of arguments, the path of the program, padding, the arguments, the
// environment.
func ofArguments(b []byte) (argv []string, environ []byte, err error) {
	if len(b) < 4 {
		return nil, nil, errors.New("internal error: kern.procargs2 is too short")
	}
	count, b := int32(binary.LittleEndian.Uint32(b)), b[4:]
	_, b, _ = bytes.Cut(b, []byte{0})
	b = bytes.TrimLeft(b, "\x00")
	for range count {
		word, rest, _ := bytes.Cut(b, []byte{0})
		argv = append(argv, string(word))
		if b = rest; len(b) == 0 {
			break
		}
	}
	return argv, b, nil
}

// Parts of struct proc_fdinfo and struct socket_fdinfo (sys/proc_info.h): what a
// file is, and of a socket its kind and the addresses of struct in_sockinfo.
const (
	fileSize = 8 // number and kind
	isSocket = 2 // PROX_FDTYPE_SOCKET

	socketSize    = 792
	socketKind    = 256 // 24 bytes of struct proc_fileinfo, then soi_kind at 232
	isTCP         = 2   // SOCKINFO_TCP
	socketTheirs  = 264 // insi_fport; network order in the lower 16 bits
	socketOurs    = 268 // insi_lport
	socketVersion = 288 // insi_vflag
	isIPv4        = 1   // INI_IPV4
	socketTo      = 296 // insi_faddr: 16 bytes, of IPv4 the last four
	socketFrom    = 312 // insi_laddr
)

// socketsOf are the numbers of the sockets in a list of struct proc_fdinfo.
func socketsOf(b []byte) (list []int) {
	for ; len(b) >= fileSize; b = b[fileSize:] {
		if binary.LittleEndian.Uint32(b[4:]) == isSocket {
			list = append(list, int(int32(binary.LittleEndian.Uint32(b))))
		}
	}
	return list
}

// ofSocket reads the two addresses of a TCP socket, zero values of another one.
func ofSocket(b []byte) (ours, theirs netip.AddrPort) {
	if len(b) < socketSize || binary.LittleEndian.Uint32(b[socketKind:]) != isTCP {
		return ours, theirs
	}
	read := func(address, port int) netip.AddrPort {
		ip := netip.AddrFrom16([16]byte(b[address : address+16]))
		if b[socketVersion]&isIPv4 != 0 {
			ip = netip.AddrFrom4([4]byte(b[address+12 : address+16]))
		}
		return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(b[port:]))
	}
	return read(socketFrom, socketOurs), read(socketTo, socketTheirs)
}

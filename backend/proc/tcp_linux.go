package proc

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// holders are the processes that have the socket open which is bound to one
// address and connected to the other.
func holders(local, remote netip.AddrPort) ([]ID, error) {
	var link string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		number, err := socketIn(table, local, remote)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a machine without IPv6
			return nil, err
		}
		if number != "" && number != "0" { // 0: no process has it any more
			link = "socket:[" + number + "]"
		}
	}
	if link == "" {
		return nil, nil
	}
	list, err := all()
	if err != nil {
		return nil, err
	}
	var found []ID
	for _, p := range list {
		if has(p.PID, link) {
			found = append(found, p.ID())
		}
	}
	return found, nil
}

// socketIn is the inode number of a socket in one of the kernel's tables, "" for
// none. A line is: number, local and remote address, and at last but not least
// the inode, as the tenth word.
func socketIn(table string, local, remote netip.AddrPort) (string, error) {
	file, err := os.Open(table)
	if err != nil {
		return "", err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || address(f[1]) != local || address(f[2]) != remote {
			continue
		}
		return f[9], nil
	}
	return "", lines.Err()
}

// address reads HEX:PORT, where HEX are the words of an address as this machine
// keeps them in memory.
func address(text string) netip.AddrPort {
	words, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(words)
	number, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil || len(b)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	ip, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ip.Unmap(), uint16(number))
}

// has reports whether a process has a file open that the kernel names so.
func has(pid int, link string) bool {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer open.Close()
	names, _ := open.Readdirnames(-1)
	for _, name := range names {
		if to, err := os.Readlink(folder + "/" + name); err == nil && to == link {
			return true
		}
	}
	return false
}

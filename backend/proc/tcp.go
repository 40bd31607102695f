package proc

import (
	"errors"
	"net"
	"net/netip"
)

// ErrNobody says that no process was found at the other end of a connection: it
// belongs to another user, to another machine or container, or is closed.
var ErrNobody = errors.New("nobody is seen at the other end of this connection")

// Peers returns the processes that hold the other end of a TCP connection of this
// machine, as far as we may see: a socket can be handed on, and several can have
// it. There is at least one, or an error.
func Peers(conn net.Conn) ([]ID, error) {
	ours, is := conn.LocalAddr().(*net.TCPAddr)
	theirs, both := conn.RemoteAddr().(*net.TCPAddr)
	if !is || !both {
		return nil, ErrNobody
	}
	found, err := holders(plain(theirs), plain(ours))
	if err == nil && len(found) == 0 {
		err = ErrNobody
	}
	return found, err
}

// plain is an address without what tells a kind of socket.
func plain(a *net.TCPAddr) netip.AddrPort {
	at := a.AddrPort()
	return netip.AddrPortFrom(at.Addr().Unmap().WithZone(""), at.Port())
}

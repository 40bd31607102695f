package ipc

import (
	"errors"
	"unsafe"
)

// errWriter ends a connection on which another process than its holder wrote.
var errWriter = errors.New("another process than the one that connected writes here")

// holder is the process at the other end of a connection.
type holder struct {
	uid, pid int
	// program is another number for each program that the process becomes, 0
	// where the kernel does not count them.
	program uint32
}

// auditToken is audit_token_t of macOS (bsm/audit.h): the effective user at 1,
// the process at 5, and at 7 what holder calls program.
type auditToken [8]uint32

// fromToken is who a token of so many bytes names, on a connection that this
// user made.
func fromToken(uid uint32, token auditToken, size int) (holder, error) {
	switch {
	case size != int(unsafe.Sizeof(token)):
		return holder{}, errors.New("the kernel does not tell who is at the other end")
	case token[1] != uid:
		return holder{}, errors.New("another user holds the other end now")
	}
	return holder{uid: int(uid), pid: int(token[5]), program: token[7]}, nil
}

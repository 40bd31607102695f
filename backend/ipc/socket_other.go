//go:build !linux && !darwin

package ipc

import (
	"errors"
	"net"
	"os"
)

// errPlatform: without knowing who is at the other end there is no socket.
var errPlatform = errors.New("the local socket needs a check of the peer that Windows does not offer: run the host on macOS or Linux")

func refusedByNobody(error) bool { return false }

func ownFolder(string) error { return errPlatform }

func bind(string) (*net.UnixListener, os.FileInfo, error) { return nil, nil, errPlatform }

func openLock(string) (*os.File, error) { return nil, errPlatform }

func holdLock(string) (*os.File, error) { return nil, errPlatform }

func replaceLock(string) (*os.File, error) { return nil, errPlatform }

func tryLock(*os.File) error { return errPlatform }

func lockHolder(string) (int, error) { return 0, errPlatform }

func askWriters(uintptr) error { return errPlatform }

func readFrom(*net.UnixConn, holder, []byte) (int, error) { return 0, errPlatform }

func steady(*net.UnixConn, func() error) error { return errPlatform }

func inodeOf(os.FileInfo) folderWire { return folderWire{} }

func peerOf(*net.UnixConn) (holder, error) { return holder{}, errPlatform }

func hungUp(uintptr) bool { return true }

func supported() error { return errPlatform }

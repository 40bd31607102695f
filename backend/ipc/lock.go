package ipc

import "os"

// Lock is a lifecycle lock that this process holds.
type Lock struct{ file *os.File }

// Hold takes a lifecycle lock for as long as it is not closed. One that
// another process has gives ErrLive.
func Hold(path string) (*Lock, error) {
	f, err := holdLock(path)
	if err != nil {
		return nil, err
	}
	return &Lock{f}, nil
}

// Close lets go of the lock.
func (l *Lock) Close() { l.file.Close() }

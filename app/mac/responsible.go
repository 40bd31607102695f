package mac

import "errors"

// responsible is the answer of macOS about who is responsible. It knows of
// everybody, so none is a failure.
func responsible(pid int) (int, error) {
	if pid <= 0 {
		return 0, errors.New("macOS does not say")
	}
	return pid, nil
}

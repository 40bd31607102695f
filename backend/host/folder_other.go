//go:build !linux && !darwin

package host

import "errors"

func folderID(string) (device, inode uint64, err error) {
	return 0, 0, errors.New("this platform does not name folders")
}

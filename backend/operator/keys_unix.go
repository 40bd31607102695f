//go:build linux || darwin

package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/ownfile"
)

// maxKeys is how many keys a file of root may hold.
const maxKeys = 16

// ReadRoot reads the keys of a file that root alone can change: what programs of
// the user could write proves nothing. It holds what `operator passphrase --file`
// writes, one or more of them.
func ReadRoot(path string) ([]Key, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%s is no absolute path", path)
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		var s unix.Stat_t
		if err := unix.Lstat(dir, &s); err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if err := rootAlone(dir, &s, unix.S_IFDIR); err != nil {
			return nil, err
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	f, err := ownfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var s unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &s); err != nil {
		return nil, err
	}
	if err := rootAlone(path, &s, unix.S_IFREG); err != nil {
		return nil, err
	}
	return decode(f, path)
}

// rootAlone wants a file or folder that nobody but root can change.
func rootAlone(path string, s *unix.Stat_t, kind uint32) error {
	if uint32(s.Mode)&unix.S_IFMT != kind || s.Uid != 0 || s.Mode&0o022 != 0 {
		return fmt.Errorf("%s must be root's, no link, and nobody else may write it", path)
	}
	return nil
}

func decode(f *os.File, path string) (keys []Key, err error) {
	d := json.NewDecoder(io.LimitReader(f, maxKeys*maxFile))
	for {
		var k Key
		switch err := d.Decode(&k); {
		case errors.Is(err, io.EOF) && len(keys) > 0:
			return keys, nil
		case err != nil || !k.whole() || len(keys) == maxKeys:
			return nil, fmt.Errorf("%s does not hold keys: write them with `countersign operator passphrase --file FILE`", path)
		}
		keys = append(keys, k)
	}
}

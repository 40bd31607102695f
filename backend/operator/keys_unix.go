//go:build linux || darwin

package operator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/countersign-app/countersign/backend/ownfile"
)

// maxKeys is how many keys a file of root may hold.
const maxKeys = 16

// ReadRoot reads the keys of a file that root alone can change: what programs of
// the user could write proves nothing. It holds what `operator passphrase --file`
// writes, one or more of them.
func ReadRoot(path string) ([]Key, error) {
	if err := ownfile.RootAlone(path); err != nil {
		return nil, err
	}
	f, err := ownfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return decode(f, path)
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

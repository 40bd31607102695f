package host

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/vault"
)

// ReadOperatorKey returns the operator key of a state folder, which is in its
// vault under the name of this path. A file must be the person's own and closed
// to everybody else.
func ReadOperatorKey(path string) ([]byte, error) {
	text, err := vault.Open(filepath.Dir(path)).Get(filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("cannot read the operator key: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if len(key) < 32 {
		return nil, fmt.Errorf("cannot use the operator key: %s is too short; delete it and start the host again", path)
	}
	return []byte(key), nil
}

// operatorKey reads the key, and makes it where there is none. The caller has
// the lifecycle lock: nobody else makes one.
func operatorKey(path string) ([]byte, error) {
	key, err := ReadOperatorKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	var b [32]byte
	rand.Read(b[:])
	text := base64.RawURLEncoding.EncodeToString(b[:])
	if err := vault.Open(filepath.Dir(path)).Set(filepath.Base(path), []byte(text+"\n")); err != nil {
		return nil, fmt.Errorf("cannot make the operator key: %w", err)
	}
	return []byte(text), nil
}

package host

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// ReadOperatorKey returns the operator key of a state folder. The file must
// be the person's own and closed to everybody else.
func ReadOperatorKey(path string) ([]byte, error) {
	f, err := openPrivate(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the operator key: %w", err)
	}
	defer f.Close()
	buf := make([]byte, 256)
	n, _ := f.Read(buf)
	key := strings.TrimSpace(string(buf[:n]))
	if len(key) < 32 {
		return nil, fmt.Errorf("cannot use the operator key: %s is too short; delete it and start the host again", path)
	}
	return []byte(key), nil
}

// operatorKey reads the key, and makes it where there is none.
func operatorKey(path string) ([]byte, error) {
	key, err := ReadOperatorKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	var b [32]byte
	rand.Read(b[:])
	text := base64.RawURLEncoding.EncodeToString(b[:])
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot make the operator key: %w", err)
	}
	defer f.Close()
	if _, err := f.WriteString(text + "\n"); err != nil {
		return nil, fmt.Errorf("cannot make the operator key: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Sync()); err != nil {
		return nil, fmt.Errorf("cannot make the operator key: %w", err)
	}
	return []byte(text), nil
}

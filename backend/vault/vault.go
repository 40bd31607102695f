// Package vault keeps small secrets of our own programs under names: in the
// Keychain of macOS where our signature guards them, and else in files that
// only this person may read. SECURITY.md says what each is worth.
//
// It never makes a secret, and never says what is in one.
package vault

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Vault keeps secrets of a state folder. Get of one that is not there fails with
// fs.ErrNotExist.
type Vault interface {
	Get(name string) ([]byte, error)
	Set(name string, value []byte) error
}

// Open returns the vault of a state folder.
func Open(dir string) Vault {
	files := files{dir}
	if team := ourTeam(); hasKeychain && team != "" {
		return guarded{keychain{dir, team}, files}
	}
	return files
}

// maxSize bounds what is read of a file.
const maxSize = 4 << 10

// files are the names of files with mode 0600.
type files struct{ dir string }

func (f files) path(name string) string { return filepath.Join(f.dir, name) }

func (f files) Get(name string) ([]byte, error) {
	file, err := openPrivate(f.path(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxSize))
}

// Set replaces the file whole, or leaves what is there. Who is killed meanwhile
// leaves a file NAME.*.tmp.
func (f files) Set(name string, value []byte) error {
	temp, err := os.CreateTemp(f.dir, name+".*.tmp") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // nothing is there when it was renamed
	_, err = temp.Write(value)
	if err := errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), f.path(name))
}

func (f files) remove(name string) error {
	if err := os.Remove(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// status is an OSStatus of Security.framework (SecBase.h).
type status int

const (
	done          status = 0
	notFound      status = -25300 // errSecItemNotFound
	noEntitlement status = -34018 // errSecMissingEntitlement
)

func (s status) Error() string { return fmt.Sprintf("the Keychain says %d", int(s)) }

// chain is the Keychain, as far as it is asked.
type chain interface {
	get(name string) ([]byte, status)
	set(name string, value []byte) status
}

// guarded keeps secrets in the Keychain. What a build without a signature left
// in a file moves there. A build that is not entitled to the Keychain uses the
// files; any other refusal is an error, and not a reason to look in a file that
// others can write.
type guarded struct {
	chain chain
	files files
}

func (g guarded) Get(name string) ([]byte, error) {
	value, s := g.chain.get(name)
	switch s {
	case done:
		return value, nil
	case noEntitlement:
		return g.files.Get(name)
	case notFound:
	default:
		return nil, s
	}
	value, err := g.files.Get(name)
	if err != nil {
		return nil, err
	}
	return value, g.Set(name, value)
}

func (g guarded) Set(name string, value []byte) error {
	switch s := g.chain.set(name, value); s {
	case done:
		return g.files.remove(name)
	case noEntitlement:
		return g.files.Set(name, value)
	default:
		return s
	}
}

// groupOf is the access group of our programs, which the entitlements of the
// bundle name too.
func groupOf(team string) string { return team + ".app.countersign" }

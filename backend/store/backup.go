package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// keptVersions is how many accepted versions stay.
const keptVersions = 5

// backups are the last accepted versions of the policy file. The newest one
// is what an edit that was made while we were not running is compared with.
type backups struct{ dir string }

const backupSuffix = ".json"

// numbers returns the versions that are there, oldest first.
func (b backups) numbers() []uint64 {
	var list []uint64
	for _, name := range names(b.dir, filePrefix, backupSuffix) {
		digits := strings.TrimSuffix(strings.TrimPrefix(name, filePrefix), backupSuffix)
		if n, err := strconv.ParseUint(digits, 10, 63); err == nil {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

func (b backups) path(n uint64) string {
	return filepath.Join(b.dir, fmt.Sprintf("%s%010d%s", filePrefix, n, backupSuffix))
}

// newest returns the last accepted version; there may be none.
func (b backups) newest() (text []byte, ok bool) {
	numbers := b.numbers()
	if len(numbers) == 0 {
		return nil, false
	}
	text, err := readPrivate(b.path(numbers[len(numbers)-1]))
	if err != nil {
		text = nil // there is one, and it says nothing
	}
	return text, true
}

// withHash returns the accepted version that has a hash.
func (b backups) withHash(hash string) (text []byte, ok bool) {
	for _, n := range slices.Backward(b.numbers()) {
		if text, err := readPrivate(b.path(n)); err == nil && hashOf(text) == hash {
			return text, true
		}
	}
	return nil, false
}

// save records an accepted version: as a further one, or in the place of the
// newest when only usage has changed. The caller holds the lock.
func (b backups) save(text []byte, further bool) error {
	if have, ok := b.newest(); ok && bytes.Equal(have, text) {
		return nil
	}
	// A state folder that was taken away does not come back by this.
	if err := checkFolder(filepath.Dir(b.dir)); err != nil {
		return err
	}
	if err := privateFolder(b.dir); err != nil {
		return err
	}
	numbers := b.numbers()
	if further || len(numbers) == 0 {
		next := uint64(1)
		if len(numbers) > 0 {
			next = numbers[len(numbers)-1] + 1
		}
		numbers = append(numbers, next)
	}
	if err := Replace(b.path(numbers[len(numbers)-1]), text); err != nil {
		return fmt.Errorf("cannot keep the accepted policy: %w", err)
	}
	for ; len(numbers) > keptVersions; numbers = numbers[1:] {
		os.Remove(b.path(numbers[0]))
	}
	return nil
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/countersign-app/countersign/backend/ownfile"
)

// errOutside says that the file is not, or may soon not be, what our own edit
// was made from.
var errOutside = errors.New("cannot save: another program is changing the policy file; try again")

// swapRounds is how often a file is put back while others keep replacing it.
const swapRounds = 100

// write puts a text in the place of the policy file, if the file still has
// the text with this hash; an empty hash stands for no file. Otherwise what
// others wrote is there when write returns, and the error is errOutside.
//
// Others take no lock. So the two files change places in one step, and what
// came out is looked at afterwards: an edit made before that step is found in
// it, and one made after it lies in our place and stays. Three gaps are left:
//   - An editor that had the file open before the step, and first writes after
//     the old file was looked at for the last time. On Linux this takes an
//     open that began before the step and still had not come to the file by
//     then; elsewhere, and where the file system has no leases, an open file
//     is enough. So it is everywhere for who has it open for as long as an edit
//     of ours is tried: what they write after that goes nowhere.
//   - A loss of power, or a kill, in the moment in which somebody's edit is
//     out of its place: the next start sweeps it away.
//   - Where two files cannot change places, whatever is written between the
//     last look and the rename.
func (s *Store) write(text []byte, was string) error {
	temp, err := writeTemp(s.path, text)
	if err != nil {
		return err
	}
	if was == "" {
		return s.begin(temp)
	}
	if !s.holds(s.path, was) {
		os.Remove(temp)
		return errOutside
	}
	switch err = s.exchange(temp, s.path); {
	case errors.Is(err, errors.ErrUnsupported):
		return moveInto(temp, s.path)
	case errors.Is(err, fs.ErrNotExist):
		os.Remove(temp)
		return errOutside
	case err != nil:
		os.Remove(temp)
		return fmt.Errorf("cannot save: %w", err)
	}
	if !s.holds(temp, was) {
		return s.putBack(temp, hashOf(text), errOutside)
	}
	if err := ownfile.SyncFolder(s.opt.State.Dir); err != nil {
		return s.putBack(temp, hashOf(text), fmt.Errorf("cannot save: %w", err))
	}
	if !s.holds(temp, was) { // syncing takes long enough to type in
		return s.putBack(temp, hashOf(text), errOutside)
	}
	os.Remove(temp)
	return nil
}

// begin gives the first file its name, unless somebody else has made one.
func (s *Store) begin(temp string) error {
	err := os.Link(temp, s.path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		if _, missing := os.Lstat(s.path); errors.Is(missing, fs.ErrNotExist) {
			return moveInto(temp, s.path)
		}
		err = fs.ErrExist
	}
	os.Remove(temp)
	if err != nil {
		return errOutside
	}
	return ownfile.SyncFolder(s.opt.State.Dir)
}

// putBack undoes an exchange and returns why. What lies under temp goes back
// into its place. Whoever wrote to that place meanwhile is newer than it, and
// their file goes there instead. The hash is that of our text.
func (s *Store) putBack(temp, ours string, why error) error {
	var put fs.FileInfo // what we put into the place; at first our own text
	for range swapRounds {
		next, err := os.Lstat(temp)
		if err == nil {
			err = s.exchange(temp, s.path)
		}
		if err != nil { // the place is empty, say: rather an edit too many than one lost
			return errors.Join(why, os.Rename(temp, s.path))
		}
		out, err := os.Lstat(temp)
		if put == nil && s.holds(temp, ours) || put != nil && err == nil && os.SameFile(out, put) {
			os.Remove(temp)
			return errors.Join(why, ownfile.SyncFolder(filepath.Dir(s.path)))
		}
		put = next
	}
	return fmt.Errorf("%w (one of its versions is in %s)", why, temp)
}

// holds reports whether a file has the text with this hash and nobody has it
// open to write, which at last does not count (see insist).
func (s *Store) holds(path, hash string) bool {
	f, err := openPrivate(path)
	if err != nil {
		return false
	}
	defer f.Close()
	if !s.pressing && openToWrite(f) {
		return false
	}
	text, err := readCapped(f)
	return err == nil && hashOf(text) == hash
}

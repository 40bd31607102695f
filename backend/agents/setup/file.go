package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/ownfile"
)

const (
	// maxSize bounds a settings file, in bytes.
	maxSize = 4 << 20
	// keptBackups is how many old versions stay beside a file.
	keptBackups = 5
	backupInfix = ".countersign-backup-"
	tempSuffix  = ".countersign-tmp"
	newFile     = fs.FileMode(0o600)
	newFolder   = fs.FileMode(0o700)
)

// file is a settings file as it was read.
type file struct {
	named  string // as the agent names it
	real   string // where links lead
	exists bool
	text   []byte
	mode   fs.FileMode
	follow bool // a link leads to it
}

// open finds and reads a settings file. A link is followed where it stays in
// the home folder or the folder that the file belongs to.
func (e Env) open(t target, scope Scope) (f file, err error) {
	root, rel, err := e.place(t, scope)
	if err != nil {
		return f, err
	}
	f.named = filepath.Join(root, rel)
	if f.real, err = resolve(f.named); err != nil {
		return f, err
	}
	home, err := resolve(e.Home)
	if err != nil {
		return f, err
	}
	within, err := resolve(root)
	if err != nil {
		return f, err
	}
	f.follow = f.real != filepath.Join(within, rel)
	if !below(f.real, home) && !below(f.real, within) {
		return f, fmt.Errorf("%s leads to %s, outside of your home folder: nothing is read or written there", f.named, f.real)
	}
	if err := checkFolder(filepath.Dir(f.real)); err != nil {
		return f, err
	}
	return f, f.read()
}

// resolve follows all links in a path of which the end may not be there yet.
func resolve(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s cannot be followed: %w", path, err) // it seldom says what
	}
	if _, err := os.Lstat(path); err == nil {
		return "", fmt.Errorf("%s is a link that leads nowhere: mend it first", path)
	}
	up := filepath.Dir(path)
	if up == path {
		return "", err
	}
	if up, err = resolve(up); err != nil {
		return "", err
	}
	return filepath.Join(up, filepath.Base(path)), nil
}

// below reports whether a path is in a folder.
func below(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// checkFolder makes sure that nobody else can put files into a folder, or into
// the one above it that is there.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		return checkFolder(filepath.Dir(dir))
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !ownfile.Ours(info):
		return fmt.Errorf("%s belongs to another user: nothing is written there", dir)
	case info.Mode().Perm()&0o002 != 0:
		return fmt.Errorf("%s can be written by everybody: take that right away first (chmod o-w)", dir)
	}
	return nil
}

// read reads the file where links led to, which is to be none itself.
func (f *file) read() error {
	in, err := ownfile.Open(f.real)
	if errors.Is(err, fs.ErrNotExist) {
		f.exists, f.text, f.mode = false, nil, newFile
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", f.named)
	case !ownfile.Ours(info):
		return fmt.Errorf("%s belongs to another user: nothing is written there", f.named)
	case info.Size() > maxSize:
		return fmt.Errorf("%s is larger than 4 MiB, which no settings file is", f.named)
	}
	f.exists, f.mode = true, info.Mode().Perm()
	if f.text, err = io.ReadAll(io.LimitReader(in, maxSize+1)); err == nil && len(f.text) > maxSize {
		err = fmt.Errorf("%s is larger than 4 MiB, which no settings file is", f.named)
	}
	return err
}

// unchanged makes sure that the file is still what was read. What somebody
// writes between this look and the rename that follows it is lost: no agent
// takes a lock on its settings.
func (f file) unchanged() error {
	now := f
	if err := now.read(); err != nil {
		return err
	}
	if now.exists != f.exists || !bytes.Equal(now.text, f.text) {
		return ErrChanged
	}
	return nil
}

// write puts a text in the place of the file, whole or not at all, and returns
// the folders that it had to make, outer ones first.
func (f file) write(text []byte, now time.Time) (folders []string, err error) {
	if err := f.unchanged(); err != nil {
		return nil, err
	}
	dir := filepath.Dir(f.real)
	if folders, err = makeFolders(dir); err != nil {
		return folders, err
	}
	temp, err := writeTemp(f.real, text, f.mode)
	if err != nil {
		return folders, err
	}
	defer os.Remove(temp) // it is gone already where all went well
	if f.exists {
		if err := f.backup(now); err != nil {
			return folders, err
		}
	}
	if err := f.unchanged(); err != nil {
		return folders, err
	}
	if err := f.moveIn(temp); err != nil {
		return folders, err
	}
	return folders, ownfile.SyncFolder(dir)
}

// moveIn gives a written file its name. A file that somebody made meanwhile
// stays.
func (f file) moveIn(temp string) error {
	if f.exists {
		return os.Rename(temp, f.real)
	}
	err := os.Link(temp, f.real)
	if errors.Is(err, fs.ErrExist) {
		return ErrChanged
	}
	if err != nil { // a file system without links
		return os.Rename(temp, f.real)
	}
	return nil
}

// remove takes the file away, and the folders that were made for it if nothing
// else came into them.
func (f file) remove(folders []string) error {
	if err := f.unchanged(); err != nil {
		return err
	}
	if err := os.Remove(f.real); err != nil {
		return err
	}
	for _, dir := range slices.Backward(folders) {
		if os.Remove(dir) != nil {
			break
		}
	}
	return nil
}

// makeFolders makes the missing folders of a path.
func makeFolders(dir string) (made []string, err error) {
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if made, err = makeFolders(filepath.Dir(dir)); err != nil {
		return made, err
	}
	if err = os.Mkdir(dir, newFolder); errors.Is(err, fs.ErrExist) {
		return made, nil
	}
	if err == nil {
		made = append(made, dir)
	}
	return made, err
}

// writeTemp writes a text beside a file, down to the disk. No agent reads a
// file of that name.
func writeTemp(path string, text []byte, mode fs.FileMode) (string, error) {
	temp, err := ownfile.Write(path, "."+filepath.Base(path)+".*"+tempSuffix, text, mode)
	if err != nil {
		return "", fmt.Errorf("cannot write beside %s: %w", path, err)
	}
	return temp, nil
}

// backup keeps what the file says now beside the name that the agent uses.
func (f file) backup(now time.Time) error {
	prefix := f.named + backupInfix
	for second := now.Unix(); ; second++ {
		out, err := os.OpenFile(prefix+strconv.FormatInt(second, 10), os.O_WRONLY|os.O_CREATE|os.O_EXCL, newFile)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot keep the old version: %w", err)
		}
		_, err = out.Write(f.text)
		if err == nil {
			err = out.Sync()
		}
		if e := out.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(out.Name())
			return fmt.Errorf("cannot keep the old version: %w", err)
		}
		prune(prefix)
		return nil
	}
}

// prune removes all but the newest backups.
func prune(prefix string) {
	entries, _ := os.ReadDir(filepath.Dir(prefix))
	var seconds []int64
	for _, entry := range entries {
		if digits, ok := strings.CutPrefix(entry.Name(), filepath.Base(prefix)); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil && strconv.FormatInt(n, 10) == digits {
				seconds = append(seconds, n)
			}
		}
	}
	slices.Sort(seconds)
	for ; len(seconds) > keptBackups; seconds = seconds[1:] {
		os.Remove(prefix + strconv.FormatInt(seconds[0], 10))
	}
}

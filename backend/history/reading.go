package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenReading opens a history that is there, to be read only: nothing is made,
// migrated, set aside or changed. It fails where none is there (fs.ErrNotExist),
// and where it is broken or of another version. No host may have it open, nor
// open it before the Close.
func OpenReading(path string) (*DB, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("cannot open the history at %q: the path must be absolute", path)
	}
	f, err := openReading(path)
	switch {
	case broken(err) || errors.Is(err, errEmpty):
		return nil, fmt.Errorf("the history %s is broken: %w; it stays as it is until a host starts, which sets it aside and begins another one", path, err)
	case err != nil:
		return nil, fmt.Errorf("cannot read the history %s: %w", path, err)
	}
	d := newDB(Options{Path: path})
	d.file, d.opened, d.closing = f, true, true // nothing is put
	close(d.done)
	return d, nil
}

func openReading(path string) (*file, error) {
	seen, err := lookAt(path)
	if err != nil {
		return nil, err
	}
	if seen == nil {
		return nil, fs.ErrNotExist
	}
	access, err := readingAccess(path)
	if err != nil {
		return nil, err
	}
	f := &file{seen: seen, rows: -1}
	if f.reader, err = connect(path, access+"&_pragma=query_only(1)"); err != nil {
		return nil, err
	}
	f.reader.SetMaxOpenConns(2)
	version, err := versionOf(context.Background(), f.reader)
	switch {
	case err != nil:
	case version == 0:
		err = errEmpty
	case version < len(migrations()):
		err = errOlder
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// readingAccess is how SQLite is to open a database so that it changes nothing.
// One without a log is told never to change, or a log would be made for it. What a
// host that was killed left in its log is read with the index of the log, or
// without one, where another is made.
func readingAccess(path string) (string, error) {
	for _, suffix := range []string{"-wal", "-journal"} {
		info, err := os.Lstat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if info.Size() == 0 {
			continue
		}
		if _, err := os.Lstat(path + "-shm"); err != nil {
			return "mode=ro", nil
		}
		return "mode=ro&readonly_shm=1", nil
	}
	return "mode=ro&immutable=1", nil
}

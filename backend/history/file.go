package history

import (
	"context"
	"database/sql"
	_ "embed" // the schemas
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// application marks our databases ("cshi" in their header), so that no other
// program's database is taken for one.
const application = 0x63736869

//go:embed schema1.sql
var schema1 string

//go:embed schema2.sql
var schema2 string

//go:embed schema3.sql
var schema3 string

//go:embed schema4.sql
var schema4 string

//go:embed schema5.sql
var schema5 string

// migrations lead from one version of the file to the next. The version is
// how many of them were applied.
func migrations() []migration {
	return []migration{{schema: schema1}, {schema2, chainAll}, {schema: schema3}, {schema4, placeAll}, {schema: schema5}}
}

// migration is a change of the schema, and of the rows that are there, once they
// have all columns of today.
type migration struct {
	schema string
	rows   func(*sql.Tx) error // nil for none
}

// querier, rowsQuerier and executor are what a connection and a transaction have in common.
type querier interface {
	QueryRow(query string, args ...any) *sql.Row
}
type rowsQuerier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}
type executor interface {
	Exec(query string, args ...any) (sql.Result, error)
}

var (
	errForeign = errors.New("it is not a history of ours")
	errNewer   = errors.New("a newer version wrote it: install that version again, or move the file away")
	errOlder   = errors.New("an older version wrote it: start the host once, which brings it to this version")
	errEmpty   = errors.New("it is empty")
)

// companions are the files that SQLite keeps beside a database.
func companions() []string { return []string{"-wal", "-shm", "-journal"} }

// file is the database, opened.
type file struct {
	writer *sql.DB   // one connection
	reader *sql.DB   // at most two, and none while nobody reads
	known  *sql.Stmt // the place of the row with an id
	upsert *sql.Stmt
	index  *sql.Stmt
	seen   os.FileInfo // which file it is
	last   int64       // highest n that was ever given
	head   end         // of the chain
	rows   int64       // how many there are, -1 when that must be counted

	mu            sync.Mutex
	since, sinceN int64 // the last that firstSince was asked, and its answer
}

// openFile opens the database, which it makes or migrates when it must.
func openFile(path string) (_ *file, err error) {
	seen, err := prepare(path)
	if err != nil {
		return nil, err
	}
	f := &file{seen: seen, rows: -1}
	if f.writer, err = connect(path, "mode=rw&_txlock=immediate&_pragma=temp_store(MEMORY)"); err != nil {
		return nil, err
	}
	if f.reader, err = connect(path, "mode=rw&_pragma=query_only(1)"); err != nil {
		return nil, errors.Join(err, f.writer.Close())
	}
	f.writer.SetMaxOpenConns(1)
	f.reader.SetMaxOpenConns(2)
	f.reader.SetMaxIdleConns(1)
	f.reader.SetConnMaxIdleTime(10 * time.Second)
	if err := f.begin(); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func (f *file) close() error {
	if f.writer == nil { // it is only read
		return f.reader.Close()
	}
	return errors.Join(f.reader.Close(), f.writer.Close())
}

// begin makes sure that the database is ours and of this version.
func (f *file) begin() error {
	version, err := versionOf(context.Background(), f.writer)
	if err != nil {
		return err
	}
	// Only now: this would write to a database that is not ours.
	var mode string
	if err := f.writer.QueryRow("PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("its disk cannot hold a write-ahead log (mode %q): move the state folder to a local disk", mode)
	}
	if err := f.migrate(version); err != nil {
		return err
	}
	f.upsert, err = f.writer.Prepare(upsert())
	if code(err) == sqlite3.SQLITE_ERROR {
		return fmt.Errorf("%w: %w", errForeign, err) // another table, or none
	}
	if err != nil {
		return err
	}
	if f.index, err = f.writer.Prepare(index); err != nil {
		return err
	}
	e, err := readEnds(f.writer)
	if err != nil {
		return err
	}
	f.head = e.last
	if f.known, err = f.writer.Prepare("SELECT n, queued, link IS NOT NULL, texts IS NOT NULL FROM runs WHERE id = ?"); err != nil {
		return err
	}
	return f.writer.QueryRow(`SELECT max((SELECT coalesce(max(n), 0) FROM runs), (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs'))`).Scan(&f.last)
}

// versionOf returns how many migrations the database has seen, and refuses one that
// is not made of what is ours, and of nothing else, before anything of it is used.
func versionOf(ctx context.Context, db *sql.DB) (version int, err error) {
	var app int
	err = db.QueryRowContext(ctx, "SELECT application_id, user_version FROM pragma_application_id, pragma_user_version").Scan(&app, &version)
	switch {
	case err != nil:
		return 0, err
	case app != application && (app != 0 || version != 0):
		return 0, errForeign
	case version > len(migrations()):
		return 0, errNewer
	case version < 0:
		return 0, errForeign
	}
	what, err := odd(ctx, db, version)
	if err == nil && what != "" {
		err = fmt.Errorf("%w: %s", errForeign, what)
	}
	return version, err
}

func (f *file) migrate(version int) error {
	steps := migrations()
	if version == len(steps) {
		return nil
	}
	tx, err := f.writer.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := change(tx, steps[version:]); err != nil {
		if code(err) == sqlite3.SQLITE_ERROR {
			err = fmt.Errorf("%w: %w", errForeign, err) // another table, or none
		}
		return fmt.Errorf("cannot bring it to version %d: %w", len(steps), err)
	}
	mark := fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d", application, len(steps))
	if _, err := tx.Exec(mark); err != nil {
		return err
	}
	return tx.Commit()
}

func change(tx *sql.Tx, steps []migration) error {
	for _, step := range steps {
		if _, err := tx.Exec(step.schema); err != nil {
			return err
		}
	}
	for _, step := range steps {
		if step.rows == nil {
			continue
		}
		if err := step.rows(tx); err != nil {
			return err
		}
	}
	return nil
}

// connect prepares connections to an existing file; none is made yet.
//
// synchronous is FULL because with NORMAL a commit in a write-ahead log can
// be lost with the power, and fullfsync because fsync alone does not reach
// the disk on macOS. The caches are small because an idle host should be. The
// writer's temporary store is what undoes a statement that fails: a row, or the
// pages that it changes.
func connect(path, more string) (*sql.DB, error) {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	name := url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=busy_timeout(1000)&_pragma=synchronous(FULL)&_pragma=fullfsync(1)" +
		"&_pragma=cache_size(-1024)&_pragma=journal_size_limit(4194304)&" + more}
	return sql.Open("sqlite", name.String())
}

// lookAt returns what is at the path, nil for nothing, and refuses everything
// that is not a plain file: a link would have us write somewhere else.
func lookAt(path string) (os.FileInfo, error) {
	var found os.FileInfo
	for _, suffix := range append(companions(), "") {
		info, err := os.Lstat(path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			found = nil
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("cannot look at the history: %w", err)
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("cannot keep the history in %s: it is not a plain file; move it away", path+suffix)
		}
		found = info
	}
	return found, nil
}

// prepare makes the file if there is none, and all of them readable for
// nobody else. SQLite gives its companions the mode of the database.
//
// An existing file is never opened here: closing it again would release the
// locks that SQLite holds on it in this process.
func prepare(path string) (os.FileInfo, error) {
	info, err := lookAt(path)
	if err != nil {
		return nil, err
	}
	if info == nil {
		made, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		if err := made.Close(); err != nil {
			return nil, err
		}
	}
	for _, suffix := range append(companions(), "") {
		if err := os.Chmod(path+suffix, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return os.Lstat(path)
}

// broken reports whether the error says that the file itself is of no use.
func broken(err error) bool {
	c := code(err)
	return errors.Is(err, errForeign) || c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB
}

// code is what SQLite calls the error, without the details that its extended
// codes add, and zero when it is not from SQLite.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return sqlite3.SQLITE_OK
}

const brokenMark = ".broken-"

// setAside renames a broken database and its companions, so that they stay
// one database that a person can look into, and returns the new name.
func setAside(path string, now time.Time) (string, error) {
	to := ""
	for at := now.Unix(); ; at++ {
		to = fmt.Sprintf("%s%s%d", path, brokenMark, at)
		if _, err := os.Lstat(to); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return "", err
		}
	}
	for _, suffix := range append(companions(), "") {
		if err := os.Rename(path+suffix, to+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return to, nil
}

// Broken lists the files beside the history at a path that once were set aside
// because they were damaged or not ours.
func Broken(path string) ([]string, error) {
	dir, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("cannot look for broken histories: %w", err)
	}
	var found []string
	for _, item := range dir {
		stamp, ok := strings.CutPrefix(item.Name(), filepath.Base(path)+brokenMark)
		if ok && !strings.Contains(stamp, "-") {
			found = append(found, filepath.Join(filepath.Dir(path), item.Name()))
		}
	}
	return found, nil
}

package history

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// thing is what a database is made of: a table, an index, a view or a trigger.
type thing struct{ kind, name, table, sql string }

// things returns what a database is made of. SQLite makes the tables behind an
// index of words itself, in words that another version of it may change.
func things(ctx context.Context, q rowsQuerier) (map[string]thing, error) {
	found, err := q.QueryContext(ctx, "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	list := map[string]thing{}
	for found.Next() {
		var t thing
		if err := found.Scan(&t.kind, &t.name, &t.table, &t.sql); err != nil {
			return nil, err
		}
		if strings.HasPrefix(t.name, "words_") || strings.HasPrefix(t.name, "textwords_") {
			t.sql = ""
		}
		list[t.kind+" "+t.name] = t
	}
	return list, found.Err()
}

// thingsOf returns what a database is made of that has seen so many migrations.
func thingsOf(ctx context.Context, version int) (map[string]thing, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection has a database of its own
	for _, step := range migrations()[:version] {
		if _, err := db.ExecContext(ctx, step.schema); err != nil {
			return nil, err
		}
	}
	return things(ctx, db)
}

// odd says what a database of this version has that ours have not, or lacks, ""
// for nothing. A view can show other rows than are there, and a trigger change
// what is written.
func odd(ctx context.Context, q rowsQuerier, version int) (string, error) {
	want, err := thingsOf(ctx, version)
	if err != nil {
		return "", err
	}
	have, err := things(ctx, q)
	if err != nil {
		return "", err
	}
	for _, name := range sorted(have) {
		if have[name] != want[name] {
			return fmt.Sprintf("the %s is not ours", name), nil
		}
	}
	for _, name := range sorted(want) {
		if _, there := have[name]; !there {
			return fmt.Sprintf("the %s is missing", name), nil
		}
	}
	return "", nil
}

func sorted(list map[string]thing) []string { return slices.Sorted(maps.Keys(list)) }

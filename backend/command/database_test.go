package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlainTables: databases that sqlite3 itself made are read as it reads them.
func TestPlainTables(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("skipped: there is no sqlite3")
	}
	var many, views strings.Builder
	many.WriteString("begin;") // one write to the disk
	views.WriteString("begin;")
	for i := range 400 {
		fmt.Fprintf(&many, "create table t%d(a integer primary key, b text default (datetime('now')), c check (length(c) < %d));create unique index i%d on t%d(b, c desc) where b > 1;", i, i, i, i)
		fmt.Fprintf(&views, "create table t%d(a);", i)
	}
	many.WriteString("commit;")
	views.WriteString("commit;")
	long := "create table l(" + strings.Repeat("a_long_name_of_a_column_", 3) + "x"
	for i := range 800 {
		long += fmt.Sprintf(", column_%d text", i)
	}
	long += ");"
	for _, row := range []struct {
		name, sql string
		want      bool
	}{
		{"plain", "create table t(a, b text not null); create index i on t(a);", true},
		{"a trigger", "create table t(a); create trigger x after insert on t begin delete from t; end;", true},
		{"autoincrement", "create table t(a integer primary key autoincrement, b unique); insert into t(b) values(1);", true},
		{"many", many.String(), true},
		{"long", long, true},
		{"small pages", "pragma page_size=512;" + many.String() + long, true},
		{"large pages", "pragma page_size=65536;" + many.String(), true},
		{"no rows", "create table t(a); drop table t;", true},
		{"a view", "create table t(a); create view v as select edit(a, 'x') from t;", false},
		{"a view behind many", views.String() + "create view v as select 1;", false},
		{"a long view", long + "create view v as select * from l;", false},
		{"a virtual table", "create virtual table v using fts5(a);", false},
		{"a computed column", "create table t(a, b as (length(a)));", false},
		{"another", "create table t(a, b generated always as (length(a)) stored);", false},
		{"an index of a call", "create table t(a); create index i on t(length(a));", false},
		{"utf-16", "pragma encoding='UTF-16';create table t(a);", false},
	} {
		file := filepath.Join(t.TempDir(), "x.db")
		run := exec.Command(sqlite, "-batch", file)
		run.Stdin = strings.NewReader(row.sql)
		if out, err := run.CombinedOutput(); err != nil {
			t.Logf("%s: %v: %s", row.name, err, out)
			continue // an older sqlite3, or one without fts5
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := plainTables(data); got != row.want {
			t.Errorf("%s: %v", row.name, got)
		}
		if row.want {
			for _, cut := range []int{0, 50, 99, 100, 108, 512, len(data) / 2} {
				plainTables(data[:min(cut, len(data))]) // ends well
			}
			for i := 100; i < len(data); i += len(data) / 100 {
				bad := bytes.Clone(data)
				bad[i] ^= 0xff
				plainTables(bad)
			}
		}
	}
	if plainTables(nil) || plainTables(bytes.Repeat([]byte("x"), 200)) {
		t.Error("what is no database passes")
	}
}

package oneliner

import "testing"

func TestSQL(t *testing.T) {
	for _, row := range []struct {
		text         string
		sqlite, duck bool
	}{
		{"select 1", true, true},
		{"SELECT count(*) n, max(a) FROM t WHERE b LIKE 'x%' GROUP BY 1 ORDER BY n DESC LIMIT 5;", true, true},
		{"select name from sqlite_master where type='table'", true, true},
		{"with t as (select 1) select * from t", true, true},
		{"explain query plan select 1", true, true},
		{"select 'it''s', \"a b\", x.y from x", true, true},
		{"select case when (a) then 1 end from t where a in (1, 2) and not exists (select 1)", true, true},
		{"select replace(a, 'b', 'c') from t", true, true},
		{"select 1; select 2;", true, true},
		{"pragma table_info(users)", true, false},
		{"PRAGMA table_info('users');", true, false},
		{"pragma user_version", true, false},
		{"pragma journal_mode", true, false},
		{"select * from pragma_table_info('t')", true, false},
		{"from 'a.csv'", false, true},
		{"select * from read_csv_auto('a.csv', union_by_name=true)", false, true},
		{"select [1, 2][1], x::date from t", false, true},
		{"describe t", false, true},
		{"show tables; describe t;", false, true},
		{"select sum(a is null) filter (where b) over (partition by c) from t", true, true},

		{"", false, false},
		{";", false, false},
		{"delete from t", false, false},
		{"insert into t values (1)", false, false},
		{"replace into t values (1)", false, false},
		{"update t set a=1", false, false},
		{"with t as (select 1) delete from x", false, false},
		{"explain delete from t", false, false},
		{"select 1; drop table t", false, false},
		{"attach 'x' as y", false, false},
		{"vacuum into 'x'", false, false},
		{"pragma journal_mode=wal", false, false},
		{"pragma journal_mode(wal)", false, false},
		{"pragma user_version=1", false, false},
		{"pragma writable_schema=1", false, false},
		{"pragma integrity_check", false, false},
		{"pragma main.table_info(t)", false, false},
		{"pragma table_info(t); pragma user_version=2", false, false},
		{"select load_extension('x')", false, false},
		{"select edit(a) from t", false, false},
		{"select \"edit\"(a) from t", false, false},
		{"select 'edit'(a) from t", false, false},
		{"select edit (a)", false, false},
		{"select edit\n(a)", false, false},
		{"select edit/**/(a)", false, false},
		{"select [edit](a)", false, true}, // a list to duckdb
		{"select `edit`(a)", false, false},
		{"select writefile('a', 'b')", false, false},
		{"select readfile('a')", false, false},
		{"select read_text('a')", false, false},
		{"select 'a'.read_text()", false, false},
		{"select getenv('HOME')", false, false},
		{"select query('select 1')", false, false},
		{"select 1 -- x", false, false},
		{"select 'a", false, false},
		{"select \"a", false, false},
		{"select 'a\\' , edit(1) --'", false, false},
		{"select x'00'", false, false},
		{"select e'a'", false, false},
		{"select $$a$$", false, false},
		{"select $1", false, false},
		{"select ?", false, false},
		{"select ü(1)", false, false},
		{"select * from pragma_optimize", false, false},
		{"select * from \"Pragma_Optimize\"", false, false},
		{"from read_csv(['a.csv', 'b.csv'], header=true)", false, true},
		{"from read_csv('.e' || 'nv')", false, false},
		{"from read_csv(concat('.e', 'nv'))", false, false},
		{"from read_parquet(['.' || './x'])", false, false},
		{"from '.e'\n'nv'", false, false},
		{"select '1.1.1.1'::inet", false, false},
		{"copy t to 'x'", false, false},
		{"install httpfs", false, false},
		{"set a=1", false, false},
		{"call x()", false, false},
		{".shell id", false, false},
		{"select 1\x00", false, false},
	} {
		if why := SQLite(row.text); (why == "") != row.sqlite {
			t.Errorf("sqlite: %q: %q", row.text, why)
		}
		if _, why := DuckDB(row.text); (why == "") != row.duck {
			t.Errorf("duckdb: %q: %q", row.text, why)
		}
	}
	files, _ := DuckDB(`select a.csv, 'x/y.csv' from "z.parquet", secret.json`)
	if want := []string{"a.csv", "x/y.csv", "z.parquet", "secret.json"}; len(files) != len(want) || files[1] != want[1] || files[3] != want[3] {
		t.Errorf("files %q", files)
	}
}

package oneliner

import "testing"

func TestSQL(t *testing.T) {
	passes := []string{
		"select 1", "SELECT * FROM users;", "select count(*) from t where a = 'x''y'", "select a, b from t order by a desc limit 10",
		"with x as (select 1) select * from x", "explain query plan select * from t", "pragma table_info(users)", "pragma user_version",
		".tables", ".schema users", `\dt`, `\d+ users`, "show tables", "describe users", "select lower(name) || 'x' from t group by 1 having count(*) > 1",
		"select * from a join b on a.id = b.a where b.c between 1 and 2", "select case when a then 'b' else 'c' end from t", `select "a b" from t`,
	}
	refused := []string{
		"", "insert into t values (1)", "update t set a = 1", "delete from t", "drop table t", "create table t (a)", "select load_extension('x')",
		"select writefile('x', 'y')", "select readfile('/etc/passwd')", "select pg_read_file('/etc/passwd')", "select lo_import('/etc/passwd')",
		"select * into outfile '/tmp/x' from t", "select load_file('/etc/passwd')", "copy t to program 'id'", "copy t to '/tmp/x'",
		"select 1; drop table t", "select 1;\ndelete from t", ".shell id", ".system id", ".output x", ".read x", ".import a b", ".open x", `\! id`, `\copy t to 'x'`,
		`\i x`, `\o x`, "attach 'x' as y", "pragma writable_schema = 1", "pragma journal_mode = delete", "select 1 -- x", "select 1 /* x */", "select edit('x')",
		"with x as (delete from t returning *) select * from x", "select 'a\\'b'", "select sys.system('id')", "explain analyze delete from t",
		"select fts3_tokenizer('x', y)", "vacuum into 'x'", "select 1\x00", "select dblink_exec('x','y')", "select query_to_xml('delete from t', true, true, '')",
		"select public.count(1)", "select nextval('s')", "select pg_terminate_backend(1)", "select set_config('a','b',false)",
	}
	for _, text := range passes {
		if why := SQL(text); why != "" {
			t.Errorf("%q %s", text, why)
		}
	}
	for _, text := range refused {
		if why := SQL(text); why == "" {
			t.Errorf("%q passes", text)
		}
	}
}

func FuzzSQL(f *testing.F) {
	f.Add("select a from t where b = 'c'")
	f.Add(".tables")
	f.Fuzz(func(t *testing.T, text string) {
		if first, second := SQL(text), SQL(text); first != second {
			t.Errorf("%q: %q, then %q", text, first, second)
		}
		if SQL(text) == "" && SQL(text+"; delete from t") == "" {
			t.Errorf("%q hides what follows", text)
		}
	})
}

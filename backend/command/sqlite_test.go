package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// What a database holds starts a program or reads another file when a harmless
// statement meets it. Whatever passes must do neither.
func TestStatementsOfHostileDatabases(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("skipped: there is no sqlite3")
	}
	for _, args := range [][]string{
		{"app.db", "select * from v"},
		{"-readonly", "app.db", "select * from v"},
		{"-safe", "-readonly", "app.db", "select * from v"},
		{"app.db", "select * from v", "-safe", "-readonly"},
		{"-safe", "-readonly", "app.db", ".trace out"},
		{"-safe", "-readonly", "app.db", ".testcase"},
		{"-safe", "-readonly", "app.db", ".dump"},
		{"-safe", "-readonly", "app.db", "select 1;\n.trace out"},
		{"-safe", "-readonly", "app.db", "vacuum into 'out'"},
		{"-safe", "-readonly", "app.db", "select data from fsdir('secret')"},
		{"-safe", "-readonly", "app.db", "select data from [FsDir]('secret')"},
		{"-safe", "-readonly", "app.db", "select data from w"},
		{"app.db", "select * from t"},
		{"app.db", ".schema"},
		{"plain.db", "select edit(a, 'touch out; true') from t"},
		{"plain.db", "select * from fsdir where path='secret'"},
		{"plain.db", "select data from fsdir('secret')"},
		{"plain.db", ".output out"},
		{"plain.db", "select 1; vacuum into 'out'"},
	} {
		dir := t.TempDir()
		made := exec.Command(sqlite, "app.db", "create table t(a); insert into t values(1); create view v as select edit(a, 'touch out; true') from t; create view w as select * from fsdir('secret')")
		made.Dir = dir
		if out, err := made.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		made = exec.Command(sqlite, "plain.db", "create table t(a); insert into t values(1)")
		made.Dir = dir
		if out, err := made.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("what nobody may read"), 0o600); err != nil {
			t.Fatal(err)
		}
		a := &command.Analyzer{World: machine.Disk{}, Home: dir}
		plan := a.Analyze(t.Context(), &approval.Request{Command: append([]string{sqlite}, args...), Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
		if len(plan.Segments[0].Findings) > 0 {
			continue
		}
		run := exec.Command(sqlite, args...)
		run.Dir = dir
		out, _ := run.CombinedOutput()
		if entries, _ := filepath.Glob(filepath.Join(dir, "*out*")); len(entries) > 0 || strings.Contains(string(out), "nobody may read") {
			t.Errorf("%q passes, and left %q and printed %q", args, entries, out)
		}
	}
}

// TestPlainDatabasesAreAsked: of a database of plain tables what only asks passes, without
// -safe, where nothing beside it changes it as it is opened.
func TestPlainDatabasesAreAsked(t *testing.T) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Skip("skipped: there is no sqlite3")
	}
	dir := t.TempDir()
	for name, sql := range map[string]string{
		"plain.db":  "create table t(a); insert into t values(1)",
		"view.db":   "create table t(a); create view v as select a from t",
		"beside.db": "create table t(a)", "wal.db": "create table t(a)",
	} {
		made := exec.Command(sqlite, name, sql)
		made.Dir = dir
		if out, err := made.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for name, text := range map[string]string{"empty.db": "", "beside.db-journal": "x", "wal.db-wal": "x", "no.db": "no database at all"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.db")); err != nil {
		t.Fatal(err)
	}
	a := &command.Analyzer{World: machine.Disk{}, Home: dir}
	for _, row := range []struct {
		args []string
		want approval.Allowed
		asks bool
	}{
		{[]string{"plain.db", "select * from t"}, "", false},
		{[]string{"-header", "-csv", "plain.db", "select count(*) from t;"}, "", false},
		{[]string{"-readonly", "plain.db", ".tables"}, "", false},
		{[]string{"plain.db", ".schema t", "pragma table_info(t)"}, "", false},
		{[]string{"empty.db", ".tables"}, "", false},
		{[]string{"view.db", "select * from t"}, approval.AllowDatabaseReads, true},
		{[]string{"beside.db", "select * from t"}, approval.AllowDatabaseReads, true},
		{[]string{"wal.db", "select * from t"}, approval.AllowDatabaseReads, true},
		{[]string{"no.db", "select * from t"}, approval.AllowDatabaseReads, true},
		{[]string{"plain.db", "delete from t"}, approval.AllowThisCode, true},
		{[]string{"plain.db", "select edit(a) from t"}, approval.AllowThisCode, true},
		{[]string{"view.db", "select load_extension('x')"}, approval.AllowThisCode, true},
		{[]string{"plain.db", ".dump"}, "", true},
		{[]string{"new.db", "select 1"}, approval.AllowThisCode, true},
		{[]string{":memory:", "select 1"}, approval.AllowThisCode, true},
		{[]string{"plain.db", ".shell id"}, "", true},
		{[]string{"plain.db"}, "", true},
		{[]string{"link.db", "select 1"}, "", true},
		{[]string{"../x.db", "select 1"}, "", true},
	} {
		plan := a.Analyze(t.Context(), &approval.Request{Command: append([]string{sqlite}, row.args...), Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
		found := plan.Segments[0].Findings
		if (len(found) > 0) != row.asks || row.want != "" && (len(found) != 1 || found[0].Allowed != row.want) {
			t.Errorf("%q: %v", row.args, found)
		}
	}
	for _, row := range []struct {
		database, text string
		want           approval.Allowed
		asks           bool
	}{
		{"plain.db", ".headers on\nselect a\nfrom t\nlimit 5;", "", false},
		{"-csv plain.db", "select 1;", "", false},
		{"view.db", "select a from t;", approval.AllowDatabaseReads, true},
		{"plain.db", ".shell id\nselect 1;", "", true},
		{"plain.db", "select 1;\n .system id", "", true},
		{"plain.db", "select edit(1);", "", true},
		{"plain.db", "delete from t;", "", true},
		{"plain.db", ".headers on", "", true},
		{"../x.db", "select 1;", "", true},
		{"", "select 1;", "", true},
	} {
		text := sqlite + " " + row.database + " <<'EOF'\n" + row.text + "\nEOF\n"
		plan := a.Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", text}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
		found := plan.Segments[len(plan.Segments)-1].Findings
		if (len(found) > 0) != row.asks || row.want != "" && found[0].Allowed != row.want {
			t.Errorf("%s: %v", text, found)
		}
	}
	plan := a.Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", "/bin/cp view.db plain.db && " + sqlite + " plain.db 'select * from t'"}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
	if found := plan.Segments[len(plan.Segments)-1].Findings; len(found) == 0 {
		t.Errorf("a database that the same request brings: %v", found)
	}
}

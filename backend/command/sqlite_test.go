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
	} {
		dir := t.TempDir()
		made := exec.Command(sqlite, "app.db", "create table t(a); insert into t values(1); create view v as select edit(a, 'touch out; true') from t; create view w as select * from fsdir('secret')")
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

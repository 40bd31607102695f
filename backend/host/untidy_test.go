//go:build linux || darwin

package host

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/history"
)

// again closes the host, has something happen to its folder, and starts it anew.
func (b *bench) again(happens func(at string)) {
	b.t.Helper()
	opt := b.opt
	b.Host.Close()
	happens(opt.State.History())
	next, err := Start(opt)
	must(b.t, err)
	b.Host = next
}

// sqlite opens a database beside the host.
func sqlite(t *testing.T, at string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", at)
	must(t, err)
	t.Cleanup(func() { db.Close() })
	conn, err := db.Conn(t.Context())
	must(t, err)
	return conn
}

// A history that was cut short is kept beside, and another one begun: the host
// says so, and runs.
func TestHistoryCutShort(t *testing.T) {
	b := newBench(t, "/bin/echo", "/bin/cat")
	for i := range 40 {
		must(t, b.history.Put(history.Row{ID: fmt.Sprint(i), State: history.Done, Command: strings.Repeat("x", 1000), Arrived: b.started}))
	}
	b.again(func(at string) { must(t, os.Truncate(at, 5000)) })
	eventually(t, "the host says so", func() bool { return len(b.Status().HistoryAside) == 1 })
	if s := b.Status(); s.History != "" || !strings.Contains(s.HistoryAside[0], "history.db.broken-") {
		t.Errorf("%+v", s)
	}
	b.serves(t)
	b.again(func(string) {})
	if rows := b.rows(); len(rows) == 0 || len(b.Status().HistoryAside) != 1 {
		t.Errorf("after another start: %d rows, %q", len(rows), b.Status().HistoryAside)
	}
}

// rows are the requests in the history.
func (b *bench) rows() []history.Row {
	b.t.Helper()
	none := ""
	rows, err := b.history.List(b.t.Context(), history.Query{Parent: &none, Limit: 1000})
	must(b.t, err)
	return rows
}

// TestStartsWithoutHistory starts a host on a history that it cannot use. It
// says so, judges, and runs nothing until it can.
func TestStartsWithoutHistory(t *testing.T) {
	for _, c := range []struct {
		name, says string
		spoil      func(t *testing.T, at string) (mend func())
	}{
		{"of a newer version", "newer version", func(t *testing.T, at string) func() {
			db := sqlite(t, at)
			var version int
			must(t, db.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&version))
			_, err := db.ExecContext(t.Context(), "PRAGMA user_version = 99")
			must(t, err)
			return func() {
				_, err := db.ExecContext(t.Context(), fmt.Sprintf("PRAGMA user_version = %d", version))
				must(t, err)
			}
		}},
		{"locked", "locked", func(t *testing.T, at string) func() {
			db := sqlite(t, at)
			_, err := db.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
			must(t, err)
			return func() {
				_, err := db.ExecContext(t.Context(), "ROLLBACK")
				must(t, err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "/bin/echo")
			must(t, b.history.Put(history.Row{ID: "left", State: history.Running, Command: "left by an earlier host", Arrived: b.started}))
			var mend func()
			b.again(func(at string) { mend = c.spoil(t, at) })
			eventually(t, "the host says so", func() bool { return strings.Contains(b.Status().History, c.says) })
			ctx := context.Background()
			if got := b.ask(ctx, b.text("echo x")).String(); got != "refused companion-unavailable" {
				t.Errorf("got %s", got)
			}
			var explained Explanation
			if err := b.call("explain", map[string]any{"command": []string{"echo", "x"}}, &explained); err != nil || explained.Judgement.Verdict != "allow" {
				t.Errorf("judged %s, %v", explained.Judgement.Verdict, err)
			}
			mend()
			eventually(t, "it runs again", func() bool { return b.ask(ctx, b.text("echo x")).String() == "code 0" })
			eventually(t, "what was left is closed", func() bool {
				rows, err := b.history.List(ctx, history.Query{ID: "left"})
				return err == nil && len(rows) == 1 && rows[0].State == history.Done && rows[0].Error == "app ended"
			})
		})
	}
}

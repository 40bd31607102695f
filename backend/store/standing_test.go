package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

// TestStanding: what holds by the files alone is the stricter of both, and a look
// at them writes nothing.
func TestStanding(t *testing.T) {
	const list, deny, full = `{"version":1,"socket":{"path":"/s","token":"t"},"defaults":{"security":"allowlist"}}`, `{"version":1,"defaults":{"security":"deny"}}`, `{"version":1,"defaults":{"security":"full"}}`
	for _, c := range []struct {
		name, accepted, file string
		started              bool // a host was here
		want                 approval.Security
		broken               bool
	}{
		{"never a host", "", "", false, approval.SecurityList, false},
		{"a file before the first host", "", list, false, approval.SecurityList, false},
		{"as it was", list, list, true, approval.SecurityList, false},
		{"looser", list, full, true, approval.SecurityList, false},
		{"stricter", list, deny, true, approval.SecurityDeny, false},
		{"broken", list, "{", true, "", true},
		{"gone", list, "", true, "", true},
		{"both gone", "", "", true, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			state := paths.State{Dir: filepath.Join(home, "state")}
			put := func(name, text string) {
				if text == "" {
					return
				}
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			put(state.Approvals(), c.file)
			put(filepath.Join(state.Backups(), "exec-approvals.0000000001.json"), c.accepted)
			if c.started {
				put(state.OperatorKey(), "key")
			}
			before := tree(t, home)
			snap := store.Standing(store.Options{State: state, Home: home})
			if p := snap.Policy("main"); p.Security != c.want && !c.broken || (p.Broken != "") != c.broken {
				t.Errorf("%+v", p)
			}
			if after := tree(t, home); after != before {
				t.Errorf("it wrote:\n%s\nwas\n%s", after, before)
			}
		})
	}
}

// tree lists all files with what they hold.
func tree(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			path += " " + string(text)
		}
		b.WriteString(path + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

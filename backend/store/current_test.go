package store

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// What others do to the file holds for the next decision, if it tightens,
// without a wait: in place, also with the same length and the same times, by
// a rename, and when the file goes or cannot be read.
func TestCurrentSeesEditsAtOnce(t *testing.T) {
	const open, shut = `"agents": {"a": {"security": "full"}}`, `"agents": {"a": {"security": "deny"}}`
	edits := []struct {
		what string
		edit func(t *testing.T, dir string)
		want approval.Security
	}{
		{"in place", func(t *testing.T, dir string) { write(t, dir, doc(shut)) }, approval.SecurityDeny},
		{"in place, with the old times", func(t *testing.T, dir string) {
			info, err := os.Stat(file(dir))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, doc(shut))
			if err := os.Chtimes(file(dir), info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, approval.SecurityDeny},
		{"by a rename", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "new"), doc(shut))
			if err := os.Rename(file(filepath.Join(dir, "new")), file(dir)); err != nil {
				t.Fatal(err)
			}
		}, approval.SecurityDeny},
		{"removed", func(t *testing.T, dir string) {
			if err := os.Remove(file(dir)); err != nil {
				t.Fatal(err)
			}
		}, approval.SecurityDeny},
		{"broken", func(t *testing.T, dir string) { write(t, dir, doc(`"agents": 1`)) }, approval.SecurityDeny},
		{"loosened elsewhere", func(t *testing.T, dir string) { write(t, dir, doc(open, `"defaults": {"security": "full"}`)) }, approval.SecurityFull},
	}
	for _, test := range edits {
		t.Run(test.what, func(t *testing.T) {
			s := openWith(t, doc(open))
			if got := s.Current().Policy("a").Security; got != approval.SecurityFull {
				t.Fatalf("before the edit: %s", got)
			}
			test.edit(t, filepath.Dir(s.path))
			now := s.Current()
			if got := now.Policy("a").Security; got != test.want {
				t.Errorf("right after the edit: %s, want %s", got, test.want)
			}
			if got := now.Policy("stranger").Security; got == approval.SecurityFull {
				t.Error("a loosening edit holds without a yes")
			}
		})
	}
}

// A file that changes all the time is never older for a decision than the last
// change that was over before it.
func TestCurrentNeverLags(t *testing.T) {
	s := openWith(t, doc())
	for i := range 500 {
		security := []approval.Security{approval.SecurityDeny, approval.SecurityList}[i%2]
		if i%2 == 0 {
			write(t, filepath.Dir(s.path), doc(fmt.Sprintf(`"defaults": {"security": %q}`, security)))
		} else if _, err := s.Update("", func(d *Document) error { d.Defaults.Security = security; return nil }); err != nil {
			t.Fatal(err)
		}
		if got := s.Current().Policy("").Security; got != security {
			t.Fatalf("change %d: %s holds, want %s", i, got, security)
		}
	}
}

// An edit that a decision saw first is kept like one that the watcher saw.
func TestCurrentIsKept(t *testing.T) {
	s := openWith(t, doc(`"defaults": {"security": "full"}`))
	stricter := doc(`"defaults": {"security": "deny"}`)
	write(t, filepath.Dir(s.path), stricter)
	s.Current()
	eventually(t, "a backup", func() bool {
		kept, ok := s.backups.newest()
		return ok && string(kept) == stricter
	})
}

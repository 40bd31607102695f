//go:build linux || darwin

package command_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestUnhides: what git leaves out is left out when it stores a folder, also where an
// earlier command, or one beside it, changes what says so. A text of ours is judged
// again in between.
func TestUnhides(t *testing.T) {
	const never, passes = "never", ""
	b := newOutputsBench(t)
	b.put("home/p/.gitignore", "build/\n.env\n", 0o644)
	b.put("home/p/build/.env", "text\n", 0o644)
	b.put("home/p/src/a.go", "text\n", 0o644)
	for _, row := range []struct{ text, ours, theirs string }{
		{"git add src", passes, passes}, {"git add dir && git commit -m x", passes, passes}, {"git add build", passes, passes}, {"git add -f build", never, never},
		{"rm .gitignore && git add build", passes, never}, {"mv .gitignore x && git add build", passes, never}, {"cp file .gitignore && git add build", passes, never}, {"git mv .gitignore x && git add build", passes, never},
		{"mv build new && git add new", passes, never}, {"git mv build new && git add new", passes, never}, {"mv build dir && git add dir", passes, never}, {"git stash && git add build", passes, never},
		{"mv src/a.go src/b.go && git add src", passes, passes}, {"mv src/a.go dir && git add dir", passes, passes}, {"mv src/a.go new && git add new", passes, passes}, {"rm .gitignore && git add src/a.go", passes, passes},
		{"git checkout -b x && git add src", passes, passes}, {"git rm file && git add src", passes, passes}, {"mkdir new && git add new", passes, passes},
		{"rm .gitignore & git add build", never, never}, {"git add build & rm .gitignore", never, never}, {"git add build & git checkout x", never, never}, {"git add src & touch file", passes, never},
		{"echo x > .gitignore & git add build", never, never}, {"git add build & echo x > build/.gitignore", never, never}, {"echo x > .gitignore | git add build", never, never}, {"echo x > .gitignore; git add build", "writes-project", never},
	} {
		for who, want := range map[approval.Who]string{approval.Ours: row.ours, approval.Theirs: row.theirs} {
			plan := b.plan("bash", row.text, who)
			if got := covers(plan); got != want {
				t.Errorf("%s, %s: %q, want %q: %s", row.text, who, got, want, show(plan))
			}
		}
	}
}

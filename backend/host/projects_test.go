//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/machine"
)

// TestAskFolder: what the person says of a folder is kept, where it was offered and
// the folder is the one that they were asked about.
func TestAskFolder(t *testing.T) {
	b := newBench(t)
	for _, dir := range []string{"plain/in", "many/a/.git", "many/b/.git", "broken/.git"} {
		must(t, os.MkdirAll(b.path(dir), 0o755))
	}
	for _, file := range []string{"plain/notes", "plain/in/deep", "broken/.git/config"} {
		must(t, os.WriteFile(b.path(file), nil, 0o600))
	}
	must(t, os.Symlink("/", b.path("plain/way"))) // is one more, and what is behind it is not
	for _, test := range []struct {
		name, folder string
		says         FolderAnswer
		err          error
		swap         bool
		holds        int
		git          bool
		want         *approval.Project // nil for nothing kept
		silent       bool
	}{
		{name: "an agent", folder: "plain", says: FolderAgent, want: &approval.Project{Agent: "a"}},
		{name: "every agent", folder: "plain", says: FolderEvery, want: &approval.Project{}},
		{name: "none", folder: "plain", says: FolderNo, want: &approval.Project{No: true}},
		{name: "no answer", folder: "plain", silent: true},
		{name: "another answer", folder: "plain", says: "all"},
		{name: "not shown", folder: "plain", err: errors.New("locked")},
		{name: "replaced", folder: "plain", says: FolderAgent, swap: true},
		{name: "one with projects, for every agent", folder: "many", says: FolderEvery, holds: 2},
		{name: "one with projects", folder: "many", says: FolderAgent, holds: 2, want: &approval.Project{Agent: "a"}},
		{name: "one with data of git", folder: "broken", says: FolderAgent, git: true, want: &approval.Project{Agent: "a"}},
	} {
		for _, p := range b.store.Snapshot().Projects() {
			must(t, b.call("projects.remove", map[string]string{"path": p.Path}, nil))
		}
		at := b.path(test.folder)
		file, err := machine.Disk{}.Look(at)
		must(t, err)
		b.opt.AskFolder = func(_ context.Context, q FolderQuestion) (FolderAnswer, error) {
			if q.Folder != at || q.AgentID != "a" || q.Holds != test.holds || q.Git != test.git || q.Text != "touch x" || q.ID == "" {
				t.Errorf("%s: asked %+v", test.name, q)
			}
			if files := map[string]int{"plain": 3}[test.folder]; q.Files != files || q.More || q.Strict || len(q.Said) != 0 {
				t.Errorf("%s: it holds %+v", test.name, q)
			}
			if test.swap {
				must(t, os.Rename(at, at+".old"))
				must(t, os.Mkdir(at, 0o755))
			}
			return test.says, test.err
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err = b.askProject(ctx, gate.ProjectQuestion{AgentID: "a", SessionKey: "s", Folder: at, File: file, Text: "touch x"})
		cancel()
		if errors.Is(err, gate.ErrNoAnswer) != test.silent || (err == nil) != (test.want != nil) {
			t.Errorf("%s: %v", test.name, err)
		}
		list := b.store.Snapshot().Projects()
		switch {
		case test.want == nil && len(list) == 0:
		case test.want == nil || len(list) != 1 || list[0].Path != at || list[0].Agent != test.want.Agent || list[0].No != test.want.No || list[0].AddedBy != "panel" || list[0].AddedAt == 0:
			t.Errorf("%s: kept %+v", test.name, list)
		}
	}
}

// TestProjectsByCall: the real path is kept, and what can never be a project is
// refused with its reason.
func TestProjectsByCall(t *testing.T) {
	b := newBench(t)
	b.opt.OperateAnyone = true
	for _, dir := range []string{"plain", ".config/gcloud"} {
		must(t, os.MkdirAll(b.path(dir), 0o755))
	}
	must(t, os.Symlink(b.path("plain"), b.path("way")))
	must(t, os.WriteFile(b.path("file"), nil, 0o600))
	add := func(at string) error {
		return b.call("projects.add", map[string]any{"project": approval.Project{Path: at, AddedBy: "settings" + strings.Repeat("x", 1000)}}, nil)
	}
	for _, at := range []string{b.home, "/", "/etc", "/usr/share", "/tmp", b.path(".config/gcloud"), b.path("file"), b.path("nothing"), "plain", ""} {
		if err := add(at); err == nil {
			t.Errorf("%q was named", at)
		}
	}
	must(t, add(b.path("way")))
	var got Projects
	must(t, b.call("projects.list", nil, &got))
	if n := len(got.Projects); n != 2 || got.Projects[1].Path != b.path("plain") || got.Projects[1].AddedBy != bySocket || got.Projects[1].Why != "" {
		t.Errorf("%+v", got)
	}
	must(t, os.Rename(b.path("plain"), b.path("gone")))
	must(t, os.Symlink(b.path(".config/gcloud"), b.path("plain")))
	must(t, b.call("projects.list", nil, &got))
	if got.Projects[1].Why == "" {
		t.Errorf("a link in its place counts: %+v", got)
	}
	must(t, b.call("projects.remove", map[string]string{"path": b.path("plain")}, nil))
	if err := b.call("projects.remove", map[string]string{"path": b.path("plain")}, nil); err == nil {
		t.Error("it was there twice")
	}
}

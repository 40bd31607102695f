package config

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestParseCharter(t *testing.T) {
	c, err := ParseCharter("x", []byte("// careful\n{ autoApprove: ['git status', \"file_read\",], alwaysReject: ['git push --force'], parent: 'base' }"))
	if err != nil || len(c.AutoApprove) != 2 || c.Parent != "base" {
		t.Fatalf("%+v %v", c, err)
	}
	for text, want := range map[string]string{
		`{autoApprove: [""]}`: "empty pattern", `{alwaysReject: ["  "]}`: "empty pattern", `{alwaysRejects: []}`: "unknown field", `{`: "x:", `[]`: "x:", `{} {}`: "follows",
		`{alwaysReject: ["rm"], alwaysReject: []}`: "twice", `{AlwaysReject: []}`: "unknown field", `{alwaysReject: null}`: "null",
		`{entries: [{pattern: "tool:x", when: null}]}`: "null", `{entries: [{pattern: "tool:x", Pattern: "tool:*"}]}`: "twice",
		`{alwaysReject: ["tool:file_write"]}`: "without tool:", `{alwaysReject: ["group:files"]}`: "no group", `{requireConfirmation: ["Profile:x y"]}`: "no group",
		`{autoApprove: "git"}`: "x:", `{entries: [{}]}`: "no pattern", `{parent: "../x"}`: "no name", "{\"a\": \"\xff\"}": "UTF-8",
	} {
		if _, err := ParseCharter("x", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// TestUnder: restrictions add up, and permissions hold only where both give them.
func TestUnder(t *testing.T) {
	parent := Charter{AutoApprove: []string{"a", "b"}, AlwaysReject: []string{"x"}, RequireConfirmation: []string{"q"}}
	child := Charter{AutoApprove: []string{"b", "c"}, AlwaysReject: []string{"y", "x"}}
	got := child.Under(parent)
	want := Charter{AutoApprove: []string{"b"}, AlwaysReject: []string{"x", "y"}, RequireConfirmation: []string{"q"}}
	if !reflect.DeepEqual(got.AutoApprove, want.AutoApprove) || !reflect.DeepEqual(got.AlwaysReject, want.AlwaysReject) || !reflect.DeepEqual(got.RequireConfirmation, want.RequireConfirmation) {
		t.Errorf("%+v", got)
	}
	if silent := (Charter{}).Under(parent); len(silent.AutoApprove) != 2 {
		t.Errorf("a list that is not there forbids: %+v", silent)
	}
	if none := (Charter{AutoApprove: []string{}}).Under(parent); len(none.AutoApprove) != 0 {
		t.Errorf("an empty list permits: %+v", none)
	}
}

func TestReadCharter(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name+".json5"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("base", `{alwaysReject: ["rm"]}`)
	write("child", `{autoApprove: ["git status"], parent: "base"}`)
	write("loop", `{parent: "loop"}`)
	c, sum, err := Charters{dir}.Read("child")
	if err != nil || len(c.AlwaysReject) != 1 || len(c.AutoApprove) != 1 {
		t.Fatalf("%+v %v", c, err)
	}
	write("base", `{alwaysReject: []}`)
	if _, other, err := (Charters{dir}).Read("child"); err != nil || other == sum {
		t.Error("a change of the parent is none of what was accepted", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json5"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"loop", "missing", "folder"} {
		if _, _, err := (Charters{dir}).Read(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestStamp: a folder has another stamp once something of it changed, and some
// stamp while nothing is in it.
func TestStamp(t *testing.T) {
	dir := t.TempDir()
	empty := Charters{dir}.Stamp()
	if err := os.WriteFile(filepath.Join(dir, "x.json5"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if one := (Charters{dir}).Stamp(); empty == "" || one == empty || one != (Charters{dir}).Stamp() {
		t.Errorf("%q, then %q", empty, one)
	}
}

func TestCharterOn(t *testing.T) {
	c := Charter{
		AutoApprove: []string{"git status", "file_write", "make"}, AlwaysReject: []string{"git push --force", "curl", "github/delete_*"}, RequireConfirmation: []string{"bash_execute"},
	}
	before := approval.Policy{Allowlist: []approval.Entry{{Pattern: "ls"}}}
	p := c.On(before, "careful")
	if len(p.Allowlist) != 1 || len(before.Tools) != 0 {
		t.Errorf("it permits without a person: %+v", p.Allowlist)
	}
	var patterns []string
	for _, e := range c.Permits("careful") {
		patterns = append(patterns, strings.Join(append([]string{e.Pattern}, e.Args...), " "))
	}
	if want := []string{"git status", "tool:file_write", "make"}; !reflect.DeepEqual(patterns, want) {
		t.Errorf("entries %q", patterns)
	}
	if len(p.Denylist) != 2 || !p.Denylist[0].Anywhere || p.Denylist[0].Pattern != "git" {
		t.Errorf("denylist %+v", p.Denylist)
	}
	if l := p.Tools[0]; !reflect.DeepEqual(l.Deny, []string{"curl", "github/delete_*"}) || l.Rules["bash_execute"].Ask != approval.AskAlways {
		t.Errorf("layer %+v", l)
	}
}

// TestCharterNames: a name leads to no file outside the folder.
func TestCharterNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.json5"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	inside := filepath.Join(dir, "charters")
	if err := os.Mkdir(inside, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../x", "/x", "a/b", "x\x00", "."} {
		if _, _, err := (Charters{inside}).Read(name); err == nil || !strings.Contains(err.Error(), "no name of a charter") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

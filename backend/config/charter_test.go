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

// TestUnderMeets: a permit of a charter holds where its parent has it too, or a wider
// one, and never for more than either says.
func TestUnderMeets(t *testing.T) {
	for _, c := range []struct {
		child, parent string
		want          []string
	}{
		{"git status", "git *", []string{"git status"}},
		{"git *", "git status", []string{"git status"}},
		{"git status", "git", []string{"git status"}},
		{"git status -s", "git status", []string{"git status -s"}},
		{"git status", "git push", nil},
		{"git * -s", "git status", nil}, // neither says more than the other
		{"git status -s", "git * -s", []string{"git status -s"}},
		{"/usr/bin/git status", "git *", nil}, // another pattern
		{"git status", "/usr/bin/* status", nil},
		{"make", "*", nil},
		{"git status", "gi* status", nil},
		{"sudo ls", "sudo", nil}, // which permits nothing
		{"/usr/bin/sudo ls", "/usr/bin/sudo", nil},
		{"sudo ls -l", "sudo ls", []string{"sudo ls -l"}},
		{"github/create_issue", "github/*", []string{"github/create_issue"}},
		{"github/*", "github/create_issue", []string{"github/create_issue"}},
		{"github/create_*", "github/*", []string{"github/create_*"}},
		{"github/*", "git*", nil}, // that is for the agent's own tools
		{"gitlab/x", "github/*", nil},
		{"file_read", "group:fs", []string{"file_read"}},
		{"profile:reader", "group:fs", []string{"profile:reader"}},
		{"profile:developer", "group:fs", nil},
		{"web_fetch", "group:fs", nil},
		{"file_read", "file_*", []string{"file_read"}},
		{"group:fs", "gr*_*", nil},
		{"read", "rea_*", nil},
		{"read", "r*_*", nil},
		{"file_read", "*", nil}, // a program of that name
		{"read", "group:fs", nil},
		{"npx:x#1/y", "npx:x#1/*", []string{"npx:x#1/y"}},
	} {
		got := Charter{AutoApprove: []string{c.child}}.Under(Charter{AutoApprove: []string{c.parent}}).AutoApprove
		if len(got) != len(c.want) || len(got) > 0 && !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s under %s: %q, want %q", c.child, c.parent, got, c.want)
		}
	}
}

// TestEntriesMeet: an entry of a charter holds where its parent's says no less.
func TestEntriesMeet(t *testing.T) {
	one, five := 1, 5
	wide := approval.Entry{Pattern: "/x"}
	for name, c := range map[string]struct {
		wide, narrow approval.Entry
		meet         bool
	}{
		"the same":       {wide, wide, true},
		"folder":         {wide, approval.Entry{Pattern: "/x", Cwd: "/p"}, true},
		"another folder": {approval.Entry{Pattern: "/x", Cwd: "/q"}, approval.Entry{Pattern: "/x", Cwd: "/p"}, false},
		"arguments":      {wide, approval.Entry{Pattern: "/x", ArgPattern: "^a$"}, true},
		"words":          {wide, approval.Entry{Pattern: "/x", Args: []string{"a"}, ArgsExact: true}, true},
		"no more words":  {approval.Entry{Pattern: "/x", ArgsExact: true}, approval.Entry{Pattern: "/x", Args: []string{"a"}}, false},
		"fewer uses":     {approval.Entry{Pattern: "/x", UsesLeft: &five}, approval.Entry{Pattern: "/x", UsesLeft: &one}, true},
		"ends first":     {approval.Entry{Pattern: "/x", ExpiresAt: 9}, approval.Entry{Pattern: "/x", ExpiresAt: 8}, true},
		"session":        {wide, approval.Entry{Pattern: "/x", SessionKey: "s"}, true},
		"identity":       {approval.Entry{Pattern: "/x", RequireIdentity: "sha256"}, approval.Entry{Pattern: "/x", RequireIdentity: "signer"}, false},
		"of a tool":      {approval.Entry{Pattern: "tool:g/*"}, approval.Entry{Pattern: "tool:g/x", When: map[string]string{"repo": "me/*"}}, true},
		"another value":  {approval.Entry{Pattern: "tool:g/*", When: map[string]string{"repo": "you/*"}}, approval.Entry{Pattern: "tool:g/x", When: map[string]string{"repo": "me/*"}}, false},
		"tool, program":  {approval.Entry{Pattern: "tool:*"}, approval.Entry{Pattern: "/x"}, false},
		"off":            {approval.Entry{Pattern: "/x", Disabled: true}, wide, false},
		"notes":          {approval.Entry{Pattern: "/x", Note: "a", ID: "1"}, approval.Entry{Pattern: "/x", Note: "b", ID: "2"}, true},
	} {
		got := Charter{Entries: []approval.Entry{c.narrow}}.Under(Charter{Entries: []approval.Entry{c.wide}}).Entries
		if met := len(got) == 1 && reflect.DeepEqual(got[0], c.narrow); met != c.meet || len(got) == 1 != c.meet {
			t.Errorf("%s: %+v", name, got)
		}
		turned := Charter{Entries: []approval.Entry{c.wide}}.Under(Charter{Entries: []approval.Entry{c.narrow}}).Entries
		if met := len(turned) == 1; met != c.meet || met && !covers(c.wide, turned[0]) {
			t.Errorf("%s, turned round: %+v", name, turned)
		}
	}
	// A field that this code has not heard of must not be widened by a child.
	for field := range reflect.TypeFor[approval.Entry]().Fields() {
		e := approval.Entry{Pattern: "/x"}
		v := reflect.ValueOf(&e).Elem().FieldByName(field.Name)
		if v.Kind() != reflect.Slice || field.Name == "Args" {
			continue
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		if covers(wide, e) || covers(e, wide) {
			t.Errorf("%s is not compared", field.Name)
		}
	}
}

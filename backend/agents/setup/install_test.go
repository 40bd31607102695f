package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"
)

// started is what hooks start in tests of texts.
var started = call{
	argv: []string{"/opt/count me/countersign", "hook", "AGENT", "--timeout", "59m55s"},
	line: "'/opt/count me/countersign' hook AGENT --timeout 59m55s",
	wait: time.Hour,
}

// starting is that for one agent.
func starting(agent string) call {
	c := started
	c.argv = slices.Clone(c.argv)
	c.argv[2], c.line = agent, strings.ReplaceAll(c.line, "AGENT", agent)
	return c
}

func targetOf(t *testing.T, agent string) target {
	t.Helper()
	found, _, err := find(agent)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// fixtures are the settings files in testdata/install, named AGENT.WHAT.in.
func fixtures(t *testing.T) map[string][]byte {
	t.Helper()
	files, _ := filepath.Glob("testdata/install/*.in")
	if len(files) < 12 {
		t.Fatalf("only %d settings files found", len(files))
	}
	texts := map[string][]byte{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(f), ".in")] = text
	}
	return texts
}

// TestInstalledText compares what is written with testdata/install/*.want.
// COUNTERSIGN_UPDATE=1 writes those.
func TestInstalledText(t *testing.T) {
	all := fixtures(t)
	for _, agent := range Agents() {
		if targetOf(t, agent).user != "" {
			all[agent+".missing"] = nil
		}
	}
	for name, in := range all {
		t.Run(name, func(t *testing.T) {
			agent, _, _ := strings.Cut(name, ".")
			d, err := putIn(in, targetOf(t, agent), starting(agent))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata/install", name+".want")
			if os.Getenv("COUNTERSIGN_UPDATE") != "" {
				if err := os.WriteFile(path, d.bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(d.bytes())); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestFixturesComeBack installs into each fixture for each agent, and takes it
// out in both ways.
func TestFixturesComeBack(t *testing.T) {
	for name, in := range fixtures(t) {
		for _, agent := range Agents() {
			if target := targetOf(t, agent); target.user != "" {
				t.Run(agent+" "+name, func(t *testing.T) { comesBack(t, in, target) })
			}
		}
	}
}

// comesBack is the property of all edits: the file keeps all its values, the
// spans taken out give the same bytes, and so does what was there when our hook
// is cut out as from an edited file, but for the space around it.
func comesBack(t *testing.T, in []byte, target target) {
	t.Helper()
	d, err := putIn(in, target, starting(target.agent))
	if err != nil {
		t.Fatalf("cannot install: %v\n%s", err, in)
	}
	out := d.bytes()
	if got, want := values(t, out, target), values(t, in, target); !cmp.Equal(want, got) {
		t.Errorf("install changed other values: %s\nbefore:\n%s\nafter:\n%s", cmp.Diff(want, got), in, out)
	}
	back, err := without(out, shifted(d.spans, len(d.mark)))
	if err != nil || !bytes.Equal(back, in) {
		t.Errorf("the spans do not give the file back (%v):\n%q\n%q", err, in, back)
	}
	cut, err := takeOut(out, target, append([]string{}, d.made...))
	if err != nil {
		t.Fatalf("cannot cut it out: %v\n%s", err, out)
	}
	if left := handlersIn(t, cut, target); len(left) > 0 {
		t.Errorf("%d hooks of ours are left:\n%s", len(left), cut)
	}
	if got, want := values(t, cut, target), values(t, in, target); !cmp.Equal(want, got) {
		t.Errorf("cutting out changed other values: %s\nbefore:\n%s\nafter:\n%s", cmp.Diff(want, got), in, cut)
	}
	if got, want := comments(cut, target.agent), comments(in, target.agent); !cmp.Equal(want, got) {
		t.Errorf("cutting out changed comments: %s\nbefore:\n%s\nafter:\n%s", cmp.Diff(want, got), in, cut)
	}
	again, err := putIn(cut, target, starting(target.agent))
	if err != nil || fingerprint(ownHandlers(&again.root, target.agent)) != fingerprint(handlersIn(t, out, target)) {
		t.Errorf("it cannot be installed again (%v):\n%s", err, cut)
	}
}

func handlersIn(t *testing.T, text []byte, target target) []own {
	t.Helper()
	d, err := parse(text)
	if err == errNoValue {
		return nil
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return ownHandlers(&d.root, target.agent)
}

// values are those of a file without what is ours: an empty list or object that
// stands for our hooks counts as none, and so does a missing file.
func values(t *testing.T, text []byte, target target) any {
	t.Helper()
	d, err := parse(text)
	if err == errNoValue {
		return map[string]any{}
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var all map[string]any
	if err := json.Unmarshal([]byte(small(&d.root)), &all); err != nil {
		t.Fatal(err)
	}
	if target.versioned {
		delete(all, "version")
	}
	hooks, _ := all["hooks"].(map[string]any)
	for name, elements := range hooks {
		if hooks[name] = foreign(elements.([]any)); len(hooks[name].([]any)) == 0 {
			delete(hooks, name)
		}
	}
	if len(hooks) == 0 {
		delete(all, "hooks")
	}
	return all
}

// foreign are the handlers of others, and the groups that have some.
func foreign(elements []any) []any {
	return slices.DeleteFunc(elements, func(v any) bool {
		group, _ := v.(map[string]any)
		if handlers, ok := group["hooks"].([]any); ok {
			group["hooks"] = foreign(handlers)
			return len(group["hooks"].([]any)) == 0
		}
		return strings.Contains(string(compact(v)), started.argv[0])
	})
}

// comments are those of a text, in order, but for those inside of our handlers.
func comments(text []byte, agent string) (list []string) {
	d, _ := parse(text)
	if d.root.Value == nil {
		return found(d.text)
	}
	visit := func(extra hujson.Extra) { list = append(list, found(extra)...) }
	walk(&d.root, agent, visit)
	return list
}

func walk(v *hujson.Value, agent string, visit func(hujson.Extra)) {
	visit(v.BeforeExtra)
	if starts(v, agent) != nil {
		visit(v.AfterExtra)
		return
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			walk(&c.Members[i].Name, agent, visit)
			walk(&c.Members[i].Value, agent, visit)
		}
		visit(c.AfterExtra)
	case *hujson.Array:
		for i := range c.Elements {
			walk(&c.Elements[i], agent, visit)
		}
		visit(c.AfterExtra)
	}
	visit(v.AfterExtra)
}

// found are the comments in what stands between values.
func found(extra []byte) (list []string) {
	for i := 0; i < len(extra); i++ {
		if extra[i] == '/' {
			end := min(endOfComment(extra, i), len(extra)-1)
			list = append(list, strings.TrimSpace(string(extra[i:end+1])))
			i = end
		}
	}
	return list
}

//go:build linux || darwin

package toolpolicy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/project"
)

// world is a home with a project in it, on the real disk.
type world struct {
	t             *testing.T
	home, project string
	policy        approval.Policy
	agent         string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: dir + "/home/dev", agent: "main"}
	w.project = w.home + "/work/app"
	for _, sub := range []string{"work/app/src", "work/appevil", "work/app/.git/hooks", ".ssh", ".aws", ".openclaw", "other"} {
		w.must(os.MkdirAll(w.home+"/"+sub, 0o755))
	}
	for _, name := range []string{"work/app/out.txt", "work/app/a..b", ".ssh/id_rsa", ".ssh/known_hosts", ".openclaw/operator.key", "other/x", "work/app/.env"} {
		w.must(os.WriteFile(w.home+"/"+name, []byte("x"), 0o600))
	}
	w.must(os.Symlink("/etc/shadow", w.project+"/lnkshadow"))
	w.must(os.Symlink(w.home+"/other", w.project+"/lnkother"))
	w.must(os.Symlink(w.home+"/.ssh/id_rsa", w.project+"/lnkkey"))
	w.must(os.Symlink("nowhere", w.project+"/dangling"))
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) machine() Machine {
	a := &command.Analyzer{World: machine.Disk{}, Home: w.home, Ours: []string{w.home + "/.openclaw"}}
	search := a.Searcher(w.t.Context())
	return Machine{Home: w.home, Look: a.World.Look, Link: readlink, Protected: a.Protected, Search: func(folder string, o Opened) (string, bool) {
		return search.Searched(folder, o.Only, o.Not, o.Ignores)
	}}
}

// folder is the session's folder, where the person named the one that the call
// says.
func (w *world) folder(cwd string) approval.Folder {
	real := cwd
	if file, err := (machine.Disk{}).Look(cwd); err == nil {
		real = file.Path
	}
	return project.Find(cwd, project.Person{Home: w.home, UID: os.Getuid()}, []approval.Project{{Path: real}}, machine.Disk{})
}

func (w *world) judge(call approval.ToolCall, session string) (approval.Judgement, approval.Tool) {
	w.t.Helper()
	if call.Cwd == "" {
		call.Cwd = w.project
	}
	tool, err := Look(&call, w.folder(call.Cwd), w.machine())
	if err != nil {
		return approval.Judgement{Verdict: "invalid", Finding: approval.Finding{Sentence: err.Error()}}, tool
	}
	in := Input{Tool: &tool, Args: ArgsOf(&tool), Cwd: call.Cwd, SessionKey: session, Now: time.UnixMilli(1_000_000)}
	return Prepare(w.policy, w.home).Evaluate(in), tool
}

func call(tool string, args ...string) approval.ToolCall {
	object := map[string]string{}
	for i := 0; i < len(args); i += 2 {
		object[args[i]] = args[i+1]
	}
	text, _ := json.Marshal(object)
	return approval.ToolCall{Tool: tool, Args: text}
}

// TestDefaults is what holds without any rule.
func TestDefaults(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		tool, path string
		want       approval.Verdict
	}{
		{"file_read", "out.txt", "allow"}, {"file_read", "src/not-there.go", "allow"}, {"file_read", "./src/../out.txt", "allow"}, {"file_read", "a..b", "allow"},
		{"read", "out.txt", "allow"}, {"file_read", w.home + "/work/app/out.txt", "allow"}, {"file_read", "~/work/app/out.txt", "allow"},
		{"file_read", "../appevil/x", "ask"}, {"file_read", w.home + "/work/appevil/x", "ask"}, {"file_read", w.home + "/other/x", "ask"},
		{"file_read", "lnkother/x", "ask"}, {"file_read", "lnkother/../out.txt", "ask"}, {"file_read", "/etc/hosts", "ask"}, {"file_read", "~root/x", "ask"},
		{"file_read", "nowhere/../../other/x", "ask"},
		{"file_read", "~/.ssh/id_rsa", "deny"}, {"file_read", "lnkkey", "deny"}, {"file_read", "lnkshadow", "deny"}, {"file_read", "/etc/shadow", "deny"},
		{"file_read", "/System/Volumes/Data/private/etc/master.passwd", "deny"}, {"file_read", "/private/etc/sudoers", "deny"},
		{"file_read", "/.vol/16777220/2", "deny"}, {"file_read", "/.nofollow/Users/dana/.aws/credentials", "deny"}, {"file_read", "/.Resolve/1/etc/hosts", "deny"},
		{"file_read", ".env", "deny"}, {"file_read", ".env.example", "allow"}, {"file_read", "~/.AWS/credentials", "deny"}, {"file_read", "/proc/self/environ", "deny"},
		{"file_read", "~/.openclaw/operator.key", "deny"}, {"file_read", "server.pem", "deny"}, {"file_read", "~/.ssh/known_hosts", "ask"}, {"file_read", "/dev/sda", "deny"},
		{"file_read", "file:///etc/shadow", "deny"}, {"file_read", "", "invalid"}, {"file_read", "a\x00b", "invalid"},
		{"file_write", "out.txt", "ask"}, {"file_write", ".git/hooks/pre-commit", "ask"}, {"file_write", "dangling", "ask"}, {"file_write", "~/.bashrc", "ask"},
		{"file_write", "~/.ssh/authorized_keys", "ask"}, {"file_write", "~/.ssh", "deny"}, {"file_write", "~/.openclaw/x", "deny"}, {"file_write", "/etc/sudoers.d/x", "deny"},
		{"file_edit", "out.txt", "ask"}, {"file_delete", "out.txt", "ask"}, {"file_delete", "~/.ssh/id_rsa", "deny"}, {"file_delete", "~", "deny"},
		{"file_list", "~/.ssh", "allow"}, {"file_list", "/", "allow"}, {"file_search", "src", "allow"}, {"file_search", "~", "ask"}, {"file_search", "~/.ssh", "deny"},
		{"unknown_tool", "out.txt", "ask"}, {"unknown_tool", "~/.ssh/id_rsa", "deny"},
	} {
		j, _ := w.judge(call(c.tool, "path", c.path), "")
		if j.Verdict != c.want {
			t.Errorf("%s %q: %s, %s (%s); want %s", c.tool, c.path, j.Verdict, j.Reason, j.Sentence, c.want)
		}
		if j.Verdict != approval.VerdictAllow && j.Sentence == "" {
			t.Errorf("%s %q: no sentence", c.tool, c.path)
		}
	}
}

func TestFolderOfTheSession(t *testing.T) {
	w := newWorld(t)
	for cwd, want := range map[string]approval.Verdict{
		w.project: "allow", w.home + "/work": "allow", w.home: "ask", filepath.Dir(w.home): "ask", "/": "ask", "/tmp": "ask", w.home + "/.ssh": "ask", w.home + "/nowhere": "ask",
	} {
		c := call("file_read", "path", w.project+"/out.txt")
		c.Cwd = cwd
		if cwd == w.home+"/.ssh" {
			c = call("file_read", "path", "known_hosts")
			c.Cwd = cwd
		}
		if j, _ := w.judge(c, ""); j.Verdict != want {
			t.Errorf("in %s: %s (%s)", cwd, j.Verdict, j.Sentence)
		}
	}
}

func TestFetch(t *testing.T) {
	w := newWorld(t)
	for url, want := range map[string]approval.Verdict{
		"https://example.com/x": "allow", "http://169.254.169.254/latest/meta-data": "ask", "http://localhost:8080/": "ask", "file:///etc/passwd": "invalid", "example.com": "invalid", "javascript:x": "invalid",
	} {
		if j, _ := w.judge(call("web_fetch", "url", url), ""); j.Verdict != want {
			t.Errorf("%s: %s (%s)", url, j.Verdict, j.Sentence)
		}
	}
	if _, tool := w.judge(call("web_fetch", "url", "https://u:secret@example.com/"), ""); strings.Contains(Text(&tool), "secret") {
		t.Errorf("the password is shown: %s", Text(&tool))
	}
}

func entryFor(name string, when map[string]string) approval.Entry {
	return approval.Entry{ID: name, Pattern: approval.ToolMark + name, When: when}
}

func TestEntries(t *testing.T) {
	w := newWorld(t)
	one, none := 1, 0
	server := func(tool string, args ...string) approval.ToolCall {
		c := call(tool, args...)
		c.Server = "github"
		return c
	}
	for _, c := range []struct {
		name  string
		entry approval.Entry
		call  approval.ToolCall
		want  approval.Verdict
	}{
		{"inside", entryFor("file_write", nil), call("file_write", "path", "out.txt", "content", "x"), "allow"},
		{"outside", entryFor("file_write", nil), call("file_write", "path", w.home+"/other/x"), "ask"},
		{"next to it by name", entryFor("file_write", nil), call("file_write", "path", w.home+"/work/appevil/x"), "ask"},
		{"through a link", entryFor("file_write", nil), call("file_write", "path", "lnkother/x"), "ask"},
		{"start-up file", entryFor("file_write", nil), call("file_write", "path", ".git/hooks/x"), "ask"},
		{"secret", entryFor("*", nil), call("file_read", "path", "~/.ssh/id_rsa"), "deny"},
		{"path outside", entryFor("file_write", map[string]string{"path": w.home + "/other/**"}), call("file_write", "path", w.home+"/other/a/b"), "allow"},
		{"other path", entryFor("file_write", map[string]string{"path": w.home + "/other/**"}), call("file_write", "path", w.home+"/otherx/a"), "ask"},
		{"path by its link", entryFor("file_write", map[string]string{"path": w.home + "/other/**"}), call("file_write", "path", "lnkother/x"), "allow"},
		{"alias", entryFor("write", nil), call("file_write", "path", "out.txt"), "allow"},
		{"server", entryFor("github/create_issue", nil), server("create_issue", "repo", "a/b"), "allow"},
		{"server, other tool", entryFor("github/create_issue", nil), server("delete_repo", "repo", "a/b"), "ask"},
		{"own tool's entry", entryFor("create_issue", nil), server("create_issue", "repo", "a/b"), "ask"},
		{"argument", entryFor("github/*", map[string]string{"repo": "a/*"}), server("create_issue", "repo", "a/b"), "allow"},
		{"other argument", entryFor("github/*", map[string]string{"repo": "a/*"}), server("create_issue", "repo", "x/a/b"), "ask"},
		{"missing argument", entryFor("github/*", map[string]string{"repo": "*"}), server("create_issue", "title", "t"), "ask"},
		{"further argument", approval.Entry{ID: "e", Pattern: "tool:github/*", When: map[string]string{"repo": "a/b"}, ArgsExact: true}, server("create_issue", "repo", "a/b", "x", "y"), "ask"},
		{"exactly", approval.Entry{ID: "e", Pattern: "tool:github/*", When: map[string]string{"repo": "a/b"}, ArgsExact: true}, server("create_issue", "repo", "a/b"), "allow"},
		{"other session", approval.Entry{ID: "e", Pattern: "tool:github/*", SessionKey: "s2"}, server("x"), "ask"},
		{"this session", approval.Entry{ID: "e", Pattern: "tool:github/*", SessionKey: "s1"}, server("x"), "allow"},
		{"over", approval.Entry{ID: "e", Pattern: "tool:github/*", ExpiresAt: 999_999}, server("x"), "ask"},
		{"uses", approval.Entry{ID: "e", Pattern: "tool:github/*", UsesLeft: &one}, server("x"), "allow"},
		{"no uses", approval.Entry{ID: "e", Pattern: "tool:github/*", UsesLeft: &none}, server("x"), "ask"},
		{"disabled", approval.Entry{ID: "e", Pattern: "tool:github/*", Disabled: true}, server("x"), "ask"},
		{"folder", approval.Entry{ID: "e", Pattern: "tool:github/*", Cwd: w.home + "/work"}, server("x"), "allow"},
		{"other folder", approval.Entry{ID: "e", Pattern: "tool:github/*", Cwd: w.home + "/other"}, server("x"), "ask"},
		{"program's entry", approval.Entry{ID: "e", Pattern: "file_write"}, call("file_write", "path", "out.txt"), "ask"},
	} {
		w.policy = approval.Policy{AgentID: "main", Allowlist: []approval.Entry{c.entry}}
		j, _ := w.judge(c.call, "s1")
		if j.Verdict != c.want {
			t.Errorf("%s: %s (%s)", c.name, j.Verdict, j.Sentence)
		}
		if j.Verdict == approval.VerdictAllow && j.Segments[0].EntryID != c.entry.ID {
			t.Errorf("%s: passed by %q", c.name, j.Segments[0].Entry)
		}
	}
}

// TestLayers: every layer must agree, deny wins, and none can loosen another.
func TestLayers(t *testing.T) {
	w := newWorld(t)
	rule := func(r approval.ToolRule) map[string]approval.ToolRule {
		return map[string]approval.ToolRule{"file_write": r}
	}
	write := call("file_write", "path", "out.txt", "content", "abc")
	for _, c := range []struct {
		name   string
		layers []approval.ToolLayer
		call   approval.ToolCall
		want   approval.Verdict
	}{
		{"full", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full"})}}, write, "allow"},
		{"full and allowlist", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full"})}, {Rules: rule(approval.ToolRule{Security: "allowlist"})}}, write, "ask"},
		{"full and deny", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "deny"})}, {Rules: rule(approval.ToolRule{Security: "full"})}}, write, "deny"},
		{"full of a secret", []approval.ToolLayer{{Rules: map[string]approval.ToolRule{"*": {Security: "full"}}}}, call("file_read", "path", "~/.ssh/id_rsa"), "deny"},
		{"full of a start-up file", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full"})}}, call("file_write", "path", ".git/hooks/x"), "ask"},
		{"denied by wildcard", []approval.ToolLayer{{Deny: []string{"file_*"}}}, write, "deny"},
		{"denied by group", []approval.ToolLayer{{Deny: []string{"group:fs"}}}, write, "deny"},
		{"allowed and denied", []approval.ToolLayer{{Allow: []string{"*"}, Deny: []string{"file_write"}}}, write, "deny"},
		{"not among the allowed", []approval.ToolLayer{{Allow: []string{"group:web"}}}, write, "deny"},
		{"none allowed", []approval.ToolLayer{{Allow: []string{}}}, write, "deny"},
		{"allowed is not passed", []approval.ToolLayer{{Allow: []string{"group:fs"}}}, write, "ask"},
		{"path in", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", PathRestrictions: []string{w.project}})}}, write, "allow"},
		{"path beside", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", PathRestrictions: []string{w.project}})}}, call("file_write", "path", w.home+"/work/appevil/x"), "deny"},
		{"path out by a link", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", PathRestrictions: []string{w.project}})}}, call("file_write", "path", "lnkother/x"), "deny"},
		{"forbidden argument", []approval.ToolLayer{{Rules: rule(approval.ToolRule{ArgRestrictions: map[string]approval.ArgRule{"content": {Forbidden: true}}})}}, write, "deny"},
		{"required argument", []approval.ToolLayer{{Rules: rule(approval.ToolRule{ArgRestrictions: map[string]approval.ArgRule{"why": {Required: true}}})}}, write, "deny"},
		{"pattern, whole", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", ArgRestrictions: map[string]approval.ArgRule{"content": {Pattern: "b|abc"}}})}}, write, "allow"},
		{"pattern, part", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", ArgRestrictions: map[string]approval.ArgRule{"content": {Pattern: "b"}}})}}, write, "deny"},
		{"one of", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", ArgRestrictions: map[string]approval.ArgRule{"content": {OneOf: []string{"x"}}}})}}, write, "deny"},
		{"too long", []approval.ToolLayer{{Rules: rule(approval.ToolRule{Security: "full", ArgRestrictions: map[string]approval.ArgRule{"content": {MaxLength: 2}}})}}, write, "deny"},
	} {
		w.policy = approval.Policy{AgentID: "main", Tools: c.layers}
		if j, _ := w.judge(c.call, ""); j.Verdict != c.want {
			t.Errorf("%s: %s (%s)", c.name, j.Verdict, j.Sentence)
		}
	}
	w.policy = approval.Policy{Tools: []approval.ToolLayer{{Rules: map[string]approval.ToolRule{"bash": {Ask: "always"}}}}}
	if j, _ := w.judge(call("bash_execute", "command", "ls"), ""); j.Ask != approval.AskAlways {
		t.Errorf("ask always of a rule: %q", j.Ask)
	}
}

// TestOffers: what always would write lets just such calls pass, and no others.
func TestOffers(t *testing.T) {
	w := newWorld(t)
	github := call("create_issue", "repo", "a/b", "title", "it's *")
	github.Server = "github"
	for _, c := range []struct {
		name         string
		call         approval.ToolCall
		widths       []approval.Width
		others, also approval.ToolCall // what the narrowest must not cover, and the widest must
	}{
		{"write", call("file_write", "path", "out.txt", "content", "x"), []approval.Width{"exact", "words", "program"}, call("file_write", "path", "src/y"), call("file_write", "path", "src/y")},
		{"write outside", call("file_write", "path", w.home+"/other/x"), []approval.Width{"exact", "words"}, call("file_write", "path", w.home+"/other/y"), call("file_write", "path", w.home+"/other/y")},
		{"delete", call("file_delete", "path", "out.txt"), []approval.Width{"exact"}, call("file_delete", "path", "src"), call("file_delete", "path", "out.txt")},
		{"fetch", call("web_fetch", "url", "http://localhost:80/a"), []approval.Width{"exact", "words"}, call("web_fetch", "url", "http://localhost:80/b"), call("web_fetch", "url", "http://localhost:80/b")},
		{"server", github, []approval.Width{"exact", "program"}, approval.ToolCall{Tool: "create_issue", Server: "github", Args: json.RawMessage(`{"repo":"a/b","title":"it's x"}`)}, approval.ToolCall{Tool: "create_issue", Server: "github", Args: json.RawMessage(`{"repo":"z"}`)}},
		{"start-up", call("file_write", "path", ".git/hooks/x"), nil, approval.ToolCall{}, approval.ToolCall{}},
		{"read in two ways", call("file_read", "path", "@/etc/hosts"), nil, approval.ToolCall{}, approval.ToolCall{}},
	} {
		w.policy = approval.Policy{AgentID: "main"}
		j, _ := w.judge(c.call, "")
		var widths []approval.Width
		for _, o := range j.Offers {
			widths = append(widths, o.Width)
			w.policy.Allowlist = o.Writes
			if again, _ := w.judge(c.call, ""); again.Verdict != approval.VerdictAllow {
				t.Errorf("%s: the %s entry %+v does not cover the call itself", c.name, o.Width, o.Writes)
			}
		}
		if !slices.Equal(widths, c.widths) {
			t.Fatalf("%s: widths %v", c.name, widths)
		}
		if widths == nil {
			continue
		}
		w.policy.Allowlist = j.Writes
		if other, _ := w.judge(c.others, ""); other.Verdict == approval.VerdictAllow {
			t.Errorf("%s: the narrowest entry %+v covers %s", c.name, j.Writes, c.others.Args)
		}
		w.policy.Allowlist = j.Offers[len(j.Offers)-1].Writes
		if also, _ := w.judge(c.also, ""); also.Verdict != approval.VerdictAllow {
			t.Errorf("%s: the widest entry does not cover %s", c.name, c.also.Args)
		}
	}
	no := call("file_write", "path", "out.txt")
	no.NoAlways = true
	w.policy = approval.Policy{AgentID: "main"}
	if j, _ := w.judge(no, ""); len(j.Offers)+len(j.Writes) > 0 {
		t.Error("what the agent says must not be remembered is offered")
	}
}

// TestVectors compares with what is sound by file-tools.json. Its policy lets
// file_write pass in the folder of the session.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/file-tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct{ Tool, Path, Sound string }
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.policy = approval.Policy{Allowlist: []approval.Entry{entryFor("file_write", nil)}}
	move := strings.NewReplacer("/srv/appevil", w.home+"/work/appevil", "/srv/app", w.project, "/home/dev", w.home, "/home/u", w.home)
	words := map[approval.Verdict]string{approval.VerdictAllow: "allow", approval.VerdictAsk: "prompt", approval.VerdictDeny: "deny"}
	compared := 0
	for _, v := range vectors.Cases {
		if v.Sound == "" {
			continue
		}
		compared++
		key := "path"
		if v.Tool == "web_fetch" {
			key = "url"
		}
		j, _ := w.judge(call(v.Tool, key, move.Replace(v.Path)), "")
		if words[j.Verdict] != v.Sound {
			t.Errorf("%s %s: %s (%s), and %s is sound", v.Tool, v.Path, j.Verdict, j.Sentence, v.Sound)
		}
	}
	if compared < 9 {
		t.Errorf("only %d vectors say what is sound", compared)
	}
}

func TestBadCalls(t *testing.T) {
	w := newWorld(t)
	deep := strings.Repeat(`{"a":`, 40) + "1" + strings.Repeat("}", 40)
	for name, c := range map[string]approval.ToolCall{
		"no tool": {}, "blank in the name": {Tool: "a b"}, "hidden in the name": {Tool: "a\u200bb"}, "long name": {Tool: strings.Repeat("a", 300)},
		"slash in the server": {Tool: "a", Server: "b/c"}, "list": {Tool: "a", Args: json.RawMessage(`[]`)}, "null": {Tool: "a", Args: json.RawMessage(`null`)},
		"cut off": {Tool: "a", Args: json.RawMessage(`{"a":`)}, "two values": {Tool: "a", Args: json.RawMessage(`{} {}`)}, "twice": {Tool: "a", Args: json.RawMessage(`{"a":1,"a":2}`)},
		"twice, escaped": {Tool: "a", Args: json.RawMessage(`{"a":1,"\u0061":2}`)}, "deep": {Tool: "a", Args: json.RawMessage(deep)}, "no UTF-8": {Tool: "a", Args: json.RawMessage("{\"a\":\"\xff\"}")},
		"rounded number": {Tool: "a", Args: json.RawMessage(`{"a":9007199254740993}`)}, "huge number": {Tool: "a", Args: json.RawMessage(`{"a":1e999}`)},
		"long": {Tool: "a", Args: json.RawMessage(`{"a":"` + strings.Repeat("x", maxArgs) + `"}`)}, "many": {Tool: "a", Args: json.RawMessage(`{"a":[` + strings.Repeat("1,", maxNodes) + `1]}`)},
		"no command": {Tool: "bash", Args: json.RawMessage(`{"Command":"ls"}`)}, "command of another kind": {Tool: "bash", Args: json.RawMessage(`{"command":["ls"]}`)}, "no path": {Tool: "read"},
		"path of another kind": {Tool: "read", Args: json.RawMessage(`{"path":1}`)},
	} {
		if j, _ := w.judge(c, ""); j.Verdict != "invalid" {
			t.Errorf("%s: %s", name, j.Verdict)
		}
	}
	if j, _ := w.judge(approval.ToolCall{Tool: "x", Args: json.RawMessage(`{"a":0.1,"b":9007199254740992,"c":1.0,"d":-0}`)}, ""); j.Verdict == "invalid" {
		t.Errorf("numbers that are exact: %s", j.Sentence)
	}
}

// TestDigest: a call has the same name however it is written, and another one
// when anything of it differs.
func TestDigest(t *testing.T) {
	w := newWorld(t)
	look := func(c approval.ToolCall) string {
		tool, err := Look(&c, w.folder(c.Cwd), w.machine())
		w.must(err)
		return tool.Digest
	}
	base := approval.ToolCall{Tool: "x", Server: "s", Args: json.RawMessage(`{"a":1,"b":"c"}`), Cwd: "/p", AgentID: "m"}
	same, args, cwd, env, agent, server := base, base, base, base, base, base
	same.Args = json.RawMessage(" {\"b\": \"\\u0063\", \"a\": 1.0}")
	args.Args, cwd.Cwd, env.Env, agent.AgentID, server.Server = json.RawMessage(`{"a":1,"b":"d"}`), "/q", map[string]string{"A": "b"}, "n", "t"
	if look(base) != look(same) {
		t.Error("two spellings have two names")
	}
	for name, other := range map[string]approval.ToolCall{"arguments": args, "folder": cwd, "environment": env, "agent": agent, "server": server} {
		if look(base) == look(other) {
			t.Errorf("another %s has the same name", name)
		}
	}
}

// TestRisk: the table of weights is in order, its words are as the
// bounds say, and what adds risk never lowers it.
func TestRisk(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		call approval.ToolCall
		want approval.Risk
	}{
		{call("file_read", "path", "out.txt"), "low"}, {call("file_list", "path", "src"), "low"}, {call("web_fetch", "url", "https://example.com"), "low"},
		{call("file_write", "path", "out.txt"), "low"}, {call("file_read", "path", "/etc/hosts"), "medium"}, {call("unknown"), "medium"},
		{call("file_write", "path", w.home+"/other/x"), "high"}, {call("file_delete", "path", "/srv/x/y"), "high"}, {call("file_read", "path", "~/.ssh/id_rsa"), "high"},
	} {
		j, _ := w.judge(c.call, "")
		if j.Risk.Level != c.want || len(j.Risk.Reasons) == 0 {
			t.Errorf("%s %s: %d %s %v", c.call.Tool, c.call.Args, j.Risk.Score, j.Risk.Level, j.Risk.Reasons)
		}
	}
	last := approval.MostScore
	for _, one := range weights() {
		if one.points > last || one.says == "" {
			t.Errorf("%q is out of order", one.says)
		}
		last = one.points
	}
	for score, want := range map[int]approval.Risk{0: "low", 29: "low", 30: "medium", 59: "medium", 60: "high", 100: "high"} {
		if got := approval.RiskOf(score); got != want {
			t.Errorf("%d is %s", score, got)
		}
	}
}

// strangeAddresses have a machine for some readers, and a scheme for few.
var strangeAddresses = []string{"//x", "//x/y", "//x:80", "//user@x", "//x?a=http://y", "//[::1]", "///x", "//", "://x", "x://", "http:x", "http:/x", "http://", "http:////x", "a://b://c", "?//x", "#//x"}

// TestStrangeAddresses: what is no whole address is refused, and makes nobody
// fail who is asked about it.
func TestStrangeAddresses(t *testing.T) {
	w := newWorld(t)
	for _, address := range strangeAddresses {
		for _, tool := range []string{"web_fetch", "fetch", "unknown"} {
			c := call(tool, "url", address)
			looked, err := Look(&c, w.folder(c.Cwd), w.machine())
			if err != nil {
				continue
			}
			j := Prepare(approval.Policy{Security: approval.SecurityList, Ask: approval.AskAlways}, w.home).Evaluate(Input{Tool: &looked, Args: ArgsOf(&looked)})
			if j.Verdict == approval.VerdictAllow {
				t.Errorf("%s %s: %+v", tool, address, j)
			}
			if strings.HasPrefix(address, "//") {
				t.Errorf("%s %s is taken for an address: %+v", tool, address, looked.Addresses)
			}
		}
	}
}

// FuzzLook: no arguments make the analysis fail, and none let a secret pass.
func FuzzLook(f *testing.F) {
	for _, s := range []string{`{"path":"~/.ssh/id_rsa"}`, `{"path":"a/../../.ssh/id_rsa"}`, `{"paths":["x","/etc/shadow"]}`, `{"a":{"uri":"file:///etc/shadow"}}`, `{"url":"http://0x7f.1"}`, `{"path":"\u0000"}`} {
		f.Add("file_read", s)
		f.Add("x", s)
		f.Add("web_fetch", s)
	}
	for _, address := range strangeAddresses {
		f.Add("web_fetch", `{"url":"`+address+`"}`)
	}
	home, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	if err := os.MkdirAll(home+"/work/app", 0o755); err != nil {
		f.Fatal(err)
	}
	a := &command.Analyzer{World: machine.Disk{}, Home: home}
	m := Machine{Home: home, Look: a.World.Look, Link: readlink, Protected: a.Protected}
	f.Fuzz(func(t *testing.T, name, args string) {
		c := approval.ToolCall{Tool: name, Args: json.RawMessage(args), Cwd: home + "/work/app"}
		tool, err := Look(&c, approvaltest.Named(c.Cwd), m)
		if err != nil {
			return
		}
		if !json.Valid(tool.Args) || len(tool.Digest) != 64 {
			t.Errorf("args %q, digest %q", tool.Args, tool.Digest)
		}
		// Asked about, with all that is offered and shown then.
		Prepare(approval.Policy{Security: approval.SecurityList, Ask: approval.AskOnMiss}, home).Evaluate(Input{Tool: &tool, Args: ArgsOf(&tool), Cwd: c.Cwd})
		Plan(&tool)
		Text(&tool)
		Beside(&tool)
		j := Prepare(approval.Policy{Tools: []approval.ToolLayer{{Rules: map[string]approval.ToolRule{"*": {Security: "full"}}}}}, home).Evaluate(Input{Tool: &tool, Args: ArgsOf(&tool), Cwd: c.Cwd})
		for _, f := range tool.Files {
			if f.Inside && !within(f.Real, home+"/work/app") {
				t.Errorf("%q is inside", f.Real)
			}
			if f.Protected == approval.ProtectedKeys && tool.Name != fileList && j.Verdict == approval.VerdictAllow {
				t.Errorf("%s %s passes", name, args)
			}
		}
	})
}

// TestToolTravels: what is asked about a tool that nothing is known of is read
// again as it was written.
func TestToolTravels(t *testing.T) {
	w := newWorld(t)
	c := call("create_issue", "title", "x")
	c.Server = "github"
	_, tool := w.judge(c, "")
	p := approval.Prompt{
		ID: "1", Who: approval.Theirs, Plan: Plan(&tool),
		Judgement: approval.Judgement{Verdict: approval.VerdictAsk, Security: approval.SecurityList, Ask: approval.AskOnMiss, Segments: []approval.SegmentJudgement{}},
	}
	text, err := json.Marshal(p)
	w.must(err)
	var again approval.Prompt
	w.must(json.Unmarshal(text, &again))
	if again.Digest() != p.Digest() {
		t.Errorf("it is another question then: %s", text)
	}
}

// TestDeclaredRisk: what rules say of a tool raises its score, and never lowers it.
func TestDeclaredRisk(t *testing.T) {
	w := newWorld(t)
	score := func(rule approval.ToolRule) int {
		w.policy = approval.Policy{Tools: []approval.ToolLayer{{Rules: map[string]approval.ToolRule{"*": rule}}}}
		j, _ := w.judge(call("deploy"), "")
		return j.Risk.Score
	}
	unknown := score(approval.ToolRule{})
	if got := score(approval.ToolRule{Category: approval.CategoryAdmin}); got < approval.HighFrom {
		t.Errorf("a tool that administers: %d", got)
	}
	if got := score(approval.ToolRule{Risk: approval.ToolRiskCritical}); got < 90 {
		t.Errorf("a critical tool: %d", got)
	}
	w.policy = approval.Policy{Tools: []approval.ToolLayer{{Rules: map[string]approval.ToolRule{"Write": {Risk: approval.ToolRiskCritical}}}}}
	if j, _ := w.judge(call("write", "path", "out.txt"), ""); j.Risk.Score < 90 {
		t.Errorf("by the name that people see: %d", j.Risk.Score)
	}
	if got := score(approval.ToolRule{Risk: approval.ToolRiskNone}); got < unknown {
		t.Errorf("a tool without risk: %d, and %d without a rule", got, unknown)
	}
}

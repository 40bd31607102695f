//go:build linux || darwin

package toolpolicy

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

func readlink(at string) string {
	text, _ := os.Readlink(at)
	return text
}

// TestReadings: a name counts in every way that agents read it, and what cannot
// be told is never let through by an entry.
func TestReadings(t *testing.T) {
	w := newWorld(t)
	w.must(os.MkdirAll(w.project+"/deep/a/b/c", 0o755))
	w.must(os.Symlink("deep/a/b/c", w.project+"/pkg"))
	w.must(os.Symlink(w.home+"/.zshrc", w.project+"/dang"))
	w.must(os.Symlink("dang", w.project+"/dang2"))
	w.must(os.Symlink(w.home+"/.openclaw/new.json", w.project+"/state"))
	w.must(os.Symlink("loop", w.project+"/loop"))
	w.must(os.Symlink(w.home+"/other", w.project+"/lnk other"))
	w.policy.Allowlist = []approval.Entry{
		{Pattern: "tool:file_write"}, {Pattern: "tool:fs/*"}, {Pattern: "tool:me/*", When: map[string]string{"path": w.project + "/**"}},
		{Pattern: "tool:gh/create", When: map[string]string{"repo": "me/*"}}, {Pattern: "tool:gh/merge", ArgsExact: true, When: map[string]string{"repo": "me/x"}},
		{Pattern: "tool:gh/push", ArgsExact: true, When: map[string]string{"repo": "me/x", "force": "false"}},
		{Pattern: "tool:web_fetch", When: map[string]string{"url": "https://wiki.corp/*"}}, {Pattern: "tool:web_fetch", When: map[string]string{"url": "https://*.int.corp:*/*"}},
	}
	w.policy.Tools = []approval.ToolLayer{{Rules: map[string]approval.ToolRule{
		"ruled/*":    {ArgRestrictions: map[string]approval.ArgRule{"force": {Forbidden: true}, "env": {OneOf: []string{"dev"}}}},
		"web_search": {PathRestrictions: []string{w.project}},
		"fenced/*":   {PathRestrictions: []string{w.project}},
		"file_write": {ArgRestrictions: map[string]approval.ArgRule{"content": {MaxLength: 100}}},
	}}}
	long := `{"` + approval.Elided + `":{"bytes":99999,"head":"x","sha256":"y"}}`
	for _, c := range []struct{ tool, args, want string }{
		{"file_write", `{"path":"x","content":"y"}`, "allow"},
		{"file_write", `{"path":"x","content":"file: http://127.0.0.1 is a text"}`, "allow"},
		{"file_search", `{"pattern":"K","path":"http:/../../../.ssh"}`, "deny"},
		{"file_read", `{"path":"file:` + w.project + `/x?/../../../../../../../..` + w.home + `/.ssh/id_rsa"}`, "invalid"},
		{"file_read", `{"path":"file:` + w.project + `/out.txt"}`, "allow"},
		{"file_read", `{"pages":"./x"}`, "invalid"},
		{"file_write", `{"path":"dang","content":"y"}`, "ask"},
		{"file_write", `{"path":"dang2","content":"y"}`, "ask"},
		{"file_write", `{"path":"state","content":"y"}`, "deny"},
		{"file_write", `{"path":"loop","content":"y"}`, "ask"},
		{"file_read", `{"path":"pkg/../../../../other/x"}`, "ask"},
		{"file_read", `{"path":"pkg/../../../other/x"}`, "ask"},
		{"file_write", `{"path":"pkg/../../../other/x","content":"y"}`, "ask"},
		{"file_read", `{"path":".env "}`, "invalid"},
		{"file_read", `{"path":".env\u200b"}`, "invalid"},
		{"file_search", `{"pattern":"=","path":".","glob":".env"}`, "deny"},
		{"file_search", `{"pattern":"=","path":".","include":"**/.env*"}`, "deny"},
		{"file_search", `{"pattern":"=","path":".","glob":"*.go"}`, "allow"},
		{"bash", `{"command":"rm -rf x","workdir":"/"}`, "invalid"},
		{"bash", `{"command":"ls","Working-Directory":"/"}`, "invalid"},
		{"bash", `{"command":"ls","Command":"rm -rf x"}`, "invalid"},
		{"bash", `{"command":"sh","stdin":"rm -rf x"}`, "invalid"},
		{"bash", `{"command":"ls","description":"x","run_in_background":true}`, "allow"},
		{"file_read", `{"path":"@/etc/hosts"}`, "ask"},
		{"file_read", `{"path":"@~/.aws/credentials"}`, "deny"},
		{"file_read", `{"path":"@file:///etc/hosts"}`, "invalid"},
		{"file_read", `{"path":"@types/x.d.ts"}`, "allow"},
		{"file_read", `{"path":"~.aws/credentials"}`, "deny"},
		{"file_read", `{"path":"~dev/other/x"}`, "ask"},
		{"file_read", `{"path":"$HOME/other/x"}`, "ask"},
		{"file_read", `{"path":"${HOME}/.aws/credentials"}`, "deny"},
		{"file_read", `{"path":"$OLDPWD/x"}`, "ask"},
		{"file_read", `{"path":"$id.tsx"}`, "allow"},
		{"file_read", `{"path":"lnk\u00a0other/x"}`, "ask"},
		{"file_search", `{"pattern":"x","path":"src","include":"../../../other/*"}`, "ask"},
		{"file_search", `{"pattern":"x","path":"src","include":"{/etc/*,x}"}`, "ask"},
		{"file_search", `{"pattern":"x","path":"src","glob":"**/../../../other/*"}`, "ask"},
		{"file_search", `{"pattern":"x","path":"src","glob":["*.go","~/other/*"]}`, "ask"},
		{"file_search", `{"pattern":"x","path":"src","glob":"src/**/*.{ts,tsx}"}`, "allow"},
		{"web_fetch", `{"url":"https://wiki.corp/a"}`, "allow"},
		{"web_fetch", `{"url":"https://wiki.corp/a","urls":["https://example.com/"]}`, "allow"},
		{"web_fetch", `{"url":"https://wiki.corp/a","urls":["http://169.254.169.254/"]}`, "ask"},
		{"web_fetch", `{"url":"https://wiki.corp/a","URL":"http://10.0.0.1/"}`, "ask"},
		{"web_fetch", `{"url":"https://example.com/","uri":"http://169.254.169.254/"}`, "ask"},
		{"web_fetch", `{"url":"https://a.int.corp:80/b?c"}`, "allow"},
		{"web_fetch", `{"url":"https://10.0.0.1/?.int.corp:80/"}`, "ask"},
		{"web_fetch", `{"url":"https://10.0.0.1#.int.corp:80/"}`, "ask"},
		{"web_fetch", `{"url":"https://a.int.corp:x@10.0.0.1/"}`, "ask"},
		{"fs/move", `{"relative_path":"src/../../../.ssh/id_rsa"}`, "deny"},
		{"fs/move", `{"name":"../../.ssh/id_rsa"}`, "deny"},
		{"fs/move", `{"source":"` + "/" + strings.Repeat("./", 3000) + `x"}`, "invalid"},
		{"fs/get", `{"url":"/v1/things","from":""}`, "allow"},
		{"fs/get", `{"url":"example.com"}`, "allow"},
		{"fs/run", `{"source":"print(1)\nprint(2)\n"}`, "allow"},
		{"fs/run", `{"source":"x\n/../../../.ssh/id_rsa"}`, "invalid"},
		{"fs/run", `{"source":"x\n/../lnkkey"}`, "invalid"},
		{"fs/run", `{"name":"lnkkey"}`, "deny"},
		{"fs/run", `{"name":"lnkkey\n"}`, "invalid"},
		{"file_search", `{"pattern":"x"}`, "ask"}, {"file_search", `{"pattern":"x","glob":"!.env"}`, "allow"},
		{"web_search", `{"query":"x"}`, "allow"},
		{"fenced/get", `{"what":"src/../../../other/x"}`, "deny"},
		{"me/read", `{"":{"path":"` + w.project + `/x"},"path":"` + w.home + `/other/x"}`, "invalid"},
		{"me/read", `{"path":["` + w.project + `/x"],"path.0":"` + w.home + `/other/x"}`, "invalid"},
		{"gh/create", `{"repo":"me/x"}`, "allow"},
		{"gh/create", `{"repo":"me/../evil/x"}`, "ask"},
		{"gh/merge", `{"repo":"me/x"}`, "allow"},
		{"gh/create", `{"Repo":"me/x"}`, "ask"},
		{"gh/create", `{"repo":"me/x","Repo":"evil/x"}`, "ask"},
		{"gh/push", `{"repo":"me/x","force":false}`, "allow"},
		{"gh/push", `{"repo":"me/x","force":"false"}`, "ask"},
		{"gh/push", `{"repo":{"any":"me/x"},"force":false}`, "ask"},
		{"gh/merge", `{"repo":"me/x","admin":[]}`, "ask"},
		{"gh/merge", `{"repo":"me/x","admin":{}}`, "ask"},
		{"ruled/x", `{"force":[]}`, "deny"},
		{"ruled/x", `{"Force":true}`, "deny"},
		{"ruled/x", `{"env":[]}`, "deny"},
		{"file_write", `{"path":"x","content":` + long + `}`, "deny"},
	} {
		one := call(c.tool)
		if server, tool, ok := strings.Cut(c.tool, "/"); ok {
			one.Server, one.Tool = server, tool
		}
		one.Args = json.RawMessage(c.args)
		if got, _ := w.judge(one, ""); string(got.Verdict) != c.want {
			t.Errorf("%s %.120s: %s (%s), want %s", c.tool, c.args, got.Verdict, got.Sentence, c.want)
		}
	}
	for _, host := range []string{"127.0x.1:8080", "10.0x.1", "0x.0x", "127.0.0.08", "10.0.0.256", "1.2.3.4.5", "localhost..", "127.0.0.1..", "[::ffff:0:7f00:1]", "[64:ff9b:1::7f00:1]", "168.63.129.16", "kubernetes.default.svc"} {
		if got, _ := w.judge(call("fetch", "url", "http://"+host+"/"), ""); got.Verdict == approval.VerdictAllow {
			t.Errorf("%s passes for a public address", host)
		}
	}
}

// TestDeniedNames: who denies a tool denies it by every name that people see.
func TestDeniedNames(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ deny, tool string }{
		{"Bash", "bash"}, {"Read", "file_read"}, {"WebFetch", "fetch"}, {"FILE_READ", "read"}, {"mcp__github__*", "github/create_issue"}, {"GitHub/create_issue", "github/Create_Issue"},
		{"github/*", "github-delete_repo"}, {"github/delete_repo", "github-delete_repo"}, {"github/*", "mcp_github_delete_repo"}, {"*/delete_repo", "mcp_github_delete_repo"},
		{"mcp__github__*", "mcp_github_delete_repo"}, {"server-github/*", "npx:server-github#0123456789abcdef/delete_repo"}, {"npx/*", "npx:server-github#0123456789abcdef/delete_repo"},
		{"npx:server-github/delete_repo", "npx:server-github#0123456789abcdef/delete_repo"},
	} {
		for _, policy := range []approval.Policy{
			{Tools: []approval.ToolLayer{{Deny: []string{c.deny}}}}, {Tools: []approval.ToolLayer{{Rules: map[string]approval.ToolRule{c.deny: {Security: "deny"}}}}}, {Denylist: []approval.DenyRule{{Pattern: approval.ToolMark + c.deny}}},
		} {
			w.policy = policy
			one := call(c.tool, "command", "true", "path", "out.txt", "url", "https://example.com/")
			if server, tool, ok := strings.Cut(c.tool, "/"); ok {
				one.Server, one.Tool = server, tool
			}
			if got, _ := w.judge(one, ""); got.Verdict != approval.VerdictDeny {
				t.Errorf("deny %s: %s is %s", c.deny, c.tool, got.Verdict)
			}
		}
	}
}

// TestDeepNames: a path with thousands of folders that are not there costs few
// looks, since a call may hold hundreds of them.
func TestDeepNames(t *testing.T) {
	w := newWorld(t)
	m, looks := w.machine(), 0
	real := m.Look
	m.Look = func(at string) (approval.File, error) {
		looks++
		return real(at)
	}
	c := call("file_read", "path", strings.Repeat("a/", 2000)+"x")
	c.Cwd = w.project
	tool, err := Look(&c, approvaltest.Named(c.Cwd), m)
	if err != nil || !tool.Files[0].Inside || looks > 100 {
		t.Errorf("%d looks, %v", looks, err)
	}
}

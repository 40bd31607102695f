//go:build linux || darwin

package toolpolicy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestSearches: a search asks where it would open a file with secrets, by what its
// agent's tool reads of its arguments and by nothing else.
func TestSearches(t *testing.T) {
	for _, c := range []struct {
		args, opens, files string
		want               approval.Verdict
	}{
		{`{"path":"."}`, "", ".env", "ask"}, {`{"path":"."}`, "glob", ".env", "ask"}, {`{"path":"."}`, "", "a.go", "allow"}, {`{}`, "", ".env", "ask"}, {`{"path":"src"}`, "", ".env", "allow"},
		{`{"path":"src"}`, "", "src/deep/id_rsa", "ask"}, {`{"path":"src"}`, "", "src/deep/.npmrc", "ask"}, {`{"paths":["src","lib"]}`, "", "lib/server.key", "ask"}, {`{"path":"."}`, "", ".env~", "ask"},
		{`{"path":".","pattern":".env"}`, "glob", "a.go", "allow"}, {`{"path":"."}`, "-", ".env", "allow"}, {`{"path":"../other"}`, "", "../other/.env", "ask"},
		// Patterns of the argument that the tool reads.
		{`{"path":".","glob":"*.go"}`, "glob", ".env", "allow"}, {`{"path":".","glob":"*.{ts,tsx}"}`, "glob", ".env", "allow"}, {`{"path":".","glob":"*.go *.md"}`, "glob", ".env", "allow"}, {`{"path":".","glob":"*.go,*.md"}`, "glob", ".env", "allow"},
		{`{"path":".","glob":"**/*.go"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"*"}`, "glob", ".env", "ask"}, {`{"path":".","glob":".en?"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"[.]env"}`, "glob", ".env", "ask"},
		{`{"path":".","glob":"{.e,x}nv"}`, "glob", ".env", "ask"}, {`{"path":".","glob":".e*"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"*.[p]em"}`, "glob", "server.pem", "ask"}, {`{"path":".","glob":"*.PE?"}`, "glob", "server.pem", "ask"},
		{`{"path":".","glob":"@(.env|x)"}`, "glob", ".env", "deny"}, {`{"path":".","glob":"{.env,x}"}`, "glob", ".env", "deny"}, {`{"path":".","glob":"*.go .env"}`, "glob", ".env", "deny"}, {`{"path":".","glob":"**/.env"}`, "glob", "a.go", "deny"},
		{`{"path":".","globs":["*.go",".env"]}`, "glob", "a.go", "deny"}, {`{"path":".","file_glob":"{x,.env}"}`, "glob", "a.go", "deny"}, {`{"path":".","include":"../../.ssh/*"}`, "glob", "a.go", "deny"}, {`{"path":".","include_pattern":"x,/etc/*"}`, "glob", "a.go", "ask"},
		{`{"path":".","glob":"!.env"}`, "glob", ".env", "allow"}, {`{"path":".","glob":"!.env"}`, "glob", ".env src/.env", "allow"}, {`{"path":".","glob":"!*.go"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"!.env !x"}`, "glob", ".env", "allow"},
		{`{"path":".","glob":"*.go !x"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"!(x)"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"!!.env"}`, "glob", ".env", "deny"}, {`{"path":".","glob":"![.]env"}`, "glob", ".env", "ask"},
		// Those of others say nothing of what it opens.
		{`{"path":".","glob":"*.go"}`, "", ".env", "allow"}, {`{"path":".","include":"*.go"}`, "", ".env", "ask"}, {`{"path":".","include":"*.go"}`, "glob", ".env", "ask"}, {`{"path":".","glob":"*.go"}`, "include", ".env", "ask"}, {`{"path":".","Glob":"*.go"}`, "glob", ".env", "ask"}, {`{"path":".","exclude":".env"}`, "glob", ".env", "ask"},
		// What .gitignore names is not opened, unless a pattern or an argument brings it back.
		{`{"path":"."}`, "glob", "ignored.pem", "allow"}, {`{"path":"."}`, "", "sub/ignored.pem", "allow"}, {`{"path":".","glob":"*.p?m"}`, "glob", "ignored.pem", "ask"}, {`{"path":".","glob":"*.pem"}`, "glob", "a.go", "deny"}, {`{"path":".","no_ignore":true}`, "glob", "ignored.pem", "ask"},
		{`{"path":".","respectGitIgnore":"false"}`, "glob", "ignored.pem", "ask"}, {`{"path":".","ignoreCase":true}`, "glob", "ignored.pem", "allow"}, {`{"path":".","glob":"!x"}`, "glob", "ignored.pem", "allow"},
	} {
		w := newWorld(t)
		w.must(os.Remove(w.project + "/.env"))
		for _, link := range []string{"lnkshadow", "lnkother", "lnkkey", "dangling"} {
			w.must(os.Remove(w.project + "/" + link))
		}
		w.must(os.WriteFile(w.project+"/.gitignore", []byte("ignored.pem\n"), 0o600))
		for _, name := range strings.Fields(c.files + " src/a.go lib/b.go ../other/c") {
			w.must(os.MkdirAll(filepath.Dir(w.project+"/"+name), 0o755))
			w.must(os.WriteFile(w.project+"/"+name, []byte("x"), 0o600))
		}
		j, tool := w.judge(approval.ToolCall{Tool: "file_search", Opens: c.opens, Args: json.RawMessage(c.args)}, "")
		if j.Verdict != c.want {
			t.Errorf("%s, which %q tells, with %s: %s (%s) %+v", c.args, c.opens, c.files, j.Verdict, j.Sentence, tool.Files)
		}
	}
}

// TestSearchesCovered: no entry covers what a search finds.
func TestSearchesCovered(t *testing.T) {
	w := newWorld(t)
	w.policy = approval.Policy{AgentID: "main", Allowlist: []approval.Entry{{Pattern: "tool:file_search"}}}
	if j, _ := w.judge(call("file_search", "path", "."), ""); j.Verdict != approval.VerdictAsk || j.Reason != approval.ReasonProtectedState {
		t.Errorf("%s %s", j.Verdict, j.Sentence)
	}
}

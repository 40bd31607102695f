//go:build linux || darwin

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLinking is what is changed in a document of OpenClaw, in both steps, and
// what is not.
func TestLinking(t *testing.T) {
	for _, row := range []struct{ name, before, after string }{
		{"nothing yet", `{"version":1}`, `{"defaults":{"ask":"off","askFallback":"deny","security":"full"},"socket":{"path":"/s"},"version":1}`},
		{"agents", `{"agents":{"a":{"security":"deny","ask":"off"},"b":{"ask":"always","allowlist":[{"pattern":"/bin/ls","x":1.50}]},"c":{"allowlist":[]}},"unknown":[1]}`,
			`{"agents":{"a":{"security":"deny","ask":"off"},"b":{"allowlist":[{"pattern":"/bin/ls","x":1.50}],"ask":"off","askFallback":"deny","security":"full"},"c":{"allowlist":[]}},"defaults":{"ask":"off","askFallback":"deny","security":"full"},"socket":{"path":"/s"},"unknown":[1]}`},
		{"everything denied", `{"agents":{"b":{"ask":"always"}},"defaults":{"security":"deny"}}`, `{"agents":{"b":{"ask":"always"}},"defaults":{"security":"deny"},"socket":{"path":"/s"}}`},
		{"denied by *", `{"agents":{"*":{"security":"deny"},"b":{"ask":"always"},"d":{"security":"allowlist"}}}`,
			`{"agents":{"*":{"security":"deny"},"b":{"ask":"always"},"d":{"ask":"off","askFallback":"deny","security":"full"}},"defaults":{"ask":"off","askFallback":"deny","security":"full"},"socket":{"path":"/s"}}`},
		{"* allows more", `{"agents":{"*":{"security":"allowlist"},"b":{"ask":"always"}},"defaults":{"security":"deny"}}`,
			`{"agents":{"*":{"ask":"off","askFallback":"deny","security":"full"},"b":{"ask":"off","askFallback":"deny","security":"full"}},"defaults":{"security":"deny"},"socket":{"path":"/s"}}`},
		{"done already", `{"defaults":{"ask":"off","askFallback":"deny","security":"full"},"socket":{"path":"/s"}}`, ""},
	} {
		file := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(row.before), &file); err != nil {
			t.Fatal(err)
		}
		first, err := linking(file, "/s")
		second, err2 := finishing(file)
		list := append(first, second...)
		if err != nil || err2 != nil || (row.after == "") != (len(list) == 0) {
			t.Errorf("%s: %v %v %v", row.name, list, err, err2)
		}
		for _, e := range list {
			if err := place(file, e.field, e.Now); err != nil {
				t.Error(err)
			}
		}
		if got := text(t, file); row.after != "" && got != row.after {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, row.after)
		}
		// And back, but for what somebody changed since.
		place(file, field{"defaults", "ask"}, json.RawMessage(`"always"`))
		kept, err := unlinking(file, list)
		touched := strings.Contains(text(t, list), `"object":"defaults","name":"ask"`)
		if err != nil || touched != (len(kept) == 1 && kept[0].String() == "defaults.ask") {
			t.Errorf("%s: %v %v", row.name, kept, err)
		}
		if got := text(t, file); !strings.Contains(got, `"ask":"always"`) || strings.Contains(got, `"/s"`) != (len(list) == 0) {
			t.Errorf("%s: %s", row.name, got)
		}
	}
	for _, bad := range []string{`{"agents":[]}`, `{"agents":{"a":7}}`, `{"defaults":"full"}`} {
		file := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(bad), &file); err != nil {
			t.Fatal(err)
		}
		if list, err := finishing(file); err == nil {
			t.Errorf("%s: %v", bad, list)
		}
	}
	for path, want := range map[string]string{"/state/openclaw.sqlite#x": "/", "state/openclaw.sqlite": "", "/tmp/exec-approvals.json": "", "/tmp/state/other.sqlite": "", "": ""} {
		if got, err := (approvals{Path: "/tmp" + path}).folder(); strings.HasPrefix(path, "/state/") != (err == nil) {
			t.Errorf("%s: %s %v, want %s", path, got, err, want)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestForwarding(t *testing.T) {
	const other = "A=1\n# note\n"
	for _, row := range []struct {
		before, after string
		want, changes bool
	}{
		{"", forwardLine + "\n", true, true},
		{other, other + forwardLine + "\n", true, true},
		{"A=1", "A=1\n" + forwardLine + "\n", true, true},
		{other + forwardLine + "\n", other + forwardLine + "\n", true, false},
		{other + forwardLine + "\nB=2\n", other + "B=2\n", false, true},
		{other, other, false, false},
	} {
		path := filepath.Join(t.TempDir(), ".env")
		if err := os.WriteFile(path, []byte(row.before), 0o600); err != nil {
			t.Fatal(err)
		}
		if changes, err := forwarding(path, row.want, false); changes != row.changes || err != nil {
			t.Errorf("%q: %v %v", row.before, changes, err)
		}
		if now, _ := os.ReadFile(path); string(now) != row.before {
			t.Errorf("a look wrote %q", now)
		}
		if changes, err := forwarding(path, row.want, true); changes != row.changes || err != nil {
			t.Errorf("%q: %v %v", row.before, changes, err)
		}
		if now, _ := os.ReadFile(path); string(now) != row.after {
			t.Errorf("%q: %q, want %q", row.before, now, row.after)
		}
	}
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real"), filepath.Join(dir, ".env")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"export OPENCLAW_NODE_EXEC_HOST = node", "export\tOPENCLAW_NODE_EXEC_HOST=node", forwardLine + "\nOPENCLAW_NODE_EXEC_HOST: node", " OPENCLAW_NODE_EXEC_HOST='app'"} {
		if err := os.WriteFile(path, []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := forwarding(link, true, true); err == nil || !strings.Contains(err.Error(), "take that away first") {
			t.Error(line, err)
		}
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := forwarding(link, true, true); err != nil {
		t.Error(err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().IsRegular() {
		t.Error("a link became a file", err)
	}
}

// TestLink has a program stand in for OpenClaw's command line, which keeps its
// document in a file and takes the token off what it tells.
func TestLink(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "socket": {"token": "our-own-secret-token"}}`)
	dir := filepath.Join(w.home, "claw")
	kept := filepath.Join(dir, "kept.json")
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	const before = `{"version":1,"socket":{"path":"/old"},"agents":{}}`
	if err := os.WriteFile(kept, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	script := `#!/bin/sh
echo "$@" >> ` + dir + `/words
case "$*" in
"approvals get --json") echo 'a line before'; printf '{"path":"` + dir + `/state/openclaw.sqlite#x","file":'; sed 's/,*"token":"[^"]*"//' ` + kept + `; echo '}';;
"approvals set --stdin --json") cat > ` + kept + `;;
*) exit 7;;
esac
`
	cli := filepath.Join(dir, "openclaw")
	if err := os.WriteFile(cli, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	now := func() string {
		text, err := os.ReadFile(kept)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	w.must(t, "link", "openclaw", "--cli", cli, "--dry-run")
	if now() != before {
		t.Error(now())
	}
	out := w.must(t, "link", "openclaw", "--cli", cli)
	if !strings.Contains(out, `socket.path: "/old" -> "`+w.state.Socket()+`"`) || strings.Contains(out, "our-own-secret") {
		t.Error(out)
	}
	if got := now(); !strings.Contains(got, `"token":"our-own-secret-token"`) || !strings.Contains(got, w.state.Socket()) {
		t.Error(got)
	}
	w.must(t, "link", "openclaw", "--cli", cli) // again changes nothing
	if out, err := w.command("link", "openclaw", "--finish", "--cli", cli).CombinedOutput(); err == nil && !forwards {
		t.Errorf("%s", out)
	}
	// What the person sets meanwhile is theirs.
	if err := os.WriteFile(kept, []byte(strings.Replace(now(), w.state.Socket(), "/theirs", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(t, "link", "openclaw", "--cli", cli)
	w.must(t, "link", "openclaw", "--undo")
	if got := now(); !strings.Contains(got, `"path":"/theirs"`) {
		t.Error(got)
	}
	if err := os.WriteFile(kept, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must(t, "link", "openclaw", "--cli", cli)
	w.must(t, "link", "openclaw", "--undo")
	if got := now(); !strings.Contains(got, `"path":"/old"`) || strings.Contains(got, "our-own-secret") {
		t.Error(got)
	}
	for _, words := range [][]string{{"--undo"}, {"--cli", filepath.Join(dir, "nothing")}, {"--cli", "/usr/bin/false"}} {
		if out, err := w.command(append([]string{"link", "openclaw"}, words...)...).CombinedOutput(); err == nil {
			t.Errorf("%q: %s", words, out)
		}
	}
	words, err := os.ReadFile(filepath.Join(dir, "words"))
	if err != nil || strings.Contains(string(words), "secret") {
		t.Errorf("%s %v", words, err)
	}
}

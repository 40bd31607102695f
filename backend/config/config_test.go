package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestRefused(t *testing.T) {
	exec := func(members string) string { return "{\"tools\": {\"exec\": {\n" + members + "}}}" }
	for _, row := range []struct {
		text    string
		line    int
		key     string
		problem string
	}{
		{``, 1, "", "not JSON5"},
		{"{\n\"tools\": {", 2, "", "not JSON5"},
		{"{\n} {}", 2, "", "after top-level value"},
		{"{}\n]", 2, "", "not JSON5"},
		{"{\"a\": 1,\n\"a\": 2}", 2, "", `"a" comes twice`},
		{"\xff", 1, "", "UTF-8"},
		{strings.Repeat(" ", maxSize) + "{}", 1, "", "8 MiB"},
		{strings.Repeat("[", 100_000), 1, "", "not JSON5"},
		{"\n" + strings.Repeat("[", 201) + "\n1" + strings.Repeat("]", 201), 3, "", "more than 200 deep"},
		{`[]`, 1, "", "must be an object"},
		{`null`, 1, "", "must be an object"},
		{"{\n\"tools\": null}", 2, "tools", "must be an object"},
		{`{"tools": {"exec": []}}`, 1, "tools.exec", "must be an object"},
		{exec(`"host": "docker"`), 2, "tools.exec.host", `host cannot be "docker"`},
		{exec(`"host": null`), 2, "tools.exec.host", "must be a string"},
		{exec(`"hosts": "node"`), 2, "tools.exec.hosts", "must be a list"},
		{exec(`"hosts": ["node", "auto"]`), 2, "tools.exec.hosts[1]", `host cannot be "auto"`},
		{exec(`"security": "all"`), 2, "tools.exec.security", "allowlist"},
		{exec(`"security": ""`), 2, "tools.exec.security", `cannot be ""`},
		{exec(`"ask": 1`), 2, "tools.exec.ask", "must be a string"},
		{exec(`"ask": "never"`), 2, "tools.exec.ask", "on-miss"},
		{exec(`"node": " "`), 2, "tools.exec.node", "cannot be empty"},
		{exec(`"sandbox": true`), 2, "tools.exec.sandbox", "must be an object"},
		{exec(`"sandbox": {}`), 2, "tools.exec.sandbox.workspace", "is missing"},
		{exec(`"sandbox": {"workspace": "work"}`), 2, "tools.exec.sandbox.workspace", "begins with /"},
		{exec(`"sandbox": {"workspace": "/w", "engine": "chroot"}`), 2, "tools.exec.sandbox.engine", `must be "docker" or "bubblewrap"`},
		{exec(`"sandbox": {"workspace": "/w", "memory": 5}`), 2, "tools.exec.sandbox.memory", "is not known"},
		{exec(`"sandbox": {"workspace": "/w", "memoryMB": 1}`), 2, "tools.exec.sandbox.memoryMB", "from 16 to"},
		{exec(`"sandbox": {"workspace": "/w", "cpus": "2"}`), 2, "tools.exec.sandbox.cpus", "must be a number"},
		{exec(`"sandbox": {"workspace": "/w", "cpus": 2, "engine": "bubblewrap"}`), 2, "tools.exec.sandbox.cpus", "cannot be limited by bubblewrap"},
		{exec(`"sandbox": {"workspace": "/w", "processes": 0}`), 2, "tools.exec.sandbox.processes", "from 8 to"},
		{exec(`"sandbox": {"workspace": "/w", "network": "none"}`), 2, "tools.exec.sandbox.network", "true or false"},
		{exec(`"sandbox": {"workspace": "/w", "mounts": "/m"}`), 2, "tools.exec.sandbox.mounts", "must be a list"},
		{exec(`"node": null`), 2, "tools.exec.node", "must be a string"},
		{exec(`"timeoutSeconds": "60"`), 2, "tools.exec.timeoutSeconds", "must be a number"},
		{exec(`"timeoutSeconds": 0`), 2, "tools.exec.timeoutSeconds", "from 0.001 to 86400"},
		{exec(`"timeoutSeconds": -5`), 2, "tools.exec.timeoutSeconds", "from 0.001"},
		{exec(`"timeoutSeconds": 86401`), 2, "tools.exec.timeoutSeconds", "to 86400"},
		{exec(`"timeoutSeconds": 1e999`), 2, "tools.exec.timeoutSeconds", "to 86400"},
		{exec(`"safeBins": ["/bin/cat"]`), 2, "tools.exec.safeBins[0]", "without its folder"},
		{exec(`"safeBins": null`), 2, "tools.exec.safeBins", "must be a list"},
		{exec(`"safeBinTrustedDirs": ["bin"]`), 2, "tools.exec.safeBinTrustedDirs[0]", "begins with /"},
		{exec(`"pathPrepend": ["/a:/b"]`), 2, "tools.exec.pathPrepend[0]", "no colon"},
		{exec(`"pathPrepend": [7]`), 2, "tools.exec.pathPrepend[0]", "must be a string"},
		{`{"agents": []}`, 1, "agents", "must be an object"},
		{`{"agents": {"list": {}}}`, 1, "agents.list", "must be a list"},
		{`{"agents": {"list": [null]}}`, 1, "agents.list[0]", "must be an object"},
		{`{"agents": {"list": [{}]}}`, 1, "agents.list[0].id", "is missing"},
		{`{"agents": {"list": [{"id": 5}]}}`, 1, "agents.list[0].id", "must be a string"},
		{exec("\"ask\": 1,\n\"host\": 1,\n\"node\": 1"), 2, "tools.exec.ask", "must be a string"},
		{"{\"agents\": {\"list\": [{\"id\": \"a\"},\n{\"id\": \"a\"}]}}", 2, "agents.list[1].id", `the id "a" too`},
		{"{\"agents\": {\"list\": [{\"id\": \"a\",\n\"tools\": {\"exec\": {\"ask\":\n\"x\"}}}]}}", 3, "agents.list[0].tools.exec.ask", `cannot be "x"`},
	} {
		_, err := Parse("gateway.json5", []byte(row.text))
		var bad *Error
		if !errors.As(err, &bad) || bad.Line != row.line || bad.Key != row.key || !strings.Contains(bad.Problem, row.problem) {
			t.Errorf("%.60q:\n got %v\nwant gateway.json5:%d: %s: … %s …", row.text, err, row.line, row.key, row.problem)
			continue
		}
		if !strings.HasPrefix(err.Error(), fmt.Sprintf("gateway.json5:%d: ", row.line)) {
			t.Errorf("message %q", err)
		}
	}
}

// What holds for agent "a": host hosts security ask node timeout, bins, trusted folders, PATH.
func TestFor(t *testing.T) {
	for _, row := range []struct{ text, want, origins string }{
		{`{}`, "sandbox [] deny on-miss  30m0s [] [] []", "map[]"},
		{`{"other": null, "tools": {"other": 1, "exec": {"unknown": null}}}`, "sandbox [] deny on-miss  30m0s [] [] []", "map[]"},
		{`{"tools": {"exec": {"host": "node", "hosts": ["gateway"], "security": "full", "ask": "off", "node": "mac", "timeoutSeconds": 1.5,
			"safeBins": ["wc"], "safeBinTrustedDirs": ["/b"], "pathPrepend": ["~/bin"]}}}`,
			"node [gateway] full off mac 1.5s [wc] [/b] [~/bin]",
			"map[ask:tools.exec.ask host:tools.exec.host hosts:tools.exec.hosts node:tools.exec.node pathPrepend:tools.exec.pathPrepend safeBinTrustedDirs:tools.exec.safeBinTrustedDirs safeBins:tools.exec.safeBins security:tools.exec.security timeoutSeconds:tools.exec.timeoutSeconds]"},
		{`{"tools": {"exec": {"host": "node", "ask": "always", "safeBins": ["wc"]}}, "agents": {"list": [{"id": "a", "tools": {"exec": {"host": "gateway", "safeBins": []}}}]}}`,
			"gateway [] deny always  30m0s [] [] []",
			"map[ask:tools.exec.ask host:agents.list[a].tools.exec.host safeBins:agents.list[a].tools.exec.safeBins]"},
		{`{"tools": {"exec": {"host": "node"}}, "agents": {"list": [{"id": "b", "tools": {"exec": {"host": "gateway"}}}, {"id": "a"}]}}`,
			"node [] deny on-miss  30m0s [] [] []", "map[host:tools.exec.host]"},
	} {
		c, err := Parse("c", []byte(row.text))
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		e := c.For("a")
		got := fmt.Sprintf("%s %v %s %s %s %s %v %v %v", e.Host, e.Hosts, e.Security, e.Ask, e.Node, e.Timeout, e.SafeBins, e.SafeBinTrustedDirs, e.PathPrepend)
		if got != row.want || fmt.Sprint(e.Origins) != row.origins {
			t.Errorf("%s:\n got %s %v\nwant %s %s", row.text, got, e.Origins, row.want, row.origins)
		}
	}
}

// An empty list says "none", and an agent's own one hides the one for all.
func TestEmptyListIsSaid(t *testing.T) {
	c, err := Parse("c", []byte(`{"tools": {"exec": {"safeBins": []}}}`))
	if err != nil || c.For("a").SafeBins == nil || c.For("a").PathPrepend != nil {
		t.Errorf("%+v, %v", c.For("a"), err)
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.json5")
	if c, err := Load(path); err != nil || c.For("a").Security != approval.SecurityDeny {
		t.Errorf("a missing file: %+v, %v", c, err)
	}
	if err := os.WriteFile(path, []byte(`{"tools": {"exec": {"security": "allowlist"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err := Load(path); err != nil || c.For("a").Security != approval.SecurityList {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Load(filepath.Dir(path)); err == nil || !strings.Contains(err.Error(), "cannot read") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := Load(path + "/x"); err == nil {
		t.Error("a file below a file")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"tools": {"exec": {"host": "node", "hosts": ["gateway"], "security": "full", "timeoutSeconds": 1.5}}}`)
	f.Add(`{"agents": {"list": [{"id": "a", "tools": {"exec": {"ask": "off", "safeBins": ["wc"]}}}]}}`)
	f.Add(`{"a": [[[{"b": null}]]], "a": 1}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse("c", []byte(text))
		if err != nil {
			c = Config{}
		}
		for _, id := range []string{"", "a"} {
			if e := c.For(id); e.Host == "" || e.Security == "" || e.Ask == "" || e.Timeout <= 0 || e.Timeout > MaxTimeout {
				t.Errorf("agent %q: %+v", id, e)
			}
		}
	})
}

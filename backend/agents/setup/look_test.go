//go:build linux || darwin

package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

// TestConditions edits what an install left, and says what becomes of it.
func TestConditions(t *testing.T) {
	replace := func(old, new string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, old, new) }
	}
	cases := []struct {
		name, agent string
		edit        func(string) string
		want        Condition
	}{
		{"as it was left", "claude-code", replace("", ""), Installed},
		{"laid out anew", "claude-code", func(text string) string {
			d, err := parse([]byte(text))
			mustDo(t, err)
			return small(&d.root)
		}, Installed},
		{"names in another order", "cursor", replace(`"timeout": 86400,
        "failClosed": true`, `"failClosed": true, "timeout": 86400`), Installed},
		{"a hook of others beside it", "claude-code", replace(`"PreToolUse": [`, `"PreToolUse": [{"hooks": [{"type": "command", "command": "x"}]},`), Installed},
		{"a narrower matcher", "claude-code", replace(`"matcher": "*"`, `"matcher": "Bash"`), Changed},
		{"a shorter time", "codex", replace("86400", "5"), Changed},
		{"fail-closed taken away", "claude-code", replace(`"onFailure": "block"`, `"onFailure": "continue"`), Changed},
		{"fail-closed taken away", "cursor", replace(`"failClosed": true`, `"failClosed": false`), Changed},
		{"one of two events", "claude-code", replace(`"PermissionRequest"`, `"PermissionRequests"`), Changed},
		{"run in the background", "claude-code", replace(`"type": "command",`, `"type": "command", "async": true,`), Changed},
		{"another copy of us", "claude-code", replace("/opt/countersign/bin/", "/old/"), OtherProgram},
		{"another copy of us", "gemini", replace("/opt/countersign/bin/", "/old/"), OtherProgram},
		{"for another agent", "claude-code", replace(`"claude-code"`, `"codex"`), Vanished},
		{"another program", "claude-code", replace("bin/countersign", "bin/true"), Vanished},
		{"behind a shell", "codex", replace("/opt/countersign", "true; /opt/countersign"), Vanished},
		{"emptied", "claude-code", func(string) string { return "" }, Vanished},
		{"another hooks", "claude-code", func(string) string { return `{"hooks": {}}` }, Vanished},
		{"broken", "claude-code", func(text string) string { return text[:len(text)/2] }, Unreadable},
		{"gone", "claude-code", nil, Vanished},
	}
	for _, c := range cases {
		t.Run(c.agent+" "+c.name, func(t *testing.T) {
			e := newEnv(t)
			applied(t, e, c.agent, false)
			s := conditionOf(t, e, c.agent)
			if c.edit == nil {
				mustDo(t, os.Remove(s.File))
			} else {
				left := read(t, s.File)
				edited := c.edit(left)
				if c.name != "as it was left" && edited == left {
					t.Fatalf("the edit changes nothing:\n%s", left)
				}
				mustDo(t, os.WriteFile(s.File, []byte(edited), 0o600))
			}
			s = conditionOf(t, e, c.agent)
			if s.Condition != c.want {
				t.Errorf("it is %s (%s), want %s", s.Condition, s.Problem, c.want)
			}
			if c.want == Unreadable {
				return
			}
			applied(t, e, c.agent, false)
			if s := conditionOf(t, e, c.agent); s.Condition != Installed || s.Old {
				t.Errorf("installed again it is %s: %s", s.Condition, s.Problem)
			}
			applied(t, e, c.agent, true)
			if s := conditionOf(t, e, c.agent); s.Condition != NotInstalled {
				t.Errorf("taken out it is %s", s.Condition)
			}
		})
	}
}

// TestEditedSince takes our hook out of files that others went on with.
func TestEditedSince(t *testing.T) {
	const others = `{"matcher": "Write", "hooks": [{"type": "command", "command": "other"}]}`
	cases := []struct{ name, before, old, new, want string }{
		{
			"a hook of others in our list", "{}\n", `"PermissionRequest": [`, `"PermissionRequest": [
      ` + others + `,`,
			"{\n  \"hooks\": {\n    \"PermissionRequest\": [\n      " + others + "\n    ]\n  }\n}\n",
		},
		{
			"a setting at the end", "{\n  \"a\": 1\n}\n", "\n  }\n}\n", "\n  },\n  \"b\": 2 // new\n}\n",
			"{\n  \"a\": 1,\n  \"b\": 2 // new\n}\n",
		},
		{
			"a comment in what we made", "{\n  \"a\": 1\n}\n", `"hooks": {`, "\"hooks\": {\n    // keep me",
			"{\n  \"a\": 1,\n  \"hooks\": {\n    // keep me\n  }\n}\n",
		},
		{
			"a comment at our group", "{}\n", `      {
        "matcher": "*",`, "      { // mine\n        \"matcher\": \"*\",",
			"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { // mine\n        \"matcher\": \"*\",\n        \"hooks\": [\n        ]\n      }\n    ],\n    \"PermissionRequest\": [\n      { // mine\n        \"matcher\": \"*\",\n        \"hooks\": [\n        ]\n      }\n    ]\n  }\n}\n",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			path := e.puts(t, ".claude/settings.json", c.before)
			applied(t, e, "claude-code", false)
			left := read(t, path)
			edited := strings.ReplaceAll(left, c.old, c.new)
			if edited == left {
				t.Fatalf("the edit changes nothing:\n%s", left)
			}
			mustDo(t, os.WriteFile(path, []byte(edited), 0o600))
			applied(t, e, "claude-code", true)
			if got := read(t, path); got != c.want {
				t.Errorf("it became\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestRecordLost finds our hook by what it starts. What was made around it
// stays, since nobody knows whose it is.
func TestRecordLost(t *testing.T) {
	e := newEnv(t)
	path := e.puts(t, ".claude/settings.json", `{"model": "opus"}`)
	applied(t, e, "claude-code", false)
	mustDo(t, os.Remove(e.State.Hooks()))
	if s := conditionOf(t, e, "claude-code"); s.Condition != Installed {
		t.Errorf("it is %s", s.Condition)
	}
	applied(t, e, "claude-code", true)
	var rest struct {
		Hooks map[string][]struct{ Hooks []any }
		Model string
	}
	mustDo(t, json.Unmarshal([]byte(read(t, path)), &rest))
	if rest.Model != "opus" || len(rest.Hooks) != 2 || len(rest.Hooks["PreToolUse"]) != 1 || len(rest.Hooks["PreToolUse"][0].Hooks) != 0 {
		t.Errorf("left is %s", read(t, path))
	}
}

// TestRecordIsUsedWithCare has the record say things that do not fit.
func TestRecordIsUsedWithCare(t *testing.T) {
	for name, bend := range map[string]func(*entry){
		"spans past the end": func(h *entry) { h.Spans = []span{{1 << 40, 3}} },
		"negative spans":     func(h *entry) { h.Spans = []span{{-1, 3}, {0, -5}} },
		"other spans":        func(h *entry) { h.Spans = []span{{0, 5}} },
		"no spans":           func(h *entry) { h.Spans = nil },
		"made by us":         func(h *entry) { h.MadeFile, h.Made = true, []string{"model", "hooks", "PreToolUse"} },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			path := e.puts(t, ".claude/settings.json", `{"model": "opus"}`)
			applied(t, e, "claude-code", false)
			m, err := e.readManifest()
			mustDo(t, err)
			bend(&m.Hooks[0])
			mustDo(t, e.writeManifest(m))
			applied(t, e, "claude-code", true)
			var rest struct{ Model string }
			mustDo(t, json.Unmarshal([]byte(read(t, path)), &rest))
			if rest.Model != "opus" || strings.Contains(read(t, path), e.Program) {
				t.Errorf("left is %s", read(t, path))
			}
		})
	}
}

// TestRecordIsBroken writes nothing where it cannot be remembered.
func TestRecordIsBroken(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "another version": `{"version": 7}`, "large": `{"version": 1, "x": "` + strings.Repeat("x", maxManifest) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			path := e.puts(t, ".claude/settings.json", `{}`)
			e.puts(t, ".state/hooks.json", text)
			if _, err := Plan(e, "claude-code", ScopeUser); err == nil || !strings.Contains(err.Error(), "move it away") {
				t.Errorf("the error is %v", err)
			}
			if s := conditionOf(t, e, "claude-code"); s.Condition != Unreadable {
				t.Errorf("it is %s", s.Condition)
			}
			if read(t, path) != `{}` {
				t.Error("it was written")
			}
		})
	}
}

// TestUpdate replaces the hook of an older copy, and still knows what was
// before the first of them.
func TestUpdate(t *testing.T) {
	e := newEnv(t)
	const before = "{ \"model\": \"opus\" /* x */ }"
	path := e.puts(t, ".claude/settings.json", before)
	applied(t, e, "claude-code", false)
	e.Program = "/opt/new version/countersign"
	if s := conditionOf(t, e, "claude-code"); s.Condition != OtherProgram || !s.Missing || s.Program != "/opt/countersign/bin/countersign" {
		t.Errorf("it is %+v", s)
	}
	applied(t, e, "claude-code", false)
	text := read(t, path)
	if strings.Contains(text, "/opt/countersign/") || !strings.Contains(text, e.Program) {
		t.Errorf("it is now %s", text)
	}
	applied(t, e, "claude-code", true)
	if got := read(t, path); got != before {
		t.Errorf("it came back as %s", got)
	}
}

// TestOwnCommands tells ours from others.
func TestOwnCommands(t *testing.T) {
	cases := []struct {
		line string
		ours bool
	}{
		{"/usr/local/bin/countersign hook codex", true},
		{"countersign hook codex --timeout 1m", true},
		{"'/Applications/My Apps/countersign' hook codex", true},
		{`"/a b/Countersign" hook "codex" --timeout 5m`, true},
		{`C:\\bin\\countersign.exe hook codex`, false},
		{"countersign.exe hook codex", true},
		{"countersign --state-dir /x hook codex", true},
		{"countersign --state-dir=/x hook codex", true},
		{"countersign hook claude-code", false},
		{"countersign hook", false},
		{"countersign", false},
		{"countersign hooks codex", false},
		{"not-countersign hook codex", false},
		{"countersign-wrapper hook codex", false},
		{"/countersign/other hook codex", false},
		{"sh -c 'countersign hook codex'", false},
		{"true && countersign hook codex", false},
		{"countersign hook codex; true", false},
		{"countersign hook codex | tee log", false},
		{"$(countersign hook codex)", false},
		{"countersign hook codex > /dev/null", false},
		{"'countersign hook codex", false},
		{"", false},
		{"countersign hook codex " + strings.Repeat("x", maxLine), false},
	}
	for _, c := range cases {
		if got := startsUs(unquote(c.line), "codex"); got != c.ours {
			t.Errorf("%.60q: ours is %v, want %v", c.line, got, c.ours)
		}
	}
}

// TestPrograms are those that a hook can start, and what is refused.
func TestPrograms(t *testing.T) {
	cases := []struct{ program, want string }{
		{"/usr/local/bin/countersign", "/usr/local/bin/countersign hook gemini"},
		{"/Users/o'neil/my apps/countersign", `"/Users/o'neil/my apps/countersign" hook gemini`},
		{"/opt/a;b&c/countersign", "'/opt/a;b&c/countersign' hook gemini"},
		{"/opt/日本/countersign", "/opt/日本/countersign hook gemini"},
		{"bin/countersign", ""}, {"", ""}, {"/opt/$HOME/countersign", ""}, {"/opt/a\nb/countersign", ""},
		{"/opt/\x1b[31m/countersign", ""}, {"/opt/\xff/countersign", ""}, {"/opt/%PATH%/countersign", ""},
		{"/opt/other", ""}, {"/opt/countersign-old", ""},
	}
	for _, c := range cases {
		e := newEnv(t)
		e.Program, e.State.Dir = c.program, "/s"
		target := targetOf(t, "gemini")
		got, err := e.call(target, hook.Capability{})
		switch {
		case c.want == "" && err == nil:
			t.Errorf("%q is not refused: %s", c.program, got.line)
		case c.want != "" && (err != nil || got.line != c.want+" --timeout 23h59m55s --state-dir /s"):
			t.Errorf("%q: %q (%v)", c.program, got.line, err)
		case c.want != "" && !slices.Equal(unquote(got.line), got.argv):
			t.Errorf("%q is taken apart as %q", got.line, unquote(got.line))
		}
	}
	e := newEnv(t)
	e.State.Dir = "/srv/my state"
	got, err := e.call(targetOf(t, "codex"), hook.Capability{})
	if want := "hook codex --timeout 23h59m55s --state-dir '/srv/my state'"; err != nil || !strings.HasSuffix(got.line, want) {
		t.Errorf("with a state folder it is %q (%v)", got.line, err)
	}
}

// TestFound finds agents without starting them: each program here would leave a
// trace.
func TestFound(t *testing.T) {
	e := newEnv(t)
	bin := filepath.Join(e.Home, "bin")
	e.Getenv = func(name string) string { return map[string]string{"PATH": "relative:" + bin + ":/nowhere"}[name] }
	trace := filepath.Join(e.Home, "started")
	program := func(rel string) string {
		path := e.puts(t, rel, "#!/bin/sh\ntouch "+trace+"\n")
		mustDo(t, os.Chmod(path, 0o755))
		return path
	}
	link := func(name, to string) { mustDo(t, os.Symlink(to, filepath.Join(bin, name))) }
	mustDo(t, os.MkdirAll(bin, 0o755))

	link("claude", program("share/claude/versions/2.1.300"))
	link("codex", program("Cellar/codex/0.152.1/bin/codex"))
	link("gemini", program("lib/node_modules/@google/gemini-cli/dist/index.js"))
	e.puts(t, "lib/node_modules/@google/gemini-cli/package.json", `{"name": "@google/gemini-cli", "version": "0.61.0"}`)
	link("copilot", program("lib/node_modules/@github/copilot/index.js"))
	e.puts(t, "lib/node_modules/@github/copilot/package.json", `{"name": "@github/copilot", "version": "1.0\u001b[31m"}`)
	link("code", program("share/code/bin/code"))
	e.puts(t, "share/code/resources/app/package.json", `{"name": "Code", "version": "1.131.0"}`)
	e.puts(t, "bin/opencode", "not executable")
	e.puts(t, ".cursor/mcp.json", "{}")

	want := map[string][2]string{
		"claude-code": {"claude", "2.1.300"}, "codex": {"codex", "0.152.1"}, "gemini": {"gemini", "0.61.0"},
		"copilot": {"copilot", ""}, "vscode": {"code", "1.131.0"}, "opencode": {"", ""}, "cursor": {"", ""},
	}
	for agent, w := range want {
		f := conditionOf(t, e, agent).Found
		program := ""
		if w[0] != "" {
			program = filepath.Join(bin, w[0])
		}
		if f.Program != program || f.Version != w[1] || f.Here() != (agent != "opencode") {
			t.Errorf("%s: found %+v, want %q", agent, f, w)
		}
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a program was started")
	}
}

// TestBlindSpots reads them from the settings of the agents.
func TestBlindSpots(t *testing.T) {
	settings := vscodeSettings()[0] + "/settings.json"
	cases := []struct{ agent, file, text, want string }{
		{"claude-code", ".claude/settings.json", `{"disableAllHooks": true}`, "no hook runs"},
		{"claude-code", ".claude/settings.json", `{"permissions": {"defaultMode": "bypassPermissions"}}`, `is "bypassPermissions"`},
		{"gemini", ".gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "hooksConfig.enabled"},
		{"claude-code", "work/.claude/settings.json", `{"disableAllHooks": true}`, "work/.claude/settings.json is true: no hook runs"},
		{"claude-code", "work/.claude/settings.local.json", `{"disableAllHooks": true}`, "no hook runs"},
		{"gemini", "work/.gemini/settings.json", `{"hooksConfig": {"enabled": false}}`, "hooksConfig.enabled"},
		{"copilot", ".copilot/settings.json", `{"disableAllHooks": true}`, "no hook runs"},
		{"vscode", settings, `{"chat.tools.terminal.autoApprove": {"/^git /": {"approve": true}, "rm": false}} // x`, "lets /^git / run"},
		{"vscode", settings, `{"chat.hookFilesLocations": {"~/.copilot/hooks": false}}`, "our hook is not read"},
	}
	for _, c := range cases {
		e := newEnv(t)
		e.Project = filepath.Join(e.Home, "work")
		before := strings.Join(conditionOf(t, e, c.agent).BlindSpots, "\n")
		e.puts(t, c.file, c.text)
		after := strings.Join(conditionOf(t, e, c.agent).BlindSpots, "\n")
		if strings.Contains(before, c.want) || !strings.Contains(after, c.want) {
			t.Errorf("%s with %s: %q", c.agent, c.text, after)
		}
		if strings.Contains(after, "lets rm run") {
			t.Errorf("a command that is not approved is told: %s", after)
		}
	}
}

// TestCodexTrust tells to trust the hook until Codex has noted something.
func TestCodexTrust(t *testing.T) {
	e := newEnv(t)
	c := applied(t, e, "codex", false)
	if !strings.Contains(strings.Join(c.Notes, " "), "/hooks") || len(conditionOf(t, e, "codex").Notes) == 0 {
		t.Errorf("nobody is told to trust it: %+v", c)
	}
	config := "model = \"x\"\n[hooks.state.\"" + c.File + ":permission_request:0:0\"]\ntrusted_hash = \"sha256:00\"\n"
	path := e.puts(t, ".codex/config.toml", config)
	if s := conditionOf(t, e, "codex"); len(s.Notes) != 0 {
		t.Errorf("it is still said: %v", s.Notes)
	}
	applied(t, e, "codex", true)
	if read(t, path) != config {
		t.Error("config.toml was touched")
	}
}

// TestMoved follows the variables by which people move the settings.
func TestMoved(t *testing.T) {
	e := newEnv(t)
	elsewhere := filepath.Join(filepath.Dir(e.Home), "elsewhere")
	mustDo(t, os.Mkdir(elsewhere, 0o755))
	e.Getenv = func(name string) string {
		return map[string]string{"CLAUDE_CONFIG_DIR": elsewhere, "CODEX_HOME": "relative"}[name]
	}
	if c := applied(t, e, "claude-code", false); c.File != filepath.Join(elsewhere, "settings.json") {
		t.Errorf("it was written into %s", c.File)
	}
	if c := applied(t, e, "codex", false); c.File != filepath.Join(e.Home, ".codex/hooks.json") {
		t.Errorf("it was written into %s", c.File)
	}
}

// TestProject writes into the project, and says so where people check that in.
func TestProject(t *testing.T) {
	for agent, want := range map[string]string{
		"claude-code": ".claude/settings.local.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json",
		"cursor": ".cursor/hooks.json", "copilot": ".github/hooks/countersign.json", "vscode": ".github/hooks/countersign-vscode.json",
	} {
		e := newEnv(t)
		e.Project = filepath.Join(e.Home, "work")
		mustDo(t, os.Mkdir(e.Project, 0o755))
		c, err := Plan(e, agent, ScopeProject)
		mustDo(t, err)
		if c.File != filepath.Join(e.Project, want) {
			t.Errorf("%s: %s", agent, c.File)
		}
		if shared := strings.Contains(strings.Join(c.Notes, " "), "checked in"); shared == (agent == "claude-code") {
			t.Errorf("%s: the notes are %q", agent, c.Notes)
		}
		mustDo(t, Apply(e, c))
		list := LookAt(e, agent)
		if len(list) != 2 || list[0].Condition != NotInstalled || list[1].Condition != Installed {
			t.Errorf("%s: %+v", agent, list)
		}
		e.puts(t, filepath.Join("work", want), "{}") // somebody else's from now on
		if c, err := Plan(e, agent, ScopeProject); err != nil || !strings.Contains(strings.Join(c.Notes, " "), "leave that out of commits, as it may hold secrets") {
			t.Errorf("%s: nothing is said of the backup: %q %v", agent, c.Notes, err)
		}
	}
	e := newEnv(t)
	if _, err := Plan(e, "codex", ScopeProject); err == nil || !strings.Contains(err.Error(), "no project") {
		t.Errorf("without a project the error is %v", err)
	}
}

// TestAgents keeps this room and the room hook in step.
func TestAgents(t *testing.T) {
	var want []string
	for _, a := range hook.Agents() {
		if a.Name != "generic" {
			want = append(want, a.Name)
		}
	}
	if got := Agents(); !slices.Equal(got, want) {
		t.Errorf("the agents are %v, want %v", got, want)
	}
	if _, err := Plan(newEnv(t), "generic", ScopeUser); err == nil {
		t.Error("generic has no settings file")
	}
	c, err := Plan(newEnv(t), "opencode", ScopeUser)
	if err != ErrNoFile || !strings.Contains(strings.Join(c.Notes, " "), "countersign hook opencode --url") {
		t.Errorf("opencode: %+v (%v)", c, err)
	}
}

// TestNeighbours says where two agents start one hook.
func TestNeighbours(t *testing.T) {
	said := func(c Change, what string) bool { return strings.Contains(strings.Join(c.Notes, "\n"), what) }
	e := newEnv(t)
	if c := applied(t, e, "vscode", false); said(c, "asks twice") {
		t.Errorf("alone: %q", c.Notes)
	}
	if c := applied(t, e, "copilot", false); !said(c, "asks twice") {
		t.Errorf("with VS Code: %q", c.Notes)
	}
	if s := conditionOf(t, e, "vscode"); !strings.Contains(strings.Join(s.Notes, "\n"), "asks twice") {
		t.Errorf("status: %q", s.Notes)
	}

	e = newEnv(t)
	plan := func() Change {
		c, err := Plan(e, "claude-code", ScopeUser)
		mustDo(t, err)
		return c
	}
	if c := plan(); said(c, "VS Code") {
		t.Errorf("without VS Code: %q", c.Notes)
	}
	e.puts(t, vscodeSettings()[0]+"/settings.json", "{}")
	if c := plan(); !said(c, "chat.hookFilesLocations") {
		t.Errorf("with VS Code: %q", c.Notes)
	}
	e.puts(t, vscodeSettings()[0]+"/settings.json", `{"chat.hookFilesLocations": {"~/.claude/settings.json": false},}`)
	if c := plan(); said(c, "VS Code") {
		t.Errorf("with VS Code that was told: %q", c.Notes)
	}
}

// TestGone has the lines of agents that go on where a hook breaks end in a no,
// by exit code 2 and with a text, where our program is missing or was ended.
func TestGone(t *testing.T) {
	for _, target := range targets() {
		_, a, err := find(target.agent)
		mustDo(t, err)
		if a.Capability.FailMode != hook.FailsOpen || target.exec() || target.events[0].closed {
			continue
		}
		for _, c := range []struct {
			line string
			code int
			says string
		}{
			{"/nowhere/countersign hook " + target.agent, 2, "Countersign gave no answer"},
			{"sh -c 'kill -9 $$'", 2, "Countersign gave no answer"},
			{"echo yes", 0, ""},
		} {
			var handler struct{ Command string }
			mustDo(t, json.Unmarshal(compact(target.handler(target.events[0], call{line: c.line})), &handler))
			var stderr bytes.Buffer
			cmd := exec.Command("/bin/sh", "-c", handler.Command)
			cmd.Stderr = &stderr
			_ = cmd.Run() // the code says it
			if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(stderr.String(), c.says) {
				t.Errorf("%s: %q ends with %d and says %q", target.agent, c.line, code, stderr.String())
			}
		}
		if target.gone != Refuse {
			t.Errorf("%s is said to do something else", target.agent)
		}
	}
}

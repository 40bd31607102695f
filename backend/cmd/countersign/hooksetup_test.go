//go:build linux || darwin

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/agents/setup"
)

// setupWorld is a home with settings of Claude Code in it.
func setupWorld(t *testing.T) (w *world, settings string) {
	t.Helper()
	w = testWorld(t)
	settings = filepath.Join(w.home, ".claude", "settings.json")
	if err := errors.Join(os.Mkdir(filepath.Dir(settings), 0o755), os.WriteFile(settings, []byte(hookSettings), 0o644)); err != nil {
		t.Fatal(err)
	}
	return w, settings
}

const hookSettings = "{\n  // mine\n  \"model\": \"opus\",\n  \"env\": {\"API_TOKEN\": \"0123456789abcdef\"}\n}\n"

// tried runs our command line and returns what it printed and its exit code.
func (w *world) tried(t *testing.T, words ...string) (out string, code int) {
	t.Helper()
	cmd := w.command(words...)
	text, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestHookSetupInstall writes only with a yes, and takes it back to the byte.
func TestHookSetupInstall(t *testing.T) {
	t.Parallel()
	w, settings := setupWorld(t)
	out, code := w.tried(t, "hook", "install", "claude-code")
	if code != exitUsage || !strings.Contains(out, "+  \"hooks\": {") || !strings.Contains(out, "add --yes") || fileText(t, settings) != hookSettings {
		t.Errorf("without a terminal: code %d\n%s", code, out)
	}
	if strings.Contains(out, "0123456789abcdef") {
		t.Errorf("the difference shows a secret:\n%s", out)
	}
	if out, code = w.tried(t, "hook", "install", "claude-code", "--yes"); code != 0 {
		t.Fatalf("code %d\n%s", code, out)
	}
	if out, code = w.tried(t, "hook", "install", "claude-code"); code != 0 || !strings.Contains(out, "is in "+settings+" already") {
		t.Errorf("the second install: code %d\n%s", code, out)
	}
	if out, code = w.tried(t, "hook", "status"); code != 0 || !strings.Contains(out, "Claude Code (claude-code), user: installed\n") || !strings.Contains(out, "without the app Claude Code would ask you itself; without our program it would refuse") {
		t.Errorf("status: code %d\n%s", code, out)
	}
	if out, code = w.tried(t, "hook", "uninstall", "claude-code", "--yes"); code != 0 || fileText(t, settings) != hookSettings {
		t.Errorf("uninstall: code %d\n%s\n%s", code, out, fileText(t, settings))
	}
}

// TestHookSetupStatusCode tells scripts that something is not as it should be.
func TestHookSetupStatusCode(t *testing.T) {
	t.Parallel()
	w, settings := setupWorld(t)
	w.must(t, "hook", "install", "claude-code", "--yes")
	if err := os.WriteFile(settings, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, code := w.tried(t, "hook", "status")
	if code != exitError || !strings.Contains(out, "vanished") {
		t.Errorf("code %d\n%s", code, out)
	}
	missed := "hooks        Claude Code, " + settings + ": vanished"
	if out, _ = w.tried(t, "doctor"); !strings.Contains(out, "BAD "+missed) {
		t.Errorf("doctor says\n%s", out)
	}
	if out, code = w.tried(t, "hook", "uninstall", "claude-code", "--yes"); code != 0 || !strings.Contains(out, "none is missed there any more") || fileText(t, settings) != "{}" {
		t.Errorf("code %d\n%s", code, out)
	}
	if out, _ = w.tried(t, "doctor"); strings.Contains(out, "hooks  ") {
		t.Errorf("doctor says\n%s", out)
	}
	if out, code = w.tried(t, "hook", "status"); code != 0 || strings.Contains(out, "vanished") {
		t.Errorf("code %d\n%s", code, out)
	}
	if err := os.WriteFile(settings, []byte("{\n  \"a\" 1\n}"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, code = w.tried(t, "hook", "install", "claude-code", "--yes")
	if code != exitError || !strings.Contains(out, settings+" is left alone: line 2, column 7") {
		t.Errorf("code %d\n%s", code, out)
	}
}

// TestHookSetupDenied says before anything is written that the hook would have
// every call denied, and only then.
func TestHookSetupDenied(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, policy string
		host, warns  bool
	}{
		{"no policy yet", "", false, true},
		{"all may run nothing", `{"version": 1, "defaults": {"security": "deny"}}`, false, true},
		{"all are asked about", `{"version": 1, "defaults": {"security": "allowlist"}}`, false, false},
		{"only it may run nothing", `{"version": 1, "defaults": {"security": "full"}, "agents": {"claude-code": {"security": "deny"}}}`, false, true},
		{"only another one may run nothing", `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"codex": {"security": "deny"}}}`, false, false},
		{"a host says so", `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"claude-code": {"security": "deny"}}}`, true, true},
		{"a host says otherwise", `{"version": 1, "defaults": {"security": "deny"}, "agents": {"claude-code": {"security": "allowlist"}}}`, true, false},
	} {
		w, settings := setupWorld(t)
		if c.policy != "" {
			w.policy(t, c.policy)
		}
		if c.host {
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
		}
		out, code := w.tried(t, "hook", "install", "claude-code")
		if warned := strings.Contains(out, "Warning: Claude Code may run nothing (security=deny)"); warned != c.warns || code != exitUsage || fileText(t, settings) != hookSettings {
			t.Errorf("%s: code %d\n%s", c.name, code, out)
		}
		if out, _ = w.tried(t, "hook", "uninstall", "claude-code"); strings.Contains(out, "Warning") {
			t.Errorf("%s: taking it out warns:\n%s", c.name, out)
		}
	}
}

// TestHookSetupWords are calls that are refused or do nothing.
func TestHookSetupWords(t *testing.T) {
	t.Parallel()
	w, settings := setupWorld(t)
	cases := []struct {
		words string
		code  int
		want  string
	}{
		{"hook install", exitUsage, "name one agent"},
		{"hook install claude-code --all", exitUsage, "name one agent"},
		{"hook install nobody --yes", exitUsage, "use one of claude-code, codex"},
		{"hook uninstall nobody --yes", exitUsage, "use one of claude-code, codex"},
		{"hook status codex --scope world", exitUsage, "--scope must be one of"},
		{"hook status codex --scope project", exitError, "there is no project here"},
		{"hook install generic --yes", exitUsage, "no settings are known"},
		{"hook status nobody", exitUsage, "use one of"},
		{"hook install codex --scope world", exitUsage, "--scope must be one of"},
		{"hook install codex --scope project --yes", exitError, "there is no project here"},
		{"hook install opencode --yes", 0, "countersign hook opencode --url"},
		{"hook uninstall codex --yes", 0, "no hook of ours is in"},
	}
	for _, c := range cases {
		if out, code := w.tried(t, strings.Fields(c.words)...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%s: code %d, want %d and %q\n%s", c.words, code, c.code, c.want, out)
		}
	}
	if fileText(t, settings) != hookSettings {
		t.Error("the settings were written")
	}
}

// TestHookSetupAll writes for all agents that are here.
func TestHookSetupAll(t *testing.T) {
	t.Parallel()
	w, _ := setupWorld(t)
	for _, dir := range []string{".gemini", ".codex"} {
		if err := os.Mkdir(filepath.Join(w.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var results []hookResult
	w.json(t, &results, "hook", "install", "--all", "--yes")
	var written []string
	for _, r := range results {
		if r.Written && r.Agent != "vscode" { // the tests have a program called code
			written = append(written, r.Agent)
		}
	}
	if want := []string{"claude-code", "codex", "gemini"}; !reflect.DeepEqual(written, want) {
		t.Errorf("written for %v, want %v", written, want)
	}
	var states []hookState
	w.json(t, &states, "hook", "status")
	for _, s := range states {
		if s.Condition != setup.Installed {
			t.Errorf("%s is %s: %s", s.Agent, s.Condition, s.Problem)
		}
	}
	w.must(t, "hook", "uninstall", "--all", "--yes")
	if _, err := os.Stat(filepath.Join(w.home, ".codex", "hooks.json")); err == nil {
		t.Error("the file that was made for Codex is still there")
	}
}

// TestHookSetupProject writes into the repository around the folder.
func TestHookSetupProject(t *testing.T) {
	t.Parallel()
	w, _ := setupWorld(t)
	deep := filepath.Join(w.home, "work", "a", "b")
	if err := errors.Join(os.MkdirAll(deep, 0o755), os.Mkdir(filepath.Join(w.home, "work", ".git"), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := w.command("hook", "install", "cursor", "--scope=project", "--yes")
	cmd.Dir = deep
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text := fileText(t, filepath.Join(w.home, "work", ".cursor", "hooks.json")); !strings.Contains(text, "hook cursor --timeout") {
		t.Errorf("written is %s", text)
	}
	for scope, want := range map[string]string{"project": "project", "user": "user", "": "user project"} {
		cmd := w.command("--json", "hook", "status", "cursor", "--scope="+scope)
		if cmd.Dir = deep; scope == "" {
			cmd = w.command("--json", "hook", "status", "cursor")
			cmd.Dir = deep
		}
		out, _ := cmd.Output() // 1 where a hook is not as it was written
		var states []hookState
		if err := json.Unmarshal(out, &states); err != nil {
			t.Fatalf("%s: %v\n%s", scope, err, out)
		}
		var got []string
		for _, s := range states {
			got = append(got, string(s.Scope))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("--scope %q shows %q", scope, got)
		}
	}
	for words, want := range map[string]string{
		"status claude-code --scope project":   "Claude Code (claude-code), project: not installed\n",
		"status cursor --scope project":        "Cursor (cursor), project: installed\n",
		"status cursor --scope project --test": "test     without a host: beforeShellExecution would refuse",
		"status opencode --scope project":      "opencode has no settings file for the scope project.\n",
		"status --scope project":               "Claude Code (claude-code), project: not installed\n",
	} {
		cmd := w.command(append([]string{"hook"}, strings.Fields(words)...)...)
		cmd.Dir = deep
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v\n%s", words, err, out)
		}
	}
}

// TestHookSetupState gives a hook the state folder that it was installed with,
// also the usual one: the environment of an agent is no guide to it.
func TestHookSetupState(t *testing.T) {
	t.Parallel()
	w, _ := setupWorld(t)
	w.hookHasState(t, w.state.Dir)
	w, _ = setupWorld(t)
	other := filepath.Join(w.home, "my state")
	w.hookHasState(t, other, "COUNTERSIGN_STATE_DIR="+other)
}

// hookHasState installs a hook and looks which state folder it is given.
func (w *world) hookHasState(t *testing.T, dir string, env ...string) {
	t.Helper()
	cmd := w.command("hook", "install", "claude-code", "--yes")
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var written struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string
				Args    []string
			}
		}
	}
	text := strings.Replace(fileText(t, filepath.Join(w.home, ".claude", "settings.json")), "// mine", "", 1)
	if err := json.Unmarshal([]byte(text), &written); err != nil {
		t.Fatal(err)
	}
	h := written.Hooks["PermissionRequest"][0].Hooks[0]
	if !filepath.IsAbs(h.Command) || strings.Join(h.Args, "|") != "hook|claude-code|--timeout|23h59m55s|--state-dir|"+dir {
		t.Errorf("it starts %q %q", h.Command, h.Args)
	}
}

// TestHookSetupSelfTest starts the real hooks, with nobody to ask and no host.
func TestHookSetupSelfTest(t *testing.T) {
	t.Parallel()
	w, _ := setupWorld(t)
	var states []hookState
	w.json(t, &states, "hook", "status", "--all", "--test")
	tested := 0
	for _, s := range states {
		if s.Test == nil || s.Condition == setup.ByHand {
			continue
		}
		for _, a := range append(s.Test.Live, s.Test.Gone...) {
			tested++
			want := s.WithoutApp
			if a.Event == "PreToolUse" && (s.Agent == "codex" || s.Agent == "claude-code") { // only a no counts there
				want = setup.OwnRules
			}
			if a.Would != want || want == setup.Run {
				t.Errorf("%s %s: without a host it %s (%+v), want %s", s.Agent, a.Event, a.Would, a, want)
			}
		}
	}
	if tested < 16 {
		t.Errorf("only %d answers were looked at", tested)
	}
}

// TestHookSetupAsks asks at a terminal, and takes only a yes.
func TestHookSetupAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed   string
		written bool
	}{{"y\n", true}, {"YES\n", true}, {"n\n", false}, {"\n", false}, {"yy\n", false}, {"\x04", false}} {
		w, settings := setupWorld(t)
		term := newTerminal(t)
		cmd := w.command("hook", "install", "claude-code")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = term.slave, term.slave, term.slave
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		p, err := start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		term.shows(t, "Write this? [y/N]")
		if fileText(t, settings) != hookSettings {
			t.Error("it was written before the answer")
		}
		term.types(t, c.typed)
		if !eventually(p.isOver) {
			t.Fatalf("%q: it does not end:\n%s", c.typed, term.text())
		}
		if written := fileText(t, settings) != hookSettings; written != c.written || cmd.ProcessState.ExitCode() != 0 {
			t.Errorf("%q: written is %v, code %d\n%s", c.typed, written, cmd.ProcessState.ExitCode(), term.text())
		}
	}
}

// TestHookSetupAskedMeanwhile has the file change while the question stands.
func TestHookSetupAskedMeanwhile(t *testing.T) {
	t.Parallel()
	w, settings := setupWorld(t)
	term := newTerminal(t)
	cmd := w.command("hook", "install", "claude-code")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.slave, term.slave, term.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	p, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	term.shows(t, "Write this? [y/N]")
	now := bytes.Replace([]byte(hookSettings), []byte("opus"), []byte("other"), 1)
	if err := os.WriteFile(settings, now, 0o644); err != nil {
		t.Fatal(err)
	}
	term.types(t, "y\n")
	if !eventually(p.isOver) {
		t.Fatalf("it does not end:\n%s", term.text())
	}
	if fileText(t, settings) != string(now) || cmd.ProcessState.ExitCode() != exitError || !strings.Contains(term.text(), "look again") {
		t.Errorf("code %d\n%s", cmd.ProcessState.ExitCode(), term.text())
	}
}

func TestHookSetupHere(t *testing.T) {
	t.Parallel()
	found := setup.Found{Folder: "/x"}
	states := []setup.State{
		{Agent: "claude-code", Scope: setup.ScopeUser, Condition: setup.NotInstalled},
		{Agent: "codex", Scope: setup.ScopeUser, Condition: setup.Vanished},
		{Agent: "copilot", Scope: setup.ScopeUser, Condition: setup.NotInstalled, Found: found},
		{Agent: "copilot", Scope: setup.ScopeProject, Condition: setup.Installed, Found: found},
		{Agent: "opencode", Scope: setup.ScopeUser, Condition: setup.ByHand},
	}
	here, copilot := hooksHere(states, setup.ScopeUser)
	if want := []string{"codex", "copilot"}; !reflect.DeepEqual(here, want) || copilot {
		t.Errorf("here are %v, copilot has one: %v", here, copilot)
	}
	if _, copilot := hooksHere(states, setup.ScopeProject); !copilot {
		t.Error("the hook of Copilot in the project is not seen")
	}
}

// TestHookSetupTwice leaves Copilot out where VS Code's hook is enough for both.
func TestHookSetupTwice(t *testing.T) {
	t.Parallel()
	w, _ := setupWorld(t)
	for _, dir := range []string{".vscode", ".copilot/logs"} {
		if err := os.MkdirAll(filepath.Join(w.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out, code := w.tried(t, "hook", "install", "--all", "--yes")
	if code != 0 || !strings.Contains(out, "Copilot CLI is left out") || !strings.Contains(out, "countersign-vscode.json") || strings.Contains(out, "hooks/countersign.json") {
		t.Errorf("code %d\n%s", code, out)
	}
	if out, code = w.tried(t, "hook", "install", "copilot", "--yes"); code != 0 || !strings.Contains(out, "asks twice") {
		t.Errorf("by name: code %d\n%s", code, out)
	}
}

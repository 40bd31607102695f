package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/countersign-app/countersign/backend/history"
)

const (
	// beforeFrom is what an older countersign wrote (make.sh there), and beforeHome
	// where it was: hashes in it hold that path.
	beforeFrom = "testdata/before"
	beforeHome = "/tmp/cs-before"
)

// beforeWorld is the home as the older countersign left it, with today's program
// in the place of that one.
func beforeWorld(t *testing.T) *world {
	t.Helper()
	lock, err := os.OpenFile(beforeHome+".lock", os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil { // another run may be at it
		t.Fatal(err)
	}
	if err := os.RemoveAll(beforeHome); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(beforeHome) })
	w, err := newWorld(beforeHome)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		w.end(syscall.SIGTERM)
		if t.Failed() {
			log, _ := os.ReadFile(w.log)
			t.Logf("the hosts said:\n%s", log)
		}
	})
	for _, path := range filesUnder(t, beforeFrom+"/home") {
		to, mode := filepath.Join(beforeHome, path), fs.FileMode(0o600)
		if filepath.Dir(path) == "bin" {
			mode = 0o700
		}
		text := fileText(t, filepath.Join(beforeFrom, "home", path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, []byte(text), mode)); err != nil {
			t.Fatal(err)
		}
	}
	// What no repository keeps: folders without a file.
	for _, dir := range []string{"work/plain", "work/shop/.git"} {
		if err := os.MkdirAll(filepath.Join(beforeHome, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(countersignPath(t), beforeProgram); err != nil {
		t.Fatal(err)
	}
	return w
}

const beforeProgram = beforeHome + "/bin/countersign"

// filesUnder are the files of a folder, as paths in it.
func filesUnder(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}

// kept is what the files of the state folder hold, but for locks.
func (w *world) kept(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, path := range filesUnder(t, w.state.Dir) {
		if !strings.HasSuffix(path, ".lock") {
			all[path] = fileText(t, filepath.Join(w.state.Dir, path))
		}
	}
	return all
}

// atHome is our program where the older one was.
func (w *world) atHome(words ...string) *exec.Cmd { return w.program(beforeProgram, words...) }

// TestBefore reads, runs and verifies what an older countersign wrote: policy,
// history, passphrase, hooks and units of services.
func TestBefore(t *testing.T) {
	t.Parallel()
	w := beforeWorld(t)
	left := w.kept(t)
	t.Run("said without a host", func(t *testing.T) { w.saysAsBefore(t, "without") })
	if diff := cmp.Diff(left, w.kept(t)); diff != "" {
		t.Errorf("reading changed the folder:\n%s", diff)
	}
	if err := w.startHost(nil, "host", "run", "--ask=nobody"); err != nil {
		t.Fatal(err)
	}
	t.Run("said with a host", func(t *testing.T) { w.saysAsBefore(t, "with") })
	t.Run("judged", func(t *testing.T) { w.judgesAsBefore(t) })
	t.Run("asked by hooks", func(t *testing.T) { w.hooksAsBefore(t) })
	t.Run("history", func(t *testing.T) { w.goesOnAfter(t) })
	t.Run("passphrase", func(t *testing.T) {
		if made, shown := w.loosens(t, "full", "something else entirely"); made {
			t.Errorf("a wrong passphrase counts:\n%s", shown)
		}
		if made, shown := w.loosens(t, "full", typedPassphrase); !made {
			t.Errorf("the passphrase of before does not count:\n%s", shown)
		}
	})
	t.Run("uninstalled", func(t *testing.T) { w.takesOutHooks(t) })
	t.Run("services", func(t *testing.T) { w.knowsServices(t) })
}

// saysAsBefore holds what is printed against what the older program printed, with
// a host or without.
func (w *world) saysAsBefore(t *testing.T, host string) {
	for _, c := range []struct{ file, words string }{
		{host + "/policy-main.json", "--json policy show --agent main"},
		{host + "/policy-locked.json", "--json policy show --agent locked"},
		{host + "/policy-free.json", "--json policy show --agent free"},
		{host + "/policy-careful.json", "--json policy show --agent careful"},
		{host + "/policy-other.json", "--json policy show --agent other"},
		{host + "/entries.json", "--json approvals list"},
		{host + "/leases.json", "--json leases list"},
		{host + "/projects.json", "--json projects list"},
		{host + "/charters.json", "--json charters list"},
		{host + "/skills.json", "--json policy skills list"},
		{"identity.json", "--json node identity"},
		{"signed.json", "--json gateway policy"},
		{"history.json", "--json history list --limit 1000"},
		{"history.jsonl", "history export"},
		{"verify.json", "--json history verify"},
	} {
		if diff := cmp.Diff(beforeSaid(t, c.file), w.must(t, strings.Fields(c.words)...)); diff != "" {
			t.Errorf("%s (-before +now):\n%s", c.words, diff)
		}
	}
	for _, c := range []struct{ file, words, in string }{
		{"hooks.json", "--json hook status", beforeHome},
		{"hooks-project.json", "--json hook status --scope project", beforeHome + "/work/shop"},
	} {
		cmd := w.atHome(strings.Fields(c.words)...)
		cmd.Dir, cmd.Env = c.in, append(cmd.Env, "PATH="+beforeHome+"/fake") // where no agents are
		out, err := cmd.Output()
		if diff := cmp.Diff(hookStates(t, []byte(beforeSaid(t, c.file))), hookStates(t, out)); err != nil || diff != "" {
			t.Errorf("%s: %v (-before +now):\n%s", c.words, err, diff)
		}
	}
}

func beforeSaid(t *testing.T, file string) string {
	t.Helper()
	return fileText(t, filepath.Join(beforeFrom, "said", file))
}

func hookStates(t *testing.T, text []byte) (list []map[string]any) {
	t.Helper()
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return list
}

// judgesAsBefore runs commands under the entries, rules and leases of before.
func (w *world) judgesAsBefore(t *testing.T) {
	tool := beforeHome + "/bin/tool"
	for _, c := range []struct{ agent, flags, words, want string }{
		{"main", "", "/usr/bin/id -u", "allow"},
		{"main", "", "whoami", "deny denylisted"},
		{"main", "", "touch --forbidden", "deny denylisted"},
		{"main", "", "touch other", "ask outside-folder"},
		{"main", "", "shred nothing", "deny denylisted"},
		{"locked", "", "/usr/bin/id -u", "deny security=deny"},
		{"free", "", "uname -n", "allow"},
		{"main", "", "printf first", "allow"},
		{"main", "", "printf first second", "ask allowlist-miss"},
		{"main", "", "echo abc", "allow"},
		{"main", "", "echo ABC", "ask allowlist-miss"},
		{"main", "--env TZ=UTC", "date", "allow"},
		{"main", "--cwd " + beforeHome + "/work/plain", "uname -s", "allow"},
		{"main", "--cwd " + beforeHome + "/work/plain", "uname -s -m", "ask allowlist-miss"},
		{"main", "", "uname -s", "ask allowlist-miss"},
		{"main", "", "sync", "ask writes-file"},
		{"main", "", "expr 1 + 1", "allow"},
		{"main", "", "arch", "ask lease-ended"},
		{"main", "--session s1", "nproc", "ask allowlist-miss"}, // of a session that is over
		{"main", "", beforeHome + "/bin/talk", "allow"},
		{"other", "", beforeHome + "/bin/talk", "ask allowlist-miss"},
		{"careful", "", "uname -m", "allow"},
		{"careful", "", "uname -s", "deny denylisted"},
		{"other", "", "uname -m", "ask allowlist-miss"},
		{"main", "", tool + " three", "allow"},
	} {
		if sh, err := filepath.EvalSymlinks("/bin/sh"); strings.HasPrefix(c.words, tool) && sh != "/usr/bin/dash" {
			t.Logf("skipped: %s was allowed with /usr/bin/dash, and here is %s %v", c.words, sh, err)
			continue
		}
		words := append(append([]string{"--agent", c.agent}, strings.Fields(c.flags)...), append([]string{"--"}, strings.Fields(c.words)...)...)
		cmd := w.asks(words...)
		out, _ := cmd.CombinedOutput() // its code says the same
		w.judgedLast(t, fmt.Sprint(c.agent, " ", c.flags, " ", c.words), c.want)
		if ran := cmd.ProcessState.ExitCode() == 0; ran != (c.want == "allow") {
			t.Errorf("%q: code %d\n%s", words, cmd.ProcessState.ExitCode(), out)
		}
	}
	// The file is another one than was allowed.
	overwrite(t, tool, "#!/bin/sh\necho another\n")
	_ = w.asks("--agent", "main", "--", tool, "three").Run() // its row says how it ended
	w.judgedLast(t, "a changed tool", "ask binary-changed")
	for args, want := range map[string]string{
		`{"repo": "me/app", "title": "short"}`:                      "allow",
		`{"repo": "you/app", "title": "short"}`:                     "ask allowlist-miss",
		`{"repo": "me/app", "title": "much longer than it may be"}`: "deny denylisted",
		`{"repo": "me/app"}`:                                        "deny denylisted",
	} {
		finish(t, w.command("hook", "generic"), `{"version": 1, "agent": "main", "server": "github", "tool": "create_issue", "args": `+args+`, "cwd": "/"}`)
		w.judgedLast(t, args, want)
	}
}

// judgedLast holds how the last request was judged.
func (w *world) judgedLast(t *testing.T, what, want string) {
	t.Helper()
	row := w.rows(t)[0]
	if got := strings.TrimSpace(string(row.Judged) + " " + string(row.JudgedReason)); got != want {
		t.Errorf("%s: %s, want %s", what, got, want)
	}
}

// hooksAsBefore starts what the settings of agents say, as the agents do.
func (w *world) hooksAsBefore(t *testing.T) {
	for _, c := range []struct{ dialect, file, event string }{
		{"claude-code", ".claude/settings.json", "PermissionRequest"},
		{"codex", ".codex/hooks.json", "PermissionRequest"},
		{"copilot", ".copilot/hooks/countersign.json", "preToolUse"},
		{"copilot", ".copilot/hooks/countersign.json", "permissionRequest"},
		{"cursor", ".cursor/hooks.json", "beforeShellExecution"},
		{"gemini", ".gemini/settings.json", "BeforeTool"},
		{"vscode", ".copilot/hooks/countersign-vscode.json", "PreToolUse"},
		{"claude-code", "work/shop/.claude/settings.local.json", "PermissionRequest"},
	} {
		started := ourHandler(t, filepath.Join(beforeHome, c.file), c.event)
		for command, want := range map[string]bool{"/usr/bin/id -u": true, "whoami": false} {
			input, _ := json.Marshal(hookDialects[c.dialect](command))
			got := finish(t, inTerminal(w.program(started[0], started[1:]...)), string(input))
			if runsAfter(got) != want {
				t.Errorf("%s %s: %s: %+v", c.file, c.event, command, got)
			}
			if line := runsApproved.FindStringSubmatch(got.stdout); line != nil {
				if out, err := inTerminal(w.program("/bin/sh", "-c", line[1])).Output(); err != nil || len(out) == 0 {
					t.Errorf("%s: %v %s", line[1], err, out)
				}
			}
			if row := w.rows(t)[0]; row.AgentID != c.dialect || !strings.Contains(row.Command, command) {
				t.Errorf("%s %s: the last request is %+v", c.file, c.event, row)
			}
		}
	}
}

// runsApproved finds the command line that an agent is to run in place of its own.
var runsApproved = regexp.MustCompile(`"command":"([^"]* run --approved [^"]*)"`)

// ourHandler is what a settings file starts at an event, in the words of a program.
func ourHandler(t *testing.T, path, event string) []string {
	t.Helper()
	type handler struct {
		Command, Exec string
		Args          []string
	}
	var settings struct {
		Hooks map[string][]struct {
			handler
			Hooks []handler
		}
	}
	text, err := hujson.Standardize([]byte(fileText(t, path)))
	if err == nil {
		err = json.Unmarshal(text, &settings)
	}
	if err != nil {
		t.Fatal(path, err)
	}
	for _, group := range settings.Hooks[event] {
		for _, h := range append(group.Hooks, group.handler) {
			program := h.Command + h.Exec
			switch {
			case !strings.Contains(program, beforeProgram):
			case len(h.Args) > 0:
				return append([]string{program}, h.Args...)
			default:
				return []string{"/bin/sh", "-c", program}
			}
		}
	}
	t.Fatalf("%s starts nothing of ours at %s", path, event)
	return nil
}

// goesOnAfter holds the rows of before, and the chain over them and the new ones.
func (w *world) goesOnAfter(t *testing.T) {
	var old []history.Row
	var end struct {
		Links int
		Head  string
	}
	if err := errors.Join(json.Unmarshal([]byte(beforeSaid(t, "history.json")), &old), json.Unmarshal([]byte(beforeSaid(t, "verify.json")), &end)); err != nil {
		t.Fatal(err)
	}
	rows := w.rows(t)
	if len(rows) <= len(old) {
		t.Fatalf("%d rows, and there were %d", len(rows), len(old))
	}
	if diff := cmp.Diff(old, rows[len(rows)-len(old):]); diff != "" {
		t.Errorf("rows of before (-before +now):\n%s", diff)
	}
	var now struct {
		Links, Removed, Open int
		Broken               any
	}
	w.json(t, &now, "history", "verify", "--head", end.Head)
	if now.Links <= end.Links || now.Removed != 0 || now.Open != 0 || now.Broken != nil {
		t.Errorf("%+v", now)
	}
	var found []history.Row
	w.json(t, &found, "history", "list", "--limit", "1000", "head")
	if want := slices.DeleteFunc(slices.Clone(old), func(r history.Row) bool { return !strings.Contains(r.Command, "head") }); len(want) == 0 || !cmp.Equal(want, found) {
		t.Errorf("%d rows are found by a word, want %d", len(found), len(want))
	}
	// What was changed of an old row is seen under new ones.
	w.end(syscall.SIGTERM)
	kept := fileText(t, w.state.History())
	w.alter(t, "UPDATE runs SET command = 'other' WHERE n = 9")
	if out, code := w.tried(t, "history", "verify"); code != exitError || !strings.Contains(out, "broken at row 9") {
		t.Errorf("code %d, %s", code, out)
	}
	overwrite(t, w.state.History(), kept)
	if err := w.startHost(nil, "host", "run", "--ask=nobody"); err != nil {
		t.Fatal(err)
	}
}

// takesOutHooks leaves the settings as they were before the older program.
func (w *world) takesOutHooks(t *testing.T) {
	for _, words := range []string{"claude-code", "codex", "vscode", "copilot", "cursor", "gemini", "claude-code --scope project"} {
		cmd := w.atHome(append([]string{"hook", "uninstall", "--yes"}, strings.Fields(words)...)...)
		cmd.Dir = filepath.Join(beforeHome, "work", "shop")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", words, err, out)
		}
	}
	untouched := filesUnder(t, beforeFrom+"/untouched")
	for _, path := range untouched {
		if got, want := fileText(t, filepath.Join(beforeHome, path)), fileText(t, filepath.Join(beforeFrom, "untouched", path)); got != want {
			t.Errorf("%s is\n%s\nwant\n%s", path, got, want)
		}
	}
	for _, path := range []string{".copilot/hooks", "work/shop/.claude"} {
		if _, err := os.Lstat(filepath.Join(beforeHome, path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s, which was made for hooks, is still there: %v", path, err)
		}
	}
}

// knowsServices finds the services of before installed, and would write them so
// again. The systemctl of the test does nothing.
func (w *world) knowsServices(t *testing.T) {
	bin := filepath.Join(beforeHome, "fake")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.WriteFile(filepath.Join(bin, "systemctl"), []byte("#!/bin/sh\ncase \"$*\" in *MainPID*) echo 0;; esac\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
	run := func(words string) []byte {
		t.Helper()
		cmd := w.atHome(strings.Fields(words)...)
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "SUDO_USER=")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil && !strings.Contains(words, "status") { // no gateway answers
			t.Errorf("%s: %v\n%s", words, err, stderr.Bytes())
		}
		return out
	}
	for name, install := range map[string][]string{
		"node":    {"--gateway", "ws://127.0.0.1:1", "--display-name", "50% mini", "--exec-host", "app"},
		"gateway": {"--listen", "127.0.0.1:2"},
	} {
		unit := ".config/systemd/user/countersign-" + name + ".service"
		path, token := filepath.Join(beforeHome, unit), fileText(t, w.state.GatewayToken())
		var s struct {
			Service struct {
				Path      string
				Installed bool
			}
		}
		if out := run("--json " + name + " status"); json.Unmarshal(out, &s) != nil || s.Service.Path != path || !s.Service.Installed {
			t.Errorf("%s: %s", name, out)
		}
		cmd := w.atHome(append([]string{name, "install"}, install...)...)
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "SUDO_USER=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if diff := cmp.Diff(fileText(t, filepath.Join(beforeFrom, "home", unit)), fileText(t, path)); diff != "" {
			t.Errorf("%s (-before +now):\n%s", name, diff)
		}
		if fileText(t, w.state.GatewayToken()) != token {
			t.Error("the gateway has another token now")
		}
		run(name + " uninstall")
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

//go:build linux || darwin

package setup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestFilesComeBack installs each fixture on the disk and uninstalls it: file,
// mode and folders are as they were, but for the backups.
func TestFilesComeBack(t *testing.T) {
	for name, in := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			agent, _, _ := strings.Cut(name, ".")
			target := targetOf(t, agent)
			path := e.puts(t, filepath.Join(target.folder, target.user), string(in))
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			applied(t, e, agent, false)
			if s := conditionOf(t, e, agent); s.Condition != Installed {
				t.Errorf("after the install it is %s (%s)", s.Condition, s.Problem)
			}
			info, err := os.Stat(path)
			if err != nil || info.Mode().Perm() != 0o640 {
				t.Errorf("the mode is %v (%v), want 0640", info.Mode().Perm(), err)
			}
			kept := backups(t, path)
			if len(kept) != 1 || read(t, kept[0]) != string(in) {
				t.Errorf("want one backup with the old text, got %v", kept)
			}
			if info, err := os.Stat(kept[0]); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the backup has mode %v (%v), want 0600", info.Mode().Perm(), err)
			}
			applied(t, e, agent, true)
			if got := read(t, path); got != string(in) {
				t.Errorf("the file came back as\n%q\nwant\n%q", got, in)
			}
			if s := conditionOf(t, e, agent); s.Condition != NotInstalled {
				t.Errorf("after the uninstall it is %s", s.Condition)
			}
		})
	}
}

// TestNothingIsLeft installs where nothing was: afterwards nothing is.
func TestNothingIsLeft(t *testing.T) {
	for _, agent := range Agents() {
		if targetOf(t, agent).user == "" {
			continue
		}
		t.Run(agent, func(t *testing.T) {
			e := newEnv(t)
			before := tree(t, e.Home)
			applied(t, e, agent, false)
			if s := conditionOf(t, e, agent); s.Condition != Installed {
				t.Errorf("it is %s: %s", s.Condition, s.Problem)
			}
			applied(t, e, agent, true)
			if err := os.RemoveAll(e.State.Dir); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, tree(t, e.Home)); diff != "" {
				t.Errorf("(-before +after)\n%s", diff)
			}
		})
	}
}

// TestSecondInstall writes nothing.
func TestSecondInstall(t *testing.T) {
	e := newEnv(t)
	path := e.puts(t, ".claude/settings.json", `{"model": "opus"}`)
	applied(t, e, "claude-code", false)
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	c := applied(t, e, "claude-code", false)
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if !c.Same() || c.Diff != "" || !os.SameFile(before, after) || len(backups(t, path)) != 1 {
		t.Errorf("the second install is no no-op: %+v, backups %v", c, backups(t, path))
	}
	applied(t, e, "claude-code", true)
	if got := read(t, path); got != `{"model": "opus"}` {
		t.Errorf("the file came back as %s", got)
	}
}

// TestChangedMeanwhile does not write a file that is not what was shown.
func TestChangedMeanwhile(t *testing.T) {
	cases := []struct {
		name   string
		before string // "-" for no file
		change func(path string) error
	}{
		{"another text", `{}`, func(path string) error { return os.WriteFile(path, []byte(`{"a":1}`), 0o644) }},
		{"a byte", `{} `, func(path string) error { return os.WriteFile(path, []byte("{}\n"), 0o644) }},
		{"gone", `{}`, os.Remove},
		{"made", `-`, func(path string) error { return os.WriteFile(path, []byte(`{}`), 0o644) }},
		{"made, and empty", `-`, func(path string) error { return os.WriteFile(path, nil, 0o644) }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			path := e.puts(t, ".claude/settings.json", c.before)
			if c.before == "-" {
				os.Remove(path)
			}
			change, err := Plan(e, "claude-code", ScopeUser)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.change(path); err != nil {
				t.Fatal(err)
			}
			now := tree(t, filepath.Dir(path))
			if err := Apply(e, change); !errors.Is(err, ErrChanged) {
				t.Errorf("the error is %v", err)
			}
			if diff := cmp.Diff(now, tree(t, filepath.Dir(path))); diff != "" {
				t.Errorf("something was written: %s", diff)
			}
		})
	}
}

// TestWriteLooksOnceMore has the file change after the plan was made for the
// last time: what was read is compared right before the rename.
func TestWriteLooksOnceMore(t *testing.T) {
	for _, before := range []string{"{}", ""} {
		e := newEnv(t)
		path := e.puts(t, ".claude/settings.json", before)
		if before == "" {
			os.Remove(path)
		}
		p, err := e.install("claude-code", ScopeUser)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"theirs": true}`), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(e.State.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := e.carryOut(p); !errors.Is(err, ErrChanged) {
			t.Errorf("the error is %v", err)
		}
		if before == "" { // somebody made it after the last look
			mustDo(t, os.WriteFile(path+".new", nil, 0o600))
			if err := p.file.moveIn(path + ".new"); !errors.Is(err, ErrChanged) {
				t.Errorf("a file that came meanwhile is replaced: %v", err)
			}
		}
		if got := read(t, path); got != `{"theirs": true}` {
			t.Errorf("the file is now %s", got)
		}
		if m, err := e.readManifest(); err != nil || len(m.Hooks) != 0 {
			t.Errorf("it is remembered as written: %+v (%v)", m, err)
		}
	}
}

// TestOfAnotherMind checks that a change that came back from a page with other
// words in it writes nothing.
func TestOfAnotherMind(t *testing.T) {
	e := newEnv(t)
	path := e.puts(t, ".claude/settings.json", `{}`)
	good, err := Plan(e, "claude-code", ScopeUser)
	if err != nil {
		t.Fatal(err)
	}
	for name, bend := range map[string]func(*Change){
		"file": func(c *Change) { c.File = "/etc/passwd" }, "after": func(c *Change) { c.After = "" },
		"before": func(c *Change) { c.Before = "" }, "undo": func(c *Change) { c.Undo = true },
		"agent": func(c *Change) { c.Agent = "gemini" }, "follows": func(c *Change) { c.Follows = "/etc/passwd" },
		"scope": func(c *Change) { c.Scope = "world" },
	} {
		bent := good
		bend(&bent)
		if err := Apply(e, bent); err == nil {
			t.Errorf("%s: it was written", name)
		}
	}
	if got := read(t, path); got != `{}` {
		t.Errorf("the file is now %s", got)
	}
	if err := Apply(e, good); err != nil {
		t.Errorf("the change itself: %v", err)
	}
}

func TestBackupsAreFew(t *testing.T) {
	e := newEnv(t)
	path := e.puts(t, ".claude/settings.json", `{}`)
	stranger := e.puts(t, ".claude/settings.json.countersign-backup-old", "not ours")
	for i := range 8 {
		e.Now = func() time.Time { return time.Unix(1_800_000_000+int64(i/2), 0) } // two in each second
		if err := os.WriteFile(path, fmt.Appendf(nil, `{"round": %d}`, i), 0o644); err != nil {
			t.Fatal(err)
		}
		applied(t, e, "claude-code", false)
	}
	var texts []string
	for _, path := range backups(t, path) {
		if path != stranger {
			texts = append(texts, read(t, path))
		}
	}
	want := []string{`{"round": 3}`, `{"round": 4}`, `{"round": 5}`, `{"round": 6}`, `{"round": 7}`}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if read(t, stranger) != "not ours" {
		t.Error("a file of another name was touched")
	}
}

// TestLinks follows links inside of the home, and no others.
func TestLinks(t *testing.T) {
	const text = "{\n  \"model\": \"opus\"\n}\n"
	cases := []struct {
		name  string
		link  func(e Env, path string) error
		wrong string // in the error; "" where it is followed
	}{
		{"a file in dotfiles", func(e Env, path string) error {
			return os.Symlink("../dotfiles/claude/settings.json", path)
		}, ""},
		{"a folder in dotfiles", func(e Env, path string) error {
			os.Remove(filepath.Dir(path))
			return os.Symlink(filepath.Join(e.Home, "dotfiles/claude"), filepath.Dir(path))
		}, ""},
		{"a chain", func(e Env, path string) error {
			err := os.Symlink("dotfiles/claude/settings.json", filepath.Join(e.Home, "middle"))
			return errors.Join(err, os.Symlink(filepath.Join(e.Home, "middle"), path))
		}, ""},
		{"nowhere", func(e Env, path string) error { return os.Symlink("nothing.json", path) }, "leads nowhere"},
		{"a folder that is nowhere", func(e Env, path string) error {
			os.Remove(filepath.Dir(path))
			return os.Symlink("nothing", filepath.Dir(path))
		}, "leads nowhere"},
		{"in a circle", func(e Env, path string) error { return os.Symlink("settings.json", path) }, "settings.json cannot be followed"},
		{"a file for a folder", func(e Env, path string) error {
			return errors.Join(os.Remove(filepath.Dir(path)), os.WriteFile(filepath.Dir(path), nil, 0o644))
		}, "settings.json cannot be followed"},
		{"/etc", func(e Env, path string) error { return os.Symlink("/etc/hosts", path) }, "outside of your home"},
		{"outside, by ..", func(e Env, path string) error {
			outside := filepath.Join(filepath.Dir(e.Home), "outside.json")
			return errors.Join(os.WriteFile(outside, []byte(text), 0o644), os.Symlink("../../outside.json", path))
		}, "outside of your home"},
		{"a name that begins like the home", func(e Env, path string) error {
			outside := e.Home + "-of-another"
			err := os.Mkdir(outside, 0o755)
			return errors.Join(err, os.WriteFile(outside+"/s.json", []byte(text), 0o644), os.Symlink(outside+"/s.json", path))
		}, "outside of your home"},
		{"the home itself", func(e Env, path string) error { return os.Symlink(e.Home, path) }, "outside of your home"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			dotfile := e.puts(t, "dotfiles/claude/settings.json", text)
			path := filepath.Join(e.Home, ".claude/settings.json")
			if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := c.link(e, path); err != nil {
				t.Fatal(err)
			}
			before := tree(t, filepath.Dir(e.Home))
			change, err := Plan(e, "claude-code", ScopeUser)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("the error is %v, want %q", err, c.wrong)
				}
				if diff := cmp.Diff(before, tree(t, filepath.Dir(e.Home))); diff != "" {
					t.Errorf("something was written: %s", diff)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			real, err := filepath.EvalSymlinks(dotfile)
			if err != nil || change.Follows != real || !strings.Contains(strings.Join(change.Notes, " "), real) {
				t.Errorf("it does not say that it follows a link to %s: %+v (%v)", real, change, err)
			}
			if err := Apply(e, change); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(read(t, dotfile), e.Program) {
				t.Error("the file behind the link was not written")
			}
			if len(backups(t, path)) != 1 {
				t.Error("there is no backup beside the name")
			}
			applied(t, e, "claude-code", true)
			if got := read(t, dotfile); got != text {
				t.Errorf("it came back as %q", got)
			}
			if _, err := os.Readlink(path); err != nil && c.name == "a file in dotfiles" {
				t.Errorf("the link is none any more: %v", err)
			}
		})
	}
}

// TestRefusedFiles are files that are left alone, and the words for why.
func TestRefusedFiles(t *testing.T) {
	text := func(s string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	cases := []struct {
		name  string
		agent string
		make  func(*testing.T, string)
		want  string
	}{
		{"broken", "claude-code", text("{\n  \"a\": 1,\n  \"b\" 2\n}"), "settings.json is left alone: line 3, column 7"},
		{"cut off", "claude-code", text(`{"a": [1, 2`), "line 1, column 12"},
		{"two values", "claude-code", text("{}\n{}"), "line 2, column 1"},
		{"single quotes", "claude-code", text("{\n  'a': 1}"), "line 2, column 3"},
		{"no object", "claude-code", text(`["a"]`), "line 1, column 1: this is not an object"},
		{"a name twice", "claude-code", text("{\n  \"env\": {\"A\": 1,\n    \"B\": 2, \"A\": 3}\n}"), `line 3, column 13: the name "A" is there twice`},
		{"a name twice, escaped", "claude-code", text("{\"hooks\": {}, \"h\\u006foks\": {}}"), `line 1, column 15: the name "hooks" is there twice`},
		{"deep", "claude-code", text(`{"a":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}"), "line 1, column 205: this is nested deeper than 200 levels"},
		{"deep without an end", "claude-code", text(strings.Repeat(`{"a":`, 700_000)), "nested deeper than 200 levels"},
		{"not UTF-8", "claude-code", text("{\"a\": \"\xff\"}"), "line 1, column 8: this is not UTF-8"},
		{"UTF-16", "claude-code", text("\xff\xfe{\x00}\x00"), "line 1, column 1: this is not UTF-8"},
		{"NUL", "claude-code", text("{\"a\": \"\x00\"}"), "line 1, column 7"},
		{"5 MiB", "claude-code", text(`{"a": "` + strings.Repeat("x", 5<<20) + `"}`), "larger than 4 MiB"},
		{"hooks that are a list", "claude-code", text("{\n\"hooks\": []}"), `line 2, column 10: "hooks" is not what the agent wants`},
		{"an event that is an object", "claude-code", text(`{"hooks": {"PreToolUse": {}}}`), `line 1, column 26: "PreToolUse" is not what the agent wants`},
		{"hooks that are null", "gemini", text(`{"hooks": null}`), `line 1, column 11: "hooks" is not`},
		{"another version", "cursor", text(`{"version": 2, "hooks": {}}`), "line 1, column 13: this version of the file is not known"},
		{"a version in words", "copilot", text(`{"version": "1", "hooks": {}}`), "line 1, column 13: this version of the file is not known"},
		{"a folder", "claude-code", func(t *testing.T, path string) { mustDo(t, os.Mkdir(path, 0o755)) }, "is not a regular file"},
		{"a pipe", "claude-code", func(t *testing.T, path string) { mustDo(t, syscall.Mkfifo(path, 0o600)) }, "is not a regular file"},
		{"a folder for everybody", "claude-code", func(t *testing.T, path string) {
			mustDo(t, os.Chmod(filepath.Dir(path), 0o777))
		}, "can be written by everybody"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t)
			target := targetOf(t, c.agent)
			path := filepath.Join(e.Home, target.folder, target.user)
			mustDo(t, os.MkdirAll(filepath.Dir(path), 0o755))
			c.make(t, path)
			before := tree(t, filepath.Join(e.Home, target.folder))
			for _, plan := range []func(Env, string, Scope) (Change, error){Plan, PlanRemoval} {
				_, err := plan(e, c.agent, ScopeUser)
				wrongKind := strings.Contains(c.want, "is not what") || strings.Contains(c.want, "version of the file") || strings.Contains(c.want, `"hooks" is not`)
				if wrongKind && err == nil { // there is nothing of ours in it to take out
					continue
				}
				if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), filepath.Dir(path)) {
					t.Errorf("the error is %.300v\nwant %q and the file", err, c.want)
				}
			}
			if diff := cmp.Diff(before, tree(t, filepath.Join(e.Home, target.folder))); diff != "" {
				t.Errorf("something was written: %.300s", diff)
			}
		})
	}
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestBigFile takes one of almost 4 MiB, and none that would grow larger.
func TestBigFile(t *testing.T) {
	approvaltest.Long(t)
	for room, want := range map[int]string{2000: "", 100: "would be larger than 4 MiB"} {
		e := newEnv(t)
		text := `{"big": "` + strings.Repeat("x", maxSize-room) + `"}`
		path := e.puts(t, ".claude/settings.json", text)
		c, err := Plan(e, "claude-code", ScopeUser)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("with %d bytes left the error is %v", room, err)
			}
			continue
		}
		mustDo(t, err)
		mustDo(t, Apply(e, c))
		applied(t, e, "claude-code", true)
		if read(t, path) != text {
			t.Error("it did not come back")
		}
	}
}

// TestRights has another user than root try what rights forbid.
func TestRights(t *testing.T) {
	cases := []struct {
		name string
		make func(e Env, path string) error
		want string
	}{
		{"an unreadable file", func(_ Env, path string) error { return os.Chmod(path, 0) }, "permission denied"},
		{"a read-only folder", func(_ Env, path string) error { return os.Chmod(filepath.Dir(path), 0o555) }, "cannot write beside"},
		{"a file that is not ours", func(_ Env, path string) error { return os.Chown(path, 0, 0) }, "belongs to another user"},
		{"a folder that is not ours", func(_ Env, path string) error { return os.Chown(filepath.Dir(path), 0, 0) }, "belongs to another user"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if strings.HasSuffix(c.name, "not ours") && os.Getuid() != 0 {
				t.Skip("skipped: only root can give files away")
			}
			e := newEnv(t)
			path := e.puts(t, ".claude/settings.json", `{}`)
			cmd := itself(t, "install", homeVariable+"="+e.Home, agentVariable+"=claude-code")
			if os.Getuid() == 0 {
				asNobody(t, e, cmd)
			}
			mustDo(t, c.make(e, path))
			t.Cleanup(func() { os.Chmod(filepath.Dir(path), 0o755) })
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("it says %q (%v), want %q", out, err, c.want)
			}
			mustDo(t, os.Chmod(path, 0o644))
			if got := read(t, path); got != `{}` {
				t.Errorf("the file is now %s", got)
			}
			if m, err := e.readManifestAs(t); err != nil || bytes.Contains(m, []byte("claude")) {
				t.Errorf("it is remembered as written: %s (%v)", m, err)
			}
		})
	}
}

// readManifestAs reads the record whosever it is.
func (e Env) readManifestAs(t *testing.T) ([]byte, error) {
	t.Helper()
	text, err := os.ReadFile(e.State.Hooks())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// TestAtOnce has many processes install into one file.
func TestAtOnce(t *testing.T) {
	e := newEnv(t)
	const before = "{\n  // mine\n  \"model\": \"opus\"\n}\n"
	path := e.puts(t, ".claude/settings.json", before)
	var all sync.WaitGroup
	for i := range 12 {
		agent := []string{"claude-code", "gemini", "cursor"}[i%3]
		cmd := itself(t, "install", homeVariable+"="+e.Home, agentVariable+"="+agent)
		all.Go(func() {
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", agent, err, out)
			}
		})
	}
	all.Wait()
	for _, agent := range []string{"claude-code", "gemini", "cursor"} {
		if s := conditionOf(t, e, agent); s.Condition != Installed {
			t.Errorf("%s is %s: %s", agent, s.Condition, s.Problem)
		}
		applied(t, e, agent, true)
	}
	if got := read(t, path); got != before {
		t.Errorf("the file came back as\n%s", got)
	}
	if kept := backups(t, path); len(kept) != 2 {
		t.Errorf("the file was written more often than once: %v", kept)
	}
	left, err := filepath.Glob(filepath.Join(e.Home, ".claude", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

//go:build linux || darwin

package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// real gives the machine a program that is there.
func (e Env) real(t *testing.T) Env {
	t.Helper()
	e.Program = e.puts(t, "app/countersign", "#!/bin/sh\n")
	return e
}

// lost are the hooks that Lost tells of, in a word each.
func lost(t *testing.T, e Env) (list []string) {
	t.Helper()
	states, err := Lost(e)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range states {
		word := fmt.Sprintf("%s %s", s.Agent, s.Condition)
		if s.Missing {
			word += " missing"
		}
		list = append(list, word)
	}
	return list
}

func TestLost(t *testing.T) {
	edit := func(old, new string) func(*testing.T, Env, string) {
		return func(t *testing.T, _ Env, file string) {
			text := read(t, file)
			if now := strings.ReplaceAll(text, old, new); now == text {
				t.Fatalf("the edit changes nothing:\n%s", text)
			} else {
				mustDo(t, os.WriteFile(file, []byte(now), 0o600))
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(t *testing.T, e Env, file string)
		want   []string
	}{
		{"as it was left", func(*testing.T, Env, string) {}, nil},
		{"a setting beside it", edit(`"hooks": {`, `"model": "x", "hooks": {`), nil},
		{"a narrower matcher", edit(`"*"`, `"Bash"`), []string{"claude-code changed"}},
		{"another copy that somebody put in", edit("/app/countersign", "/tmp/countersign"), []string{"claude-code other-executable missing"}},
		{"no file", func(t *testing.T, _ Env, file string) { mustDo(t, os.Remove(file)) }, []string{"claude-code vanished"}},
		{"no comma", edit(",", ""), []string{"claude-code unreadable"}},
		{"its program is gone", func(t *testing.T, e Env, _ string) { mustDo(t, os.Remove(e.Program)) }, []string{"claude-code installed missing"}},
		{"the agent is gone", func(t *testing.T, e Env, file string) { mustDo(t, os.RemoveAll(filepath.Dir(file))) }, nil},
		{"taken out", func(t *testing.T, e Env, _ string) { applied(t, e, "claude-code", true) }, nil},
		{"gone, and not missed", func(t *testing.T, e Env, file string) {
			mustDo(t, os.WriteFile(file, []byte("{}"), 0o600))
			if c := applied(t, e, "claude-code", true); !c.Forgets || !c.Same() || read(t, file) != "{}" {
				t.Errorf("%+v", c)
			}
			if c := applied(t, e, "claude-code", true); c.Forgets {
				t.Error("it is forgotten twice")
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEnv(t).real(t)
			file := applied(t, e, "claude-code", false).File
			c.change(t, e, file)
			if got := lost(t, e); !slices.Equal(got, c.want) {
				t.Errorf("lost are %q, want %q", got, c.want)
			}
		})
	}
}

// TestLostOfAnotherCopy: what another copy of us wrote is as it was left, as
// long as that copy is there.
func TestLostOfAnotherCopy(t *testing.T) {
	e := newEnv(t).real(t)
	applied(t, e, "codex", false)
	other := e
	other.Program = e.puts(t, "other/countersign", "#!/bin/sh\n")
	if s := conditionOf(t, other, "codex"); s.Condition != OtherProgram {
		t.Fatalf("it is %s", s.Condition)
	}
	if got := lost(t, other); got != nil {
		t.Errorf("lost are %q", got)
	}
	mustDo(t, os.Remove(e.Program))
	if got := lost(t, other); !slices.Equal(got, []string{"codex other-executable missing"}) {
		t.Errorf("lost are %q", got)
	}
}

// TestLostElsewhere: hooks of projects, and of settings that lay elsewhere then,
// are looked at where they are.
func TestLostElsewhere(t *testing.T) {
	e := newEnv(t).real(t)
	at := e
	elsewhere := filepath.Join(e.Home, "elsewhere")
	at.Project = filepath.Join(e.Home, "work")
	mustDo(t, errors.Join(os.Mkdir(elsewhere, 0o755), os.Mkdir(at.Project, 0o755)))
	at.Getenv = func(name string) string { return map[string]string{"CLAUDE_CONFIG_DIR": elsewhere}[name] }
	moved := applied(t, at, "claude-code", false).File
	c, err := Plan(at, "cursor", ScopeProject)
	mustDo(t, err)
	mustDo(t, Apply(at, c))
	if got := lost(t, e); got != nil {
		t.Errorf("lost are %q", got)
	}
	mustDo(t, errors.Join(os.Remove(moved), os.Remove(c.File)))
	if got := lost(t, e); !slices.Equal(got, []string{"claude-code vanished", "cursor vanished"}) {
		t.Errorf("lost are %q", got)
	}
	mustDo(t, os.RemoveAll(at.Project))
	if got := lost(t, e); !slices.Equal(got, []string{"claude-code vanished"}) {
		t.Errorf("without the project lost are %q", got)
	}
	e.puts(t, ".state/hooks.json", "{")
	if _, err := Lost(e); err == nil {
		t.Error("a record that cannot be read has nothing lost")
	}
}

// TestWatch: each change is told by itself, and the files are followed where
// they go.
func TestWatch(t *testing.T) {
	e := newEnv(t).real(t)
	mustDo(t, os.Mkdir(filepath.Join(e.Home, ".state"), 0o700))
	ctx, stop := context.WithCancel(t.Context())
	told, over := make(chan string, 100), make(chan error, 1)
	go func() {
		over <- Watch(ctx, e, func(list []State, err error) {
			words := []string{}
			for _, s := range list {
				words = append(words, s.Agent+" "+string(s.Condition))
			}
			if err != nil {
				words = append(words, "an error")
			}
			told <- strings.Join(words, ", ")
		})
	}()
	last := "nothing yet"
	see := func(step, want string) {
		t.Helper()
		for end := time.After(30 * time.Second); last != want; {
			select {
			case last = <-told:
			case <-end:
				t.Fatalf("%s: told is %q, want %q", step, last, want)
			}
		}
	}
	see("at first", "")
	file := applied(t, e, "claude-code", false).File
	text := read(t, file)
	mustDo(t, os.WriteFile(file, []byte("{}"), 0o600))
	see("emptied", "claude-code vanished")
	next := e.puts(t, ".claude/new", text)
	mustDo(t, os.Rename(next, file))
	see("another file in its place", "")
	mustDo(t, os.Rename(filepath.Dir(file), filepath.Dir(file)+"-old"))
	mustDo(t, os.Mkdir(filepath.Dir(file), 0o755))
	see("another folder in its place", "claude-code vanished")
	mustDo(t, os.WriteFile(file, []byte(text), 0o600))
	see("written in there", "")
	target := e.puts(t, "dotfiles/claude.json", text)
	mustDo(t, errors.Join(os.Remove(file), os.Symlink(target, file)))
	applied(t, e, "codex", false) // the record changes
	mustDo(t, os.Remove(filepath.Join(e.Home, ".codex", "hooks.json")))
	see("of another agent", "codex vanished")
	mustDo(t, os.WriteFile(target, []byte("{}"), 0o600))
	see("behind a link", "claude-code vanished, codex vanished")
	applied(t, e, "codex", true)
	see("not missed", "claude-code vanished")
	e.puts(t, ".state/hooks.json", "{")
	see("a broken record", "an error")
	stop()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// TestWatchedNames: what else is written beside the files wakes nobody.
func TestWatchedNames(t *testing.T) {
	home, err := filepath.EvalSymlinks(newEnv(t).Home) // folders are watched where their links lead
	mustDo(t, err)
	e := envFor(home).real(t)
	applied(t, e, "claude-code", false)
	names, folders := e.followed(false)
	for name, want := range map[string]bool{
		".claude/settings.json": true, ".claude": true, ".claude/history.jsonl": false, ".state/hooks.json": true, ".state/history.db": false, ".profile": false,
	} {
		if got := names[filepath.Join(e.Home, name)]; got != want {
			t.Errorf("%s counts: %v", name, got)
		}
	}
	if len(folders) != 2 {
		t.Errorf("watched are %v", folders)
	}
	mustDo(t, os.RemoveAll(filepath.Join(e.Home, ".claude")))
	if names, folders = e.followed(false); !names[filepath.Join(e.Home, ".claude")] || !folders[e.Home] {
		t.Errorf("without the folder %v is watched for %v", folders, names)
	}
	if names, folders = e.followed(true); !names[filepath.Join(e.Home, ".claude")] || !folders[filepath.Join(e.Home, ".claude")] || folders[e.Home] {
		t.Errorf("where entries are opened %v is watched for %v", folders, names)
	}
}

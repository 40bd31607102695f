package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/store"
)

// nobody denies what would ask.
func (b *bench) nobody() {
	b.edit(func(d *store.Document) error { d.Defaults.Ask = approval.AskOff; return nil })
}

// Texts with variables, substitutions and loops run without a shell, and what
// their words become is judged before it starts.
func TestScripts(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "hello"}, approval.Entry{Pattern: "/usr/bin/cat"}, approval.Entry{Pattern: "/usr/bin/ls"})
	b.script("hello", `echo "hello $*"`)
	b.script("evil", "touch "+b.path("mark"))
	b.nobody()
	work := b.path("work")
	for name, text := range map[string]string{"a.txt": "one\n", "b.txt": "two\n", "name": "hello", ".env": "secret\n", "which": ".env\n"} {
		if err := os.MkdirAll(work, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ text, want string }{
		{`x=you; hello $x`, `code 0 "hello you\n"`},
		{`for i in a b; do hello $i; done`, `code 0 "hello a\nhello b\n"`},
		{`for f in *.txt; do cat "$f"; done`, `code 0 "one\ntwo\n"`},
		{`hello "$(cat a.txt)"`, `code 0 "hello one\n"`},
		{`x=$(cat b.txt) && hello $x`, `code 0 "hello two\n"`},
		{`if cat a.txt; then hello yes; else hello no; fi`, `code 0 "one\nhello yes\n"`},
		{`set -e; false; hello never`, `code 1 ""`},
		{`cat < a.txt`, `code 0 "one\n"`},
		{"cat <<'E'\n$x\nE\n", `code 0 "$x\n"`},
		{`{ hello a; hello b; } | cat`, `code 0 "hello a\nhello b\n"`},
		{`hello {a,b}c`, `code 0 "hello ac bc\n"`},
		{`command -v hello`, `code 0 "` + b.path("bin/hello") + `\n"`},
		// What words become is judged, and ends the run where it does not pass.
		{`hello before; cat "$(cat which)"`, `denied protected-state`},
		{`for f in a.txt .env; do cat "$f"; done`, `denied protected-state`},
		{`x=$(cat name); $x`, `denied runtime-value`},
		{`hello "$(evil)"`, `denied allowlist-miss`},
		{`for i in $(evil); do hello; done`, `denied allowlist-miss`},
		{`x=$(evil); hello`, `denied allowlist-miss`},
		{`export PATH=$PWD; hello`, `denied env-asks`},
		{`hello $SECRET_TOKEN`, `denied runtime-value`},
		{`while true; do true; done`, `denied too-complex`},
	}
	for _, test := range tests {
		req := b.request("bash", "-c", test.text)
		req.Cwd = work
		result := b.Run(context.Background(), req)
		got := outcome(result)
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("evil ran")
	}
}

// Each program of a loop has a row of its own.
func TestLoopRows(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "hello"})
	b.script("hello", `exit 0`)
	b.want([]string{"bash", "-c", "for i in a b c; do hello $i; done"}, `code 0 ""`)
	rows, err := b.history.List(context.Background(), history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, row := range rows {
		if row.Parent != "" {
			commands = append(commands, row.Command)
			if row.State != history.Done || row.ExitCode == nil {
				t.Errorf("%+v", row)
			}
		}
	}
	if len(commands) != 3 || !strings.Contains(strings.Join(commands, ","), "hello b") {
		t.Errorf("rows of programs: %q", commands)
	}
}

// TestTricky runs scripts that were written to fool gates, where a few
// readers are allowed and nobody can be asked: nothing else starts, and
// nothing is written.
func TestTricky(t *testing.T) {
	data, err := os.ReadFile("../runner/testdata/tricky.txt")
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split(string(data), "\n%%\n")
	if len(scripts) < 60 {
		t.Fatalf("only %d scripts", len(scripts))
	}
	b := newBench(t, approval.Entry{Pattern: "/usr/bin/cat"}, approval.Entry{Pattern: "/usr/bin/ls"}, approval.Entry{Pattern: "/usr/bin/head"}, approval.Entry{Pattern: "/usr/bin/sort"})
	b.script("id", "touch "+b.path("mark"))
	b.nobody()
	ran := 0
	for _, script := range scripts {
		for _, shell := range []string{"bash", "sh", "zsh"} {
			work := b.path("work")
			for _, err := range []error{
				os.RemoveAll(work), os.MkdirAll(filepath.Join(work, "sub"), 0o755), os.MkdirAll(filepath.Join(work, "etc"), 0o755),
				os.WriteFile(filepath.Join(work, "a.txt"), []byte("one\n"), 0o644),
				os.WriteFile(filepath.Join(work, "lib.sh"), []byte("touch "+b.path("mark")+"\n"), 0o644),
				os.WriteFile(filepath.Join(work, "evil"), []byte("#!/bin/sh\ntouch "+b.path("mark")+"\n"), 0o755),
				os.WriteFile(filepath.Join(work, "ls"), []byte("#!/bin/sh\ntouch "+b.path("mark")+"\n"), 0o755),
				os.WriteFile(b.path("protected"), []byte("whole\n"), 0o644),
				os.WriteFile(filepath.Join(work, "protected"), []byte("whole\n"), 0o644),
				os.Symlink(b.path("protected"), filepath.Join(work, "link")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			before := names(t, work)
			req := b.request(shell, "-c", script)
			req.Cwd = work
			result := b.Run(context.Background(), req)
			if result.Denied == nil {
				ran++
			}
			if _, err := os.Stat(b.path("mark")); err == nil {
				t.Errorf("%s %q: something ran that policy does not allow: %s", shell, script, outcome(result))
				os.Remove(b.path("mark"))
			}
			for _, file := range []string{b.path("protected"), filepath.Join(work, "protected")} {
				if text, err := os.ReadFile(file); err != nil || string(text) != "whole\n" {
					t.Errorf("%s %q: %s is %q now", shell, script, file, text)
				}
			}
			if after := names(t, work); after != before {
				t.Errorf("%s %q: the folder holds %s, and held %s", shell, script, after, before)
			}
			if len(result.Left) > 0 {
				t.Errorf("%s %q: left behind: %v", shell, script, result.Left)
			}
			if strings.Contains(string(result.Stdout), "root:") {
				t.Errorf("%s %q printed a file of the system", shell, script)
			}
		}
	}
	t.Logf("%d scripts in three shells, %d ran to an end", len(scripts), ran)
}

func names(t *testing.T, dir string) string {
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		list = append(list, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

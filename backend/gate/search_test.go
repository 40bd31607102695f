package gate_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// A program of an environment of Python that a text activates is one of the project: an
// entry for its path covers it, and none for its name alone.
func TestVenv(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ entry, text, want string }{
		{"~/.venv/bin/tool", "source .venv/bin/activate && tool", "code 0 \"in VENV\\n\""},
		{"~/.venv/bin/tool", "for f in a b; do tool $f; done", "denied not-found"},
		{"~/.venv/bin/tool", "source .venv/bin/activate; for f in a b; do tool $f; done", "code 0 \"in VENV\\nin VENV\\n\""},
		{"tool", "source .venv/bin/activate && tool", "denied allowlist-miss"},
		{"~/.venv/bin/tool", "echo x > .venv/bin/activate; source .venv/bin/activate; tool", "denied protected-state"},
		{"~/.venv/bin/tool", "source .venv/bin/activate; git status", "denied allowlist-miss"},
	} {
		b := newBench(t, approval.Entry{Pattern: row.entry})
		b.nobody()
		venv := b.path(".venv")
		b.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
		b.write(".venv/bin/activate", "deactivate () {\n}\nVIRTUAL_ENV='"+venv+"'\nexport VIRTUAL_ENV\n")
		b.do(writeProgram(filepath.Join(venv, "bin/tool"), []byte("#!/bin/sh\necho in ${VIRTUAL_ENV##*/}\n")))
		if got := b.writesAt("", row.text); got != strings.ReplaceAll(row.want, "VENV", ".venv") {
			t.Errorf("%s: %s: %s, want %s", row.entry, row.text, got, row.want)
		}
	}
}

// What an environment of the project brings along is started by no program that an
// entry covers for what it is: not by its first line, and not by git.
func TestVenvStartsNothingElse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ entry, brings, text, want string }{
		{"npm", "python", "source .venv/bin/activate && npm ls", `code 0 "node\n"`},
		{"npm", "node", "source .venv/bin/activate && npm ls", "denied starts-program"},
		{"npm", "node", "npm ls", `code 0 "node\n"`},
		{"git", "gitlint", "source .venv/bin/activate && git --version > v", `code 0 ""`},
		{"git", "git-lfs", "source .venv/bin/activate && git --version > v", "denied starts-program"},
		{"git", "ssh", "source .venv/bin/activate && git --version > v", "denied starts-program"},
	} {
		b := newBench(t, approval.Entry{Pattern: row.entry, Allows: []approval.Allowed{approval.AllowProjectWrites}})
		b.nobody()
		b.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
		b.write(".venv/bin/activate", "deactivate () {\n}\nVIRTUAL_ENV='x'\n")
		b.do(writeProgram(b.path(".venv/bin/"+row.brings), []byte("#!/bin/sh\necho planted\n")))
		b.do(writeProgram(b.path("bin/npm"), []byte("#!/usr/bin/env node\n")))
		b.script("node", "echo node")
		if got := b.writesAt("", row.text); got != row.want {
			t.Errorf("%s with %s: %s, want %s", row.text, row.brings, got, row.want)
		}
	}
}

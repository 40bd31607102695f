package store

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// large is a document of n entries as they look after some use.
func large(n int) []byte {
	entries := make([]string, n)
	for i := range entries {
		entries[i] = fmt.Sprintf(`{"id": "5b0e1d5e-0000-4000-8000-%012d", "pattern": "~/Projects/p%d/**/bin/tool", `+
			`"args": ["run", "--fast"], "cwd": "~/Projects/p%d", "lastUsedAt": %d, "lastUsedCommand": "tool run --fast", `+
			`"lastResolvedPath": "/home/someone/Projects/p%d/x/bin/tool"}`, i, i, i, 1_700_000_000_000+i, i)
	}
	return []byte(mainList(strings.Join(entries, ",\n")))
}

// BenchmarkLoad10k reads and checks a policy with 10 000 entries (P11).
func BenchmarkLoad10k(b *testing.B) {
	text := large(10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse("file.json", text, home); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen10k is all that a start does, with its files on the disk (P7).
func BenchmarkOpen10k(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(file(dir), large(10_000), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s, err := Open(options(dir))
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkPolicy10k asks a snapshot for the policy of an agent.
func BenchmarkPolicy10k(b *testing.B) {
	d, err := Parse("file.json", large(10_000), home)
	if err != nil {
		b.Fatal(err)
	}
	snap := Snapshot{Document: d, view: &view{home: home, accepted: d}}
	for b.Loop() {
		if p := snap.Policy("main"); len(p.Allowlist) != 10_000 {
			b.Fatal(len(p.Allowlist))
		}
	}
}

// BenchmarkSave10k is what an edit writes, without the disk.
func BenchmarkSave10k(b *testing.B) {
	d, err := Parse("file.json", large(10_000), home)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := d.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompare10k compares two versions that differ in nothing.
func BenchmarkCompare10k(b *testing.B) {
	d, err := Parse("file.json", large(10_000), home)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if r := Loosens(d, d); r != nil {
			b.Fatal(r)
		}
	}
}

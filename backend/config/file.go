package config

import (
	"io/fs"
	"os"
	"sync"
)

// File is a configuration that is read again once its file is another one.
// Its methods may be called by many at once.
type File struct {
	path string

	mu   sync.Mutex
	seen fs.FileInfo // nil for none
	read bool
	good Config
	bad  error
}

// NewFile reads nothing yet.
func NewFile(path string) *File { return &File{path: path} }

// Current returns what the file says now. While that cannot be used, bad says
// why, and what it said last holds.
func (f *File) Current() (c Config, bad error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := os.Stat(f.path)
	if err != nil {
		now = nil // Load says whether that is an error
	}
	if f.read && same(now, f.seen) {
		return f.good, f.bad
	}
	if c, f.bad = Load(f.path); f.bad == nil {
		f.good = c
	}
	f.seen, f.read = now, true
	return f.good, f.bad
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/ownfile"
)

const (
	// maxManifest bounds the record, in bytes: it holds no texts, only places.
	maxManifest = 1 << 20
	lockWait    = 10 * time.Second
	lockStep    = 5 * time.Millisecond
)

var errLocked = errors.New("another countersign is writing hooks: try again")

// entry is what is remembered of one file that our hook was written into.
type entry struct {
	Agent string `json:"agent"`
	Scope Scope  `json:"scope"`
	File  string `json:"file"`
	// Written is the hash of our part, Before and After of the whole file, ""
	// for none.
	Written string `json:"written"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
	// Spans are what was put in, in the file as it was left.
	Spans []span `json:"spans,omitempty"`
	// Made are the names of what was made around our hooks, outer ones first,
	// and Folders what was made around the file, if that is ours too.
	Made     []string `json:"made,omitempty"`
	MadeFile bool     `json:"madeFile,omitempty"`
	Folders  []string `json:"folders,omitempty"`
	// At is when that was, in unix milliseconds.
	At int64 `json:"at"`
}

// manifest is the record of all files that our hooks were written into.
type manifest struct {
	Version int     `json:"version"`
	Hooks   []entry `json:"hooks"`
}

// readManifest reads the record. There may be none yet.
func (e Env) readManifest() (m manifest, err error) {
	path := e.State.Hooks()
	f, err := ownfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return manifest{Version: 1}, nil
	}
	if err != nil {
		return m, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !ownfile.Ours(info) || info.Size() > maxManifest) {
		err = errors.New("it is not a small file of your own")
	}
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(f, maxManifest))
	}
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && m.Version != 1 {
		err = fmt.Errorf("it has the version %d, and this countersign knows 1", m.Version)
	}
	if err != nil {
		return m, fmt.Errorf("the record of written hooks, %s, cannot be used: %w; move it away, and hooks are found by what they start", path, err)
	}
	return m, nil
}

// entry returns what is remembered of a file, nil if nothing.
func (m manifest) entry(agent string, path string) *entry {
	i := slices.IndexFunc(m.Hooks, func(h entry) bool { return h.Agent == agent && h.File == path })
	if i < 0 {
		return nil
	}
	return &m.Hooks[i]
}

// with returns the record with what is remembered of one file replaced; nil
// takes it out.
func (m manifest) with(agent, path string, now *entry) manifest {
	kept := slices.DeleteFunc(slices.Clone(m.Hooks), func(h entry) bool { return h.Agent == agent && h.File == path })
	if now != nil {
		kept = append(kept, *now)
	}
	return manifest{1, kept}
}

// writeManifest replaces the record. The caller holds the lock.
func (e Env) writeManifest(m manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	temp, err := writeTemp(e.State.Hooks(), append(text, '\n'), newFile)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, e.State.Hooks()); err != nil {
		os.Remove(temp)
		return err
	}
	return ownfile.SyncFolder(e.State.Dir)
}

// lock lets one countersign at a time write hooks.
func (e Env) lock() (unlock func(), err error) {
	if err := os.MkdirAll(e.State.Dir, newFolder); err != nil {
		return nil, fmt.Errorf("cannot make the state folder: %w", err)
	}
	path := filepath.Join(e.State.Dir, filepath.Base(e.State.Hooks())+".lock")
	for end := time.Now().Add(lockWait); ; time.Sleep(lockStep) {
		f, err := ownfile.Lock(path, newFile)
		switch {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, ownfile.ErrLocked):
			return nil, err
		case time.Now().After(end):
			return nil, errLocked
		}
	}
}

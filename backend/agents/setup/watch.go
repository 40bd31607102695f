package setup

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// settle is how long several changes are taken as one. A delay that runs is not
// put off, or a busy writer could hide.
const settle = 300 * time.Millisecond

// rounds is how often folders that come and go are looked for at once.
const rounds = 5

// Watch tells what Lost says, at once and after each change of the files that it
// is about, until ctx is over. In between it does nothing. A program that goes,
// and a link to a folder that is led elsewhere, are seen with the next change.
func Watch(ctx context.Context, e Env, tell func([]State, error)) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	names := e.follow(w, nil)
	tell(Lost(e))
	var soon <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-w.Events:
			if soon == nil && names[event.Name] && event.Op != fsnotify.Chmod {
				soon = time.After(settle)
			}
		case <-w.Errors: // events may be lost
			if soon == nil {
				soon = time.After(settle)
			}
		case <-soon:
			soon = nil
			names = e.follow(w, names)
			tell(Lost(e))
		}
	}
}

// follow watches the folders of the record and of all files in it, and returns
// the names that count there. What cannot be watched is looked at with the
// others.
func (e Env) follow(w *fsnotify.Watcher, before map[string]bool) map[string]bool {
	for range rounds {
		names, folders := e.followed(watchesEntries)
		for _, dir := range w.WatchList() {
			if !folders[dir] {
				_ = w.Remove(dir) // it may have gone by itself
			}
		}
		for dir := range folders {
			_ = w.Add(dir)
		}
		if maps.Equal(names, before) { // nothing came or went meanwhile
			return names
		}
		before = names
	}
	return before
}

// followed are the names that tell of a change of a hook, and the folders in
// which they come and go.
//
// Where a folder is watched by opening everything in it, the home folder is
// not: Documents and Desktop lie there, and macOS asks who opens them. What
// stands in it is watched itself, and if it comes back after it went, that is
// seen with the next change.
func (e Env) followed(entries bool) (names, folders map[string]bool) {
	names, folders = map[string]bool{}, map[string]bool{}
	add := func(path string) {
		dir := filepath.Dir(path)
		for dir != filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				break
			}
			path, dir = dir, filepath.Dir(dir) // it is told when that comes
		}
		names[path], names[dir] = true, true
		if entries && dir == e.Home {
			folders[path] = true
		} else {
			folders[dir] = true
		}
	}
	add(e.State.Hooks())
	m, _ := e.readManifest() // Lost says what is wrong with it
	for _, h := range m.Hooks {
		if !filepath.IsAbs(h.File) {
			continue
		}
		add(h.File)
		if real, err := resolve(h.File); err == nil && real != h.File {
			add(real)
		}
	}
	return names, folders
}

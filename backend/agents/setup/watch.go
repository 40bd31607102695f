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

// returnTime is how often what is away is looked for, where that is the way.
const returnTime = 10 * time.Second

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
	names, away := e.follow(w, nil)
	tell(Lost(e))
	soon := later(away) // away tells that this is the long delay, which an event cuts short
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-w.Events:
			if (soon == nil || away) && names[event.Name] && event.Op != fsnotify.Chmod {
				soon, away = time.After(settle), false
			}
		case <-w.Errors: // events may be lost
			if soon == nil || away {
				soon, away = time.After(settle), false
			}
		case <-soon:
			names, away = e.follow(w, names)
			soon = later(away)
			tell(Lost(e))
		}
	}
}

// later is when to look without an event: where something is away of which no
// event would tell that it came back.
func later(away bool) <-chan time.Time {
	if away {
		return time.After(returnTime)
	}
	return nil
}

// follow watches the folders of the record and of all files in it, and returns
// the names that count there, and whether one that is watched itself is away.
// What cannot be watched is looked at with the others.
func (e Env) follow(w *fsnotify.Watcher, before map[string]bool) (names map[string]bool, away bool) {
	for range rounds {
		names, folders := e.followed(watchesEntries)
		away = false
		for _, dir := range w.WatchList() {
			if !folders[dir] {
				_ = w.Remove(dir) // it may have gone by itself
			}
		}
		for dir := range folders {
			_, missing := os.Lstat(dir)
			away = away || missing != nil
			_ = w.Add(dir)
		}
		if maps.Equal(names, before) { // nothing came or went meanwhile
			return names, away
		}
		before = names
	}
	return before, away
}

// followed are the names that tell of a change of a hook, and the folders in
// which they come and go.
//
// Where a folder is watched by opening everything in it, the home folder is
// not: Documents and Desktop lie there, and macOS asks who opens them. What
// stands in it is watched itself, and looked for while it is away.
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

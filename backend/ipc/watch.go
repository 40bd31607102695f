package ipc

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// watchEvery is how often a server looks whether its folder, lock and sockets are
// still its own. More often would wake an idle machine; until then clients are
// denied. Tests alone set another.
var watchEvery = 10 * time.Second

// maxMends in mendSpan is how often a server puts them back; then it waits, and
// clients are denied.
const (
	maxMends = 10
	mendSpan = time.Minute
)

// What ends a server that nobody told to end.
var (
	errMoved = errors.New("the state folder was moved or replaced: put it back and start Countersign again")
	errElder = errors.New("another host of the state folder is older and holds its lock: end this one")
)

// watcher is what a server remembers of what it watches. The goroutine of Serve
// alone uses it, but for told, which the server's mu guards.
type watcher struct {
	every time.Duration
	lock  string      // its path
	mends []time.Time // the last ones, oldest first
	count map[string]int
	told  []trouble
	// changed is told of what is new in told; nil for nobody.
	changed func()
}

// trouble is what a person is told about one path, once for each.
type trouble struct{ path, text string }

// Troubles are sentences on what was done to the socket, the lock and the state
// folder of this server while it ran; none where nothing was.
func (s *Server) Troubles() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.watcher.told {
		list = append(list, t.text)
	}
	return list
}

// watch looks again and again until the server ends. It returns why, where
// nobody told it to.
func (s *Server) watch() error {
	tick := time.NewTicker(s.watcher.every)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.mend(); err != nil {
			s.tell(filepath.Dir(s.watcher.lock), err.Error())
			s.stop()
			return err
		}
	}
}

// mend puts the lock and the sockets back where they are not ours any more. It
// fails where the server must not go on.
func (s *Server) mend() (err error) {
	defer rescue.Catch(s.log, "the watch over the socket", nil)
	lock := s.watcher.lock
	folder, err := folderOf(lock)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && folder != s.folder:
		return errMoved
	case err != nil:
		s.tell(lock, fmt.Sprintf("the state folder cannot be looked at: %v", err))
		return nil
	}
	if !s.lock.is(lock) {
		if s.yields() {
			return errElder
		}
		s.putBack(lock, func() error { return s.lock.renew(lock) })
	}
	for i := range s.sockets {
		if at := s.sockets[i]; !sameFile(at.path, at.file) {
			s.putBack(at.path, func() error { return s.rebind(i) })
		}
	}
	return nil
}

// yields reports whether an older host holds the lock that is in the place of
// ours. Of two the older stays, or they would take it from each other for ever.
func (s *Server) yields() bool {
	pid, err := lockHolder(s.watcher.lock)
	if err != nil || pid <= 0 || pid == os.Getpid() || !s.door.programs.run(pid) {
		return false
	}
	other, err := proc.Stat(pid)
	return err == nil && other.Started < s.door.self.Started
}

// putBack makes one path lead to us again, unless that was too often, and tells.
func (s *Server) putBack(path string, again func() error) {
	w, now := &s.watcher, time.Now()
	dir, name := filepath.Split(path)
	w.mends = slices.DeleteFunc(w.mends, func(at time.Time) bool { return now.Sub(at) >= mendSpan })
	if len(w.mends) >= maxMends {
		s.tell(path, fmt.Sprintf("%s is removed or replaced again and again, so all requests are denied for some time: find the program that does it in %s", name, dir))
		return
	}
	w.mends = append(w.mends, now)
	if err := again(); err != nil {
		s.tell(path, fmt.Sprintf("%s was removed or replaced, and cannot be made again: %v", name, err))
		return
	}
	w.count[path]++
	s.tell(path, fmt.Sprintf("%s was removed or replaced, and made again: %d times, the last one at %s. If you did not do that, a program did it in %s", name, w.count[path], now.Format(time.DateTime), dir))
}

// tell logs what is new about a path, and keeps it for Troubles.
func (s *Server) tell(path, text string) {
	s.mu.Lock()
	w := &s.watcher
	i := slices.IndexFunc(w.told, func(t trouble) bool { return t.path == path })
	if i < 0 {
		i, w.told = len(w.told), append(w.told, trouble{path: path})
	}
	known := w.told[i].text == text
	w.told[i].text = text
	s.mu.Unlock()
	if known {
		return
	}
	s.log.Warn(text)
	if w.changed != nil {
		w.changed()
	}
}

// rebind opens a socket beside the path of one and renames it there.
func (s *Server) rebind(i int) error {
	path := s.sockets[i].path
	if i > 0 { // in a place that others may have as well
		if err := clearPath(path); err != nil {
			return err
		}
	}
	name := beside(path)
	listener, file, err := bind(name)
	if err != nil {
		return err
	}
	if err := os.Rename(name, path); err != nil {
		listener.Close()
		os.Remove(name)
		return err
	}
	s.mu.Lock()
	old := s.sockets[i].listener
	s.sockets[i] = socket{path, file, listener}
	s.mu.Unlock()
	old.Close()
	s.listen(listener)
	return nil
}

// beside is a name that nobody has in the folder of a path. It is short, as
// that of a socket must be.
func beside(path string) string {
	var random [4]byte
	rand.Read(random[:]) // never fails
	return filepath.Join(filepath.Dir(path), "."+hex.EncodeToString(random[:]))
}

func sameFile(path string, file os.FileInfo) bool {
	now, err := os.Lstat(path)
	return err == nil && os.SameFile(now, file)
}

// listen takes the connections of one listener until it is closed.
func (s *Server) listen(listener *net.UnixListener) {
	if !s.hold() {
		listener.Close()
		return
	}
	go func() {
		defer s.done.Done()
		rescue.Again(s.ctx, s.log, "the taking of connections", func() { s.accept(listener) })
	}()
}

// is reports whether a path leads to the file that is held.
func (l *Lock) is(path string) bool {
	mine, err := l.file.Stat()
	return err == nil && sameFile(path, mine)
}

// renew takes a new lock, puts it at the path, and lets go of the former one.
func (l *Lock) renew(path string) error {
	f, err := replaceLock(path)
	if err != nil {
		return err
	}
	l.file.Close() // of another file: the lock on this one holds
	l.file = f
	return nil
}

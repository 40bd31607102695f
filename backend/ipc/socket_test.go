//go:build linux || darwin

package ipc

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/paths"
)

// listenOnce listens and closes at once.
func listenOnce(o Options) error {
	s, err := Listen(o)
	if err == nil {
		s.Close()
	}
	return err
}

func TestSocketIsPrivate(t *testing.T) {
	dir := shortDir(t)
	os.Mkdir(filepath.Join(dir, "s"), 0o777)
	os.Chmod(filepath.Join(dir, "s"), 0o777)
	s := serve(t, testOptions(dir, handler{}))
	for path, want := range map[string]fs.FileMode{
		filepath.Dir(s.sockets[0].path):       fs.ModeDir | 0o700,
		s.sockets[0].path:                     fs.ModeSocket | 0o600,
		s.sockets[0].path + ".lifecycle.lock": 0o600,
	} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestCloseLeavesNothingButTheLock(t *testing.T) {
	o := testOptions(shortDir(t), handler{})
	for range 3 { // and it can listen again
		s, err := Listen(o)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		if _, err := os.Lstat(o.Path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
		if _, err := os.Lstat(o.Lock); err != nil {
			t.Errorf("the lock is gone: %v", err)
		}
	}
}

func TestCloseRemovesOnlyItsOwn(t *testing.T) {
	o := testOptions(shortDir(t), handler{})
	s, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(o.Path)
	os.WriteFile(o.Path, []byte("mine"), 0o600)
	s.Close()
	if b, err := os.ReadFile(o.Path); string(b) != "mine" {
		t.Errorf("the file of somebody else: %q %v", b, err)
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	o := testOptions(shortDir(t), handler{exec: echo})
	os.MkdirAll(filepath.Dir(o.Path), 0o700)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: o.Path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	s := serve(t, o)
	if _, err := dialServer(t, s).Exec(t.Context(), testToken, command("ls")); err != nil {
		t.Error(err)
	}
}

func TestLiveSocketIsNeverTaken(t *testing.T) {
	o := testOptions(shortDir(t), handler{exec: echo})
	first := serve(t, o)
	check := func(name string, o Options) {
		t.Helper()
		if err := listenOnce(o); !errors.Is(err, ErrLive) || !strings.Contains(err.Error(), "countersign doctor --takeover") {
			t.Errorf("%s: %v", name, err)
		}
	}
	check("same lock", o)
	o.Lock += "2"
	check("other lock", o)
	if _, err := dialServer(t, first).Exec(t.Context(), testToken, command("ls")); err != nil {
		t.Errorf("the first one: %v", err)
	}
}

func TestWhatIsNoFolderOfOurs(t *testing.T) {
	long := strings.Repeat("x", paths.SocketLimit())
	for name, c := range map[string]struct {
		path  func(dir string) string
		place func(path string)
		want  string
	}{
		"relative": {func(string) string { return "a/s" }, func(string) {}, "absolute"},
		"dots":     {func(d string) string { return d + "/a/../s" }, func(string) {}, "absolute"},
		"too long": {func(d string) string { return d + "/" + long }, func(string) {}, "shorter"},
		"linked folder": {func(d string) string { return d + "/l/s" }, func(p string) {
			os.Mkdir(filepath.Dir(filepath.Dir(p))+"/real", 0o700)
			os.Symlink("real", filepath.Dir(p))
		}, "real folder"},
		"dangling folder":  {func(d string) string { return d + "/l/s" }, func(p string) { os.Symlink("nowhere", filepath.Dir(p)) }, ""},
		"folder is a file": {func(d string) string { return d + "/f/s" }, func(p string) { os.WriteFile(filepath.Dir(p), nil, 0o600) }, ""},
		"shared folder": {func(d string) string { return d + "/t/s" }, func(p string) {
			os.Mkdir(filepath.Dir(p), 0o700)
			os.Chmod(filepath.Dir(p), fs.ModeSticky|0o777)
		}, "shared"},
		"regular file": {func(d string) string { return d + "/d/s" }, func(p string) {
			os.Mkdir(filepath.Dir(p), 0o700)
			os.WriteFile(p, []byte("keep"), 0o600)
		}, "not a socket"},
		"link to a socket": {func(d string) string { return d + "/d/s" }, func(p string) {
			os.Mkdir(filepath.Dir(p), 0o700)
			os.Symlink("other", p)
		}, "not a socket"},
		"folder in place": {func(d string) string { return d + "/d/s" }, func(p string) { os.MkdirAll(p, 0o700) }, "not a socket"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(shortDir(t), handler{})
			o.Path = c.path(filepath.Dir(filepath.Dir(o.Path)))
			o.Lock = filepath.Join(shortDir(t), "lock")
			c.place(o.Path)
			before, _ := os.Lstat(o.Path)
			err := listenOnce(o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if after, _ := os.Lstat(o.Path); before != nil && (after == nil || !os.SameFile(before, after)) {
				t.Error("what was in place is gone")
			}
		})
	}
}

func TestLongestPath(t *testing.T) {
	dir := shortDir(t)
	o := testOptions(dir, handler{exec: echo})
	const name = "/exec-approvals.sock"
	o.Path = dir + "/" + strings.Repeat("x", paths.SocketLimit()-len(dir)-1-len(name)) + name
	o.Lock = o.Path + ".lifecycle.lock"
	s := serve(t, o)
	if _, err := dialServer(t, s).Exec(t.Context(), testToken, command("ls")); err != nil {
		t.Error(err)
	}
}

func TestFolderOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	o := testOptions(shortDir(t), handler{})
	os.Mkdir(filepath.Dir(o.Path), 0o700)
	os.Chown(filepath.Dir(o.Path), 65534, 65534)
	if err := listenOnce(o); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Error(err)
	}
}

func TestLockAttacks(t *testing.T) {
	for name, c := range map[string]struct {
		place func(lock string) error
		want  string
	}{
		"link":            {func(p string) error { os.WriteFile(p+"2", nil, 0o600); return os.Symlink(p+"2", p) }, ""},
		"dangling link":   {func(p string) error { return os.Symlink("nowhere", p) }, ""},
		"folder":          {func(p string) error { return os.Mkdir(p, 0o700) }, ""},
		"pipe":            {func(p string) error { return unix.Mkfifo(p, 0o600) }, "regular"},
		"second name":     {func(p string) error { os.WriteFile(p, nil, 0o600); return os.Link(p, p+"2") }, "second name"},
		"group may write": {func(p string) error { os.WriteFile(p, nil, 0o600); return os.Chmod(p, 0o660) }, "by others"},
		"all may write":   {func(p string) error { os.WriteFile(p, nil, 0o600); return os.Chmod(p, 0o602) }, "by others"},
		"another user's": {func(p string) error {
			if os.Geteuid() != 0 {
				return errSkip
			}
			os.WriteFile(p, nil, 0o600)
			return os.Chown(p, 65534, 65534)
		}, "another user"},
	} {
		t.Run(name, func(t *testing.T) {
			o := testOptions(shortDir(t), handler{})
			os.Mkdir(filepath.Dir(o.Path), 0o700)
			if err := c.place(o.Lock); err == errSkip {
				t.Skip("only root can give a file away")
			} else if err != nil {
				t.Fatal(err)
			}
			if err := listenOnce(o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Lstat(o.Path); err == nil {
				t.Error("there is a socket")
			}
		})
	}
}

var errSkip = errors.New("cannot be made here")

func TestReadableLockIsMadePrivate(t *testing.T) {
	o := testOptions(shortDir(t), handler{})
	os.Mkdir(filepath.Dir(o.Path), 0o700)
	os.WriteFile(o.Lock, []byte("what was there before, longer than a holder's line\n"), 0o644)
	s := serve(t, o)
	if info, err := os.Lstat(o.Lock); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if b, _ := os.ReadFile(o.Lock); strings.Count(string(b), "\n") != 1 || len(b) > 40 {
		t.Errorf("the lock says %q", b)
	}
	s.Close()
}

// On Linux the socket has its mode from its first moment, whatever the umask.
func TestBornPrivate(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	path := filepath.Join(shortDir(t), "s")
	l, err := listenPrivate(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != fs.ModeSocket|0o600 && paths.SocketLimit() == 107 {
		t.Errorf("%v", info.Mode())
	}
}

func TestMissingParts(t *testing.T) {
	whole := testOptions(shortDir(t), handler{})
	for name, spoil := range map[string]func(*Options){
		"no token":    func(o *Options) { o.Token = nil },
		"empty token": func(o *Options) { o.Token = func() string { return "" } },
		"no handler":  func(o *Options) { o.Handler = nil },
		"no program":  func(o *Options) { o.Programs = []string{"/nonexistent/program"} },
		"no lock":     func(o *Options) { o.Lock = "" },
	} {
		o := whole
		spoil(&o)
		if err := listenOnce(o); err == nil || !strings.HasPrefix(err.Error(), "cannot listen on the local socket: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := listenOnce(whole); err != nil {
		t.Errorf("after all those: %v", err)
	}
}

package approvaltest

import (
	_ "embed" // the program's text
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

//go:embed testdata/program.go
var programText []byte

// programs are those that were built so far, here or by the process that this one
// was started apart from.
var programs = struct {
	sync.Mutex
	folder string
}{folder: os.Getenv(programsEnv)}

// environment is that of the start: tests have other ones, in which Go finds
// no cache.
var environment = os.Environ()

// Main is testing.M for tests that use Program: it takes the programs away at
// the end.
type Main struct{ *testing.M }

// Run runs the tests.
func (m Main) Run() int {
	if os.Getenv(programsEnv) == "" {
		defer func() { os.RemoveAll(programs.folder) }()
	}
	return m.M.Run()
}

// Program is the path of a program of our own that does what one of the system
// does: true, false, cat, setsid, a sleep of an hour, or an sh that knows echo.
// Each is another file. Tests copy and replace it, for macOS ends copies of its
// own programs, hides their environments, and has no setsid.
func Program(t testing.TB, does string) string {
	t.Helper()
	folder := programsFolder(t)
	programs.Lock()
	defer programs.Unlock()
	path := filepath.Join(folder, does)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	own, err := os.MkdirTemp(folder, "") // another process may build the same one now
	if err != nil {
		t.Fatal(err)
	}
	text, built := filepath.Join(own, "program.go"), filepath.Join(own, does)
	if err := os.WriteFile(text, programText, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-ldflags=-s -w -X main.does="+does, "-o", built, text)
	cmd.Dir, cmd.Env = own, append(environment, "GO111MODULE=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// The first one stays what it is, also its number of names: others have looked at it.
	if err := os.Link(built, path); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	return path
}

// programsFolder is where the programs of tests are.
func programsFolder(t testing.TB) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if programs.folder == "" {
		folder, err := os.MkdirTemp("", "programs")
		if err == nil {
			folder, err = filepath.EvalSymlinks(folder)
		}
		if err != nil {
			t.Fatal(err)
		}
		programs.folder = folder
	}
	return programs.folder
}

// Find is the path of a program of this system, without links: some keep in
// /bin what others have in /usr/bin.
func Find(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Descriptors are the names of what this process has open. They are not looked
// at: macOS cannot tell of each what it is.
func Descriptors(t testing.TB) []string {
	t.Helper()
	folder, err := os.Open("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		t.Fatal(err)
	}
	return names
}

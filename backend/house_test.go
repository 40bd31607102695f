// Package backend_test holds the rules of the house as tests: which package
// may import which, that each says what it is for, and that the rest of the
// world can build it.
package backend_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/countersign-app/countersign/backend/"

// floors says on which floor a room is. A room imports only rooms below it;
// rooms of one floor never import each other.
var floors = map[string]int{
	"approval": 0, "descriptors": 0, "display": 0, "envnames": 0, "fair": 0, "gitindex": 0, "glob": 0, "metrics": 0, "oneliner": 0, "ownfile": 0, "pathname": 0, "paths": 0, "proc": 0, "programs": 0, "protected": 0, "rescue": 0, "signature": 0, "toolnames": 0, "trail": 0, "verbs": 0,
	"command": 1, "config": 1, "corpus": 1, "environ": 1, "family": 1, "history": 1, "ipc": 2, "link": 1, "machine": 1, "operator": 1, "pending": 1, "preview": 1, "project": 1, "store": 1, "vault": 1, "webdoor": 1,
	"sandbox":         2,
	"starts":          2,
	"service":         2,
	"policy":          2,
	"runner":          2,
	"judge":           3,
	"gate":            4,
	"host":            5,
	"node":            6,
	"gateway":         6,
	"agents/hook":     1,
	"agents/setup":    2,
	"agents/mcp":      6,
	"agents/proxy":    6,
	"agents/remote":   6,
	"agents/opencode": 6,
	"toolpolicy":      2,
	"cmd/countersign": 7,
}

// forTests reports whether a room is imported by tests only.
func forTests(room string) bool {
	return room == "approvaltest" || strings.HasPrefix(room, "approvaltest/")
}

type source struct {
	room string // folder below backend
	name string
	test bool
	file *ast.File
	text string
}

func sources(t *testing.T) []source {
	t.Helper()
	var list []source
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() == "testdata" {
			return filepath.SkipDir
		}
		if filepath.Ext(path) != ".go" || filepath.Dir(path) == "." {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		list = append(list, source{
			room: filepath.ToSlash(filepath.Dir(path)), name: path,
			test: strings.HasSuffix(path, "_test.go"), file: file, text: string(text),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 8 {
		t.Fatalf("only %d files found: is the test in the right folder?", len(list))
	}
	return list
}

func TestFloors(t *testing.T) {
	for _, s := range sources(t) {
		if forTests(s.room) {
			continue
		}
		floor, known := floors[s.room]
		if !known {
			t.Errorf("%s: room %q has no floor: give it one here, if it is the right room", s.name, s.room)
			continue
		}
		for _, imp := range s.file.Imports {
			path := strings.Trim(imp.Path.Value, `"`)
			if strings.Contains(path, "wails") || strings.Contains(path, "macdriver") || path == "C" && s.room != "vault" {
				t.Errorf("%s imports %s: only app may", s.name, path)
			}
			room, ours := strings.CutPrefix(path, module)
			switch {
			case !ours:
				if strings.HasPrefix(path, "github.com/countersign-app/") {
					t.Errorf("%s imports %s: backend never imports what is above it", s.name, path)
				}
			case room == s.room && s.test:
			case forTests(room):
				if !s.test {
					t.Errorf("%s imports %s: only tests may", s.name, room)
				}
			case floors[room] >= floor && !(s.test && floor > 0):
				t.Errorf("%s (floor %d) imports %s (floor %d)", s.name, floor, room, floors[room])
			}
		}
	}
}

// judgeMayUse are all packages that judge may import. Of those that also write, ask or
// start, the names that it may use stand behind them: words and pure functions.
var judgeMayUse = map[string][]string{
	"approval": nil, "command": nil, "config": {"Charters"}, "display": nil, "environ": {"Base", "Check"}, "envnames": nil,
	"history": {"Query", "Row"}, "machine": nil, "policy": nil, "project": nil, "store": {"AgentID", "Record", "Snapshot"},
	"toolpolicy": nil, "trail": nil,
	"cmp": nil, "context": nil, "crypto/sha256": nil, "encoding/hex": nil, "encoding/json": nil, "errors": nil, "fmt": {"Errorf", "Fprintf", "Fprintln", "Sprint", "Sprintf"},
	"io/fs": nil, "maps": nil, "os": {"Readlink"}, "slices": nil, "strings": nil, "sync": nil, "time": nil,
}

// TestJudgeOnlyReads: what decides cannot do anything.
func TestJudgeOnlyReads(t *testing.T) {
	looked := 0
	for _, s := range sources(t) {
		if s.room != "judge" || s.test {
			continue
		}
		looked++
		narrow := map[string][]string{} // by the name of the package
		for _, imp := range s.file.Imports {
			at := strings.TrimPrefix(strings.Trim(imp.Path.Value, `"`), module)
			may, known := judgeMayUse[at]
			if !known || imp.Name != nil {
				t.Errorf("%s imports %s", s.name, imp.Path.Value)
			}
			if may != nil {
				narrow[path.Base(at)] = may
			}
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if _, asks := n.(*ast.TypeAssertExpr); asks { // behind a reading face stands what also writes
				t.Errorf("%s asks what is behind an interface", s.name)
			}
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if room, ok := sel.X.(*ast.Ident); ok && room.Obj == nil {
				if may, is := narrow[room.Name]; is && !slices.Contains(may, sel.Sel.Name) {
					t.Errorf("%s uses %s.%s", s.name, room.Name, sel.Sel.Name)
				}
			}
			return true
		})
	}
	if looked < 8 {
		t.Fatalf("only %d files of judge were found", looked)
	}
}

// starters are the rooms that may start a process, and what they start.
var starters = map[string]string{
	"runner":          "what was allowed",
	"sandbox":         "the same in the box of a gateway",
	"environ":         "the login shell, for the environment of runs",
	"machine":         "codesign, which confirms signatures",
	"service":         "launchctl and systemctl",
	"node":            "osascript, which shows a notification",
	"agents/proxy":    "the MCP server that the agent's settings name",
	"agents/setup":    "a hook that was installed, to try it",
	"cmd/countersign": "programs of ours, and openclaw when it is linked",
}

// startsProcesses finds what starts one.
var startsProcesses = regexp.MustCompile(`"os/exec"|\bos\.StartProcess\b|\b(syscall|unix)\.(ForkExec|StartProcess|Exec)\b|\bSYS_(EXECVE|FORK|VFORK|CLONE)`)

// TestWhoStartsProcesses: no other room does, whatever its imports allow.
func TestWhoStartsProcesses(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t) {
		if s.test || forTests(s.room) || strings.Contains(s.name, "testdata") || !startsProcesses.MatchString(s.text) {
			continue
		}
		if found[s.room] = true; starters[s.room] == "" {
			t.Errorf("%s starts a process", s.name)
		}
	}
	for room := range starters {
		if !found[room] {
			t.Errorf("%s starts no process any more: take it off the list", room)
		}
	}
}

func TestPackageDocs(t *testing.T) {
	docs := map[string][]string{}
	rooms := map[string]bool{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		rooms[s.room] = true
		if s.file.Doc != nil {
			docs[s.room] = append(docs[s.room], s.name)
		}
	}
	for room := range rooms {
		if len(docs[room]) != 1 {
			t.Errorf("%s: want one package comment, found %d: %v", room, len(docs[room]), docs[room])
		}
	}
}

func TestPlatformNameOnlyInPaths(t *testing.T) {
	for _, s := range sources(t) {
		if s.room != "paths" && !s.test && strings.Contains(s.text, "runtime.GOOS") {
			t.Errorf("%s looks at the platform's name: write one function per platform, or ask paths", s.name)
		}
	}
}

// TestPlatforms vets, and so builds, the backend for the other platforms.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves the other platforms out")
	}
	for _, platform := range []string{"darwin/arm64", "windows/amd64", "linux/arm64"} {
		t.Run(platform, func(t *testing.T) {
			system, arch, _ := strings.Cut(platform, "/")
			cmd := exec.Command("go", "vet", "./...")
			env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GOFLAGS=") })
			cmd.Env = append(env, "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// atStart is how many bytes a room may take before main begins.
const atStart = 16 << 10

// TestStart has the command line tell what each room makes before main begins:
// every hook and every command waits for that. Lists and expressions are made
// when they are first asked, with sync.OnceValue.
func TestStart(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short does not build the command line")
	}
	program := filepath.Join(t.TempDir(), "countersign")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/countersign").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(program, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rooms := 0
	for _, line := range regexp.MustCompile(`(?m)^init (\S+) .* (\d+) bytes, \d+ allocs$`).FindAllStringSubmatch(string(out), -1) {
		if line[1] != "main" && !strings.HasPrefix(line[1], path.Dir(module)) {
			continue
		}
		rooms++
		if bytes, _ := strconv.Atoi(line[2]); bytes > atStart {
			t.Errorf("%s makes %d bytes before main begins, at most %d are fine", line[1], bytes, atStart)
		}
	}
	if rooms < 5 {
		t.Fatalf("only %d rooms told what they make:\n%s", rooms, out)
	}
}

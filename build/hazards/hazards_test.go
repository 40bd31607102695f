// Package hazards holds what stops a build or a test on a Mac and shows on no
// other machine, as tests of the texts that a Mac reads.
package hazards

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module.
const root = "../.."

// text is one file as a Mac reads it. Comments of Go are blanked.
type text struct{ name, content string }

// hazard is something that a text must not hold.
type hazard struct {
	name, why string
	find      *regexp.Regexp
	// right tells that what was found in a line of a folder is right there.
	right func(found, line string, folder []text) bool
	// fails and passes are texts that show what is found and what is not.
	fails, passes []string
	// except gives the files or folders that may hold it, and why.
	except map[string]string
}

const (
	invented = "names files of an invented disk"
	both     = "adds the program at each of its two places"
)

var hazards = []hazard{
	{
		name:  "looks at descriptors",
		why:   "macOS gives entries of /dev/fd no type, so that os.ReadDir looks at each, which fails for a kernel queue: read their names alone",
		find:  regexp.MustCompile(`(os\.ReadDir|os\.DirFS|filepath\.Walk(Dir)?)\("/dev/fd"|filepath\.Glob\("/dev/fd/`),
		fails: []string{`list, err := os.ReadDir("/dev/fd")`, `filepath.Glob("/dev/fd/*")`}, passes: []string{`os.Open("/dev/fd")`},
	},
	{
		name: "copies a program of the system",
		why:  "macOS ends copies of its own programs: use approvaltest.Program",
		find: regexp.MustCompile(`(?m)(ReadFile|os\.Open|os\.Link|(copy|Copy)\w*)\([^)"\n]*"(/usr)?/s?bin/` +
			`|(copy|Copy)\w*\([^)"\n]*(LookPath|Find|resolve)\(` +
			`|(^|[\s"'&;|(])(cp|ln)( +-[a-zA-Z]+)* +(/usr)?/s?bin/\S+ +[^\s;&|-]|(^|exec )ln +/bin/`),
		fails: []string{
			`os.ReadFile("/bin/sh")`, `copyFile(t, "/usr/bin/true", good)`, `copyFile(t, resolve(t, "true", "/").File.Path, good)`,
			"exec cp /bin/echo here/id", "\tcp -p /usr/bin/true $(BIN)/tool", `sh("cp /bin/cat x")`,
		},
		passes: []string{`os.Symlink("/bin/sh", at)`, "exec cp $TRUE here/id", `os.ReadFile("/etc/passwd")`, "cp a /usr/bin/b"},
	},
	{
		name: "a path that macOS lacks",
		why:  "macOS keeps true, false and env in /usr/bin only, and cat, ls, echo, sleep and sh in /bin only",
		find: regexp.MustCompile(`(?:^|[^\w./~*$})-])(/bin/(?:true|false|env)|/usr/bin/(?:cat|ls|echo|sleep|sh|nproc|setsid|timeout|flock))(?:[^\w./-]|$)`),
		// Who lists both places means each system.
		right: func(found, line string, _ []text) bool {
			other := "/usr" + found
			if there, ok := strings.CutPrefix(found, "/usr"); ok {
				other = there
			}
			return regexp.MustCompile(`(^|[^\w])` + other + `\b`).MatchString(line)
		},
		fails: []string{"#!/bin/env sh", `job("/bin/true")`, "exec ask 0 -- /usr/bin/cat x", `"/usr/bin/nproc"`},
		passes: []string{
			"#!/usr/bin/env sh", `job("/usr/bin/true")`, "exec ask 0 -- /bin/cat x", `"~/usr/bin/sh"`, `"/bin/truecolor"`,
			`allow("/bin/cat", "/usr/bin/cat")`,
		},
		except: map[string]string{
			"app/shown/fixtures_test.go":                          invented,
			"backend/cmd/countersign/doors_test.go":               both,
			"backend/cmd/countersign/testdata/before/make.sh":     "writes a home on Linux once, and runs in no test",
			"backend/cmd/countersign/testdata/script/pause.txtar": both,
			"backend/cmd/countersign/testdata/script/stop.txtar":  both,
			"backend/command/targets_test.go":                     invented,
			"backend/corpus/world_test.go":                        invented,
			"backend/environ/environ_test.go":                     "names no program: a variable's value",
			"backend/ipc/bench_test.go":                           "starts nothing: it is measured as a text",
			"backend/policy/denying_test.go":                      invented,
			"backend/policy/policy_test.go":                       invented,
			"backend/policy/vectors_test.go":                      invented,
			"backend/policy/widths_test.go":                       invented,
			"build/maclayout/main_test.go":                        "says what the room must not hold",
			"build/maclayout/testdata/planted/planted_test.go":    "holds a mistake to be found",
		},
	},
	{
		name:   "options that only GNU has",
		why:    "BSD's stat has no -c, and readlink no -f before macOS 12.3: use ls -ld, or cd and pwd -P; grep -P, sort -V, date -d, base64 -w and mktemp with long options are GNU's too",
		find:   regexp.MustCompile(`(^|[^\w-])(stat( +-[a-zA-Z]+)* +-c|readlink( +-[a-zA-Z]+)* +-[a-zA-Z]*f|grep( +-[a-zA-Z]+)* +-[a-zA-Z]*P|sort( +-[a-zA-Z]+)* +-[a-zA-Z]*V|date +-d|base64 +-w|mktemp( +-[a-zA-Z]+)* +--\w+)([^\w]|$)`),
		fails:  []string{"exec stat -c '%a' x", `at=$(readlink -f "$0")`, "stat -L -c %s x", "readlink -nf x", "grep -oP x y", "ls | sort -V", "date -d now", "base64 -w 0 x", "mktemp -d --suffix x"},
		passes: []string{"stat -f %z x", "readlink x", "exec ls -ld x", "mystat -c x", "grep -E x y", "sort -u", "date +%s", "mktemp -d /tmp/x.XXXXXX"},
	},
	{
		name: "a program that macOS lacks",
		why:  "macOS has no setsid, timeout, nproc and flock: use approvaltest.Program, or say that the test needs it",
		find: regexp.MustCompile("(?:^|[\"`'(;&|]\\s*|\\bexec |\\benv -i |-- |\\bdo \\(?|[A-Z_]+=\\S+ )(?:(setsid|nproc|flock)(?: +[\\w\"'$./-]| *(?:[&)]|$))|(timeout) +[-0-9$])"),
		right: func(found, _ string, folder []text) bool {
			guard := regexp.MustCompile(strings.ReplaceAll(`needs\(t(, "\w+")*, "%"|LookPath\("%"\)|Program\(t, "%"\)|command -v %\b|have %\b|\[!?exec:%\]`, "%", found))
			return slices.ContainsFunc(folder, func(f text) bool { return guard.MatchString(f.content) })
		},
		fails: []string{"exec ask 0 -- nproc", "`setsid sleep 100 &`", `"env -i setsid sh -c x"`, "\tcd x; timeout 5 make", "n=$(nproc)", "exec flock x true"},
		passes: []string{
			"needs(t, \"sh\", \"setsid\")\n`setsid sleep 100 &`", "command -v timeout && timeout 5 x", `"hook --timeout 5"`, "exec ask 124 --timeout 300ms -- sleep 1",
			"[exec:setsid] exec setsid true",
		},
		except: map[string]string{
			"backend/cmd/countersign/opinion_make_test.go": "judges texts and starts nothing of them",
			"backend/cmd/countersign/policystops_test.go":  "judges texts and starts nothing of them",
			"backend/command/code_test.go":                 "judges texts and starts nothing of them",
			"backend/environ/login_test.go":                "goes on without setsid",
			"backend/gate/script_test.go":                  "makes a program of that name",
		},
	},
}

// in finds a hazard in a text of a folder, as lines.
func (h hazard) in(f text, folder []text) (found []string) {
	for line := range strings.Lines(f.content) {
		line = strings.TrimRight(line, "\n")
		for _, m := range h.find.FindAllStringSubmatch(line, -1) {
			if what := strings.Join(m[1:], ""); h.right == nil || !h.right(what, line, folder) {
				found = append(found, strings.TrimSpace(line))
				break
			}
		}
	}
	return found
}

// TestHazards looks for each in what a Mac reads, and in its own examples.
func TestHazards(t *testing.T) {
	folders := map[string][]text{}
	files := texts(t)
	for _, f := range files {
		folders[path.Dir(f.name)] = append(folders[path.Dir(f.name)], f)
	}
	for _, h := range hazards {
		t.Run(h.name, func(t *testing.T) {
			for _, example := range h.fails {
				f := text{"x.sh", example}
				if len(h.in(f, []text{f})) == 0 {
					t.Errorf("not found in %q", example)
				}
			}
			for _, example := range h.passes {
				f := text{"x.sh", example}
				if found := h.in(f, []text{f}); len(found) > 0 {
					t.Errorf("found in %q", example)
				}
			}
			used := map[string]bool{}
			for _, f := range files {
				found := h.in(f, folders[path.Dir(f.name)])
				if len(found) == 0 {
					continue
				}
				if of := h.exception(f.name); of != "" {
					used[of] = true
					continue
				}
				for _, line := range found {
					t.Errorf("%s: %s\n\t%s", f.name, line, h.why)
				}
			}
			for of, why := range h.except {
				if !used[of] {
					t.Errorf("nothing in %s is an exception any more (%s)", of, why)
				}
			}
		})
	}
}

// exception is the row that lets a file be, if there is one.
func (h hazard) exception(name string) string {
	for of := range h.except {
		if name == of || strings.HasSuffix(of, "/") && strings.HasPrefix(name, of) {
			return of
		}
	}
	return ""
}

// texts are the files of Go that a build or test for macOS compiles, scripts,
// and the Makefile.
func texts(t *testing.T) (list []text) {
	t.Helper()
	context := build.Default
	context.GOOS, context.CgoEnabled, context.BuildTags = "darwin", true, []string{"desktop", "production"}
	skipped := []string{"node_modules", "dist", "bin", "wailsjs", "hazards"} // the last is this one
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains(skipped, d.Name())) {
				return fs.SkipDir
			}
			return nil
		}
		ext := path.Ext(name)
		if ext != ".go" && ext != ".txtar" && ext != ".sh" && name != "Makefile" {
			return nil
		}
		content, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		if ext == ".go" {
			match, err := context.MatchFile(filepath.Dir(at), d.Name())
			if err != nil || !match {
				return err
			}
			if content, err = blanked(content); err != nil {
				return err
			}
		}
		list = append(list, text{filepath.ToSlash(name), string(content)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ext := range []string{".go", ".txtar", ".sh"} {
		if !slices.ContainsFunc(list, func(f text) bool { return path.Ext(f.name) == ext }) {
			t.Fatalf("no %s was read: is the test in the right folder?", ext)
		}
	}
	return list
}

// blanked is a text of Go without its comments.
func blanked(content []byte) ([]byte, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, group := range file.Comments {
		ast.Inspect(group, func(n ast.Node) bool {
			if c, ok := n.(*ast.Comment); ok {
				from := set.Position(c.Pos()).Offset
				for i := range bytes.TrimRight(content[from:min(from+len(c.Text), len(content))], "\r\n") {
					if content[from+i] != '\n' {
						content[from+i] = ' '
					}
				}
			}
			return true
		})
	}
	return content, nil
}

// Command maclayout runs Go tests on Linux in a room whose files lie as on a
// Mac: /bin and /usr/bin are two folders and hold what macOS has in each, /tmp,
// /var and /etc are links into /private, and TMPDIR is far below /var/folders.
// The programs are still those of this machine. Tests are compiled outside.
package main

import (
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == "enter" {
		fail(enter(os.Args[2], os.Args[3], os.Args[4:]))
	}
	short := flag.Bool("short", false, "only the tests that such a layout once stopped")
	only := flag.String("run", "", "only tests whose name matches this `expression`")
	tags := flag.String("tags", "", "build `tags`")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: maclayout [-short] [-run EXPRESSION] [-tags TAGS] [PACKAGE...]")
		flag.PrintDefaults()
	}
	flag.Parse()
	packages := flag.Args()
	switch {
	case *short && (*only != "" || len(packages) > 0):
		fail(errors.New("-short says itself what runs"))
	case *short:
		*only, packages = selection()
	case len(packages) == 0:
		packages = []string{"./..."}
	}
	if why := unable(); why != nil {
		fmt.Fprintln(os.Stderr, "skipped:", why)
		if os.Getenv("CI") == "true" {
			os.Exit(1)
		}
		return
	}
	code, err := run(os.Stdout, *only, *tags, packages)
	fail(err)
	os.Exit(code)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "maclayout:", err)
		os.Exit(2)
	}
}

// unable says why there can be no room on this machine.
func unable() error {
	if runtime.GOOS != "linux" {
		return errors.New("the room is for Linux")
	}
	out, err := exec.Command("bwrap", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc", "true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("bubblewrap cannot make a room: %w %s", err, out)
	}
	return nil
}

// run has go test compile the tests, and start each of its programs by enter.
func run(out io.Writer, only, tags string, packages []string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	room, err := os.MkdirTemp("", "maclayout")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(room)
	if err := furnish(room); err != nil {
		return 0, err
	}
	words := []string{"test", "-count=1", "-timeout=20m", "-tags=" + tags, "-run=" + only, "-exec=" + self + " enter " + room}
	cmd := exec.Command("go", append(words, packages...)...)
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// enter becomes a test program in the room. Without the tests of files that a
// build for macOS leaves out it is what a Mac would run.
func enter(room, program string, words []string) error {
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return err
	}
	module := strings.TrimSpace(string(out))
	at, err := filepath.Rel(module, folder)
	if err != nil {
		return err
	}
	left, err := leftOut(folder)
	if err != nil {
		return err
	}
	for _, row := range artefacts {
		if row.folder == filepath.ToSlash(at) {
			left = append(left, row.test)
			fmt.Printf("left out: %s: %s\n", row.test, row.why)
		}
	}
	if len(left) > 0 {
		words = append(words, "-test.skip="+pattern(left))
	}
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return err
	}
	args, env, err := layout(room, module)
	if err != nil {
		return err
	}
	// As on a Mac it lies where its own temporary files do, and can be linked there.
	built := fmt.Sprintf("%s/go-build%d", tmpdir, os.Getpid())
	if err := os.Mkdir(filepath.Join(room, "private", built), 0o755); err != nil {
		return err
	}
	inside := filepath.Join(built, filepath.Base(program))
	if err := os.Link(program, filepath.Join(room, "private", inside)); err != nil {
		return err
	}
	args = append(args, "--chdir", filepath.Join(checkout, at), "--", inside)
	return syscall.Exec(bwrap, append(append([]string{bwrap}, args...), words...), env)
}

// pattern matches exactly these tests, whose parts stand apart by a slash.
func pattern(tests []string) string {
	var list []string
	for _, test := range tests {
		var parts []string
		for part := range strings.SplitSeq(test, "/") {
			parts = append(parts, "^"+regexp.QuoteMeta(part)+"$")
		}
		list = append(list, strings.Join(parts, "/"))
	}
	return strings.Join(list, "|")
}

// leftOut names the tests of a folder that a Mac does not compile.
func leftOut(folder string) ([]string, error) {
	here, err := tests(folder, runtime.GOOS)
	if err != nil {
		return nil, err
	}
	there, err := tests(folder, "darwin")
	return slices.DeleteFunc(here, func(name string) bool { return slices.Contains(there, name) }), err
}

// tests names the tests of a folder that are built for a system.
func tests(folder, system string) (names []string, err error) {
	context := build.Default
	context.GOOS = system
	pkg, err := context.ImportDir(folder, 0)
	if none := (*build.NoGoError)(nil); err != nil && !errors.As(err, &none) {
		return nil, err
	}
	for _, name := range append(pkg.TestGoFiles, pkg.XTestGoFiles...) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names = append(names, f.Name.Name)
			}
		}
	}
	return names, nil
}

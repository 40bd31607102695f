//go:build linux || darwin

package runner

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

// testPATH finds the programs of tests.
const testPATH = "/usr/bin:/bin"

// patience is how long a test waits for what must happen before it fails.
const patience = 20 * time.Second

// joinEnv makes the test binary a program of a run that leaves a process
// without a mark in another process group, and says whether it could.
const joinEnv = "COUNTERSIGN_RUNNER_TEST_JOIN"

// argvEnv makes the test binary an interpreter that says which file it is and
// what it was given.
const argvEnv = "COUNTERSIGN_RUNNER_TEST_ARGV"

func TestMain(m *testing.M) {
	if os.Getenv(argvEnv) != "" {
		self, _ := os.Executable()
		fmt.Printf("%q\n", append([]string{self}, os.Args[1:]...))
		syscall.Exit(0) // at once: the race detector makes others wait a second
	}
	if group, err := strconv.Atoi(os.Getenv(joinEnv)); err == nil {
		said := "refused\n"
		attr := &os.ProcAttr{Env: []string{}, Sys: &syscall.SysProcAttr{Setpgid: true, Pgid: group}}
		if _, err := os.StartProcess("/bin/sleep", []string{"sleep", "100"}, attr); err == nil {
			said = "joined\n"
		}
		os.Stdout.WriteString(said)
		syscall.Exit(0)
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // most wait for programs, and not for a processor
		panic(err)
	}
	os.Exit(approvaltest.Main{M: m}.Run())
}

func newRunner(t testing.TB) *Runner {
	t.Helper()
	r, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func lookAt(t testing.TB, path string) approval.File {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Stat(real, &st); err != nil {
		t.Fatal(err)
	}
	f := seen(&st)
	f.Path = real
	return f
}

// resolve does what package command does, for tests. It returns nil when
// nothing is found.
func resolve(t testing.TB, word, dir string) *approval.Resolution {
	t.Helper()
	path := word
	if !strings.Contains(word, "/") {
		for _, folder := range filepath.SplitList(testPATH) {
			if at := filepath.Join(folder, word); exists(at) {
				path = at
				break
			}
		}
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	if !exists(path) {
		return nil
	}
	res := &approval.Resolution{Word: word, Path: path, Bare: path != word, File: lookAt(t, path)}
	head, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(head[:min(len(head), 256)]), "\n")
	if line, ok := strings.CutPrefix(line, "#!"); ok {
		words := strings.SplitN(strings.TrimSpace(line), " ", 2)
		if words[0] == "/usr/bin/env" {
			words = strings.SplitN(words[1], " ", 2)
		}
		res.Interpreter = resolve(t, words[0], dir)
		if len(words) > 1 {
			res.InterpreterArg = strings.TrimSpace(words[1])
		}
	}
	return res
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

var testBuiltins = []string{"cd", ":", "true", "false", "pwd", "exit", "echo"}

// planner makes a small plan of a text: what package command does, without
// a judgement.
type planner struct {
	t    testing.TB
	dir  string
	plan approval.Plan
}

func parse(t testing.TB, dir, text string) *approval.Plan {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	p := &planner{t: t, dir: dir, plan: approval.Plan{Text: text, Cwd: lookAt(t, dir)}}
	root := p.list(file.Stmts)
	p.plan.Root = &root
	return &p.plan
}

func (p *planner) list(stmts []*syntax.Stmt) approval.Node {
	n := approval.Node{Op: approval.OpSeq}
	for _, s := range stmts {
		n.Kids = append(n.Kids, p.stmt(s))
	}
	return n
}

func (p *planner) stmt(s *syntax.Stmt) approval.Node {
	var n approval.Node
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		n = p.call(s, c)
	case *syntax.Block: // only as a stage: a plan has no word for it elsewhere
		n = p.list(c.Stmts)
	case *syntax.BinaryCmd:
		op := map[syntax.BinCmdOperator]approval.Op{
			syntax.AndStmt: approval.OpAnd, syntax.OrStmt: approval.OpOr, syntax.Pipe: approval.OpPipe,
		}[c.Op]
		x, y := p.stmt(c.X), p.stmt(c.Y)
		n = approval.Node{Op: op, Kids: []approval.Node{x, y}}
		if op == approval.OpPipe && x.Op == approval.OpPipe {
			n.Kids = append(slices.Clone(x.Kids), y)
		}
	default:
		p.t.Fatalf("%q: the test's planner does not know %T", p.plan.Text, c)
	}
	if s.Negated {
		n = approval.Node{Op: approval.OpNot, Kids: []approval.Node{n}}
	}
	return n
}

func (p *planner) call(s *syntax.Stmt, c *syntax.CallExpr) approval.Node {
	argv, err := expand.Fields(&expand.Config{}, c.Args...)
	if err != nil {
		p.t.Fatal(err)
	}
	seg := approval.Segment{Start: int(c.Pos().Offset()), End: int(c.End().Offset()), Argv: argv}
	for _, r := range s.Redirs {
		seg.Redirects = append(seg.Redirects, p.redirect(r)...)
	}
	if slices.Contains(testBuiltins, argv[0]) {
		seg.Builtin = argv[0]
	} else {
		seg.Program = resolve(p.t, argv[0], p.dir)
	}
	p.plan.Segments = append(p.plan.Segments, seg)
	return approval.Node{Op: approval.OpRun, Seg: len(p.plan.Segments) - 1}
}

func (p *planner) redirect(r *syntax.Redirect) []approval.Redirect {
	word, err := expand.Literal(&expand.Config{}, r.Word)
	if err != nil {
		p.t.Fatal(err)
	}
	fd := 1
	switch {
	case r.N != nil:
		fd, _ = strconv.Atoi(r.N.Value)
	case r.Op == syntax.RdrIn:
		fd = 0
	}
	switch {
	case r.Op == syntax.DplOut:
		to, _ := strconv.Atoi(word)
		return []approval.Redirect{{FD: fd, To: to}}
	case word != os.DevNull:
		p.t.Fatalf("%q: the test's planner does not open files", p.plan.Text)
	case r.Op == syntax.RdrAll || r.Op == syntax.AppAll:
		return []approval.Redirect{{FD: 1, To: approval.ToNull}, {FD: 2, To: approval.ToNull}}
	}
	return []approval.Redirect{{FD: fd, To: approval.ToNull}}
}

func testEnv(id, dir string) []string {
	return []string{"PATH=" + testPATH, "HOME=" + dir, "PWD=" + dir, "LC_ALL=C.UTF-8", marker + "=" + id}
}

func allow(int, *approval.Segment) error { return nil }

// textJob is a job for a text that runs from its plan.
func textJob(t testing.TB, dir, text string) Job {
	return Job{ID: t.Name(), Plan: parse(t, dir, text), Mode: ModePlan, Env: testEnv(t.Name(), dir), Check: allow}
}

// argvJob is a job for one program.
func argvJob(t testing.TB, dir string, argv ...string) Job {
	t.Helper()
	plan := &approval.Plan{Text: strings.Join(argv, " "), Argv: argv, Cwd: lookAt(t, dir)}
	plan.Segments = []approval.Segment{{Argv: argv, Program: resolve(t, argv[0], dir)}}
	return Job{ID: t.Name(), Plan: plan, Env: testEnv(t.Name(), dir)}
}

// shJob is a job for a text that a shell runs, as a person's yes would.
func shJob(t testing.TB, dir, text string) Job {
	job := argvJob(t, dir, "/bin/sh", "-c", text)
	job.Plan.Outer, job.Plan.Segments = job.Plan.Segments[0].Program, nil
	return job
}

func scratch(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func script(t testing.TB, path, text string) {
	t.Helper()
	// A shell writes it, so that no descriptor of ours is open for writing
	// when another goroutine forks.
	cmd := exec.Command("/bin/sh", "-c", `cat >"$0" && chmod 755 "$0"`, path)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

func needs(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if resolve(t, p, "/") == nil {
			t.Skipf("skipped: %s is not installed", p)
		}
	}
}

// eventually waits for a fact.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited too long until %s", what)
		}
	}
}

// pidIn waits for a process id in a file.
func pidIn(t testing.TB, file string) (pid int) {
	t.Helper()
	eventually(t, "the process says its id", func() bool {
		text, _ := os.ReadFile(file)
		n, err := strconv.Atoi(strings.TrimSuffix(string(text), "\n"))
		pid = n
		return err == nil && strings.HasSuffix(string(text), "\n")
	})
	return pid
}

// living returns the processes, zombies too, that carry a run id or are
// children of this process.
func living(t testing.TB, id string) []proc.Info {
	t.Helper()
	list, err := proc.All()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list, func(p proc.Info) bool {
		value, _ := proc.Getenv(p.PID, marker)
		return value != id && p.Parent != os.Getpid()
	})
}

func mustBeGone(t testing.TB, id string) {
	t.Helper()
	for _, p := range living(t, id) {
		if !p.Zombie {
			t.Errorf("this is left: %+v", p)
		}
	}
	eventually(t, "all is reaped", func() bool { return len(living(t, id)) == 0 })
}

func code(r approval.Result) int {
	if r.ExitCode == nil {
		return -1
	}
	return *r.ExitCode
}

func run1(t testing.TB, r *Runner, job Job) approval.Result {
	t.Helper()
	return r.Run(context.Background(), job)
}

//go:build linux || darwin

package runner

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// spoken is a text without what a shell, or a program that was started by its path,
// puts before what it complains about.
func spoken(text string) string {
	return programPath.ReplaceAllString(linePrefix.ReplaceAllString(text, ""), "$1: ")
}

// filesIn lists what is in a folder, and what the files hold.
func filesIn(t testing.TB, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(at)
		fmt.Fprintf(&list, "%s %v %q\n", strings.TrimPrefix(at, dir), info.Mode(), spoken(string(text)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

// writers are texts that write files, as bash and dash do.
var writers = []string{
	"echo a > new", "echo a >new; cat new", "echo a > a.txt; cat a.txt", "echo a >> a.txt; cat a.txt", "echo a >> new; echo b >> new; cat new",
	"echo a >| a.txt", "cat nope 2> err; cat err", "cat nope 2>> err; cat nope 2>> err; cat err", "cat nope > out 2>&1; cat out", "cat nope 2>&1 > out",
	"echo a 1> new", "echo a > x > y; cat x y", "echo a > sub/new", "cd sub; echo a > new; cd ..; cat sub/new", "cd sub && echo a > ../new",
	"{ echo a; echo b; } > new; cat new", "{ echo a; cat nope; } > new 2>&1", "(echo a; echo b) > new", "(cd sub; echo a > new); cat sub/new",
	"for f in a b c; do echo $f; done > new; cat new", "for f in a b; do echo $f >> new; done; cat new", "for f in a b; do echo $f > new; done; cat new",
	"if true; then echo yes; else echo no; fi > new; cat new", "while false; do echo a; done > new", "! echo a > new",
	"echo a | cat > new; cat new", "echo a > new | cat", "echo a | tee new > copy; cat new copy", "{ echo a > in; echo b; } > in; cat in",
	"echo a > new; rm new; echo b > new; cat new", "rm a.txt; echo b > a.txt; cat a.txt", "touch new; echo a > new; cat new", "touch new; echo a >> new; cat new",
	"mkdir d; echo a > d/new; cat d/new", "mkdir -p d/e && echo a > d/e/new", "mv a.txt c.txt; echo new > a.txt; cat c.txt a.txt",
	"cat > new <<'EOF'\nline $x\n  two\nEOF\ncat new", "cat <<'EOF' > new\nline\nEOF", "cat <<EOF >> a.txt\nline\nEOF", "cat > 'my file.txt' <<E\nE",
	": > new", ": > a.txt", "true > new; false > new || echo no", "pwd > new; cat new", "printf '%s\\n' a b > new; wc -l < a.txt", "cat < a.txt > new", "cat a.txt > a.txt", "cat < a.txt >> b.txt",
	"echo a >> a.txt; cat < a.txt", "echo a > a.txt; wc -c < a.txt",
	"sort a.txt > sorted; cat sorted", "ls > list; cat list", "x=$(echo a > new); cat new", "echo $(cat a.txt) > a.txt; cat a.txt", "echo a > new; exit 3", "exit 3 > new",
	"set -e; echo a > new; false > two; echo no > three", "echo a > new && echo b > new || echo c > new", "echo a >&2 2> new", "echo a 2> new >&2",
	"for f in a b; do echo $f > \"$f.t\"; done", "f=new; echo a > $f; echo b >> \"$f\"; cat $f", "d=sub; echo a > $d/x.t; { echo b; cat nope; } >> \"$d/x.t\" 2>&1", "f='a b'; echo x > \"$f\"", "f=err; cat nope 2> $f; cat $f", "set -- new two; for f; do echo $f > \"$f\"; done; echo x >> \"$1\"; shift; echo y >> $1",
	"mkdir made && cd made && echo a > new", "echo 'a b' > \"new file\"; cat 'new file'", "echo a > a\\ b", "echo a > ~/home; cat ~/home", "head -c 100000 /dev/zero > big; wc -c < a.txt; wc -c big",
}

func TestWritingAsShells(t *testing.T) {
	needs(t, "bash", "dash")
	r := newRunner(t)
	for _, text := range writers {
		for _, shell := range []string{"bash", "dash"} {
			if how := likeShell(t, r, shell, text); how == "asks" {
				t.Errorf("%s: %s asks", shell, text)
			}
		}
	}
	for _, text := range []string{"echo a &> new; cat new", "cat nope &> new", "echo a &>> a.txt", "{ echo a; cat nope; } &> new", "cat <<< a > new"} {
		if how := likeShell(t, r, "bash", text); how == "asks" {
			t.Errorf("bash: %s asks", text)
		}
	}
	mustBeGone(t, "none")
}

// aboveRandom is the folder in which a folder of random texts is, with those that they
// may go up to.
func aboveRandom(dir string) string { return filepath.Dir(filepath.Dir(dir)) }

// TestRandomOutputs is TestRandomTexts with files that are written: what is in the
// folder then is the same too.
func TestRandomOutputs(t *testing.T) {
	needs(t, "bash", "dash")
	seed, count := randomRun(t, approvaltest.Rounds(t, 400, 100))
	r, ran := newRunner(t), 0
	for i := range count {
		shell := []string{"bash", "dash"}[i%2]
		// Numbers that follow each other would make texts that begin alike.
		w := writer{Rand: rand.New(rand.NewPCG(seed, uint64(i)*0x9e3779b97f4a7c15)), posix: shell == "dash", files: true}
		text := w.text()
		dir, other := randomFolder(t), randomFolder(t)
		job := scriptJob(t, shell, dir, text)
		if job == nil {
			continue
		}
		ran++
		job.Env = testEnv(job.ID, dir)
		got := run1(t, r, *job)
		cmd := exec.Command(shell, "-c", text)
		cmd.Dir, cmd.Env = other, testEnv(t.Name(), other)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		ours, theirs := printedBy(got), printed{said(stdout.String()), said(stderr.String()), cmd.ProcessState.ExitCode(), ""}
		if cannotTell(ours.denied) {
			continue
		}
		as := func(text string) string { return strings.ReplaceAll(text, aboveRandom(other), aboveRandom(dir)) }
		theirs.out, theirs.err = as(theirs.out), as(theirs.err)
		if ours != theirs {
			t.Errorf("%d, %s: %s\n  we   %+v\n  want %+v", i, shell, text, ours, theirs)
		}
		if left, want := filesIn(t, dir), as(filesIn(t, other)); said(left) != said(want) {
			t.Errorf("%d, %s: %s\n  left %s\n  want %s", i, shell, text, left, want)
		}
		if t.Failed() {
			break
		}
	}
	if t.Logf("%d of %d ran without a shell", ran, count); ran < count/2 {
		t.Error("too few of them ran to tell anything")
	}
	mustBeGone(t, "none")
}

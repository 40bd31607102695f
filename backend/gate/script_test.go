package gate_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/store"
)

// nobody denies what would ask.
func (b *bench) nobody() {
	b.edit(func(d *store.Document) error { d.Defaults.Ask = approval.AskOff; return nil })
}

// programEntries let these programs of the system pass.
func programEntries(t *testing.T, names ...string) (list []approval.Entry) {
	for _, name := range names {
		list = append(list, approval.Entry{Pattern: approvaltest.Find(t, name)})
	}
	return list
}

// Texts with variables, substitutions and loops run without a shell, and what
// their words become is judged before it starts.
func TestScripts(t *testing.T) {
	t.Parallel()
	b := newBench(t, append(programEntries(t, "cat", "ls"), approval.Entry{Pattern: "hello"})...)
	b.script("hello", `echo "hello $*"`)
	b.script("evil", "touch "+b.path("mark"))
	b.nobody()
	work := b.path("work")
	for name, text := range map[string]string{"a.txt": "one\n", "b.txt": "two\n", "name": "hello", ".env": "secret\n", "which": ".env\n"} {
		if err := os.MkdirAll(work, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct{ text, want string }{
		{`x=you; hello $x`, `code 0 "hello you\n"`},
		{`for i in a b; do hello $i; done`, `code 0 "hello a\nhello b\n"`},
		{`for f in *.txt; do cat "$f"; done`, `code 0 "one\ntwo\n"`},
		{`hello "$(cat a.txt)"`, `code 0 "hello one\n"`},
		{`x=$(cat b.txt) && hello $x`, `code 0 "hello two\n"`},
		{`if cat a.txt; then hello yes; else hello no; fi`, `code 0 "one\nhello yes\n"`},
		{`set -e; false; hello never`, `code 1 ""`},
		{`cat < a.txt`, `code 0 "one\n"`},
		{"cat <<'E'\n$x\nE\n", `code 0 "$x\n"`},
		{`{ hello a; hello b; } | cat`, `code 0 "hello a\nhello b\n"`},
		{`hello {a,b}c`, `code 0 "hello ac bc\n"`},
		{`command -v hello`, `code 0 "` + b.path("bin/hello") + `\n"`},
		// What words become is judged, and ends the run where it does not pass.
		{`hello before; cat "$(cat which)"`, `denied protected-state`},
		{`for f in a.txt .env; do cat "$f"; done`, `denied protected-state`},
		{`x=$(cat name); $x`, `denied runtime-value`},
		{`hello "$(evil)"`, `denied allowlist-miss`},
		{`for i in $(evil); do hello; done`, `denied allowlist-miss`},
		{`x=$(evil); hello`, `denied allowlist-miss`},
		{`export PATH=$PWD; hello`, `denied env-asks`},
		{`hello $SECRET_TOKEN`, `denied runtime-value`},
		{`echo a.txt | while read -r f; do cat "$f"; done`, `code 0 "one\n"`},
		{`while read -r f; do cat "$f"; done < name`, `code 0 ""`},
		{`while IFS= read -r f; do cat "$f"; done < which`, `denied protected-state`},
		{`echo .env | while read -r f; do cat "$f"; done`, `denied protected-state`},
		{`while read -r c; do $c; done < which`, `denied runtime-value`},
		{`case a.txt in *.txt) hello text;; esac`, `code 0 "hello text\n"`},
		{`case x in x) evil;; esac`, `denied allowlist-miss`},
		{`for i in a b; do hello $i; break; evil; done`, `denied allowlist-miss`},
		{`for i in a b c; do [ $i = b ] && continue; hello $i; done`, `code 0 "hello a\nhello c\n"`},
		{`i=1; hello $((i+1))`, `code 0 "hello 2\n"`},
		{`f=a.txt; for i in 1 2; do cat "$f"; f=$(cat which); done`, `denied protected-state`},
		{`s=p; for i in 1 2; do sort -"$s" a.txt; s=$(cat option); done`, `denied runtime-value`},
		{`for f in a.txt b.txt; do cat $f; done; rm -f a.txt`, `denied allowlist-miss`},
		{`x=b.md; cat "${x%.md}.txt"`, `code 0 "two\n"`},
		{`hello "${x:-you}"`, `code 0 "hello you\n"`},
		{`x=.env.bak; cat "${x%.bak}"`, `denied protected-state`},
		{`cat "${x:-.env}"`, `denied protected-state`},
		{`hello ${SECRET_TOKEN:0:3} ${#SECRET_TOKEN}`, `denied runtime-value`},
		{`x=é; hello ${#x}`, `denied runtime-value`},
		{`while true; do true; done`, `denied too-complex`},
	}
	for _, test := range tests {
		req := b.request("bash", "-c", test.text)
		req.Cwd = work
		result := b.Run(context.Background(), req)
		got := outcome(result)
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.text, got, test.want)
		}
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("evil ran")
	}
}

// A program that should print a number may print anything: what came out is judged
// before it reaches another program.
func TestPrintedValues(t *testing.T) {
	t.Parallel()
	b := newBench(t, append(programEntries(t, "sed"), approval.Entry{Pattern: "nproc"})...)
	b.script("nproc", `cat "$HOME/work/number"`)
	b.nobody()
	for printed, want := range map[string]string{
		"1": `code 0 "one\n"`, "2": `code 0 "two\n"`, "1,2": `code 0 "one\ntwo\n"`,
		"1e touch mark\n1": "denied inline-code", "1w mark\n1": "denied inline-code", "r.env\n1": "denied inline-code", "--in-place=": "denied writes-file", "-i": "denied writes-file",
	} {
		for name, text := range map[string]string{"number": printed, "a.txt": "one\ntwo\n"} {
			if err := errors.Join(os.MkdirAll(b.path("work"), 0o755), os.WriteFile(b.path("work/"+name), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		req := b.request("bash", "-c", `sed -n "$(nproc)p" a.txt`)
		req.Cwd = b.path("work")
		if got := outcome(b.Run(context.Background(), req)); got != want {
			t.Errorf("%q: %s, want %s", printed, got, want)
		}
		if _, err := os.Stat(b.path("work/mark")); err == nil {
			t.Errorf("%q: it ran", printed)
		}
	}
}

// What the kernel or a device makes up is no file, wherever the work is done.
func TestRedirectionFromNoFile(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "cat"})
	b.nobody()
	for _, text := range []string{`cat < /proc/version`, `cd proc && cat < version`, `cat < proc/1/status`, `cat < /dev/zero`, `cat < /dev/../proc/version`} {
		req := b.request("bash", "-c", text)
		req.Cwd = "/"
		if got := outcome(b.Run(context.Background(), req)); got != "denied outside-folder" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// What one part of a text changes is not what another part runs.
func TestChangedByTheTextItself(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	work := b.path("work")
	b.onlyProject("work")
	b.edit(func(d *store.Document) error {
		for _, name := range []string{"cp", "mv", "touch", "rm", "env", "nice", "timeout", "cat", "ls", "find", "xargs", "mkdir"} {
			d.Add("*", approval.Entry{Pattern: name})
		}
		d.Add("*", approval.Entry{Pattern: work + "/tool"})
		d.Add("*", approval.Entry{Pattern: work + "/swap"})
		return nil
	})
	b.nobody()
	tests := []struct{ text, want string }{
		{`./tool x`, `code 0 "tool x\n"`},
		{`env ./tool x`, `code 0 "tool x\n"`},
		{`env -i CI=1 ./tool x; env -i nice ./tool y`, `code 0 "tool x\ntool y\n"`},
		{`timeout 5 nice -n 1 ./tool x`, `code 0 "tool x\n"`},
		{`nice -n 1 env ./tool x`, `code 0 "tool x\n"`},
		{`./swap && ./tool`, `denied binary-changed`},
		{`./swap && env ./tool`, `denied binary-changed`},
		{`./swap; nice env ./tool`, `denied binary-changed`},
		{`./swap; timeout 5 ./tool`, `denied binary-changed`},
		{`./swap; nice -n 1 ./tool`, `denied binary-changed`},
		{`./swap && ./tool $nothing`, `denied binary-changed`},
		{`touch z1; ./swap; ./tool z*`, `denied binary-changed`},
		{`./swap; for i in a; do ./tool $i; done`, `denied binary-changed`},
		{`cp evil tool && ./tool`, `denied writes-file`},
		{`mv evil tool; nice -n 1 ./tool`, `denied writes-file`},
		{`env ./plain`, `denied allowlist-miss`},
		{`./swap; ls | xargs ./tool`, `denied wrapper-unclear`},
		{`cp -P out up; touch up/mark`, `denied outside-folder`},
		{`cp -P out up; cat up/other`, `code 0 "secret\n"`},
		{`D=$(cat which); cat "$HOME/$D"`, `denied protected-state`},
		{`D=$(cat which); find "$HOME/$D" -type f | xargs cat`, `denied protected-state`},
		{`mkdir -p new/deep && cd new/deep && touch a && ls`, `code 0 "a\n"`},
	}
	_, err := exec.LookPath("timeout")
	for _, test := range tests {
		if err != nil && strings.Contains(test.text, "timeout") {
			t.Logf("skipped: this system has no timeout: %s", test.text)
			continue
		}
		for _, err := range []error{
			os.RemoveAll(work), os.MkdirAll(filepath.Join(work, "sub"), 0o755), os.MkdirAll(b.path("other"), 0o755), os.MkdirAll(b.path(".ssh"), 0o700),
			os.WriteFile(filepath.Join(work, "tool"), []byte("#!/bin/sh\necho tool $*\n"), 0o755),
			os.WriteFile(filepath.Join(work, "swap"), []byte("#!/bin/sh\ncp evil tool\n"), 0o755),
			os.WriteFile(filepath.Join(work, "evil"), []byte("#!/bin/sh\ntouch "+b.path("mark")+"\n"), 0o755),
			os.WriteFile(filepath.Join(work, "plain"), []byte("touch "+b.path("mark")+"\n"), 0o755),
			os.WriteFile(filepath.Join(work, "which"), []byte(".ssh\n"), 0o644),
			os.WriteFile(b.path(".ssh/secret_x"), []byte("key\n"), 0o600),
			os.WriteFile(b.path("other/other"), []byte("secret\n"), 0o600),
			os.Symlink(b.path("other"), filepath.Join(work, "out")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		req := b.request("bash", "-c", test.text)
		req.Cwd = work
		result := b.Run(context.Background(), req)
		if got := outcome(result); got != test.want {
			t.Errorf("%q: %s (%+v), want %s", test.text, got, result.Denied, test.want)
		}
		for _, mark := range []string{b.path("mark"), b.path("other/mark")} {
			if _, err := os.Stat(mark); err == nil {
				t.Errorf("%q: %s is there", test.text, mark)
				os.Remove(mark)
			}
		}
		if strings.Contains(string(result.Stdout), "key") {
			t.Errorf("%q printed a key", test.text)
		}
	}
}

// Where nobody can be asked and askFallback lets pass what policy allows, a
// text still runs from its plan.
func TestFallbackRunsThePlan(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "cat"})
	b.canAsk.Store(false)
	b.edit(func(d *store.Document) error {
		d.Defaults.Ask, d.Defaults.AskFallback = approval.AskAlways, approval.SecurityList
		return nil
	})
	for name, text := range map[string]string{"which": ".ssh", ".ssh/secret_x": "key\n"} {
		if err := os.MkdirAll(filepath.Dir(b.path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.want([]string{"bash", "-c", `cat which`}, `code 0 ".ssh"`)
	b.want([]string{"bash", "-c", `D=$(cat which); cat "$HOME/$D/secret_x"`}, "denied ask-fallback")
}

// A text cannot make the host hold or do more than the limits say.
func TestHungryTexts(t *testing.T) {
	approvaltest.Long(t)
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "head"})
	b.script("lines", "i=0; while [ $i -lt 3000 ]; do echo '/usr/*/*/*'; i=$((i+1)); done")
	b.edit(func(d *store.Document) error { d.Add("*", approval.Entry{Pattern: "lines"}); return nil })
	b.nobody()
	for _, text := range []string{
		`x=aaaaaaaaaaaaaaaa; for i in {1..40}; do x=$x$x; done`,
		`x=aaaaaaaaaaaaaaaa; for i in {1..40}; do x="$x$x"; done; echo "$x"`,
		`x=$(lines); echo $x >/dev/null`,
		`x=aaaaaaaaaaaaaaaa; for i in {1..40}; do x=${x//a/aaaa}; done`,
		`x=a; for i in {1..40}; do x=${x:+$x$x}; done`,
		`x='* '; for i in {1..14}; do x="$x$x"; done; echo $x >/dev/null`,
	} {
		b.want([]string{"bash", "-c", text}, "denied too-complex")
	}
}

// Each program of a loop has a row of its own.
func TestLoopRows(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "hello"})
	b.script("hello", `exit 0`)
	b.want([]string{"bash", "-c", "for i in a b c; do hello $i; done"}, `code 0 ""`)
	rows, err := b.history.List(context.Background(), history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	for _, row := range rows {
		if row.Parent != "" {
			commands = append(commands, row.Command)
			if row.State != history.Done || row.ExitCode == nil {
				t.Errorf("%+v", row)
			}
		}
	}
	if len(commands) != 3 || !strings.Contains(strings.Join(commands, ","), "hello b") {
		t.Errorf("rows of programs: %q", commands)
	}
}

// TestTricky runs scripts that were written to fool gates, where a few
// readers are allowed and nobody can be asked: nothing else starts, and
// nothing is written.
func TestTricky(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../runner/testdata/tricky.txt")
	if err != nil {
		t.Fatal(err)
	}
	scripts := strings.Split(string(data), "\n%%\n")
	if len(scripts) < 60 {
		t.Fatalf("only %d scripts", len(scripts))
	}
	b := newBench(t, programEntries(t, "cat", "ls", "head", "sort")...)
	b.script("id", "touch "+b.path("mark"))
	b.nobody()
	ran := 0
	for _, script := range scripts {
		for _, shell := range []string{"bash", "sh", "zsh"} {
			work := b.path("work")
			for _, err := range []error{
				os.RemoveAll(work), os.MkdirAll(filepath.Join(work, "sub"), 0o755), os.MkdirAll(filepath.Join(work, "etc"), 0o755),
				os.WriteFile(filepath.Join(work, "a.txt"), []byte("one\n"), 0o644),
				os.WriteFile(filepath.Join(work, "lib.sh"), []byte("touch "+b.path("mark")+"\n"), 0o644),
				os.WriteFile(filepath.Join(work, "evil"), []byte("#!/bin/sh\ntouch "+b.path("mark")+"\n"), 0o755),
				os.WriteFile(filepath.Join(work, "ls"), []byte("#!/bin/sh\ntouch "+b.path("mark")+"\n"), 0o755),
				os.WriteFile(b.path("protected"), []byte("whole\n"), 0o644),
				os.WriteFile(filepath.Join(work, "protected"), []byte("whole\n"), 0o644),
				os.Symlink(b.path("protected"), filepath.Join(work, "link")),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			before := names(t, work)
			req := b.request(shell, "-c", script)
			req.Cwd = work
			result := b.Run(context.Background(), req)
			if result.Denied == nil {
				ran++
			}
			if _, err := os.Stat(b.path("mark")); err == nil {
				t.Errorf("%s %q: something ran that policy does not allow: %s", shell, script, outcome(result))
				os.Remove(b.path("mark"))
			}
			for _, file := range []string{b.path("protected"), filepath.Join(work, "protected")} {
				if text, err := os.ReadFile(file); err != nil || string(text) != "whole\n" {
					t.Errorf("%s %q: %s is %q now", shell, script, file, text)
				}
			}
			if after := names(t, work); after != before {
				t.Errorf("%s %q: the folder holds %s, and held %s", shell, script, after, before)
			}
			if len(result.Left) > 0 {
				t.Errorf("%s %q: left behind: %v", shell, script, result.Left)
			}
			if _, err := os.Lstat("/tmp/sh-interp-lnk"); err == nil {
				t.Errorf("%s %q wrote to /tmp", shell, script)
			}
			if strings.Contains(string(result.Stdout), "root:") {
				t.Errorf("%s %q printed a file of the system", shell, script)
			}
		}
	}
	t.Logf("%d scripts in three shells, %d ran to an end", len(scripts), ran)
}

func names(t *testing.T, dir string) string {
	var list []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		list = append(list, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// A rule that comes after a word became final, and before its program starts,
// holds for what it became: made by us, or written into the file by hand.
func TestDeniedAsItBecameFinal(t *testing.T) {
	t.Parallel()
	for _, byHand := range []bool{false, true} {
		b := newBench(t, approval.Entry{Pattern: "ls"}, approval.Entry{Pattern: "cat"})
		for _, name := range []string{"a", "b"} {
			b.put(name, name)
		}
		b.afterFinal = func(argv []string) {
			if argv[1] != "b" {
				return
			}
			deny := func(d *store.Document) error {
				d.Deny("", approval.DenyRule{Pattern: "cat", Args: []string{"b"}})
				return nil
			}
			if !byHand {
				b.edit(deny)
				return
			}
			name := b.path("state/exec-approvals.json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			ruled := strings.Replace(string(text), `"defaults": {`, `"defaults": {"denylist": [{"pattern": "cat", "args": ["b"]}], `, 1)
			if ruled == string(text) {
				t.Fatalf("no defaults in %s", text)
			}
			if err := os.WriteFile(name, []byte(ruled), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := b.Run(context.Background(), b.request("bash", "-c", `for f in $(ls [ab]); do cat "$f"; done`))
		if got.Denied == nil || got.Denied.Reason != approval.ReasonDenylisted || string(got.Stdout) != "a" {
			t.Errorf("by hand %v: %s, printed %q", byHand, outcome(got), got.Stdout)
		}
	}
}

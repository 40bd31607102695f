package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// writesAt runs a text in a session, in which TEMP is the temp folder, and says what
// came of it.
func (b *bench) writesAt(session, text string) string {
	b.t.Helper()
	req := b.request("bash", "-c", strings.ReplaceAll(text, "TEMP", b.path("../tmp")))
	req.SessionKey = session
	return outcome(b.Run(context.Background(), req))
}

func (b *bench) holds(name, want string) {
	b.t.Helper()
	if text, err := os.ReadFile(b.path(name)); err != nil || string(text) != want {
		b.t.Errorf("%s holds %q, %v, want %q", name, text, err, want)
	}
}

// write makes a file that is no program.
func (b *bench) write(name, text string) {
	b.do(os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
	b.do(os.WriteFile(b.path(name), []byte(text), 0o644))
}

func (b *bench) do(err error) {
	if err != nil {
		b.t.Error(err)
	}
}

// A redirection into a file asks without an entry that allows that, and passes with it.
func TestOutputs(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "hello", Allows: []approval.Allowed{approval.AllowProjectWrites}}, approval.Entry{Pattern: "cat"},
		approval.Entry{Pattern: "echo", Allows: []approval.Allowed{approval.AllowProjectWrites, approval.AllowTempWrites}}, approval.Entry{Pattern: "touch"}, approval.Entry{Pattern: "rm"}, approval.Entry{Pattern: "mkdir"})
	b.nobody()
	b.script("hello", "echo hello $1; echo oops >&2")
	for _, row := range []struct{ text, want, file, holds string }{
		{"hello you > out", `code 0 "oops\n"`, "out", "hello you\n"},
		{"hello you >> out 2>&1", `code 0 ""`, "out", "hello you\nhello you\noops\n"},
		{"hello you > out 2> err", `code 0 ""`, "err", "oops\n"},
		{"echo a > out; hello b 2>&1 >> out", `code 0 "oops\n"`, "out", "a\nhello b\n"},
		{"cat out > copy", "denied writes-file", "", ""},
		{"hello you > TEMP/out", "denied writes-file", "", ""},
		{"{ echo a; cat out; } > copy", "denied writes-file", "", ""},
		{"{ echo a; hello b; } > copy 2>&1", `code 0 ""`, "copy", "a\nhello b\noops\n"},
		{"cat out | echo a > piped", `code 0 ""`, "piped", "a\n"},
		{"for f in a b; do echo $f >> looped; done", `code 0 ""`, "looped", "a\nb\n"},
		{"for f in a b; do hello $f > last; done 2> err", `code 0 ""`, "last", "hello b\n"},
		{"touch new && echo a >> new; rm new; echo b >> new", `code 0 ""`, "new", "b\n"},
		{"for f in x1 x2; do echo $f > \"$f.t\"; done", `code 0 ""`, "x2.t", "x2\n"},
		{"LOG=logged; echo a > $LOG; hello b >> $LOG 2>&1; echo c >> \"$LOG\"", `code 0 ""`, "logged", "a\nhello b\noops\nc\n"},
		{"LOG=TEMP/logged; for f in a b; do echo $f >> $LOG; done; cat $LOG", `code 0 "a\nb\n"`, "", ""},
		{"echo a > ../tmp/x", `code 0 ""`, "../tmp/x", "a\n"},
		{"echo a > ../x", "denied writes-file", "", ""},
		{"echo ../outside > name; n=in; n=$(cat name); echo a > $n", "denied drifted", "", ""},
		{"echo state/exec-approvals.json > name; n=in; n=$(cat name); echo a > $n", "denied drifted", "", ""},
		{"echo TEMP/made > name; n=in; n=$(cat name); echo a > $n", "denied drifted", "", ""},
		{"echo a b > name; n=in; n=$(cat name); echo a > $n", "denied runtime-value", "", ""},
		{"echo a b > name; n=in; n=$(cat name); echo a > \"$n\"", `code 0 ""`, "a b", "a\n"},
		{"mkdir made && echo a > made/in", `code 0 ""`, "made/in", "a\n"},
		{"echo a > bin/hello", "denied protected-state", "", ""},
		{"echo a > state/exec-approvals.json", "denied protected-state", "", ""},
		{"echo '#!/bin/sh' > sub; ./sub", "denied writes-file", "", ""},
	} {
		if got := b.writesAt("", row.text); got != row.want {
			t.Errorf("%s: %s, want %s", row.text, got, row.want)
		}
		if row.file != "" {
			b.holds(row.file, row.holds)
		}
	}
	plan, j, err := b.Judge.Explain(t.Context(), b.request("bash", "-c", "cat out > copy-of-it"))
	if f := j.Segments[0].Finding; err != nil || f.Allowed != approval.AllowProjectWrites || !strings.Contains(f.Sentence, "copy-of-it") || plan.Targets[0].Path != b.path("copy-of-it") {
		t.Errorf("%v, %+v, %+v", err, f, plan.Targets)
	}
	if _, err := os.Stat(b.path("../tmp/out")); err == nil {
		t.Error("what was denied was written")
	}
}

// In the temp folder a file is made that is not there, and one that the session made is
// written again; those of others ask.
func TestOutputsInTemp(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "echo", Allows: []approval.Allowed{approval.AllowTempWrites}}, approval.Entry{Pattern: "cat"}, approval.Entry{Pattern: "rm"})
	b.nobody()
	b.write("../tmp/theirs", "x")
	for _, row := range []struct{ session, text, want string }{
		{"one", "echo a > TEMP/log", `code 0 ""`},
		{"one", "echo b >> TEMP/log; echo c >> TEMP/log; cat TEMP/log", `code 0 "a\nb\nc\n"`},
		{"two", "echo b > TEMP/log", "denied writes-file"},
		{"", "echo b > TEMP/log", "denied writes-file"},
		{"one", "echo b > TEMP/theirs", "denied writes-file"},
		{"one", "echo b > project", "denied writes-file"},
		{"", "for f in a b; do echo $f >> TEMP/own; done; cat TEMP/own", `code 0 "a\nb\n"`},
		{"", "echo c >> TEMP/own", "denied writes-file"},
		{"two", "echo a > TEMP/mine; echo b > TEMP/mine; cat TEMP/mine", `code 0 "b\n"`},
		{"one", "echo a > TEMP/mine", "denied writes-file"},
		{"two", "echo a > TEMP/mine", `code 0 ""`},
	} {
		if got := b.writesAt(row.session, row.text); got != row.want {
			t.Errorf("%q: %s: %s, want %s", row.session, row.text, got, row.want)
		}
	}
	// Another file by the same name is not the one that the session made.
	b.do(os.Rename(b.path("../tmp/log"), b.path("../tmp/log.old")))
	b.write("../tmp/log", "x")
	if got := b.writesAt("one", "echo a > TEMP/log"); got != "denied writes-file" {
		t.Errorf("another file of the name: %s", got)
	}
	b.holds("../tmp/log", "x")
	b.holds("../tmp/theirs", "x")
}

// TestMadeByPrograms: a program under an entry for that may write what is not there yet in
// the temp folder, and what its session made there, by itself or by a redirection; and
// remove just that.
func TestMadeByPrograms(t *testing.T) {
	t.Parallel()
	temp := []approval.Allowed{approval.AllowTempWrites}
	b := newBench(t, approval.Entry{Pattern: "cp", Allows: temp}, approval.Entry{Pattern: "rm", Allows: temp}, approval.Entry{Pattern: "echo", Allows: temp}, approval.Entry{Pattern: "touch"})
	b.nobody()
	b.write("src", "text")
	b.do(os.WriteFile(b.path("../tmp/theirs"), []byte("x"), 0o644))
	b.do(os.Symlink(b.path("src"), b.path("../tmp/link")))
	for _, row := range []struct{ session, text, want string }{
		{"s", "cp src TEMP/a", `code 0 ""`},
		{"s", "cp src TEMP/a", `code 0 ""`},
		{"s", "echo x > TEMP/a", `code 0 ""`},
		{"other", "cp src TEMP/a", "denied outside-folder"},
		{"other", "rm TEMP/a", "denied deletes"},
		{"", "rm TEMP/a", "denied deletes"},
		{"s", "cp src TEMP/theirs", "denied outside-folder"},
		{"s", "rm TEMP/theirs", "denied deletes"},
		{"s", "cp src TEMP/link", "denied outside-folder"},
		{"s", "rm TEMP/link", "denied deletes"},
		{"s", "rm -r TEMP", "denied deletes"},
		{"s", "cp src TEMP/../stray", "denied outside-folder"},
		{"s", "cp src TEMP/no/a", "denied outside-folder"},
		{"s", "cp src TEMP/.bashrc TEMP", "denied outside-folder"},
		{"s", "touch TEMP/b", "denied outside-folder"}, // its entry does not say so
		{"s", "rm TEMP/a", `code 0 ""`},
		{"s", "echo x > TEMP/c && rm TEMP/c", "denied deletes"}, // not made yet when it is judged
		{"s", "echo x > TEMP/c", `code 0 ""`},
		{"s", "rm TEMP/c", `code 0 ""`},
	} {
		if got := b.writesAt(row.session, row.text); got != row.want {
			t.Errorf("%s in %q: %s, want %s", row.text, row.session, got, row.want)
		}
	}
	b.holds("src", "text")
	b.holds("../tmp/theirs", "x")
}

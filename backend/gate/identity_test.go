package gate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/store"
)

// recorded returns the paths that the entry with this pattern holds a hash of.
func (b *bench) recorded(pattern string) string {
	b.t.Helper()
	var list []string
	for _, e := range b.store.Snapshot().Policy("main").Allowlist {
		if e.Pattern != pattern {
			continue
		}
		for _, id := range e.Identity {
			if id.SHA256 != "" {
				list = append(list, filepath.Base(id.Path))
			}
		}
		for _, id := range e.Interpreters {
			list = append(list, "by "+filepath.Base(id.Path))
		}
	}
	return strings.Join(list, ", ")
}

// put writes a file of the scratch folder as editors do: under a new name that
// then takes the place.
func (b *bench) put(name, text string) {
	b.t.Helper()
	at := b.path(name)
	for _, err := range []error{os.MkdirAll(filepath.Dir(at), 0o755), writeProgram(at+".new", []byte(text)), os.Rename(at+".new", at)} {
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// copies puts a program that ends with 0 to A, and one that ends with 1 to B.
func (b *bench) copies(a, other string) {
	b.t.Helper()
	b.put(a, programText(b.t, "true"))
	b.put(other, programText(b.t, "false"))
}

// programText is what a program of our own holds.
func programText(t *testing.T, does string) string {
	t.Helper()
	text, err := os.ReadFile(approvaltest.Program(t, does))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (b *bench) link(to, at string) { b.t.Helper(); b.linkTo(b.path(to), at) }

// linkTo makes a link to a path anywhere.
func (b *bench) linkTo(to, at string) {
	b.t.Helper()
	if err := os.Symlink(to, b.path(at)); err != nil {
		b.t.Fatal(err)
	}
}

// Under a wildcard each file is known from its first use on, in the same text
// too, and so is what interprets it.
func TestFirstUseIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
	b.canAsk.Store(false)
	shell := programText(t, "sh")
	b.put("own/sh", shell)
	b.put("bin/a", "#!/bin/sh\necho a\n")
	b.put("bin/b", "#!"+b.path("own/sh")+"\necho b\n")
	b.want([]string{"bash", "-c", "a; a; b"}, `code 0 "a\na\nb\n"`)
	if got := b.recorded("~/bin/*"); got != "a, b, by sh" {
		t.Errorf("recorded: %s", got)
	}
	b.want([]string{"cat", "/dev/null"}, "denied ask-fallback")
	b.want([]string{"ls"}, "denied ask-fallback")
	if got := b.recorded("~/bin/*"); got != "a, b, by sh" {
		t.Errorf("recorded for what did not run: %s", got)
	}

	b.put("bin/a", "#!/bin/sh\necho evil\n")
	b.want([]string{"a"}, "denied ask-fallback")
	b.want([]string{"bash", "-c", "x=$(a); echo $x"}, "denied ask-fallback")
	b.put("own/sh", shell+"\n")
	b.want([]string{"b"}, "denied ask-fallback")
	b.want([]string{b.path("own/sh")}, "denied ask-fallback") // its record covers nothing
	b.put("bin/a", "#!/bin/sh\necho a\n")
	b.want([]string{"a"}, `code 0 "a\n"`)
}

// A script may be a program of its own, and what interprets another one: it is
// recorded as both, whichever it is first.
func TestProgramThatInterprets(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{{"a", "b"}, {"b", "a"}} {
		b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
		b.canAsk.Store(false)
		b.put("bin/a", "#!/bin/sh\necho ran\n")
		b.put("bin/b", "#!"+b.path("bin/a")+"\n")
		for _, word := range words {
			b.want([]string{word}, `code 0 "ran\n"`)
		}
		b.put("bin/a", "#!/bin/sh\necho evil\n")
		for _, word := range words {
			b.want([]string{word}, "denied ask-fallback")
		}
	}
}

// A changed file asks once, the answer is for exactly what is there then, and it
// goes for all files beside it that changed as well.
func TestNewVersionIsAccepted(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"}, approval.Entry{Pattern: "~/bin/two"})
	for _, name := range []string{"one", "two", "three", "four"} {
		b.put("bin/"+name, "#!/bin/sh\necho "+name+"\n")
	}
	b.want([]string{"bash", "-c", "one; two; three; four"}, `code 0 "one\ntwo\nthree\nfour\n"`)
	for _, name := range []string{"one", "two", "three"} { // four is not part of the upgrade
		b.put("bin/"+name, "#!/bin/sh\necho new "+name+"\n")
	}
	var sentence string
	b.person(always, func() { sentence = b.pending.List()[0].Judgement.Sentence })
	b.want([]string{"one"}, `code 0 "new one\n"`)
	if want := "; always accepts what else changed there too: "; !strings.Contains(sentence, want) ||
		!strings.Contains(sentence, "/bin/two") || !strings.Contains(sentence, "/bin/three") || strings.Contains(sentence, "/bin/four") {
		t.Errorf("asked because: %s", sentence)
	}
	b.want([]string{"bash", "-c", "two; three; four"}, `code 0 "new two\nnew three\nfour\n"`)
	if got := b.asked.Load(); got != 1 {
		t.Errorf("asked %d times", got)
	}
	if got := len(b.store.Snapshot().Policy("main").Allowlist); got != 2 {
		t.Errorf("%d entries: a new version needs none of its own", got)
	}
}

// A yes for once accepts no version, and one that came after the question is
// not the one that was accepted.
func TestNewVersionOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
	b.put("bin/one", "#!/bin/sh\necho one\n")
	b.put("bin/two", "#!/bin/sh\necho two\n")
	b.want([]string{"bash", "-c", "one; two"}, `code 0 "one\ntwo\n"`)
	b.put("bin/one", "#!/bin/sh\necho new one\n")
	b.put("bin/two", "#!/bin/sh\necho new two\n")
	say, during := once, func() {}
	b.personWho(func(approval.Prompt) approval.Answer { during(); return say })
	b.want([]string{"one"}, `code 0 "new one\n"`)
	b.want([]string{"one"}, `code 0 "new one\n"`)
	if got := b.asked.Load(); got != 2 {
		t.Errorf("asked %d times", got)
	}
	say, during = always, func() { b.put("bin/two", "#!/bin/sh\necho evil\n") }
	b.want([]string{"one"}, `code 0 "new one\n"`) // and two as it was when it asked
	say, during = no, func() {}
	b.want([]string{"one"}, `code 0 "new one\n"`)
	b.want([]string{"two"}, "denied user-denied")
}

// Where the record cannot be written, nothing runs on it.
func TestNoRecordNoRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
	b.put("bin/one", "#!/bin/sh\ntouch "+b.path("mark")+"\n")
	file := b.path("state/exec-approvals.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	loose := strings.Replace(string(text), `"security": "allowlist"`, `"security": "full"`, 1)
	if loose == string(text) {
		t.Fatalf("%s", text)
	}
	for _, err := range []error{os.WriteFile(file+".edit", []byte(loose), 0o600), os.Rename(file+".edit", file)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := outcome(b.Run(context.Background(), b.request("one"))); got != "denied approval-cancelled" {
		t.Error(got)
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("it ran")
	}
}

// The history says of a run that a new version was taken as known.
func TestVouchedVersionIsTold(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can own a program of the system")
	}
	b := newBench(t)
	b.edit(func(d *store.Document) error {
		d.Add("main", approval.Entry{Pattern: "/usr/bin/true", Identity: []approval.Identity{{Path: "/usr/bin/true", SHA256: strings.Repeat("0", 64)}}})
		return nil
	})
	b.want([]string{"/usr/bin/true"}, `code 0 ""`)
	rows, err := b.history.List(context.Background(), history.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if got := rows[len(rows)-1]; !strings.Contains(got.Sentence, "/usr/bin/true is a new version") {
		t.Errorf("%+v", got)
	}
	b.want([]string{"/usr/bin/true"}, `code 0 ""`)
	if rows, _ = b.history.List(context.Background(), history.Query{}); rows[0].Parent == "" && rows[0].Sentence != "" {
		t.Errorf("told again: %+v", rows[0])
	}
}

// A script that was recorded with one interpreter asks when env would find
// another one, in a folder of PATH that comes before, or when a link leads to one.
func TestOtherInterpreter(t *testing.T) {
	t.Parallel()
	for name, swap := range map[string]func(b *bench){
		"found earlier in PATH": func(b *bench) { b.copies("bin/true", "own/other") },
		"a link in PATH":        func(b *bench) { b.linkTo("/usr/bin/false", "bin/true") },
		"a link to the system":  func(b *bench) { os.Remove(b.path("bin/mine")); b.linkTo("/usr/bin/false", "bin/mine") },
		"its own content":       func(b *bench) { b.copies("own/other", "own/i") },
	} {
		b := newBench(t, approval.Entry{Pattern: "~/tools/*"})
		b.canAsk.Store(false)
		b.copies("own/i", "own/j")
		b.link("own/i", "bin/mine")
		b.put("tools/system", "#!/usr/bin/env true\n")
		b.put("tools/mine", "#!/usr/bin/env mine\n")
		system, mine := b.path("tools/system"), b.path("tools/mine")
		for range 2 {
			b.want([]string{"bash", "-c", system + "; " + mine}, `code 0 ""`)
		}
		swap(b)
		changed := mine
		if strings.Contains(name, "in PATH") {
			changed = system
		}
		if got := outcome(b.Run(context.Background(), b.request(changed))); got != "denied ask-fallback" {
			t.Errorf("%s: %s", name, got)
		}
		_, j, err := b.Explain(context.Background(), b.request("nice", changed))
		if err != nil || j.Segments[1].Reason != approval.ReasonBinaryChanged {
			t.Errorf("%s: %+v, %v", name, j.Segments, err)
		}
		b.canAsk.Store(true)
		b.person(always, nil)
		if got := outcome(b.Run(context.Background(), b.request(changed))); strings.HasPrefix(got, "denied") {
			t.Errorf("%s: %s although it was accepted", name, got)
		}
		b.canAsk.Store(false)
		if got := outcome(b.Run(context.Background(), b.request(changed))); strings.HasPrefix(got, "denied") {
			t.Errorf("%s: %s after it was accepted", name, got)
		}
	}
}

// Many requests that see the same files for the first time all run, and a file
// that changed meanwhile is known as what it was first.
func TestLearnedAtOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
	b.canAsk.Store(false)
	const programs = 4
	for i := range programs {
		b.put(fmt.Sprintf("bin/tool%d", i), fmt.Sprintf("#!/bin/sh\necho %d\n", i))
	}
	var all sync.WaitGroup
	for range 4 {
		for i := range programs {
			all.Go(func() {
				if got := outcome(b.Run(context.Background(), b.request(fmt.Sprintf("tool%d", i)))); got != fmt.Sprintf("code 0 \"%d\\n\"", i) {
					t.Errorf("tool%d: %s", i, got)
				}
			})
		}
	}
	all.Wait()
	if got := b.recorded("~/bin/*"); strings.Count(got, "tool") != programs {
		t.Errorf("recorded: %s", got)
	}
}

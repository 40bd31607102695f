//go:build linux || darwin

package machine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/machine"
)

// notary is a folder with a program in codesign's place: it writes down what
// it is asked, and ends as the test says.
type notary struct{ dir, program string }

// newNotary makes one that runs this text of a shell at its end.
func newNotary(t *testing.T, end string) *notary {
	t.Helper()
	n := &notary{dir: realDir(t)}
	n.program = n.file(t, "codesign", []byte(fmt.Sprintf("#!/bin/sh\nprintf '%%s\\n' \"$@\" >>%[1]s/asked\nenv >%[1]s/environment\ncat >%[1]s/input\n%[2]s\n", n.dir, end)))
	return n
}

func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (n *notary) file(t *testing.T, name string, content []byte) string {
	t.Helper()
	at := filepath.Join(n.dir, name)
	if err := os.WriteFile(at, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return at
}

// read returns what it wrote down under a name, and removes it.
func (n *notary) read(name string) string {
	b, _ := os.ReadFile(filepath.Join(n.dir, name))
	_ = os.Remove(filepath.Join(n.dir, name))
	return string(b)
}

func (n *notary) signers() *machine.Signers {
	var s machine.Signers
	s.Asking(n.program, time.Minute)
	return &s
}

// settled looks at a file once it is so old that what is known of it counts.
func settled(t *testing.T, at string) approval.File {
	t.Helper()
	file := lookAt(t, at)
	time.Sleep(time.Until(time.Unix(0, file.Changed).Add(1100 * time.Millisecond)))
	return file
}

func lookAt(t *testing.T, path string) approval.File {
	t.Helper()
	file, err := machine.Disk{}.Look(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// signed is a program that a team signed.
func signed() approvaltest.MachO {
	return approvaltest.MachO{CPU: 7, Wide: true, Size: 5000, Identifier: "com.example.tool", Team: "AB12CD34EF", Kinds: []byte{2}}
}

const signer = "AB12CD34EF/com.example.tool"

// What codesign confirms is remembered, and so is what it does not.
func TestSigners(t *testing.T) {
	program, hashes := signed().Build()
	for _, test := range []struct{ end, want string }{{"exit 0", signer}, {"exit 1", ""}, {"exit 2", ""}, {"exit 3", ""}} {
		n := newNotary(t, test.end)
		s := n.signers()
		file := settled(t, n.file(t, "tool", program))
		if got := s.Of(file); got != test.want {
			t.Errorf("%s: %q, want %q", test.end, got, test.want)
		}
		want := "--verify\n--strict\n--all-architectures\n-R\n=anchor apple generic and certificate 1[field.1.2.840.113635.100.6.2.6] exists and " +
			"certificate leaf[field.1.2.840.113635.100.6.1.13] exists and certificate leaf[subject.OU] = \"AB12CD34EF\" and " +
			"identifier \"com.example.tool\" and (cdhash H\"" + hashes[2] + "\")\n" + file.Path + "\n"
		if got := n.read("asked"); got != want {
			t.Errorf("%s: asked\n%swant\n%s", test.end, got, want)
		}
		if input := n.read("input"); input != "" {
			t.Errorf("it was told %q", input)
		}
		for _, kv := range strings.Split(strings.TrimSpace(n.read("environment")), "\n") {
			name, value, _ := strings.Cut(kv, "=")
			switch name {
			case "PWD", "OLDPWD", "SHLVL", "_", "__CF_USER_TEXT_ENCODING": // the shell's own
			case "PATH":
				if value != "/usr/bin:/bin:/usr/sbin:/sbin" {
					t.Errorf("its PATH is %s", value)
				}
			default:
				t.Errorf("its environment has %s", kv)
			}
		}
		if got := s.Of(file); got != test.want || n.read("asked") != "" {
			t.Errorf("%s: it was asked again, and said %q", test.end, got)
		}
	}
}

// Nobody is asked about a file that names no signer, or is not what was
// signed.
func TestSignersNotAsked(t *testing.T) {
	build := func(edit func(*approvaltest.MachO)) []byte {
		m := signed()
		edit(&m)
		b, _ := m.Build()
		return b
	}
	whole := build(func(*approvaltest.MachO) {})
	changed := append([]byte{}, whole...)
	changed[4500]++
	for name, content := range map[string][]byte{
		"empty":         nil,
		"script":        []byte("#!/bin/sh\n"),
		"unsigned":      build(func(m *approvaltest.MachO) { m.Kinds = nil }),
		"ad hoc":        build(func(m *approvaltest.MachO) { m.Flags = 2 }),
		"no team":       build(func(m *approvaltest.MachO) { m.Team = "" }),
		"changed":       changed,
		"cut off":       whole[:len(whole)-1],
		"longer":        append(append([]byte{}, whole...), 0),
		"a quoted name": build(func(m *approvaltest.MachO) { m.Identifier = `x" or anchor apple or identifier "y` }),
		"two names": approvaltest.Universal(false, whole, build(func(m *approvaltest.MachO) {
			m.CPU, m.Identifier = 12, "com.example.other"
		})),
		"half unsigned": approvaltest.Universal(false, whole, build(func(m *approvaltest.MachO) { m.CPU, m.Kinds = 12, nil })),
	} {
		n := newNotary(t, "exit 0")
		if got := n.signers().Of(lookAt(t, n.file(t, "tool", content))); got != "" || n.read("asked") != "" {
			t.Errorf("%s: it was asked about, and %q signed it", name, got)
		}
	}
	n := newNotary(t, "exit 0")
	if got := n.signers().Of(lookAt(t, n.dir)); got != "" || n.read("asked") != "" {
		t.Errorf("%q signed a folder", got)
	}
}

// An answer about another file is none, and neither is one that does not
// come: what could not be found out is asked again.
func TestSignersUnsure(t *testing.T) {
	program, _ := signed().Build()
	for name, end := range map[string]string{
		"it changes while it is looked at": "echo >>tool; exit 0",
		"it is another one then":           "cp tool new; mv new tool; exit 0",
		"it is gone then":                  "rm tool; exit 0",
		"it is a link then":                "mv tool old; cp old other; ln -s other tool; exit 0",
		"killed":                           "kill -9 $$",
	} {
		n := newNotary(t, "")
		n.program = n.file(t, "codesign", []byte("#!/bin/sh\ncd "+n.dir+"\n"+end+"\n"))
		s := n.signers()
		file := lookAt(t, n.file(t, "tool", program))
		if got := s.Of(file); got != "" {
			t.Errorf("%s: %q signed it", name, got)
		}
		if name == "killed" {
			s.Asking(n.file(t, "better", []byte("#!/bin/sh\nexit 0\n")), time.Minute)
			if got := s.Of(file); got != signer {
				t.Errorf("%s: %q signed it then", name, got)
			}
		}
	}

	n := newNotary(t, "exec sleep 3600")
	s := n.signers()
	file := lookAt(t, n.file(t, "tool", program))
	s.Asking(n.program, 200*time.Millisecond)
	if got := s.Of(file); got != "" {
		t.Errorf("%q signed it, said nobody", got)
	}
	s.Asking(filepath.Join(n.dir, "nothing"), time.Minute)
	if got := s.Of(file); got != "" {
		t.Errorf("%q signed it, said nobody", got)
	}
	s.Asking(n.file(t, "better", []byte("#!/bin/sh\nexit 0\n")), time.Minute)
	if got := s.Of(file); got != signer {
		t.Errorf("%q signed it then", got)
	}
}

// A path that leads to another file than the one that was seen says nothing,
// although the other one is signed.
func TestSignersOtherFile(t *testing.T) {
	program, _ := signed().Build()
	n := newNotary(t, "exit 0")
	s := n.signers()
	at := n.file(t, "tool", program)
	seen := lookAt(t, at)
	if err := os.Rename(at, at+".old"); err != nil {
		t.Fatal(err)
	}
	n.file(t, "tool", program)
	if got := s.Of(seen); got != "" || n.read("asked") != "" {
		t.Errorf("%q signed what is not there any more", got)
	}
	if got := s.Of(lookAt(t, at)); got != signer {
		t.Errorf("%q signed what is there now", got)
	}
	relative := lookAt(t, at)
	relative.Path = "tool"
	t.Chdir(n.dir)
	n.read("asked")
	if got := s.Of(relative); got != "" || n.read("asked") != "" {
		t.Errorf("%q signed what has no full path", got)
	}
}

func TestSignersAtOnce(t *testing.T) {
	program, _ := signed().Build()
	n := newNotary(t, "exit 0")
	s := n.signers()
	file := lookAt(t, n.file(t, "tool", program))
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := s.Of(file); got != signer {
				t.Errorf("%q signed it", got)
			}
		})
	}
	all.Wait()
}

// Where the system itself cannot confirm it, nobody signed: Linux has no
// codesign, and that of macOS finds no certificates in this file.
func TestSignersOfSystem(t *testing.T) {
	program, _ := signed().Build()
	var s machine.Signers
	at := filepath.Join(realDir(t), "tool")
	if err := os.WriteFile(at, program, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := s.Of(lookAt(t, at)); got != "" {
		t.Errorf("%q signed it", got)
	}
}

// Known never waits: it tells what was found out before.
func TestKnownSigner(t *testing.T) {
	n := newNotary(t, `while [ ! -e "${0%/*}/go" ]; do sleep 0.01; done; exit 0`)
	s := n.signers()
	program, _ := signed().Build()
	at := settled(t, n.file(t, "program", program)).Path
	if got := s.Known(at) + s.Known(at); got != "" {
		t.Errorf("before it was found out: %q", got)
	}
	if got := s.Known(filepath.Join(n.dir, "nothing")); got != "" {
		t.Errorf("of no file: %q", got)
	}
	n.file(t, "go", nil)
	for end := time.Now().Add(time.Minute); s.Known(at) == "" && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if got := s.Known(at); got != signer {
		t.Errorf("then: %q, want %q", got, signer)
	}
	if asked := strings.Count(n.read("asked"), "--verify"); asked != 1 {
		t.Errorf("codesign was asked %d times", asked)
	}
}

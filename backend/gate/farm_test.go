package gate_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/store"
)

// A program of a run that is this test says by which name it was started.
func TestMain(m *testing.M) {
	if strings.HasPrefix(os.Getenv("COUNTERSIGN_RUN"), "test-") {
		fmt.Println("I am", strings.Join(os.Args, " "))
		syscall.Exit(0) // at once: the race detector makes others wait a second
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they wait for disks, and not for a processor
		panic(err)
	}
	os.Exit(approvaltest.Main{M: m}.Run())
}

// farm is a gate with programs and links in its home, where nobody answers.
type farm struct{ *bench }

func newFarm(t *testing.T, entries ...string) farm {
	t.Helper()
	b := newBench(t)
	b.edit(func(d *store.Document) error {
		d.Defaults.Ask = approval.AskOff
		for _, pattern := range entries {
			d.Add("*", approval.Entry{Pattern: pattern})
		}
		return nil
	})
	return farm{b}
}

// tool puts a script to a path below home that says its name, who interprets it
// and its words.
func (f farm) tool(name, line, says string) {
	f.t.Helper()
	f.put(name, line+"\necho "+says+" ${0#"+f.dir+"/} $*\n")
}

// lead makes a link below home, in the place of what is there.
func (f farm) lead(at, to string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(at)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Symlink(to, f.path(at)+".new"); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.path(at)+".new", f.path(at)); err != nil {
		f.t.Fatal(err)
	}
}

// says wants that a line of words, ~ for home, prints this, or is denied.
func (f farm) says(line, want string) {
	f.t.Helper()
	words := strings.Fields(strings.ReplaceAll(line, "~", f.dir))
	if !strings.HasPrefix(want, "denied") {
		want = `code 0 "` + want + `\n"`
	}
	f.want(words, want)
}

const (
	missed  = "denied allowlist-miss"
	changed = "denied binary-changed"
)

// One binary under many names looks at its own: rustup, volta, busybox.
func TestFarmOfNames(t *testing.T) {
	t.Parallel()
	f := newFarm(t, "~/bin/build", "~/bin/shape", "shown")
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	f.put("chain/manager", string(self))
	f.put("chain/other", string(self))
	for _, name := range []string{"build", "shape", "shown", "lint"} {
		f.lead("bin/"+name, "../chain/manager")
	}
	f.lead("twice", "bin/build")
	named := func(name string) string { return "I am " + f.path(name) }
	f.says("build a", named("bin/build")+" a")
	f.says("~/bin/shape", named("bin/shape"))
	f.says("~/bin/../bin/build", "I am "+f.dir+"/bin/../bin/build")
	f.says("shown", named("bin/shown"))
	f.says("lint", missed)
	f.says("~/bin/shown", missed)
	f.says("~/twice", missed)
	f.says("~/chain/manager", missed)
	f.says("~/bin/build/", "denied not-found")
	f.says("~/bin/BUILD", "denied not-found")
	// A link that leads elsewhere asks, to a known program or a file, and back again it passes.
	for _, to := range []string{"../chain/other", "/usr/bin/true", "/bin/sh", "../chain/manager"} {
		want := map[string]string{"/bin/sh": "denied inline-code", "../chain/manager": ""}[to]
		for _, name := range []string{"build", "shown"} {
			f.lead("bin/"+name, to)
			switch {
			case want != "":
				f.says(name, want)
			case to == "../chain/manager":
				f.says(name, named("bin/"+name))
			default:
				f.says(name, changed)
			}
		}
	}
	// So does a file in the place of the link.
	for _, name := range []string{"build", "shown"} {
		if err := os.Remove(f.path("bin/" + name)); err != nil {
			t.Fatal(err)
		}
		f.put("bin/"+name, string(self))
		f.says(name, changed)
	}
}

// A person's always binds where the links lead now: of the program and of what
// interprets it. It is asked about once for each change.
func TestAlwaysBindsLinks(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	f.edit(func(d *store.Document) error { d.Defaults.Ask = approval.AskOnMiss; return nil })
	f.person(always, nil)
	for _, name := range []string{"one", "two"} {
		f.tool("own/"+name, "#!"+f.path("own/i"), name)
	}
	asked := int32(0)
	for _, step := range []struct{ link, to, want string }{
		{"own/i", "/bin/sh", ""},
		{"bin/tool", "../own/one", "one bin/tool"},
		{"bin/tool", "../own/two", "two bin/tool"},
		{"own/i", "/bin/bash", "two bin/tool"},
	} {
		if f.lead(step.link, step.to); step.want == "" {
			continue
		}
		asked++
		for range 2 {
			f.says("tool", step.want)
			if f.asked.Load() != asked {
				t.Errorf("%s -> %s: asked %d times, want %d", step.link, step.to, f.asked.Load(), asked)
			}
		}
	}
}

// Scripts that npm installs: links to files deep in a package, by env.
func TestFarmOfScripts(t *testing.T) {
	t.Parallel()
	f := newFarm(t, "~/p/node_modules/.bin/cli", "~/shims/*", "~/bin/named")
	f.tool("p/node_modules/pkg/cli.js", "#!/usr/bin/env interp", "cli")
	f.lead("bin/interp", "/bin/sh")
	f.lead("p/node_modules/.bin/cli", "../pkg/cli.js")
	f.says("~/p/node_modules/.bin/cli x", "cli p/node_modules/.bin/cli x")
	f.says("~/p/node_modules/pkg/cli.js", missed)
	// The interpreter of env leads elsewhere, and back again.
	f.lead("bin/interp", "/bin/bash")
	f.says("~/p/node_modules/.bin/cli x", changed)
	f.lead("bin/interp", "/bin/sh")
	f.says("~/p/node_modules/.bin/cli x", "cli p/node_modules/.bin/cli x")
	f.tool("p/node_modules/pkg/evil.js", "#!/usr/bin/env interp", "evil")
	f.lead("p/node_modules/.bin/cli", "../pkg/evil.js")
	f.says("~/p/node_modules/.bin/cli x", changed)

	// pyenv: a script that looks at its name and starts the real one.
	f.tool("versions/3/bin/real", "#!/bin/sh", "real")
	f.put("shims/real", "#!/usr/bin/env bash\nset -e\nexec \""+f.dir+"/versions/3/bin/${0##*/}\" \"$@\"\n")
	f.lead("shims/other", "real")
	f.says("~/shims/real y", "real versions/3/bin/real y")
	f.lead("versions/3/bin/other", "real")
	f.says("~/shims/other y", "real versions/3/bin/other y")
	f.lead("shims/rm", "/bin/rm")
	f.says("~/shims/rm -rf x", missed)

	// The line's own interpreter is a link, under a script that stays the same.
	f.put("own/a", "#!/bin/sh\necho a\n")
	f.put("own/b", "#!/bin/sh\necho b\n")
	f.lead("own/i", "a")
	f.put("bin/named", "#!"+f.path("own/i")+"\n")
	f.says("named", "a")
	f.lead("own/i", "b")
	f.says("named", changed)
	f.lead("own/i", "/bin/sh")
	f.says("named", changed)
	f.lead("own/i", "a")
	f.says("named", "a")
	if err := os.Rename(f.path("own/b"), f.path("own/i")); err != nil {
		t.Fatal(err)
	}
	f.says("named", changed)
}

// Programs that start what their words say are not followed into a first line.
func TestFarmOfStarters(t *testing.T) {
	t.Parallel()
	f := newFarm(t, "~/bin/*", "~/own/**")
	f.put("own/busybox", "\x7fELF")
	f.put("own/plain", "\x7fELF")
	f.lead("own/env", "/usr/bin/env")
	f.lead("own/hidden", "/usr/bin/env")
	f.lead("own/applets", "busybox")
	for name, line := range map[string]string{
		"busybox": "#!~/own/busybox sh", "applets": "#!~/own/applets sh", "env": "#!~/own/env sh", "hidden": "#!~/own/hidden sh",
		"split": "#!/usr/bin/env -S sh -e", "unset": "#!/usr/bin/env -uPATH", "sets": "#!/usr/bin/env A=b", "nice": "#!/usr/bin/nice sh",
	} {
		f.put("bin/"+name, strings.ReplaceAll(line, "~", f.dir)+"\ntrue\n")
		f.says(name, "denied wrapper-unclear")
	}
	f.put("bin/relative", "#!own/plain\n")
	f.says("relative", "denied unreadable")
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Log("skipped: busybox is not installed")
		return
	}
	f.lead("bin/box", busybox)
	f.lead("bin/ash2", busybox)
	f.says("box sh", "denied wrapper-unclear")
	f.says("ash2", "denied inline-code")
}

// A home with folders that are links, as /bin is one of many systems.
func TestFarmOfFolders(t *testing.T) {
	t.Parallel()
	cat := approvaltest.Find(t, "cat")
	f := newFarm(t, "~/merged/tool", cat, "short")
	f.tool("usr/bin/tool", "#!/bin/sh", "tool")
	f.tool("usr/bin/short", "#!/bin/sh", "short")
	f.tool("other/tool", "#!/bin/sh", "evil")
	f.tool("other/short", "#!/bin/sh", "evil")
	f.lead("merged", "usr/bin")
	f.lead("bin/short", "../merged/short")
	f.says("~/merged/tool x", "tool merged/tool x")
	f.says("~/usr/bin/tool x", "tool usr/bin/tool x")
	f.says("short", "short bin/short")
	f.put("words", "some words\n")
	for _, at := range []string{cat, "/bin/cat"} { // one of them by a link where /bin is one
		f.says(at+" ~/words", "some words")
	}
	f.lead("merged", "other")
	f.says("~/merged/tool x", missed)
	f.says("short", changed)
}

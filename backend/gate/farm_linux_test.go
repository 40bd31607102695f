package gate_test

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ownRoots starts a test again where it has /opt and /etc/alternatives of its
// own, and reports whether it is there.
func ownRoots(t *testing.T) bool {
	const inside = "COUNTERSIGN_TEST_ROOTS"
	if os.Getenv(inside) != "" {
		for _, dir := range []string{"/opt", "/etc/alternatives", "/usr/games"} {
			if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0755"); err != nil {
				t.Fatal(err)
			}
		}
		return true
	}
	for _, dir := range []string{"/opt", "/etc/alternatives", "/usr/games"} {
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			t.Skipf("skipped: there is no folder %s to put another one over", dir)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: the system's files are root's only where root maps itself")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inside+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil && strings.Contains(err.Error(), "operation not permitted") {
		t.Skipf("skipped: this system lets nobody mount here: %v", err)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return false
}

// root makes a link or a program at an absolute path.
func (f farm) root(name, to string) {
	f.t.Helper()
	back := strings.Repeat("../", strings.Count(f.dir, "/"))
	if to == "" {
		f.tool(back+name, "#!/bin/sh", "ran")
		return
	}
	f.lead(back+name, to)
}

// A prefix as Homebrew keeps it: newer versions of one package pass, and
// another package or a place outside does not.
func TestFarmOfPackages(t *testing.T) {
	t.Parallel()
	if !ownRoots(t) {
		return
	}
	const brew = "opt/homebrew/"
	f := newFarm(t, "/opt/homebrew/bin/named", "~/bin/named", "/opt/homebrew/bin/w*")
	for _, name := range []string{"named", "wild"} {
		f.root(brew+"Cellar/"+name+"/1.0/bin/"+name, "")
		f.root(brew+"Cellar/"+name+"/1.1/bin/"+name, "")
		f.root(brew+"bin/"+name, "../Cellar/"+name+"/1.0/bin/"+name)
	}
	f.root(brew+"Cellar/evil/1.0/bin/named", "")
	f.root(brew+"Cellar/evil/1.0/bin/other", "")
	f.root("opt/outside/wild", "")
	f.lead("bin/named", "/opt/homebrew/bin/named")
	for _, version := range []string{"1.0", "1.1", "1.0"} {
		for _, name := range []string{"named", "wild"} {
			f.root(brew+"bin/"+name, "../Cellar/"+name+"/"+version+"/bin/"+name)
			f.says("/opt/homebrew/bin/"+name+" x", "ran /opt/homebrew/bin/"+name+" x")
		}
		f.says("named", "ran bin/named")
	}
	f.says("/opt/homebrew/Cellar/named/1.1/bin/named", missed)
	f.root(brew+"bin/named", "../Cellar/evil/1.0/bin/named")
	f.says("/opt/homebrew/bin/named x", changed)
	f.says("named", changed)
	f.root(brew+"bin/wild", "/opt/outside/wild")
	f.says("/opt/homebrew/bin/wild x", missed)
	// A wildcard means what the package manager links there, whichever package.
	f.root(brew+"bin/wild", "../Cellar/evil/1.0/bin/other")
	f.says("/opt/homebrew/bin/wild x", "ran /opt/homebrew/bin/wild x")
	f.root(brew+"bin/wild", "/bin/sh")
	f.says("/opt/homebrew/bin/wild x", "denied inline-code")
}

// Root switches an alternative, which passes; what lies outside of the system,
// or others can write to, does not.
func TestFarmOfAlternatives(t *testing.T) {
	t.Parallel()
	if !ownRoots(t) {
		return
	}
	f := newFarm(t, "/usr/games/choice", "~/bin/liner")
	f.root("usr/games/one", "")
	f.root("usr/games/two", "")
	f.root("usr/games/choice", "/etc/alternatives/choice")
	f.put("bin/liner", "#!/usr/games/interpreter\n")
	f.root("usr/games/interpreter", "/etc/alternatives/interpreter")
	f.root("etc/alternatives/interpreter", "/usr/games/one")
	for _, name := range []string{"one", "two"} {
		f.root("etc/alternatives/choice", "/usr/games/"+name)
		f.says("/usr/games/choice x", "ran /usr/games/choice x")
		f.root("etc/alternatives/interpreter", "/usr/games/"+name)
		f.says("liner", "ran /usr/games/interpreter "+f.path("bin/liner"))
	}
	f.says("/usr/games/one x", missed)
	for _, path := range []string{"opt/elsewhere", "usr/games/loose"} {
		f.root(path, "")
		if err := os.Chmod("/"+path, 0o777); err != nil {
			t.Fatal(err)
		}
		f.root("etc/alternatives/choice", "/"+path)
		f.says("/usr/games/choice x", changed)
	}
	for _, path := range []string{"/opt/elsewhere", "/usr/games/loose"} {
		f.root("etc/alternatives/interpreter", path)
		f.says("liner", changed)
	}
	f.root("etc/alternatives/choice", "/bin/sh")
	f.says("/usr/games/choice x", "denied inline-code")
}

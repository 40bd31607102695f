package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Where things are in the room.
const (
	home     = "/Users/dana"
	checkout = home + "/countersign"
	tmpdir   = "/var/folders/xx/yyyy/T"
	toolkit  = "/usr/local/go"
)

// programs are those of macOS, by the folder that it has them in, as far as
// tests could use them. This machine need not have all of them.
var programs = map[string]string{
	"/bin": "[ bash cat chmod cp dash date dd df echo ed expr hostname kill ln ls mkdir mv ps pwd realpath rm rmdir sh sleep stty sync test unlink zsh",
	"/usr/bin": "apropos arch at awk base64 basename bc bzip2 cal chgrp cksum clear cmp column comm crontab curl cut dc diff dirname du env" +
		" expand false file find fold fuser getconf git grep egrep fgrep groups gunzip gzip head hexdump host iconv id install join jq kill killall last" +
		" less locale logger logname lsof m4 make man mkfifo mktemp more nc nice nl nohup od openssl paste patch perl pgrep pkill printenv printf python3" +
		" readlink renice rev rsync ruby screen script scp sdiff sed seq sort split sqlite3 ssh ssh-keygen stat strings su sudo tail tar tee tee time top touch tput tr" +
		" true truncate tty umask uname unexpand uniq unzip uptime users vi vim wait wc which who whoami whois xargs xxd yes zip",
	"/sbin":     "ifconfig mount ping reboot route shutdown umount",
	"/usr/sbin": "chown chroot netstat sysctl",
}

// brought is what a person installs beside: the Go and Node that the README
// asks for.
const brought = "/opt/homebrew/bin"

// furnish makes the folders of the room that can be written to.
func furnish(room string) error {
	var errs []error
	for _, folder := range []string{"private" + tmpdir, "private/tmp", "private/etc", "home"} {
		errs = append(errs, os.MkdirAll(filepath.Join(room, folder), 0o755))
	}
	passwd := fmt.Sprintf("dana:x:%d:%d:Dana:%s:/bin/sh\nnobody:x:65534:65534::/var/empty:/usr/bin/false\n", os.Getuid(), os.Getgid(), home)
	group := fmt.Sprintf("staff:x:%d:dana\n", os.Getgid())
	return errors.Join(append(errs,
		os.Chmod(filepath.Join(room, "private/tmp"), 0o777|os.ModeSticky),
		os.WriteFile(filepath.Join(room, "private/etc/passwd"), []byte(passwd), 0o644),
		os.WriteFile(filepath.Join(room, "private/etc/group"), []byte(group), 0o644))...)
}

// layout is what bubblewrap is told, and the environment of a terminal.
func layout(room, module string) (args, env []string, err error) {
	add := func(words ...string) { args = append(args, words...) }
	bind := func(from, to string) { add("--ro-bind", from, to) }
	known := func(from, to string) { add("--ro-bind-try", from, to) }
	add("--die-with-parent")
	for _, folder := range strings.Fields("/bin /sbin /usr /usr/bin /usr/sbin /usr/local /opt /opt/homebrew /private /Users") {
		add("--dir", folder) // what bubblewrap makes on its way is closed to others
	}
	add("--dev-bind", "/dev", "/dev", "--bind", "/proc", "/proc")
	known("/sys", "/sys")
	// What programs of Linux load. Debian's /lib is a link to /usr/lib.
	for _, folder := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/libexec", "/usr/share"} {
		if to, err := os.Readlink(folder); err == nil {
			add("--symlink", to, folder)
		} else {
			known(folder, folder)
		}
	}
	for folder, names := range programs {
		for name := range strings.FieldsSeq(names) {
			if at, err := exec.LookPath(name); err == nil {
				bind(at, folder+"/"+name)
			}
		}
	}
	if at, err := exec.LookPath("node"); err == nil {
		bind(at, brought+"/node")
	}
	add("--bind", room+"/private", "/private", "--bind", room+"/home", home)
	for _, name := range []string{"tmp", "var", "etc"} {
		add("--symlink", "private/"+name, "/"+name)
	}
	for _, name := range []string{"ld.so.cache", "alternatives", "ssl", "fonts", "hosts", "resolv.conf", "nsswitch.conf", "services", "protocols"} {
		known("/etc/"+name, "/private/etc/"+name)
	}
	out, err := exec.Command("go", "env", "GOROOT", "GOMODCACHE", "GOCACHE", "GOFLAGS").Output()
	if err != nil {
		return nil, nil, err
	}
	of := strings.Split(string(out), "\n")
	bind(of[0], toolkit)
	bind(of[1], home+"/go/pkg/mod")
	add("--bind", of[2], home+"/.cache/go-build", "--bind", module, checkout)

	env = []string{
		"HOME=" + home, "USER=dana", "LOGNAME=dana", "SHELL=/bin/sh", "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=" + tmpdir,
		"PATH=" + brought + ":/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:" + toolkit + "/bin",
		"GOFLAGS=" + of[3], "GOPROXY=off", "GOTOOLCHAIN=local",
	}
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "COUNTERSIGN_") || strings.HasPrefix(kv, "GORACE=") {
			env = append(env, kv)
		}
	}
	return args, env, nil
}

// artefacts are the tests that the room itself stops. A Mac runs them.
var artefacts = []struct{ folder, test, why string }{
	{"backend", "TestPlatforms", "it compiles for other systems, of which the room has nothing ready and no network"},
	{"app", "TestPlatforms", "it compiles for other systems, of which the room has nothing ready and no network"},
}

// stopped are the tests that such a layout once stopped, by package.
var stopped = map[string]string{
	"backend/agents/setup":    "TestWatchedNames",
	"backend/cmd/countersign": "TestScripts TestPlainPrompt TestCrashWhileRunning",
	"backend/gate":            "TestFarmOfNames TestFarmOfFolders TestScripts TestChangedByTheTextItself",
	"backend/host":            "TestHostileTexts TestStopEverything TestStopWhereTheFileIsHeld TestNothingSurvives TestDenialInTheMiddle TestCrowd",
	"backend/runner":          "TestTimeout TestOtherChildrenAreLeftAlone TestHostGroupCannotBeJoined",
}

// selection is an expression for the stopped tests, and their packages.
func selection() (only string, packages []string) {
	var names []string
	for folder, list := range stopped {
		packages = append(packages, "./"+folder)
		names = append(names, strings.Fields(list)...)
	}
	return pattern(names), packages
}

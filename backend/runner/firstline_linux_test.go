package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// saying runs a program as it is told and returns what the interpreter of these
// tests prints, or "" if nothing starts.
func saying(t *testing.T, dir, file string, argv []string) string {
	t.Helper()
	cmd := exec.Cmd{Path: file, Args: argv, Dir: dir, Env: []string{argvEnv + "=1", "PATH=" + dir}}
	out, _ := cmd.Output()
	return string(out)
}

// What we start for a script is what the kernel starts for it, with the same
// words; or it asks.
func TestFirstLines(t *testing.T) {
	dir := scratch(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	self, err := os.Executable()
	must(t, err)
	for _, name := range []string{"i", "j", "env", "i\r", "i\x01", "-i"} {
		copyFile(t, self, at(name))
	}
	must(t, os.Symlink("i", at("link")))
	must(t, os.Symlink("/usr/bin/env", at("mine")))
	must(t, os.Symlink(dir, at("folder")))
	must(t, os.Mkdir(at("bin"), 0o755))
	must(t, os.Symlink("../i", at("bin/x")))
	must(t, os.WriteFile(at("plain"), []byte("\x7fELF"), 0o644))
	script(t, at("1"), "#!"+at("i")+" one\n")
	script(t, at("2"), "#!"+at("1")+" two\n")
	script(t, at("3"), "#!"+at("2")+"\n")
	script(t, at("4"), "#!"+at("3")+"\n")
	script(t, at("5"), "#!"+at("4")+"\n")
	script(t, at("odd"), "#!"+at("i")+" a b\n")
	i := at("i")
	// up fills a line with this in front up to the nth byte of the file.
	up := func(line string, n int) string { return line + strings.Repeat("x", n-len(line)) }
	deep := dir + "/" + strings.Repeat("./", 200)

	// loops asks, and would start itself for ever.
	const starts, asks, refused, loops = "starts", "asks", "refused", "loops"
	tests := []struct{ text, want string }{
		{"#!" + i + "\n", starts},
		{"#! " + i + "\n", starts},
		{"#!\t " + i + "\n", starts},
		{"#!  \t  " + i + "  \t \n", starts},
		{"#!" + i + " a\n", starts},
		{"#!" + i + "\ta\n", starts},
		{"#!" + i + " \t a \t\n", starts},
		{"#!" + i + " -a=b,c\n", starts},
		{"#!" + i + " a b\n", asks},
		{"#!" + i + " a\tb  c \n", asks},
		{"#!" + i + " a # b\n", asks},
		{"#!" + i + " #\n", asks},
		{"#!" + i + "#\n", refused},
		{"#!" + i, starts},
		{"#!" + i + " a", starts},
		{"#!" + i + " a ", asks},
		{"#!" + i + " ", asks},
		{"#!" + i + "\r\n", asks},
		{"#!" + i + "\r", asks},
		{"#!" + i + " a\r\n", asks},
		{"#!" + i + "\r a\n", asks},
		{"#!" + i + "\x01\n", asks},
		{"#!" + i + "\v\n", refused},
		{"#!" + i + "\x00\n", asks},
		{"#!" + i + "\x00a b\n", asks},
		{"#!" + i + " a\x00b\n", asks},
		{"#!" + i + " a \x00b\n", asks},
		{"#!" + i + " \x00b\n", asks},
		{"#!\x00" + i + "\n", refused},
		{"#!\n", refused},
		{"#! \t \n", refused},
		{"#!", refused},
		{"#!  ", refused},
		{"#!\n" + i + "\n", refused},
		{"#!" + at("nothing") + "\n", refused},
		{"#!" + dir + "\n", refused},
		{"#!" + i + "/\n", refused},
		{"#!" + i + "/.\n", refused},
		{"#!" + at("plain") + "\n", refused},
		{"#!" + dir + "//i\n", starts},
		{"#!" + dir + "/./i\n", starts},
		{"#!" + at("folder") + "/../" + filepath.Base(dir) + "/i\n", starts},
		{"#!" + at("bin/../j") + "\n", starts},
		{"#!" + at("link") + " a\n", starts},
		{"#!" + at("bin/x") + "\n", starts},
		{"#!" + at("folder/link") + "\n", starts},
		{"#!i\n", asks},
		{"#!./i a\n", asks},
		{"#!../" + filepath.Base(dir) + "/i\n", asks},
		{"#!-i\n", asks},
		{"#!nothing\n", refused},
		// Long ones. The 256th byte is read, and is not part of an argument.
		{up("#!"+i+" ", 254) + "\n", starts},
		{up("#!"+i+" ", 255) + "\n", starts},
		{up("#!"+i+" ", 256) + "\n", asks},
		{up("#!"+i+" ", 300) + "\n", asks},
		{up("#!"+i+" ", 254) + "  more\n", asks},
		{up("#!"+i+" ", 253) + "  more\n", asks},
		{up("#!"+i+" ", 255), starts},
		{up("#!"+i+" ", 256), asks},
		{"#!" + strings.Repeat(" ", 252-len(i)) + i + "\n", starts},
		{"#!" + strings.Repeat(" ", 253-len(i)) + i + "\n", starts},
		{"#!" + strings.Repeat(" ", 253-len(i)) + i + " a\n", asks},
		{"#!" + strings.Repeat(" ", 254-len(i)) + i + "\n", refused},
		{"#!" + strings.Repeat(" ", 300) + i + "\n", refused},
		{"#!" + deep + "i\n", refused},
		// Scripts that interpret scripts.
		{"#!" + at("1") + " a\n", starts},
		{"#!" + at("3") + "\n", starts},
		{"#!" + at("4") + "\n", starts},
		{"#!" + at("5") + "\n", refused},
		{"#!" + at("odd") + "\n", asks},
		{"#!" + at("script") + "\n", refused},
		// env.
		{"#!/usr/bin/env i\n", starts},
		{"#! /usr/bin/env  i \n", starts},
		{"#!/usr/bin/env link\n", starts},
		{"#!/usr/bin/env 2\n", starts},
		{"#!/usr/bin/env " + i + "\n", starts},
		{"#!/usr/bin/env bin/x\n", asks},
		{"#!/usr/bin/env ./i\n", asks},
		{"#!/usr/bin/env nothing\n", refused},
		{"#!/usr/bin/env -i\n", loops},
		{"#!/usr/bin/env -S i a\n", asks},
		{"#!/usr/bin/env -uPATH i\n", loops},
		{"#!/usr/bin/env A=b\n", loops},
		{"#!/usr/bin/env i a\n", refused},
		{"#!/usr/bin/env\n", loops},
		{"#!/usr//bin/env i\n", asks},
		{"#!" + at("mine") + " i\n", asks},
		{"#!" + at("env") + " i\n", asks},
		{"#!/usr/bin/nice " + i + "\n", asks},
		// No script.
		{" #!" + i + "\n", starts},
		{"# !" + i + "\n", starts},
		{"#", starts},
		{"", starts},
	}
	analyzer := command.Analyzer{World: machine.Disk{}, Home: "/nowhere", UID: os.Getuid()}
	analyzer.SetPath([]string{dir})
	const word = "--x y" // an option: files in a folder of PATH that a program names are start-up files
	for _, test := range tests {
		name := at("script")
		script(t, name, test.text)
		seg := analyzer.Analyze(t.Context(), &approval.Request{Command: []string{name, word}, Cwd: dir}, approvaltest.Named(dir)).Segments[0]
		if seg.Program == nil {
			t.Fatalf("%q: %+v", test.text, seg.Findings)
		}
		if test.want == loops {
			if len(seg.Findings) == 0 {
				t.Errorf("%q passes", test.text)
			}
			continue
		}
		kernel := saying(t, dir, name, []string{name, word})
		binary, argv, _, err := kernelArgv(seg.Program, []string{word})
		must(t, err)
		ours := ""
		if img, err := openImage(binary.File.Path, binary.File); err == nil {
			img.close()
			ours = saying(t, dir, binary.File.Path, argv)
		}
		got := starts
		switch {
		case len(seg.Findings) > 0 && kernel == "":
			got = refused
		case len(seg.Findings) > 0:
			got = asks
		}
		if got != test.want {
			t.Errorf("%q %s, want %s (%v): the kernel says %s", test.text, got, test.want, seg.Findings, kernel)
		}
		// A yes starts what the kernel would start, or nothing.
		if ours != kernel && (got == starts || ours != "") {
			t.Errorf("%q: we start %q %q, which says\n%s, and the kernel\n%s", test.text, binary.File.Path, argv, ours, kernel)
		}
	}
	t.Logf("%d first lines", len(tests))
}

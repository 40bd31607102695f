// Command recorder stands for every program of an invented machine: it notes
// how it was started, reads its input to the end, prints what the test wants
// printed, and ends well. What the texts' conditions hang on ([, test, printf)
// goes on as the real program.
package main

import (
	"io"
	"os"
	"path"
	"strconv"
	"syscall"
)

// Where a test keeps its things on the machine. The paths are those of
// machine_linux_test.go.
const (
	recordFile = "/.test/record"
	sayFile    = "/.test/say"
	hostFolder = "/.test/host/"
)

func main() {
	me, err := os.Readlink("/proc/self/exe")
	if err != nil {
		me = "? " + err.Error()
	}
	dir, err := syscall.Getwd() // os.Getwd believes PWD
	if err != nil {
		dir = "? " + err.Error()
	}
	fields := append([]string{me, dir}, os.Args...)
	line := strconv.Itoa(len(fields)) + "\x00"
	for _, f := range fields {
		line += f + "\x00"
	}
	// One write, so that two programs cannot mix their lines.
	fd, err := syscall.Open(recordFile, syscall.O_WRONLY|syscall.O_APPEND|syscall.O_CLOEXEC, 0)
	if err == nil {
		_, err = syscall.Write(fd, []byte(line))
	}
	if err != nil {
		os.Stderr.WriteString("recorder: " + err.Error() + "\n")
		os.Exit(99)
	}
	switch name := path.Base(me); name {
	case "[", "test", "printf":
		argv := append([]string{"ld.so", "--argv0", name, "--library-path", hostFolder + "lib", hostFolder + name}, os.Args[1:]...)
		err := syscall.Exec(hostFolder+"ld.so", argv, os.Environ())
		os.Stderr.WriteString("recorder: " + err.Error() + "\n")
		os.Exit(99)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	text, _ := os.ReadFile(sayFile)
	_, _ = syscall.Write(1, text) // whoever does not read it is no failure of ours
}

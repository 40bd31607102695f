// This program does what it was built for: see approvaltest.Program.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

var does string

func main() {
	words := os.Args[1:]
	switch does {
	case "true":
	case "false":
		os.Exit(1)
	case "cat":
		for _, name := range words {
			file, err := os.Open(name)
			check(err)
			_, err = io.Copy(os.Stdout, file)
			check(err)
		}
	case "sh":
		text, err := os.ReadFile(words[0])
		check(err)
		for line := range strings.Lines(string(text)) {
			if said, ok := strings.CutPrefix(line, "echo "); ok {
				fmt.Print(said)
			}
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "setsid":
		setsid(words)
	}
}

func setsid(words []string) {
	path, err := exec.LookPath(words[0])
	check(err)
	if syscall.Getpgrp() != os.Getpid() {
		_, err = syscall.Setsid()
		check(err)
		check(syscall.Exec(path, words, os.Environ()))
	}
	// Who leads a group cannot leave it; a child can.
	_, err = os.StartProcess(path, words, &os.ProcAttr{
		Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	check(err)
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(126)
	}
}

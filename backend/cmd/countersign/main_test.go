//go:build linux || darwin

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestMain makes the test binary several programs. What runs as countersign,
// whatever it is called then, is our own program to the door.
func TestMain(m *testing.M) {
	// A program built with the race detector sleeps a second at its end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	testscript.Main(oneFile{approvaltest.Main{M: m}}, map[string]func(){
		"countersign":    main,
		"ask":            func() { os.Exit(askAs(os.Args[1:])) },
		"code":           func() { os.Exit(code(os.Args[1:])) },
		"attack":         func() { os.Exit(attack(os.Args[1:])) },
		"operate":        func() { os.Exit(operate(os.Args[1:])) },
		"machine":        corpusMachine,
		"starve":         func() { os.Exit(starve(os.Args[1:])) },
		"mcp-agent":      func() { os.Exit(mcpAgent(os.Args[1:])) },
		"opencode-agent": func() { os.Exit(opencodeAgent(os.Args[1:])) },
	})
}

// oneFile makes the programs that testscript laid into PATH further names of the
// test binary. It clones them on macOS, and a clone of our program is not ours.
type oneFile struct{ approvaltest.Main }

func (m oneFile) Run() int {
	self, err := os.Executable()
	if err != nil {
		return complain("this program cannot be found:", err)
	}
	ours, err := exec.LookPath("countersign")
	if err != nil {
		return complain("countersign is not in PATH:", err)
	}
	names, err := filepath.Glob(filepath.Join(filepath.Dir(ours), "*"))
	if err != nil {
		return complain("the programs cannot be listed:", err)
	}
	for _, name := range names {
		if err := errors.Join(os.Remove(name), os.Link(self, name)); err != nil {
			return complain("a program cannot be linked:", err)
		}
	}
	return m.Main.Run()
}

// askAs is `ask CODE words…`: it runs `countersign run words…` in a terminal
// of its own, because the family of a process that asks may not operate, and
// expects this exit code. With - for CODE it becomes countersign itself.
func askAs(args []string) int {
	if err := approvaltest.EnterTerminal(); err != nil {
		return complain("cannot open a terminal:", err)
	}
	if _, err := strconv.Atoi(args[0]); err == nil {
		return code(append([]string{args[0], "countersign", "run", "--wait=30s"}, args[1:]...))
	}
	program, err := exec.LookPath("countersign")
	if err == nil {
		err = syscall.Exec(program, append([]string{"countersign", "run", "--wait=30s"}, args[1:]...), os.Environ())
	}
	return complain("cannot become countersign:", err)
}

// code is `code CODE program words…`: it runs a program and expects this exit
// code.
func code(args []string) int {
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return complain("code needs a number first:", err)
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		return complain("cannot run:", err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		return complain("exit code", got, "where", want, "was expected")
	}
	return 0
}

// operate is `operate SOCKET KEY METHOD PARAMS`: it sends a call as our own program
// does, and prints the frame and the answer, a line each.
func operate(args []string) int {
	nc, err := net.Dial("unix", args[0])
	if err != nil {
		return complain("operate:", err)
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(patience))
	answers := bufio.NewReader(nc)
	fmt.Fprintln(nc, `{"type":"hello","id":"h"}`)
	line, err := answers.ReadBytes('\n')
	var hello struct{ Challenge string }
	if err = errors.Join(err, json.Unmarshal(line, &hello)); err != nil {
		return complain("operate:", err)
	}
	frame := foreign{}.frame("call", args[1], time.Now().UnixMilli(), map[string]any{
		"method": args[2], "params": json.RawMessage(args[3]), "challenge": hello.Challenge,
	})
	if _, err := nc.Write(frame); err != nil {
		return complain("operate:", err)
	}
	line, err = answers.ReadBytes('\n')
	fmt.Print(string(frame), string(line))
	if err != nil {
		return complain("operate:", err)
	}
	return 0
}

func complain(words ...any) int {
	fmt.Fprintln(os.Stderr, append([]any{"test helper:"}, words...)...)
	return 1
}

//go:build linux || darwin

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/paths"
)

// TestScripts runs the command line as people do. HOME is $WORK/h, and $S the
// state folder in it; $TRUE and $FALSE are programs that may be copied. Beside
// what every script knows there is:
//
//	host [flags]      start a host whose questions wait for the command line
//	end-host SIGNAL   end it: TERM or KILL
//	questions N       wait until N questions are open; their ids are $Q1, $Q2, …
//	until program …   run a program again and again until it succeeds; with !, fails
//	gone FILE         wait until the process whose id is in FILE is no more
//
// and the programs ask and code of TestMain.
func TestScripts(t *testing.T) {
	yes, no := approvaltest.Program(t, "true"), approvaltest.Program(t, "false")
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         shortDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			w, err := newWorld(filepath.Join(env.WorkDir, "h"))
			if err != nil {
				return err
			}
			w.log = filepath.Join(env.WorkDir, "host.log")
			env.Values[worldKey{}] = w
			env.Vars = append(env.Vars, w.env()...)
			env.Setenv("S", w.state.Dir)
			env.Setenv("TRUE", yes)
			env.Setenv("FALSE", no)
			env.Defer(func() { w.end(syscall.SIGTERM) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"host": scriptHost, "end-host": scriptEndHost, "questions": scriptQuestions,
			"until": scriptUntil, "gone": scriptGone,
		},
	})
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript, args []string, least int) *world {
	if len(args) < least {
		ts.Fatalf("too few words")
	}
	return ts.Value(worldKey{}).(*world)
}

func scriptHost(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts, args, 0)
	for i, word := range args {
		if word == "--state-dir" {
			w.state = paths.At(args[i+1])
		}
	}
	ts.Check(w.start(args...))
	ts.Setenv("HOSTPID", strconv.Itoa(w.host.Process.Pid))
}

func scriptEndHost(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL}
	worldOf(ts, args, 1).end(signals[args[0]])
}

func scriptQuestions(ts *testscript.TestScript, _ bool, args []string) {
	w := worldOf(ts, args, 1)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	open, err := w.questions(n)
	ts.Check(err)
	for i, q := range open {
		ts.Setenv(fmt.Sprintf("Q%d", i+1), q.ID)
	}
}

func scriptUntil(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts, args, 1)
	var out []byte
	if !eventually(func() bool {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = ts.MkAbs("."), w.env()
		var err error
		out, err = cmd.CombinedOutput()
		return (err != nil) == neg
	}) {
		ts.Fatalf("it never came so:\n%s", out)
	}
}

func scriptGone(ts *testscript.TestScript, _ bool, args []string) {
	worldOf(ts, args, 1)
	pid, err := readPID(ts.MkAbs(args[0]))
	ts.Check(err)
	if !eventually(func() bool { return isGone(pid) }) {
		ts.Fatalf("process %d lives", pid)
	}
}

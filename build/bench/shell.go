package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

// links is how many commands the chain joins, turns how often the loops run.
const (
	links = 20
	turns = 100
)

// text is what a shell and we run, side by side. A path names a program, a
// bare true or echo what is built in, here and in a shell.
type text struct {
	what, text string
	times      int // in one round
	programs   int // that are started one after another; 0 where more run at once
}

func texts() []text {
	chain := func(link string) string { return strings.Join(slices.Repeat([]string{link}, links), " && ") }
	loop := func(body string) string {
		return "for i in" + strings.Repeat(" x", turns) + "; do " + body + "; done"
	}
	return []text{
		{"one program", "/usr/bin/true", 10, 1},
		{"a pipeline of three programs", "/bin/echo words | /bin/cat | /bin/cat", 5, 0},
		{fmt.Sprintf("a chain of %d programs", links), chain("/usr/bin/true"), 2, links},
		{fmt.Sprintf("a chain of %d built-in commands", links), chain("true"), 10, 0},
		{fmt.Sprintf("a loop of %d programs", turns), loop("/usr/bin/true"), 1, turns},
		{fmt.Sprintf("a loop of %d built-in commands", turns), loop("true"), 10, 0},
		{"a program's words from another's output", `/bin/echo "$(/bin/echo words)"`, 5, 2},
	}
}

// shells is P2: texts over the kept socket, beside a shell and a login shell
// that have the home folder of the host, which holds no login files.
func shells(program string) error {
	f, kept, token, end, err := serve(program, "/usr/bin/true", "/bin/echo", "/bin/cat")
	if err != nil {
		return err
	}
	defer end()
	row("", "a login shell of nobody: /etc/profile, but no file at home", "", "")
	for _, t := range texts() {
		work := []func() error{
			func() error {
				return over(kept, token, approval.Request{Command: []string{"sh", "-c", t.text}, Cwd: f.dir})
			},
			func() error { return f.shell("-c", t.text) },
			func() error { return f.shell("-lc", t.text) },
		}
		if t.programs > 0 {
			work = append(work, func() error { return bare(t.programs) })
		}
		m, err := median(t.times, work...)
		if err != nil {
			return err
		}
		row("P2", t.what+", to sh -lc", ratio(m[0], m[2]), "≤ 0.70×")
		row("", "     to sh -c", ratio(m[0], m[1]), "")
		if t.programs > 0 {
			row("", "     its bare starts one after another, to sh -lc", ratio(m[3], m[2]), "")
		}
	}
	return nil
}

// over runs a request that must end well.
func over(c *ipc.Client, token string, req approval.Request) error {
	answer, err := c.Exec(context.Background(), token, ipc.Exec{Request: req})
	if err == nil && !answer.Success {
		err = fmt.Errorf("%q was not run: %+v", req.Command, answer)
	}
	return err
}

// shell runs a text in a shell whose output is read, as ours is.
func (f *folder) shell(option, text string) error {
	cmd := exec.Command("/bin/sh", option, text)
	cmd.Dir, cmd.Env = f.dir, f.environment()
	_, err := cmd.Output()
	return err
}

// bare starts true so often and waits for each, and does nothing else: no
// program can be run in less.
func bare(times int) error {
	for range times {
		pid, err := syscall.ForkExec("/usr/bin/true", []string{"true"}, &syscall.ProcAttr{Env: os.Environ()})
		if err != nil {
			return err
		}
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			return err
		}
	}
	return nil
}

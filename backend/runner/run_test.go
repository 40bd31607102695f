//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

func TestHowAProgramEnds(t *testing.T) {
	needs(t, "sh")
	r, dir := newRunner(t), scratch(t)
	for _, test := range []struct {
		text   string
		code   int // -1: none
		signal string
		stdout string
	}{
		{"exit 0", 0, "", ""},
		{"exit 1", 1, "", ""},
		{"exit 255", 255, "", ""},
		{"echo out; exit 3", 3, "", "out\n"},
		{"kill -KILL $$", -1, "SIGKILL", ""},
		{"kill -TERM $$", -1, "SIGTERM", ""},
		{"kill -SEGV $$", -1, "SIGSEGV", ""},
		{"kill -PIPE $$", -1, "SIGPIPE", ""},
		{"pwd; cat", 0, "", dir + "\n"},
		{"echo $0", 0, "", "/bin/sh\n"},
		{"read a || echo nothing to read", 0, "", "nothing to read\n"},
	} {
		for _, job := range []Job{shJob(t, dir, test.text), textJob(t, dir, "sh -c '"+test.text+"'")} {
			if job.Mode == ModePlan && strings.Contains(test.text, "$0") {
				continue // another argv[0], as it should be
			}
			got := run1(t, r, job)
			if code(got) != test.code || got.Signal != test.signal || string(got.Stdout) != test.stdout || got.Error != "" {
				t.Errorf("%s: got %d %q %q %q", test.text, code(got), got.Signal, got.Stdout, got.Error)
			}
		}
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	r, dir := newRunner(t), scratch(t)
	for name, text := range map[string]string{
		"a program":          `sleep 100`,
		"ignores TERM":       `sh -c 'trap "" TERM; echo on; sleep 100; sleep 100'`,
		"child ignores TERM": `sh -c '(trap "" TERM; sleep 100; sleep 100) & wait'`,
		"leaves the group":   `sh -c 'setsid sh -c "trap \"\" TERM; sleep 100; sleep 100" & wait'`,
		"a pipeline":         `sleep 100 | sleep 100 | sleep 100`,
		"stopped":            `sh -c 'kill -STOP $$'`,
		"ends well on TERM":  `sh -c 'trap "exit 0" TERM; sleep 100 & wait'`,
		"a list":             `sleep 100; echo never`,
		"an or list":         `sleep 100 || echo never`,
		"not":                `! sleep 100; echo never`,
		"a pipe of ours":     `{ sleep 100; echo never; } | cat`,
	} {
		t.Run(name, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			job := textJob(t, dir, strings.ReplaceAll(text, "setsid", approvaltest.Program(t, "setsid")))
			job.Timeout = 100 * time.Millisecond
			got := run1(t, r, job)
			if !got.TimedOut || got.ExitCode != nil || got.Error == "" || strings.Contains(string(got.Stdout), "never") {
				t.Errorf("got %+v", got)
			}
			mustBeGone(t, job.ID)
		})
	}
}

func TestOutsideEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(*Runner, context.CancelCauseFunc)
		want string
	}{
		"caller gone":   {func(_ *Runner, cancel context.CancelCauseFunc) { cancel(nil) }, errGone.Error()},
		"with a reason": {func(_ *Runner, cancel context.CancelCauseFunc) { cancel(errors.New("paused")) }, "paused"},
		"stopped":       {func(r *Runner, _ context.CancelCauseFunc) { r.Stop("TestOutsideEnds") }, errStopped.Error()},
		"closed":        {func(r *Runner, _ context.CancelCauseFunc) { go r.Close() }, errClosed.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			job := textJob(t, scratch(t), `echo begun; sleep 100; echo never`)
			job.ID, job.Background = "TestOutsideEnds", true
			job.Env = testEnv(job.ID, job.Plan.Cwd.Path)
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			job.Started = func(int, *approval.Segment, Process) { test.end(r, cancel) }
			got := r.Run(ctx, job)
			if got.Error != test.want || got.ExitCode != nil || got.TimedOut || string(got.Stdout) != "begun\n" {
				t.Errorf("got %+v", got)
			}
			mustBeGone(t, job.ID)
		})
	}
}

// Everything ends at once, also what is deaf or has been told to end before,
// and what comes afterwards runs.
func TestStopAll(t *testing.T) {
	if !approvaltest.Apart(t) {
		return
	}
	r := newRunner(t)
	dir := scratch(t)
	if n, err := r.StopAll(context.Background()); n != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	texts := map[string]string{
		"plain": `echo begun; sleep 100`, "deaf": `sh -c 'trap "" TERM; echo begun; while :; do sleep 100; done'`,
		"daemon":   `sh -c 'setsid sh -c "trap \"\" TERM; echo begun; sleep 100; sleep 100" & wait'`,
		"pipeline": `echo begun; sleep 100 | sleep 100 | sleep 100`, "ending": `sh -c 'trap "" TERM; echo begun; sleep 100; sleep 100'`,
	}
	results := map[string]<-chan approval.Result{}
	for name, text := range texts {
		job := textJob(t, dir, strings.ReplaceAll(text, "setsid", approvaltest.Program(t, "setsid")))
		job.ID, job.Background = "TestStopAll-"+name, name == "daemon"
		job.Env = testEnv(job.ID, job.Plan.Cwd.Path)
		begun, done := make(chan struct{}), make(chan approval.Result, 1)
		var once sync.Once
		job.Started = func(int, *approval.Segment, Process) { once.Do(func() { close(begun) }) }
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() { done <- r.Run(ctx, job) }()
		<-begun
		if name == "ending" {
			cancel() // two seconds would be left to it
		}
		results[name] = done
	}
	began := time.Now()
	if n, err := r.StopAll(context.Background()); n != len(texts) || err != nil {
		t.Errorf("%d were ended, %v", n, err)
	}
	t.Logf("all gone after %s", time.Since(began))
	for name, done := range results {
		got, want := <-done, errStoppedAll.Error()
		if name == "ending" {
			want = errGone.Error()
		}
		if got.Error != want || got.ExitCode != nil {
			t.Errorf("%s: %+v", name, got)
		}
		mustBeGone(t, "TestStopAll-"+name)
	}
	if got := run1(t, r, textJob(t, dir, `echo again`)); string(got.Stdout) != "again\n" {
		t.Errorf("afterwards: %+v", got)
	}
	blocked, cancel := context.WithCancel(context.Background())
	cancel()
	if n, err := r.StopAll(blocked); n != 0 || err != nil {
		t.Errorf("of nothing, without time: %d, %v", n, err)
	}
}

func TestEndedBeforeItStarts(t *testing.T) {
	r := newRunner(t)
	job := textJob(t, scratch(t), `cat /etc/passwd`)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := r.Run(ctx, job); got.Error != errGone.Error() || len(got.Stdout) > 0 {
		t.Errorf("got %+v", got)
	}
	r.Close()
	if got := run1(t, r, job); got.Error != errClosed.Error() || len(got.Stdout) > 0 {
		t.Errorf("got %+v", got)
	}
	if r.Stop(job.ID) {
		t.Error("stopped what does not run")
	}
}

func TestWaitingForAStartEnds(t *testing.T) {
	r, err := New(Options{MaxStarts: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	dir := scratch(t)
	inside, release := make(chan bool), make(chan bool)
	slow := textJob(t, dir, `cat`)
	slow.ID, slow.Env = "slow", testEnv("slow", dir)
	slow.Check = func(int, *approval.Segment) error { inside <- true; <-release; return nil }
	var all sync.WaitGroup
	all.Go(func() { run1(t, r, slow) })
	<-inside
	next := textJob(t, dir, `echo never; cat /etc/passwd`)
	next.Timeout = 20 * time.Millisecond
	if got := run1(t, r, next); !got.TimedOut || string(got.Stdout) != "never\n" {
		t.Errorf("got %+v", got)
	}
	release <- true
	all.Wait()
}

func TestRunning(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	job := textJob(t, dir, `sleep 100 | sleep 100`)
	job.Background = true
	started := make(chan Process, 2)
	job.Started = func(_ int, _ *approval.Segment, p Process) { started <- p }
	result := make(chan approval.Result, 1)
	go func() { result <- run1(t, r, job) }()
	first, second := <-started, <-started
	list := r.Running()
	if len(list) != 1 || list[0].ID != job.ID || !list[0].Background || len(list[0].Groups) != 2 ||
		!slices.Contains(list[0].Groups, first) || !slices.Contains(list[0].Groups, second) {
		t.Errorf("got %+v, want the groups of %+v and %+v", list, first, second)
	}
	for _, p := range []Process{first, second} {
		now, err := proc.Stat(p.PID)
		if err != nil || now.Group != p.PGID || now.Session != p.PID || now.Started != p.Started || p.PGID != p.PID {
			t.Errorf("%+v is %+v, %v, and should lead a session", p, now, err)
		}
	}
	if got := run1(t, r, job); got.Error == "" {
		t.Error("two runs with one id")
	}
	if !r.Stop(job.ID) {
		t.Error("it did not run")
	}
	<-result
	if len(r.Running()) != 0 {
		t.Errorf("still running: %+v", r.Running())
	}
}

func TestCallbacks(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	job := textJob(t, dir, `echo builtin; sh -c 'exit 3'; sh -c 'kill -9 $$' && cat`)
	var checked, began []int
	ended := map[int]Status{}
	job.Check = func(seg int, s *approval.Segment) error {
		if s != &job.Plan.Segments[seg] {
			t.Errorf("segment %d is another one", seg)
		}
		checked = append(checked, seg)
		return nil
	}
	job.Started = func(seg int, _ *approval.Segment, _ Process) { began = append(began, seg) }
	job.Ended = func(seg int, _ Process, s Status) { ended[seg] = s }
	run1(t, r, job)
	want := map[int]Status{1: {Code: 3}, 2: {Code: 137, Signal: "SIGKILL"}}
	if !reflect.DeepEqual(checked, []int{1, 2}) || !reflect.DeepEqual(began, checked) || !reflect.DeepEqual(ended, want) {
		t.Errorf("got %v, %v, %v", checked, began, ended)
	}

	outer := shJob(t, dir, `true`)
	outer.Check = func(seg int, s *approval.Segment) error {
		if seg != Outer || s != nil {
			t.Errorf("got %d, %v", seg, s)
		}
		return errors.New("no")
	}
	if got := run1(t, r, outer); got.Denied == nil || got.ExitCode != nil {
		t.Errorf("got %+v", got)
	}
}

// leavers leave a process behind that holds the output open or not.
var leavers = map[string]string{
	"in the background":           `sleep 100 >/dev/null 2>&1 &`,
	"holds the output":            `sleep 100 &`,
	"ignores TERM":                `(trap "" TERM; sleep 100; sleep 100) &`,
	"own session":                 `setsid sleep 100 >/dev/null 2>&1 &`,
	"own session, holds output":   `setsid sleep 100 &`,
	"double fork":                 `setsid sh -c 'sh -c "sleep 100; sleep 100" & sleep 0.01' &`,
	"env cleared":                 `env -i /bin/sh -c 'sleep 100; sleep 100' &`,
	"env cleared, own session":    `env -i setsid /bin/sh -c 'sleep 100; sleep 100' >/dev/null 2>&1 &`,
	"another run's mark":          `COUNTERSIGN_RUN=someone-else setsid sleep 100 &`,
	"many":                        `for i in 1 2 3 4 5 6 7 8; do setsid sleep 100 & done;`,
	"a tree":                      `setsid sh -c 'sh -c "sleep 100 & sleep 100 & wait" & wait' &`,
	"a tree that moves":           `(sleep 0.02; setsid sleep 100) & (sleep 0.02; sleep 100) &`,
	"stopped, in its own session": `setsid sh -c 'kill -STOP $$; sleep 100' &`,
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	if !subreaper {
		t.Skip("skipped: orphans cannot be followed on this platform")
	}
	needs(t, "setsid", "env", "sleep")
	r, dir := newRunner(t), scratch(t)
	for name, text := range leavers {
		t.Run(name, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			for _, job := range []Job{shJob(t, dir, text+" echo done"), textJob(t, dir, "sh -c text ; true")} {
				if job.Mode == ModePlan {
					job.Plan.Segments[0].Argv = []string{"sh", "-c", text + " echo done"}
				}
				got := run1(t, r, job)
				if string(got.Stdout) != "done\n" || code(got) != 0 || len(got.Left) == 0 {
					t.Errorf("got %+v", got)
				}
				mustBeGone(t, job.ID)
			}
		})
	}
}

func TestDaemonServesTheRestOfThePlan(t *testing.T) {
	needs(t, "setsid")
	r, dir := newRunner(t), scratch(t)
	script(t, filepath.Join(dir, "serve"), "#!/bin/sh\nsetsid sleep 100 >/dev/null 2>&1 &\necho $! >pid\n")
	script(t, filepath.Join(dir, "use"), "#!/bin/sh\nkill -0 $(cat pid) && echo alive\n")
	for _, text := range []string{`./serve; ./use`, `./serve | cat; true; ./use`} {
		job := textJob(t, dir, text)
		job.ID = t.Name() + strconv.Itoa(os.Getpid()) // the same test may run beside this one
		job.Env = testEnv(job.ID, dir)
		job.Check = func(_ int, s *approval.Segment) error {
			if s.Argv[0] == "./use" {
				eventually(t, "the daemon is what it becomes", func() bool {
					_, name, err := proc.Exe(pidIn(t, filepath.Join(dir, "pid")))
					return err == nil && strings.Contains(name, "sleep")
				})
			}
			return nil
		}
		got := run1(t, r, job)
		if string(got.Stdout) != "alive\n" || len(got.Left) != 1 || !strings.Contains(got.Left[0], "sleep") {
			t.Errorf("%s: got %+v", text, got)
		}
		mustBeGone(t, job.ID)
	}
}

// An orphan that two runs may have started is left alone until the last of
// them is over, and ended then.
func TestUnmarkedOrphanOfTwoRuns(t *testing.T) {
	if !subreaper {
		t.Skip("skipped: orphans cannot be followed on this platform")
	}
	needs(t, "setsid", "env")
	r, dir := newRunner(t), scratch(t)
	long := textJob(t, dir, `sleep 100`)
	long.ID, long.Env, long.Background = "long", testEnv("long", dir), true
	begun, over := make(chan bool), make(chan approval.Result, 1)
	long.Started = func(int, *approval.Segment, Process) { close(begun) }
	go func() { over <- run1(t, r, long) }()
	<-begun
	short := shJob(t, dir, `env -i setsid sh -c 'echo $$ >pid; exec sleep 100' >/dev/null 2>&1 & while ! test -s pid; do :; done`)
	short.ID, short.Env = "short", testEnv("short", dir)
	if got := run1(t, r, short); len(got.Left) != 0 {
		t.Errorf("the short run claimed %v", got.Left)
	}
	r.Stop("long")
	<-over
	mustBeGone(t, "long")
}

func TestBackgroundKeepsItsOwn(t *testing.T) {
	needs(t, "setsid")
	r, dir := newRunner(t), scratch(t)
	back := shJob(t, dir, `setsid sh -c 'echo $$ >pid; exec sleep 100' & wait; sleep 100`)
	back.ID, back.Env, back.Background = "back", testEnv("back", dir), true
	over := make(chan approval.Result, 1)
	go func() { over <- run1(t, r, back) }()
	eventually(t, "it has started", func() bool { return exists(filepath.Join(dir, "pid")) })
	for range 3 {
		if got := run1(t, r, shJob(t, dir, `sleep 100 &`)); len(got.Left) != 1 {
			t.Errorf("got %v", got.Left)
		}
	}
	list := living(t, "back")
	if len(list) < 2 {
		t.Errorf("the background run lost something: %+v", list)
	}
	r.Stop("back")
	<-over
	mustBeGone(t, "back")
}

// What joins the host's own group would be taken for a helper of the host.
func TestHostGroupCannotBeJoined(t *testing.T) {
	if !subreaper {
		t.Skip("skipped: orphans cannot be followed on this platform")
	}
	self, err := os.Executable()
	must(t, err)
	r, dir := newRunner(t), scratch(t)
	for _, text := range []string{"", "%s", "true | %s", "%s | cat", "/usr/bin/true | { %s; } | cat", "/bin/cat | %s"} {
		job := textJob(t, dir, strings.ReplaceAll(text, "%s", self))
		if text == "" {
			job = argvJob(t, dir, self)
		}
		job.Env = append(job.Env, joinEnv+"="+strconv.Itoa(unix.Getpgrp()))
		if got := run1(t, r, job); string(got.Stdout) != "refused\n" || !got.Success() {
			t.Errorf("%q: got %+v", text, got)
		}
		for _, p := range living(t, job.ID) {
			t.Errorf("%q: this is left: %+v", text, p)
			_ = unix.Kill(p.PID, unix.SIGKILL)
		}
	}
}

// A process that left its group and has no mark any more is still in the
// session of the program that started it, also while other runs go on.
func TestSessionTellsWhoseItIs(t *testing.T) {
	if !subreaper {
		t.Skip("skipped: orphans cannot be followed on this platform")
	}
	self, err := os.Executable()
	must(t, err)
	r, dir := newRunner(t), scratch(t)
	long := textJob(t, dir, `sleep 100`)
	long.ID, long.Env, long.Background = "long", testEnv("long", dir), true
	begun, over := make(chan bool), make(chan approval.Result, 1)
	long.Started = func(int, *approval.Segment, Process) { close(begun) }
	go func() { over <- run1(t, r, long) }()
	<-begun
	job := argvJob(t, dir, self)
	job.Env = append(job.Env, joinEnv+"=0") // a group of its own
	if got := run1(t, r, job); string(got.Stdout) != "joined\n" || len(got.Left) != 1 {
		t.Errorf("got %+v", got)
	}
	r.Stop("long")
	<-over
	mustBeGone(t, "long")
}

// Helpers that another part of the host starts are nobody's leftovers.
func TestOtherChildrenAreLeftAlone(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	cat, err := os.StartProcess("/bin/cat", []string{"cat"}, &os.ProcAttr{Files: []*os.File{nil, nil, nil}, Sys: nil})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cat.Wait(); err != nil {
		t.Fatal(err)
	}
	sleeper, err := os.StartProcess("/bin/sleep", []string{"sleep", "100"}, &os.ProcAttr{Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	quick, err := os.StartProcess("/usr/bin/true", []string{"true"}, &os.ProcAttr{Env: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		run1(t, r, shJob(t, dir, `sleep 100 & sleep 0.01`))
	}
	if state, err := quick.Wait(); err != nil || !state.Success() {
		t.Errorf("the status of another child was taken: %v, %v", state, err)
	}
	if info, err := proc.Stat(sleeper.Pid); err != nil || info.Zombie {
		t.Errorf("another child was ended: %+v, %v", info, err)
	}
	_ = sleeper.Kill()
	_, _ = sleeper.Wait()
}

// A run that lasts does not fill the kernel's table with ended orphans.
func TestOrphansOfALongRunAreReaped(t *testing.T) {
	if !subreaper {
		t.Skip("skipped: launchd reaps orphans on this platform")
	}
	needs(t, "setsid")
	r, dir := newRunner(t), scratch(t)
	job := shJob(t, dir, `for i in 1 2 3 4 5 6 7 8; do (setsid sleep 0.01 &); done; sleep 100`)
	job.Background = true
	over := make(chan approval.Result, 1)
	go func() { over <- run1(t, r, job) }()
	orphans := func() (list []proc.Info) {
		for _, p := range living(t, job.ID) {
			if p.Parent == os.Getpid() && p.Session == p.PID && !ours.known(p.PID) {
				list = append(list, p)
			}
		}
		return list
	}
	eventually(t, "there are orphans", func() bool { return len(orphans()) > 0 })
	eventually(t, "they are reaped", func() bool { return len(orphans()) == 0 })
	r.Stop(job.ID)
	<-over
	mustBeGone(t, job.ID)
}

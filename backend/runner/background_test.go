//go:build linux || darwin

package runner

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

const toldOf = "countersign: ended with the text: "

// behindJob is a job for a text as it is really read, which must not ask.
func behindJob(t *testing.T, dir, text string) Job {
	t.Helper()
	job := scriptJob(t, "bash", dir, text)
	if job == nil {
		t.Fatalf("%s: asks", text)
	}
	return *job
}

// TestBackgroundEndsWithItsText: what runs in the background when the text is over is ended,
// and named; what ended before is not.
func TestBackgroundEndsWithItsText(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "sleep")
	for _, test := range []struct {
		text, stdout string
		code         int
		told         string // "" for nothing
	}{
		{`sleep 100 & echo on`, "on\n", 0, "sleep 100"},
		{`sleep 100 &`, "", 0, "sleep 100"},
		{`sleep 100 >/dev/null 2>&1 & exit 3`, "", 3, "sleep 100 >/dev/null 2>&1"},
		{`set -e; sleep 100 & false; echo no`, "", 1, "sleep 100"},
		{`sh -c 'trap "" TERM; sleep 100; sleep 100' & sleep 0.2`, "", 0, `sh -c 'trap "" TERM; sleep 100; sleep 100'`},
		{`(sleep 101; echo no) & { sleep 102; } & sleep 103 | sleep 104 & sleep 105 & sleep 106 & echo on`, "on\n", 0, "(sleep 101; echo no); { sleep 102; }; sleep 103 | sleep 104; and 2 more"},
		{`{ while :; do sleep 0.01; done; } & sleep 0.1`, "", 0, "{ while :; do sleep 0.01; done; }"},
		{`for i in 1 2; do sleep 10$i & done; echo $i`, "2\n", 0, "sleep 10$i; sleep 10$i"},
		{`{ sleep 100 & wait; } & sleep 0.2`, "", 0, "{ sleep 100 & wait; }; sleep 100"},
		{"{ sleep 100\necho no; } & echo on", "on\n", 0, "{ sleep 100…"},
		{`(sleep 100 & echo in)`, "in\n", 0, "sleep 100"},
		{`cd sub && sleep 100 & cat a.txt | wc -l`, "3\n", 0, "cd sub && sleep 100"},
		{`sleep 100 & printf x >&2`, "", 0, "sleep 100"},
		{`sleep 100 & P=$!; sleep 101 & kill $P; wait $P`, "", 143, "sleep 101"},
		{`sleep 100 & kill $!`, "", 0, ""},
		{`{ sleep 100; echo no; } & kill $!; wait $!; echo $?`, "143\n", 0, ""},
		{`(sleep 100 | sleep 100; echo no) & p=$!; kill -9 "$p"; wait "$p"; echo $?`, "137\n", 0, ""},
		{`{ sleep 100 & wait; echo no; } & sleep 0.2; kill -HUP $!; wait $!; echo $?`, "129\n", 0, "sleep 100"},
		{`true & wait; echo on`, "on\n", 0, ""},
		{`echo one & wait $!; echo two`, "one\ntwo\n", 0, ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			job := behindJob(t, scriptFolder(t), test.text)
			got := run1(t, newRunner(t), job)
			told, is := strings.CutPrefix(string(got.Stderr), toldOf)
			if text, rest, ok := strings.Cut(string(got.Stderr), "\n"+toldOf); ok && text == "x" {
				told, is = rest, true
			}
			if is != (test.told != "") || is && told != test.told+"\n" || !is && len(got.Stderr) > 0 {
				t.Errorf("told %q, want %q", got.Stderr, test.told)
			}
			if string(got.Stdout) != test.stdout || code(got) != test.code || got.Denied != nil || got.Error != "" || len(got.Left) > 0 {
				t.Errorf("got %q, %d, %+v", got.Stdout, code(got), got)
			}
			mustBeGone(t, job.ID)
		})
	}
}

// TestBackgroundDenied: a denial in the background ends the whole run, and a wait for it.
func TestBackgroundDenied(t *testing.T) {
	t.Parallel()
	never := errors.New("the judge says no")
	for _, text := range []string{
		`cat deny & sleep 100; echo never`, `cat deny & wait; echo never`, `cat deny & wait $!; echo never`, `sleep 100 & cat deny; echo never`, `{ sleep 0.1; cat deny; } & wait; echo never`,
		`sleep 100 & (cat deny & wait) & wait; echo never`, `sh -c 'trap "" TERM; sleep 100; sleep 100' & sleep 0.1; cat deny; echo never`, `sleep 100 | cat deny & sleep 100; echo never`,
	} {
		t.Run(text, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			job := behindJob(t, scriptFolder(t), text)
			job.Check = func(_ int, s *approval.Segment) error {
				if s != nil && s.Argv[len(s.Argv)-1] == "deny" {
					return never
				}
				return nil
			}
			got := run1(t, newRunner(t), job)
			if got.Denied == nil || got.Denied.Sentence != never.Error() || got.ExitCode != nil || strings.Contains(string(got.Stdout), "never") || strings.Contains(string(got.Stderr), toldOf) {
				t.Errorf("got %+v, %q", got, got.Stderr)
			}
			mustBeGone(t, job.ID)
		})
	}
}

// TestBackgroundFromOutside: a timeout and a stop end what runs in the background, and a wait
// for it.
func TestBackgroundFromOutside(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`sleep 100 & wait; echo never`, `sleep 100 & wait $!; echo never`, `{ sleep 100 & wait; } & wait; echo never`, `sleep 100 & sleep 100; echo never`, `while :; do sleep 0.01; done & wait; echo never`} {
		for _, how := range []string{"timeout", "stop"} {
			t.Run(how+" "+text, func(t *testing.T) {
				if !approvaltest.Apart(t) {
					return
				}
				r, job := newRunner(t), behindJob(t, scriptFolder(t), text)
				if how == "timeout" {
					job.Timeout = 300 * time.Millisecond
				} else {
					job.Started = func(int, *approval.Segment, Process) { r.Stop(job.ID) }
				}
				got := run1(t, r, job)
				if got.TimedOut != (how == "timeout") || got.ExitCode != nil || got.Error == "" || len(got.Stdout)+len(got.Stderr) > 0 {
					t.Errorf("got %+v, %q", got, got.Stderr)
				}
				mustBeGone(t, job.ID)
			})
		}
	}
}

// TestBackgroundLimits: so many programs run at once, however they are started.
func TestBackgroundLimits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]approval.Reason{
		`for i in $(seq 40); do sleep 100 & done; wait`:                      approval.ReasonTooComplex,
		`while :; do sleep 100 & done`:                                       approval.ReasonTooComplex,
		`while :; do { sleep 100 | sleep 100 | sleep 100; } & done`:          approval.ReasonTooComplex,
		`while :; do { while :; do { sleep 100 & wait; } & done; } & done`:   approval.ReasonTooComplex,
		`while :; do (sleep 100 &) done`:                                     approval.ReasonTooComplex,
		`while :; do : & wait; done`:                                         approval.ReasonTooComplex,
		`while :; do echo $! & wait; done`:                                   approval.ReasonRuntimeValue,
		`for i in $(seq 30); do sleep 100 & done; kill $!; wait $!; echo $?`: "",
		`for i in $(seq 200); do true & wait; done; echo 143`:                "",
	} {
		t.Run(text, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			job := behindJob(t, scriptFolder(t), text)
			got := run1(t, newRunner(t), job)
			if want == "" && (got.Denied != nil || string(got.Stdout) != "143\n") || want != "" && (got.Denied == nil || got.Denied.Reason != want) {
				t.Errorf("got %+v, %q, %q", got.Denied, got.Stdout, got.Stderr)
			}
			mustBeGone(t, job.ID)
		})
	}
}

// TestKillNothingElse: no number but that of a command of this text in the background is
// signalled, or waited for.
func TestKillNothingElse(t *testing.T) {
	if !approvaltest.Apart(t) {
		return
	}
	r, dir := newRunner(t), scriptFolder(t)
	other := argvJob(t, dir, "sleep", "100")
	other.ID = t.Name() + "-other"
	other.Env = testEnv(other.ID, dir)
	begun, over := make(chan Process, 1), make(chan approval.Result, 1)
	other.Started = func(_ int, _ *approval.Segment, p Process) { begun <- p }
	go func() { over <- run1(t, r, other) }()
	victim := strconv.Itoa((<-begun).PID)
	for _, number := range []string{"1", "-1", "0", "-0", "", victim, "-" + victim, "+" + victim, " " + victim, victim + "x", "0" + victim, strconv.Itoa(os.Getpid()), strconv.Itoa(-os.Getpid()), "-9 " + victim, "-- -1", "%1", "4194304", "99999999999999999999", "*", "a[0]"} {
		if err := os.WriteFile(filepath.Join(dir, "number"), []byte(number+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`sleep 100 & P=$!; IFS= read -r P <number; kill "$P"; touch mark`, `sleep 100 & P=$!; IFS= read -r P <number; kill $P; touch mark`, `sleep 100 & P=$!; IFS= read -r P <number; kill -9 "$P"; touch mark`, `sleep 100 & P=$!; P=$(cat number); kill -0 "$P" $!; touch mark`,
		} {
			got := run1(t, r, behindJob(t, dir, text))
			if got.Denied == nil || got.Denied.Reason != approval.ReasonRuntimeValue {
				t.Errorf("%s: %q: %+v, %q", number, text, got.Denied, got.Stderr)
			}
		}
	}
	for _, text := range []string{`kill $!; touch mark`, `wait $!; touch mark`, `P=$!; touch mark`, `sleep 0.1 & wait; P=$!; wait $P; touch mark`, `sleep 9 & Q=$!; P=$!; P=-INT; kill "$P" $Q; touch mark`, `sleep 9 & Q=$!; P=$!; P=-3; kill $P $Q; touch mark`} {
		if got := run1(t, r, behindJob(t, dir, text)); got.Denied == nil || got.Denied.Reason != approval.ReasonRuntimeValue {
			t.Errorf("%q: %+v, %q", text, got.Denied, got.Stderr)
		}
	}
	if exists(filepath.Join(dir, "mark")) {
		t.Error("something ran behind a denial")
	}
	r.Stop(other.ID)
	if got := <-over; got.Error != errStopped.Error() {
		t.Errorf("the other run was ended: %+v", got)
	}
	mustBeGone(t, t.Name())
}

// TestWaitAgain: what bash remembers of what has ended is said as bash does, and what
// other shells, or bash by chance, say in another way ends the run.
func TestWaitAgain(t *testing.T) {
	needs(t, "bash")
	r, dir := newRunner(t), scriptFolder(t)
	for text, inBash := range map[string]bool{
		`sh -c 'exit 3' & wait $!; echo $?; wait $!; echo $?`:                                        true,
		`sh -c 'exit 3' & p=$!; sh -c 'exit 4' & q=$!; wait $p $q; echo $?; wait "$q" "$p"; echo $?`: true,
		`sleep 20 & p=$!; true & q=$!; wait $q; kill $p $q 2>/dev/null; echo $?; wait`:               true,
		`sh -c 'exit 3' & p=$!; wait; wait $p; echo $?`:                                              false,
		`sh -c 'exit 3' & p=$!; wait $p; wait; wait $p; echo $?`:                                     false,
		`set -e; if { { false; echo no; } & wait $!; }; then echo yes; fi`:                           true,
		`if { { set -e; false; echo no; } & wait $!; }; then echo yes; fi`:                           true,
		`set -e; { (false; echo no) & wait $!; } || echo or`:                                         true,
	} {
		if inBash {
			if how := likeShell(t, r, "bash", text); how != "same" {
				t.Errorf("bash: %s: %s", text, how)
			}
		}
		for _, shell := range []string{"bash", "dash"} {
			job := scriptJob(t, shell, dir, text)
			if got := run1(t, r, *job); (got.Denied == nil) != (inBash && shell == "bash") || got.Denied != nil && got.Denied.Reason != approval.ReasonRuntimeValue {
				t.Errorf("%s: %s: %+v", shell, text, got.Denied)
			}
		}
	}
	mustBeGone(t, t.Name())
}

// TestBackgroundIsJudgedAnew: what may change in the background until the end of the text is
// judged again right before it starts, and so is what starts in the background.
func TestBackgroundIsJudgedAnew(t *testing.T) {
	needs(t, "cp", "cat")
	r, dir := newRunner(t), scriptFolder(t)
	script(t, filepath.Join(dir, "tool"), "#!/bin/sh\necho old\n")
	script(t, filepath.Join(dir, "other"), "#!/bin/sh\necho new\n")
	script(t, filepath.Join(dir, "swap"), "#!/bin/sh\ncp other tool\n")
	for _, text := range []string{`./swap & wait; ./tool`, `true & ./tool`, `true & { sleep 0.1; ./tool; } & wait`} {
		job, judged := behindJob(t, dir, text), false
		final := job.Final
		job.Final = func(seg int, argv []string, dir string) (*approval.Plan, error) {
			if argv[0] == "./tool" {
				judged = true
				return nil, errors.New("it is not the same")
			}
			return final(seg, argv, dir)
		}
		if got := run1(t, r, job); !judged || got.Denied == nil || len(got.Stdout) > 0 {
			t.Errorf("%s: judged %v, %+v, %q", text, judged, got.Denied, got.Stdout)
		}
	}
}

// TestBackgroundLeavesNoDescriptor counts those of this process.
func TestBackgroundLeavesNoDescriptor(t *testing.T) {
	if !approvaltest.Apart(t) {
		return
	}
	r, dir := newRunner(t), scriptFolder(t)
	text := `cd sub & { cd sub; cat c.txt; } & cat <a.txt & { sleep 100; } & sleep 100 & kill $!; for i in 1 2 3; do (cd sub && true) & done; wait $!; sleep 0.1`
	run1(t, r, behindJob(t, dir, text))
	before := len(approvaltest.Descriptors(t))
	for range 5 {
		run1(t, r, behindJob(t, dir, text))
	}
	if after := len(approvaltest.Descriptors(t)); after > before {
		t.Errorf("%d descriptors, and %d before", after, before)
	}
}

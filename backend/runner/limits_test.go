//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

// mustBeIdle expects that no goroutine works for a run.
func mustBeIdle(t *testing.T) {
	t.Helper()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, of := range []string{"(*run)", "(*shell)", "(*collector)"} {
		if strings.Contains(string(stacks), "runner."+of) {
			t.Errorf("something works on:\n%s", stacks)
			return
		}
	}
}

// A text that nobody reads to its end neither keeps the run nor outlives it.
func TestTextsThatNobodyReads(t *testing.T) {
	t.Parallel()
	needs(t, "setsid")
	for name, test := range map[string]struct {
		script string
		times  int
		denied approval.Reason
	}{
		"nobody reads it":             {"exit 0", 1, ""},
		"a little of it":              {"head -c 10 >/dev/null", 1, ""},
		"all of it":                   {"cat >/dev/null", 1, ""},
		"a daemon keeps it":           {"exec 3<&0; setsid sleep 100 <&3 >/dev/null 2>&1 &", 1, ""},
		"it closes it":                {"exec <&-; true", 1, ""},
		"many that daemons keep":      {"exec 3<&0; setsid sleep 100 <&3 >/dev/null 2>&1 &", 40, ""},
		"too many that daemons keep":  {"exec 3<&0; setsid sleep 100 <&3 >/dev/null 2>&1 &", 80, approval.ReasonTooComplex},
		"many that nobody reads":      {"exit 0", 80, ""},
		"an endless row that is read": {"cat >/dev/null", 80, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			r, dir := newRunner(t), scratch(t)
			before := openNow(t)
			script(t, filepath.Join(dir, "eat"), "#!/bin/sh\n"+test.script+"\n")
			job := textJob(t, dir, strings.TrimSuffix(strings.Repeat("./eat; ", test.times), "; "))
			for i := range job.Plan.Segments { // longer than any pipe holds at once
				job.Plan.Segments[i].Redirects = []approval.Redirect{{To: approval.FromText, Text: strings.Repeat("x", 3*chunk)}}
			}
			got := run1(t, r, job)
			if test.denied == "" && (!got.Success() || got.Denied != nil) || test.denied != "" && (got.Denied == nil || got.Denied.Reason != test.denied) {
				t.Errorf("got %+v", got)
			}
			mustBeGone(t, job.ID)
			if now := openNow(t); now != before {
				t.Errorf("%d descriptors are open, and were %d", now, before)
			}
			mustBeIdle(t)
			if r.room.taken != (need{}) {
				t.Errorf("room is still taken: %+v", r.room.taken)
			}
		})
	}
}

// What many parts of a text hold at the same time is bounded together.
func TestHungryAtOnce(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	deep := filepath.Join(dir, "deep")
	for range 12 {
		deep = filepath.Join(deep, strings.Repeat("d", 250))
	}
	must(t, os.MkdirAll(deep, 0o755))
	fill := func() {
		fd, err := unix.Open(deep, unix.O_DIRECTORY|unix.O_CLOEXEC, 0) // its name is too long for most
		must(t, err)
		defer unix.Close(fd)
		file, err := unix.Openat(fd, "file", unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		must(t, err)
		unix.Close(file)
		for i := range 22_000 { // names of one file, which are made sooner than files
			must(t, unix.Linkat(fd, "file", fd, strconv.Itoa(i), 0))
		}
	}
	stage := `echo $(head -c 9000000 /dev/zero)`
	for name, test := range map[string]struct {
		text string
		then func() // after it was judged
	}{
		"substitutions side by side":    {stage + strings.Repeat(" | "+stage, 9), nil},
		"substitutions in one word":     {`echo ` + strings.Repeat(`"$(head -c 9000000 /dev/zero)"`, 9), nil},
		"a long path before many names": {`echo deep` + strings.Repeat("/d*", 12) + `/*`, fill},
	} {
		t.Run(name, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			r := newRunner(t)
			job := scriptJob(t, "bash", dir, test.text)
			if job == nil {
				t.Fatal("it asks")
			}
			if test.then != nil {
				test.then()
			}
			got := run1(t, r, *job)
			if got.Denied == nil || got.Denied.Reason != approval.ReasonTooComplex || !strings.Contains(got.Denied.Sentence, " MB") {
				t.Errorf("got %+v", got)
			}
			mustBeGone(t, job.ID)
			mustBeIdle(t)
		})
	}
}

// A word counts once, in whatever company.
func TestWordsCountOnce(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	for text, want := range map[string]string{
		`for i in {1..300}; do :; done; echo end`:                              "end\n",
		`x=$(seq 900); for i in $x $x $x $x $x; do :; done; echo end`:          "end\n",
		`for i in {1..300}; do for k in a b c d e; do :; done; done; echo end`: "end\n",
	} {
		job := scriptJob(t, "bash", dir, text)
		if job == nil {
			t.Fatalf("%q asks", text)
		}
		if got := run1(t, r, *job); string(got.Stdout) != want {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

// TestCancelledAtAnyMoment runs texts of all shapes at once and ends each at
// some moment by its caller, by Stop, or by a denial in the middle.
func TestCancelledAtAnyMoment(t *testing.T) {
	if !approvaltest.Apart(t) {
		return
	}
	r, dir := newRunner(t), scriptFolder(t)
	before := openNow(t)
	script(t, filepath.Join(dir, "leave"), "#!/bin/sh\nsleep 100 &\nsetsid sleep 100 >/dev/null 2>&1 &\n")
	shapes := []string{
		`true | { cat a.txt; cat b.txt; } | cat`,
		`x=$(cat a.txt | { cat; } | cat); echo $x`,
		`for i in a b c d e; do cat a.txt | (cd sub; cat c.txt) | cat; done`,
		`yes | { yes | cat; } | cat`,
		`while true; do echo y; done | sleep 100`,
		`while cat a.txt; do echo $(echo $(cat b.txt)); done`,
		"cat <<'E' | { cat; sleep 100; }\n" + strings.Repeat("x", 60_000) + "\nE",
		`./leave; sleep 100 | ./leave | { ./leave; }`,
		`cat < a.txt | { cat; } | { cat < b.txt; exit 3; }; (cd sub && pwd)`,
		`! { sleep 0.01; false; } || sleep 100`,
	}
	var all sync.WaitGroup
	free := make(chan struct{}, 8)
	for n := range approvaltest.Rounds(t, 120, 3*len(shapes)) { // each shape is ended in each way
		job := scriptJob(t, "bash", dir, shapes[n%len(shapes)])
		if job == nil {
			t.Fatalf("%q asks", shapes[n%len(shapes)])
		}
		job.ID = t.Name() + strconv.Itoa(n)
		job.Env = testEnv(job.ID, dir)
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			// The moment is after so many starts, and a little later.
			var starts atomic.Int32
			last, pause := 1+int32(rand.IntN(4)), time.Duration(rand.IntN(3000))*time.Microsecond
			job.Timeout = time.Second // for those that start less
			if n%3 == 2 {
				job.Check = func(int, *approval.Segment) error {
					if starts.Add(1) > last {
						return errors.New("no more")
					}
					return nil
				}
			} else {
				job.Started = func(int, *approval.Segment, Process) {
					if starts.Add(1) == last {
						time.AfterFunc(pause, func() {
							if n%3 == 1 || !r.Stop(job.ID) {
								cancel()
							}
						})
					}
				}
			}
			r.Run(ctx, *job)
			for _, p := range living(t, job.ID) {
				if id, _ := proc.Getenv(p.PID, marker); id == job.ID && !p.Zombie {
					t.Errorf("%q left %+v", job.Plan.Text, p)
				}
			}
		})
	}
	all.Wait()
	mustBeGone(t, "none")
	mustBeIdle(t)
	if now := openNow(t); now != before {
		t.Errorf("%d descriptors are open, and were %d", now, before)
	}
	if r.room.taken != (need{}) || len(r.room.by) > 0 {
		t.Errorf("room is still taken: %+v, %+v", r.room.taken, r.room.by)
	}
}

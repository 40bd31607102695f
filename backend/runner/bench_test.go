//go:build linux || darwin

package runner

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"
)

// The benchmarks compare us with bare os/exec side by side, in interleaved
// rounds, and report the median of the ratios as "x": less than 1 is faster.

// compareRounds times ours and theirs in turn, b.N rounds of both.
func compareRounds(b *testing.B, ours, theirs func()) {
	var ratios, times []float64
	ours()
	theirs()
	for b.Loop() {
		begin := time.Now()
		ours()
		mine := time.Since(begin)
		theirs()
		other := time.Since(begin) - mine
		ratios = append(ratios, mine.Seconds()/other.Seconds())
		times = append(times, mine.Seconds()*1e6)
	}
	slices.Sort(ratios)
	slices.Sort(times)
	b.ReportMetric(ratios[len(ratios)/2], "x")
	b.ReportMetric(times[len(times)/2], "µs/run")
}

func benchRun(b *testing.B, r *Runner, job Job, size int) {
	got := r.Run(context.Background(), job)
	if !got.Success() || len(got.Stdout) != size {
		b.Fatalf("%d bytes, %+v", len(got.Stdout), got)
	}
}

func benchExec(b *testing.B, job Job, size int) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(job.Plan.Argv[0], job.Plan.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = job.Plan.Cwd.Path, job.Env, &stdout, &stderr
	if err := cmd.Run(); err != nil || stdout.Len() != size {
		b.Fatal(stdout.Len(), err)
	}
}

func BenchmarkRunTrue(b *testing.B) {
	r, job := newRunner(b), argvJob(b, scratch(b), "/usr/bin/true")
	compareRounds(b, func() { benchRun(b, r, job, 0) }, func() { benchExec(b, job, 0) })
}

func BenchmarkOutput200K(b *testing.B) {
	r, job := newRunner(b), argvJob(b, scratch(b), "head", "-c", "200000", "/dev/zero")
	compareRounds(b, func() { benchRun(b, r, job, 200_000) }, func() { benchExec(b, job, 200_000) })
}

func BenchmarkPipeline(b *testing.B) {
	r, dir := newRunner(b), scratch(b)
	const text = `echo words | cat | wc -c`
	job, shell := textJob(b, dir, text), argvJob(b, dir, "/bin/sh", "-lc", text)
	compareRounds(b, func() { benchRun(b, r, job, 2) }, func() { benchExec(b, shell, 2) })
}

func BenchmarkRunTrueFrom64(b *testing.B) {
	r, job := newRunner(b), argvJob(b, scratch(b), "/usr/bin/true")
	var mine, theirs []time.Duration
	compareRounds(b, func() {
		mine = append(mine, atOnce(func(i int) {
			job := job
			job.ID = fmt.Sprint("bench-", i)
			job.Env = testEnv(job.ID, job.Plan.Cwd.Path)
			benchRun(b, r, job, 0)
		})...)
	}, func() { theirs = append(theirs, atOnce(func(int) { benchExec(b, job, 0) })...) })
	slices.Sort(mine)
	slices.Sort(theirs)
	b.ReportMetric(mine[len(mine)*99/100].Seconds()/theirs[len(theirs)*99/100].Seconds(), "x-p99")
}

// atOnce makes eight calls each from 64 goroutines and returns how long each
// call took.
func atOnce(call func(int)) []time.Duration {
	const each = 8
	times := make([]time.Duration, 64*each)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			for j := range each {
				begin := time.Now()
				call(i)
				times[i*each+j] = time.Since(begin)
			}
		})
	}
	all.Wait()
	return times
}

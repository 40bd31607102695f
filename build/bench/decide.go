package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/policy"
)

// decisions is how many judgements one round times.
const decisions = 2000

// usual is how many entries somebody has after a few years.
const usual = 1000

// decide measures a judgement alone, from the words to the verdict, with few
// and with many entries.
func decide(string) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath([]string{"/usr/bin", "/bin"})
	for _, kind := range []struct{ name, pattern string }{
		{"anchored", "/opt/tools/%d/bin/*"}, {"unanchored", "**/bin/tool%d"}, {"literal", "/opt/tools/%d/bin/tool"},
	} {
		var work []func() error
		for _, n := range []int{10, usual, entries} {
			work = append(work, judging(a, home, kind.pattern, n))
		}
		times, err := median(1, work...)
		if err != nil {
			return err
		}
		few, some, many := times[0]/decisions, times[1]/decisions, times[2]/decisions
		row("P3", fmt.Sprintf("decision with 1 000 %s entries", kind.name), micros(some), "≤ 30 µs")
		row("P3", fmt.Sprintf("decision with 10 000 %s entries", kind.name), micros(many), "≤ 50 µs")
		row("P3", "     to the same with 10", ratio(many, few), "≤ 2×")
	}
	return nil
}

func micros(d time.Duration) string {
	return fmt.Sprintf("%.1f µs", float64(d)/float64(time.Microsecond))
}

// judging returns a round of judgements of everyday commands: a plain one and
// a pipeline.
func judging(a *command.Analyzer, home, pattern string, n int) func() error {
	p := approval.Policy{AgentID: "bench", Security: approval.SecurityList, Ask: approval.AskOff, SafeBins: []string{"head"}}
	for i := range n {
		p.Allowlist = append(p.Allowlist, approval.Entry{ID: fmt.Sprint(i), Pattern: fmt.Sprintf(pattern, i)})
		p.Denylist = append(p.Denylist, approval.DenyRule{Pattern: fmt.Sprintf(pattern, i+n)})
	}
	p.Allowlist = append(p.Allowlist, approval.Entry{ID: "ls", Pattern: "ls"})
	rules := policy.Prepare(p, home, func(name string) string {
		if f, err := (machine.Disk{}).Look(name); err == nil {
			return f.Path
		}
		return ""
	})
	requests := []approval.Request{
		{Command: []string{"ls", "-l"}, Who: approval.Ours, Cwd: "/"},
		{Command: []string{"sh", "-c", "ls -l | head -5"}, Who: approval.Ours, Cwd: "/"},
	}
	return func() error {
		for i := range decisions {
			plan := a.Analyze(context.Background(), &requests[i%len(requests)], approval.Folder{})
			if j := rules.Evaluate(policy.Input{Plan: &plan, Who: approval.Ours, Now: time.Now()}); j.Verdict != approval.VerdictAllow {
				return fmt.Errorf("%q: %s", requests[i%len(requests)].Command, j.Sentence)
			}
		}
		return nil
	}
}

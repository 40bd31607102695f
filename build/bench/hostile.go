package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/policy"
)

// hostileSize is the longest text that is read.
const hostileSize = 64 << 10

// hostile measures what the most expensive of the shapes costs, and how that
// grows.
func hostile(string) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath([]string{"/usr/bin", "/bin"})
	rules := policy.Prepare(approval.Policy{AgentID: "bench", Security: approval.SecurityList, Ask: approval.AskOff,
		Allowlist: []approval.Entry{{ID: "ls", Pattern: "**/bin/*"}}, Denylist: []approval.DenyRule{{Pattern: "**a**a**a/x"}}}, home, func(string) string { return "" })
	cost := func(text string) time.Duration {
		best := time.Hour
		for range 3 {
			began := time.Now()
			plan := a.Analyze(context.Background(), &approval.Request{Command: []string{"bash", "-c", text}, Who: approval.Ours, Cwd: "/"}, approval.Folder{})
			rules.Evaluate(policy.Input{Plan: &plan, Who: approval.Ours, Now: time.Now()})
			best = min(best, time.Since(began))
		}
		return best
	}
	type result struct {
		name        string
		whole, half time.Duration
	}
	var all []result
	halves := approvaltest.Hostile(hostileSize / 2)
	for i, whole := range approvaltest.Hostile(hostileSize) {
		all = append(all, result{whole.Name, cost(whole.Text), cost(halves[i].Text)})
	}
	slices.SortFunc(all, func(a, b result) int { return int(b.whole - a.whole) })
	for _, r := range all[:3] {
		row("P4", "64 KiB of "+r.name, fmt.Sprintf("%.1f ms", r.whole.Seconds()*1000), "≤ 10 ms")
		row("P4", "     to the same of 32 KiB", ratio(r.whole, r.half), "≤ 2×")
	}
	return nil
}

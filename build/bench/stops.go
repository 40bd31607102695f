package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// lists are commands that agents issue, and the machine they are issued on.
const lists = "backend/cmd/countersign/testdata/stops"

// lateBlocks are the last blocks of 50 commands of each person: 150 of 350.
const lateBlocks = 3

// stops counts how often our lists of commands would stop a person: 500 of many, and 700
// of two over weeks, of which the last tell how questions end.
func stops(program string) error {
	for _, c := range []struct{ list, start, answer, what, goal string }{
		{"list", "ask-me", "none", "stops per 100 commands, Ask me", ""},
		{"list", "developer-tools", "none", "the same, Developer tools", "52"},
		{"list", "project-commands", "none", "the same, and Project commands", "32"},
		{"long", "ask-me", "preselected", "the last 150 of 350, Ask me, each question answered", "30"},
	} {
		out, err := exec.Command(program, "--json", "policy", "stops", "--start", c.start, "--answer", c.answer,
			"--world", filepath.Join(lists, "world.json"), filepath.Join(lists, c.list+".jsonl")).Output()
		if err != nil {
			return fmt.Errorf("counting stops: %w", err)
		}
		type counts struct{ Commands, Asked, Denied int }
		var got struct {
			All    counts
			Labels map[string]counts
			Blocks []counts
			Passed []struct{}
		}
		if err := json.Unmarshal(out, &got); err != nil {
			return err
		}
		counted := got.All
		if c.list == "long" {
			counted = counts{}
			for _, b := range got.Blocks[max(0, len(got.Blocks)-lateBlocks):] {
				counted = counts{counted.Commands + b.Commands, counted.Asked + b.Asked, counted.Denied + b.Denied}
			}
		}
		per100 := func(n counts) float64 { return 100 * float64(n.Asked+n.Denied) / float64(max(1, n.Commands)) }
		row("", c.what, fmt.Sprintf("%.1f", per100(counted)), c.goal)
		row("", "  of all harmless ones", fmt.Sprintf("%.1f", per100(got.Labels["H"])), "")
		row("", "  passed that a person should see", fmt.Sprint(len(got.Passed)), "0")
	}
	return nil
}

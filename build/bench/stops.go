package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
)

// lists are commands that agents issue, and the machine they are issued on.
const lists = "backend/cmd/countersign/testdata/stops"

// stops counts how often our list of commands would stop a person.
func stops(program string) error {
	for _, c := range []struct{ start, answer, what, goal string }{
		{"ask-me", "none", "stops per 100 commands, Ask me", ""},
		{"ask-me", "preselected", "the same, with each question answered", "30 in the end"},
		{"developer-tools", "none", "stops per 100 commands, Developer tools", "52"},
	} {
		out, err := exec.Command(program, "--json", "policy", "stops", "--start", c.start, "--answer", c.answer,
			"--world", filepath.Join(lists, "world.json"), filepath.Join(lists, "list.jsonl")).Output()
		if err != nil {
			return fmt.Errorf("counting stops: %w", err)
		}
		type counts struct{ Commands, Asked, Denied int }
		var got struct {
			All    counts
			Labels map[string]counts
			Passed []struct{}
		}
		if err := json.Unmarshal(out, &got); err != nil {
			return err
		}
		per100 := func(n counts) float64 { return 100 * float64(n.Asked+n.Denied) / float64(max(1, n.Commands)) }
		row("", c.what, fmt.Sprintf("%.1f", per100(got.All)), c.goal)
		row("", "  of the harmless ones", fmt.Sprintf("%.1f", per100(got.Labels["H"])), "")
		row("", "  passed that a person should see", fmt.Sprint(len(got.Passed)), "0")
	}
	return nil
}

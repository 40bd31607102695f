package family

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/proc"
)

// TestTreesOfRealAgents has what was seen below a shell in which a person started
// real Claude Code and Codex (2.1.332 and 0.169.0, Linux), whose model had them
// try to operate. COUNTERSIGN_TREES=FOLDER make agents-test writes such files.
func TestTreesOfRealAgents(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 3 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m, order := treeIn(t, file)
			shell := order[0]
			agent := order[slices.IndexFunc(order, func(pid int) bool { return strings.HasPrefix(m.programs[pid].Path, "/home/mara/bin/") })]
			asker := order[slices.IndexFunc(order, func(pid int) bool {
				argv := m.programs[pid].Argv
				return m.programs[pid].Ours && len(argv) > 1 && argv[1] == "hook"
			})]
			m.add("10 1 10 10 0 501 /usr/bin/countersign countersign host run")
			b := m.book(10)
			defer b.Close()
			if _, err := b.Take(m.id(asker), ""); err != nil {
				t.Fatal(err)
			}
			if a := b.List()[0]; a.PID != agent || a.In != "bash" {
				t.Errorf("who asks is %+v, want %d", a, agent)
			}
			refused := 0
			for _, pid := range order {
				of := pid
				for of != agent && of != shell {
					if of = m.infos[of].Parent; of == 0 {
						t.Fatalf("%d has no parent", pid)
					}
				}
				var member *Member
				if err := b.Check(m.id(pid)); errors.As(err, &member) != (of == agent) || of != agent && err != nil {
					t.Errorf("%d %q: %v", pid, m.programs[pid].Argv, err)
				}
				if of == agent && m.programs[pid].Ours {
					refused++
				}
			}
			if refused < 5 {
				t.Errorf("only %d tried", refused)
			}
		})
	}
}

// treeIn reads a file of processes, in the order of their numbers.
func treeIn(t *testing.T, file string) (m *tree, order []int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m = grown("1 0 1 1 0 0 +/usr/lib/systemd/systemd")
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var p proc.Info
		var path string
		facts, words, _ := strings.Cut(line, " [")
		if _, err := fmt.Sscan(facts, &p.PID, &p.Parent, &p.Group, &p.Session, &p.Terminal, &p.Foreground, &p.UID, &p.Started, &path); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		name := filepath.Base(path)
		program := Program{Path: path, Shell: slices.Contains(usualShells, name), Ours: name == "countersign", ByRoot: !strings.HasPrefix(path, "/home")}
		if program.Shell {
			program.Input = p.Terminal
		}
		if err := json.Unmarshal([]byte("["+words), &program.Argv); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		m.infos[p.PID], m.programs[p.PID] = p, program
		order = append(order, p.PID)
	}
	return m, order
}

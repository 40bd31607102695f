package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
)

// treesVar names a folder where the trees of real agents are written, for
// backend/family/testdata: COUNTERSIGN_TREES=folder make agents-test.
const treesVar = "COUNTERSIGN_TREES"

// seenProcess is a process as it was seen last, below its first parent.
type seenProcess struct {
	proc.Info
	program string
	argv    []string
}

// keepTree watches all that lives below a process until the test ends, and writes
// it down where somebody wants that. What lives too shortly is missed.
func keepTree(t *testing.T, root int, name, home string) {
	folder := os.Getenv(treesVar)
	if folder == "" {
		return
	}
	seen, stop, done := map[int]*seenProcess{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				look(root, seen)
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-done
		if err := os.WriteFile(filepath.Join(folder, name+".txt"), []byte(written(root, seen, home)), 0o644); err != nil {
			t.Error(err)
		}
	})
}

func look(root int, seen map[int]*seenProcess) {
	list, err := proc.All()
	if err != nil {
		return
	}
	below := proc.Descendants(root, list)
	if i := slices.IndexFunc(list, func(p proc.Info) bool { return p.PID == root }); i >= 0 {
		below = append(below, list[i])
	}
	for _, p := range below {
		if p.Zombie {
			continue
		}
		if seen[p.PID] == nil {
			seen[p.PID] = &seenProcess{Info: p}
		}
		s := seen[p.PID]
		p.Parent = s.Parent // it is given to another one when that has ended
		s.Info = p
		if _, path, err := proc.Exe(p.PID); err == nil {
			s.program = path
		}
		if argv, err := proc.Argv(p.PID); err == nil && len(argv) > 0 {
			s.argv = argv
		}
	}
}

// written is a tree with the names of an invented person: what ran the agent, the
// hooks, and what tried to operate.
func written(root int, seen map[int]*seenProcess, home string) string {
	plain := func(text string) string {
		text = strings.ReplaceAll(text, home, "/home/mara")
		text = regexp.MustCompile(`[^\s"]*/(?:testscript-main\d+/bin|programs\d+)/|\S*/countersign\.test\b`).ReplaceAllString(text, "/usr/bin/")
		text = regexp.MustCompile(`\S*/node_modules/\S*/(claude|codex)\b`).ReplaceAllString(text, "/home/mara/bin/$1")
		if runes := []rune(text); len(runes) > 80 {
			text = string(runes[:80])
		}
		return text
	}
	var b strings.Builder
	b.WriteString("# pid ppid pgrp sid tty tpgid uid start program argv, all that was seen below a shell\n")
	pids := []int{}
	for pid := range seen {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	for _, pid := range pids {
		s := seen[pid]
		if s.program == "" { // it had ended
			continue
		}
		var words []string
		for _, w := range s.argv {
			words = append(words, plain(w))
		}
		parent := s.Parent
		if pid == root {
			parent = 1
		}
		program := plain(s.program)
		if program == "/usr/bin/" {
			program = "/usr/bin/countersign"
		}
		argv := bytes.Buffer{}
		encoder := json.NewEncoder(&argv)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(words)
		fmt.Fprintf(&b, "%d %d %d %d %d %d 501 %d %s %s", pid, parent, s.Group, s.Session, s.Terminal, s.Foreground, s.Started, program, argv.String())
	}
	return b.String()
}

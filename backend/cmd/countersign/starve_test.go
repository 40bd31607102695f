//go:build linux || darwin

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pending"
)

// TestManyNamesOfOneAgent lets one agent ask long questions under as many names as
// it likes, until no more are put: it has a half of the room, and as long a question
// of another one is still put.
func TestManyNamesOfOneAgent(t *testing.T) {
	const size = 190_000
	most := pending.Bytes / size
	w := manyWorld(t)
	asks := func(i int) string { return geminiAsks(fmt.Sprint("uname ", i, strings.Repeat("x", size))) }
	for i := range most + 2 {
		w.file(t, fmt.Sprint("ask", i), asks(i))
	}
	script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do countersign hook gemini --agent=name$i --timeout=10m <ask$i >answer$i 2>&1 & i=$((i+1)); done; wait`, most+2)
	starves := inTerminal(w.program("sh", "-c", script))
	if err := starves.Start(); err != nil {
		t.Fatal(err)
	}
	var open []approval.Prompt
	refused := func() (n int) {
		found, _ := filepath.Glob(filepath.Join(w.home, "answer*"))
		for _, name := range found {
			if info, err := os.Stat(name); err == nil && info.Size() > 0 {
				n++
			}
		}
		return n
	}
	if !eventually(func() bool {
		w.json(t, &open, "approvals", "pending")
		return len(open)+refused() == most+2
	}) {
		b, _ := os.ReadFile(filepath.Join(w.home, "answer0"))
		t.Fatalf("%d questions are put and %d refused, the first hook said %q", len(open), refused(), b)
	}
	// The last one may begin below the half and end above it.
	if len(open) == 0 || len(open) > most/2+1 {
		t.Errorf("%d questions are put, of %d for which there is room", len(open), most)
	}
	honest := inTerminal(w.program("countersign", "hook", "gemini", "--agent=honest", "--timeout=10m"))
	honest.Stdin = strings.NewReader(asks(most + 2))
	if err := honest.Start(); err != nil {
		t.Fatal(err)
	}
	if open = w.mustQuestions(t, len(open)+1); open[len(open)-1].AgentID != "honest" {
		t.Errorf("the last one is of %q", open[len(open)-1].AgentID)
	}
	w.end(syscall.SIGTERM)
	_, _ = starves.Wait(), honest.Wait()
}

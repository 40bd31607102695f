//go:build linux || darwin

package runner

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// An agent gets half of what the others leave, and so never the last of it.
func TestRoom(t *testing.T) {
	r := newRoom(need{100, 100, 100})
	for _, step := range []struct {
		agent string
		n     need
		ok    bool
	}{
		{"a", need{51, 0, 0}, false},
		{"a", need{0, 51, 0}, false},
		{"a", need{0, 0, 51}, false},
		{"a", need{50, 50, 50}, true},
		{"a", need{1, 0, 0}, false},
		{"b", need{26, 0, 0}, false},
		{"b", need{25, 25, 25}, true},
		{"c", need{12, 12, 12}, true},
		{"d", need{6, 6, 6}, true},
		{"d", need{1, 1, 1}, false},
		{"e", need{1, 1, 1}, true},
	} {
		if got := r.take(step.agent, step.agent, step.n); got != step.ok {
			t.Errorf("%s takes %+v: %v", step.agent, step.n, got)
		}
	}
	for agent, n := range r.by {
		r.give(agent, agent, n)
	}
	if r.taken != (need{}) || len(r.by) > 0 || len(r.family) > 0 {
		t.Errorf("what is left: %+v, %+v", r.taken, r.by)
	}
}

// One that gives itself many names leaves a quarter to other families, and one
// agent of these has half of that.
func TestRoomOfFamilies(t *testing.T) {
	r := newRoom(need{96, 96, 96})
	one := need{1, 1, 1}
	for i := range 1_000 {
		r.take(fmt.Sprint("name", i%100), "greedy", one)
	}
	if r.taken != (need{72, 72, 72}) {
		t.Errorf("one family has %+v", r.taken)
	}
	for n := range 12 {
		if !r.take("honest", "other", one) {
			t.Errorf("another one has %d and gets no more", n)
		}
	}
	if r.take("honest", "other", one) {
		t.Error("one agent gets more than half of the rest")
	}
}

// Whatever the limits of this machine are, runs have the descriptors that they were
// given and no more.
func TestWholeRoom(t *testing.T) {
	if whole := wholeRoom(100); whole.files != 100 || whole.places <= 0 || whole.bytes <= 0 {
		t.Errorf("got %+v", whole)
	}
}

// A run that needs more than one agent ever gets is told so: it would wait in vain.
func TestLargerThanRoom(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	r.room.whole.files = 4 * runFiles
	if got := run1(t, r, textJob(t, dir, "true"+strings.Repeat(" | true", 8))); got.Denied == nil || got.Denied.Reason != approval.ReasonTooComplex {
		t.Errorf("got %+v", got)
	}
	if got := run1(t, r, textJob(t, dir, "true")); !got.Success() {
		t.Errorf("a small one: got %+v", got)
	}
}

func TestMeasure(t *testing.T) {
	dir := scriptFolder(t)
	for _, test := range []struct {
		text string
		want measure // steps do not count here
	}{
		{`true`, measure{0, 1, 2}},
		{`true; true`, measure{0, 1, 2}},
		{`true | true`, measure{0, 2, 10}},
		{`x=1 | x=2 | x=3`, measure{0, 3, 9}},
		{`(true)`, measure{0, 1, 3}},
		{`x=$(true)`, measure{0, 1, 5}},
		{`x=$(true | true)`, measure{0, 2, 13}},
		{`cat $(true | true | true)`, measure{0, 3, 18}},
		{`echo $(true | true) | echo $(true | true)`, measure{0, 4, 32}},
		{`echo $(echo $(echo $(true)))`, measure{0, 1, 11}},
		{`for i in $(true | true); do true; done`, measure{0, 2, 13}},
		{`while true | true; do true | true | true; done`, measure{0, 3, 15}},
		{`if true | true; then true; else true | true | true; fi`, measure{0, 3, 15}},
		{`{ true | true; } | { true; true | true; }`, measure{0, 4, 26}},
		{`cat <a.txt`, measure{0, 1, 3}},
		{"cat <<'E'\nx\nE", measure{0, 1, 4}},
		{"{ cat; cat <a.txt; } <<<x", measure{0, 1, 5}},
	} {
		plan := analyzer(dir).Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", test.text}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
		if plan.Root == nil {
			t.Errorf("%q cannot be run: %+v", test.text, plan.Findings)
			continue
		}
		got, err := check(&plan)
		if got.steps = 0; err != nil || got != test.want {
			t.Errorf("%q: %+v, %v, want %+v", test.text, got, err, test.want)
		}
	}
}

// What is too large on its own is denied before anything is opened.
func TestTooLarge(t *testing.T) {
	r, dir := newRunner(t), scriptFolder(t)
	before := openNow(t)
	stage := strings.Repeat("$(echo ", 40) + strings.Repeat(")", 40)
	for name, text := range map[string]string{
		"programs":                     `true` + strings.Repeat(` | true`, 32),
		"variables":                    `x=1` + strings.Repeat(` | x=1`, 32),
		"programs in substitutions":    `echo $(true` + strings.Repeat(`|true`, 20) + `) | echo $(true` + strings.Repeat(`|true`, 20) + `)`,
		"substitutions in each other":  `echo ` + stage + strings.Repeat(` | echo `+stage, 9),
		"nesting":                      strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100),
		"groups":                       strings.Repeat("{ ", 100) + "true" + strings.Repeat("; }", 100),
		"substitutions, nested deeply": strings.Repeat("echo $(", 100) + "true" + strings.Repeat(")", 100),
	} {
		job := scriptJob(t, "bash", dir, text)
		if job == nil {
			continue // the reader says so already, and asks
		}
		got := run1(t, r, *job)
		if got.Denied == nil || got.Denied.Reason != approval.ReasonTooComplex || got.ExitCode != nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if now := openNow(t); now != before {
		t.Errorf("%d descriptors are open, and were %d", now, before)
	}
}

// openNow counts what this process has open.
func openNow(t testing.TB) int {
	t.Helper()
	return len(approvaltest.Descriptors(t))
}

// An agent with many runs is denied more of them; others are not, and when its
// runs are over it can run again.
func TestOneAgentLeavesRoom(t *testing.T) {
	for name, whole := range map[string]need{
		"descriptors": {40 * (runFiles + 2), maxPlaces, maxBytes},
		"programs":    {1 << 16, 40, maxBytes},
		"memory":      {1 << 16, maxPlaces, 40 * runBytes},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir := newRunner(t), scratch(t)
			r.room.whole = whole
			job := func(agent, text string, n int) Job {
				j := textJob(t, dir, text)
				j.ID, j.Agent = fmt.Sprintf("%s-%s-%d", t.Name(), agent, n), agent
				j.Env = testEnv(j.ID, dir)
				return j
			}
			const many = 60
			var mu sync.Mutex
			begun, denied := 0, 0
			all := sync.WaitGroup{}
			for i := range many {
				j := job("greedy", "sleep 100", i)
				j.Started = func(int, *approval.Segment, Process) { mu.Lock(); begun++; mu.Unlock() }
				all.Go(func() {
					got := run1(t, r, j)
					if got.Error == errStopped.Error() {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if denied++; got.Denied == nil || got.Denied.Reason != approval.ReasonRateLimited || got.Denied.Segment != "sleep 100" {
						t.Errorf("got %+v", got)
					}
				})
			}
			eventually(t, "all have begun or were denied", func() bool { mu.Lock(); defer mu.Unlock(); return begun+denied == many })
			if begun > 20 || begun < 15 {
				t.Errorf("%d of %d run at once", begun, many)
			}
			for _, agent := range []string{"other", "third"} {
				if got := run1(t, r, job(agent, "echo here; true | cat", 0)); !got.Success() {
					t.Errorf("%s: got %+v", agent, got)
				}
			}
			for _, running := range r.Running() {
				r.Stop(running.ID)
			}
			all.Wait()
			if r.room.taken != (need{}) || len(r.room.by) > 0 {
				t.Errorf("what is left: %+v, %+v", r.room.taken, r.room.by)
			}
			if got := run1(t, r, job("greedy", "echo again", 0)); !got.Success() {
				t.Errorf("got %+v", got)
			}
		})
	}
}

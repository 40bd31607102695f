package command_test

import (
	"encoding/json"
	"os"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// maxAllocated is what one analysis may allocate, in bytes.
const maxAllocated = 50 << 20

// corpus returns the texts and argument vectors of the corpus.
func corpus(t testing.TB) (texts []string, argvs [][]string) {
	data, err := os.ReadFile("../cmd/countersign/testdata/commands.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []struct{ Input json.RawMessage }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	for _, c := range file.Cases {
		var text string
		var argv []string
		if json.Unmarshal(c.Input, &text) == nil {
			texts = append(texts, text)
		} else if json.Unmarshal(c.Input, &argv) == nil {
			argvs = append(argvs, argv)
		}
	}
	if len(texts) < 1000 || len(argvs) == 0 || len(texts)+len(argvs) != len(file.Cases) {
		t.Fatalf("%d texts and %d argument vectors in %d cases", len(texts), len(argvs), len(file.Cases))
	}
	return texts, argvs
}

// bounded analyses a request, and fails if that took too much.
func bounded(t *testing.T, a *command.Analyzer, req *approval.Request) approval.Plan {
	t.Helper()
	var plan approval.Plan
	var steps int
	if used := allocates(maxAllocated, a, func(a *command.Analyzer) { plan, steps = a.Measured(req, approvaltest.Named(req.Cwd)) }); used > maxAllocated {
		t.Errorf("%d MB were allocated", used>>20)
	}
	// The machine has a handful of files, and the step that is one too many
	// may count for all words of a command.
	if steps > command.MaxWork+64<<10 || steps > command.MaxWork && !slices.Contains(reasons(plan.Findings), approval.ReasonTooComplex) {
		t.Errorf("%d steps, and it is not too complex: %v", steps, reasons(plan.Findings))
	}
	return plan
}

// measuring is held by each analysis whose memory is measured, and alone by one
// whose memory seems to be too much.
var measuring sync.RWMutex

// allocates returns how many bytes an analysis allocates. What the runtime counts
// is all of the process, so this is too much beside other analyses: one that is
// over the limit is done again alone, by an analyzer that remembers nothing of the
// first time, and that is what counts.
func allocates(limit uint64, a *command.Analyzer, analyse func(*command.Analyzer)) (used uint64) {
	measure := func(lock sync.Locker, a *command.Analyzer) {
		lock.Lock()
		defer lock.Unlock()
		before := allocated()
		analyse(a)
		used = allocated() - before
	}
	if measure(measuring.RLocker(), a); used > limit {
		measure(&measuring, a.Cold())
	}
	return used
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// unclear is what no plan that runs may have in it.
const unclear = "\x00\r\x1b\u2028\u2029\u202e\u2066\u200b\ufeff"

func FuzzText(f *testing.F) {
	for _, test := range texts {
		f.Add(test.in)
	}
	list, _ := corpus(f)
	for _, text := range list {
		f.Add(text)
	}
	for _, h := range approvaltest.Hostile(2 << 10) {
		f.Add(h.Text)
	}
	a := invented()
	f.Fuzz(func(t *testing.T, text string) {
		t.Parallel()
		for _, who := range []approval.Who{approval.Ours, approval.Theirs} {
			for _, shell := range []string{"bash", "sh", "zsh"} {
				req := &approval.Request{Command: []string{shell, "-c", text}, Cwd: "/home/ann/p", Who: who}
				plan := bounded(t, a, req)
				if first, second := show(plan), show(bounded(t, a, req)); first != second {
					t.Errorf("two looks differ:\n%s\n%s", first, second)
				}
				if plan.Root != nil && (len(plan.Findings) > 0 || strings.ContainsAny(text, unclear)) {
					t.Errorf("%s for %s would run: %s", shell, who, show(plan))
				}
				for _, s := range plan.Segments {
					if s.Start < 0 || s.End < s.Start || s.End > len(plan.Text) {
						t.Errorf("a command stands at %d to %d of %d", s.Start, s.End, len(plan.Text))
					}
				}
			}
		}
	})
}

// FuzzArgv gives words to programs, wrappers and shells: the words of one
// command, each ended by a NUL.
func FuzzArgv(f *testing.F) {
	_, argvs := corpus(f)
	for _, argv := range argvs {
		f.Add(strings.Join(argv, "\x00"))
	}
	for _, test := range texts {
		f.Add(strings.ReplaceAll(test.in, " ", "\x00"))
	}
	a := invented()
	a.SetPath([]string{"/usr/bin", "/bin", "/opt/tool/bin"})
	f.Fuzz(func(t *testing.T, words string) {
		t.Parallel()
		req := &approval.Request{Command: strings.Split(words, "\x00"), Cwd: "/home/ann/p", Who: approval.Ours}
		plan := bounded(t, a, req)
		if first, second := show(plan), show(bounded(t, a, req)); first != second {
			t.Errorf("two looks differ:\n%s\n%s", first, second)
		}
		for i, s := range plan.Segments {
			if s.Via > i {
				t.Errorf("command %d is started by a later one, %d", i, s.Via-1)
			}
		}
	})
}

// Texts that are meant to be expensive stay within the bounds at their full
// length, too.
func TestHostile(t *testing.T) {
	a := invented()
	for _, h := range approvaltest.Hostile(64 << 10) {
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			plan := bounded(t, a, bash(h.Text))
			if plan.Root != nil && len(plan.Segments) > 1 {
				t.Errorf("%d commands would run", len(plan.Segments))
			}
			bounded(t, a, &approval.Request{Text: h.Text, Cwd: "/home/ann/p", Who: approval.Theirs})
		})
	}
}

// What is too much, and what cannot be read, asks and does not run.
func TestBadInput(t *testing.T) {
	many := func(part string, n int) string { return strings.Repeat(part, n) }
	tests := []struct {
		name, text string
		want       approval.Reason
	}{
		{"more than 64 KiB", many("ls\n", 30_000), approval.ReasonTooComplex},
		{"10 000 commands", many("ls;", 10_000), approval.ReasonTooComplex},
		{"a chain of 10 000", many("ls&&", 10_000) + "ls", approval.ReasonTooComplex},
		{"a pipeline of 10 000", many("ls|", 10_000) + "ls", approval.ReasonTooComplex},
		{"a pipeline of 33", many("ls|", 32) + "ls", approval.ReasonTooComplex},
		{"300 programs", programs(300), approval.ReasonTooComplex},
		{"substitutions", "ls " + many("$(ls ", 100) + many(")", 100), approval.ReasonTooComplex},
		{"groups", many("{ ", 100) + "ls;" + many("}", 100), approval.ReasonTooComplex},
		{"arithmetic", "ls " + many("$((", 17) + "1" + many("))", 17), approval.ReasonTooComplex},
		{"a sum of many parts", "ls $((1" + many("+1", 500) + "))", approval.ReasonTooComplex},
		{"sums in brackets", "ls $((" + many("(", 100) + "1" + many(")", 100) + "))", approval.ReasonTooComplex},
		{"a long sum", "ls $((1" + many("+1", 20_000) + "))", approval.ReasonTooComplex},
		{"braces", "ls " + many("{a,b}", 10), approval.ReasonTooComplex},
		{"nested braces", "ls " + many("{a,", 20) + many("}", 20), approval.ReasonTooComplex},
		{"a long sequence", "ls {1..100000}", approval.ReasonTooComplex},
		{"words", "ls " + many("a ", 30_000), approval.ReasonTooComplex},
		{"files", "cat " + many("/a ", 20_000), approval.ReasonTooComplex},
		{"variables that double", many("a=$a$a;", 5000) + "ls $a", approval.ReasonTooComplex},
		{"forms in forms", "ls " + many("${x:-", 100) + many("}", 100), approval.ReasonTooComplex},
		{"forms of many values", many("a=b;a=c;", 40) + "ls ${a:-$a}${a:-$a}", approval.ReasonTooComplex},
		{"a long pattern", "x=" + many("a", 4000) + ";ls " + many("${x##"+many("*a", 1000)+"}", 20), approval.ReasonTooComplex},
		{"stars", "ls " + many("**a", 20_000), approval.ReasonTooComplex},
		{"bytes that are no text", "ls \xff\xfe", approval.ReasonUnreadable},
		{"NUL", "ls a\x00b", ""}, // no request at all
		{"CR", "ls\rrm x", approval.ReasonUnreadable},
		{"a turned text", "ls \u202e'x'", approval.ReasonUnreadable},
		{"an open quote", "ls 'a", approval.ReasonUnreadable},
		{"an open double quote", `ls "a`, approval.ReasonUnreadable},
		{"an open here-document", "cat <<E\na\n", approval.ReasonUnreadable},
		{"an open group", "{ ls", approval.ReasonUnreadable},
		{"an open substitution", "ls $(cat", approval.ReasonUnreadable},
	}
	a := invented()
	for _, test := range tests {
		plan := bounded(t, a, bash(test.text))
		if test.want == "" && plan.Invalid == "" || test.want != "" && !slices.Contains(reasons(plan.Findings), test.want) || plan.Root != nil {
			t.Errorf("%s: %v %s, want %s", test.name, reasons(plan.Findings), plan.Invalid, test.want)
		}
	}
	bounded(t, a, bash("x="+many("a", 4000)+";ls ${x//a/"+many("b", 60_000)+"}")) // the value is not made
}

// programs returns a chain of so many different command words.
func programs(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("p" + strings.Repeat("x", i) + ";")
	}
	return b.String()[:b.Len()-1]
}

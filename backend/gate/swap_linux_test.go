package gate_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// swaps is how often each thing is swapped: COUNTERSIGN_SWAPS, as make swap-test
// sets it, or 16, after which each kind of round was there with A and B in place.
func swaps(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("COUNTERSIGN_SWAPS"))
	if err != nil || n < 16 {
		n = 16
	}
	t.Logf("%d times", n)
	return n
}

// swapped is something that is either A or B, and changes in one step.
type swapped struct {
	name  string
	words []string
	// make puts A into place and B beside it; flip lets them change places.
	make func(b *bench)
	flip func(b *bench)
	// is returns the inode of what is A or B as a question shows it.
	is func(p *approval.Plan) uint64
	// entries let A pass, or with both set A and B, but never one after the other
	// in allowed, which is what is asked for instead of words.
	entries []string
	allowed []string
	both    bool
	// byName tells that an interpreter, or the shell that a person's yes is for,
	// opens it by its name after the last look: it is swapped at every step but
	// not in a race, which no program that opens files by name can win.
	byName, byNameOnceAllowed bool
}

func exchange(b *bench, x, y string) {
	if err := unix.Renameat2(unix.AT_FDCWD, b.path(x), unix.AT_FDCWD, b.path(y), unix.RENAME_EXCHANGE); err != nil {
		b.t.Error(err)
	}
}

func swapping(x, y string) func(b *bench) { return func(b *bench) { exchange(b, x, y) } }

func program(p *approval.Plan) uint64 { return p.Segments[0].Program.File.Ino }

func interpreter(p *approval.Plan) uint64 { return p.Segments[0].Program.Interpreter.File.Ino }

// code is the file with program text that the last command names.
func code(p *approval.Plan) uint64 { return p.Segments[len(p.Segments)-1].Code[0].Ino }

var swappedThings = []swapped{
	{name: "binary", words: []string{"tool"}, entries: []string{"~/bin/*"}, is: program, flip: swapping("bin/tool", "bin/other"),
		make: func(b *bench) { b.copies("bin/tool", "bin/other") }},
	{name: "script", byName: true, byNameOnceAllowed: true, words: []string{"tool"}, entries: []string{"~/bin/*"}, is: program, flip: swapping("bin/tool", "bin/other"),
		make: func(b *bench) { b.script("tool", "echo A"); b.script("other", "echo B") }},
	{name: "interpreter", words: []string{"tool"}, entries: []string{"~/bin/*"}, is: interpreter, flip: swapping("own/i", "own/j"),
		make: func(b *bench) { b.copies("own/i", "own/j"); b.put("bin/tool", "#!"+b.path("own/i")+"\n") }},
	{name: "interpreter through env", words: []string{"tool"}, entries: []string{"~/bin/tool"}, is: interpreter, flip: swapping("bin/i", "bin/j"),
		make: func(b *bench) { b.copies("bin/i", "bin/j"); b.put("bin/tool", "#!/usr/bin/env i\n") }},
	{name: "interpreter of an interpreter", words: []string{"tool"}, entries: []string{"~/bin/*"}, is: interpreter, flip: swapping("own/inner", "own/other"),
		make: func(b *bench) {
			b.copies("own/i", "own/j")
			b.put("own/inner", "#!"+b.path("own/i")+"\n")
			b.put("own/other", "#!"+b.path("own/j")+"\n")
			b.put("bin/tool", "#!"+b.path("own/inner")+"\n")
		}},
	{name: "target of a wrapper", byName: true, byNameOnceAllowed: true, words: []string{"nice", "tool"}, entries: []string{"nice", "~/bin/tool"}, flip: swapping("bin/tool", "bin/other"),
		is:   func(p *approval.Plan) uint64 { return p.Segments[1].Program.File.Ino },
		make: func(b *bench) { b.copies("bin/tool", "bin/other") }},
	{name: "interpreter of the target of a wrapper", byName: true, byNameOnceAllowed: true, words: []string{"env", "tool"}, entries: []string{"env", "~/bin/tool"}, flip: swapping("own/i", "own/j"),
		is:   func(p *approval.Plan) uint64 { return p.Segments[1].Program.Interpreter.File.Ino },
		make: func(b *bench) { b.copies("own/i", "own/j"); b.put("bin/tool", "#!"+b.path("own/i")+"\n") }},
	{name: "awk -f", byName: true, byNameOnceAllowed: true, words: []string{"awk", "-f", "name"}, entries: []string{"awk"}, is: code, flip: swapping("work/name", "work/other"),
		make: func(b *bench) {
			b.put("work/name", `BEGIN { print "A" }`)
			b.put("work/other", `BEGIN { system("echo B") }`)
		}},
	{name: "link to the file of awk -f", byName: true, byNameOnceAllowed: true, words: []string{"awk", "-f", "name"}, entries: []string{"awk"}, is: code, flip: swapping("work/name", "work/other"),
		make: func(b *bench) {
			b.put("work/a", `BEGIN { print "A" }`)
			b.put("work/b", `BEGIN { system("echo B") }`)
			b.link("work/a", "work/name")
			b.link("work/b", "work/other")
		}},
	{name: "script of an interpreter", byName: true, byNameOnceAllowed: true, both: true, words: []string{"nice", "perl", "name.pl"}, entries: []string{"nice", "perl"}, is: code, flip: swapping("work/name.pl", "work/other.pl"),
		make: func(b *bench) { b.put("work/name.pl", `print "A"`); b.put("work/other.pl", `print "B"`) }},
	{name: "link", words: []string{"tool"}, entries: []string{"~/bin/tool"}, is: program, flip: swapping("bin/tool", "bin/other"),
		make: func(b *bench) {
			b.copies("own/a", "own/b")
			b.link("own/a", "bin/tool")
			b.link("own/b", "bin/other")
		}},
	{name: "folder in PATH", words: []string{"tool"}, entries: []string{"~/late/tool"}, is: program, flip: swapping("bin", "other"),
		make: func(b *bench) {
			b.copies("late/tool", "other/tool")
			b.link("late/tool", "bin/tool")
		}},
	{name: "working directory", words: []string{"cat", "name"}, allowed: []string{"bash", "-c", "cat name; cat name"}, entries: []string{"cat"}, both: true, flip: swapping("work", "other"),
		is:   func(p *approval.Plan) uint64 { return p.Cwd.Ino },
		make: func(b *bench) { b.put("work/name", "A"); b.put("other/name", "B") }},
	{name: "redirection", words: []string{"bash", "-c", "cat < name"}, flip: swapping("work/name", "work/other"), entries: []string{"cat"}, byNameOnceAllowed: true,
		is: func(p *approval.Plan) uint64 {
			if len(p.Segments[0].Redirects) == 0 { // a file outside is not opened by us
				return 0
			}
			return p.Segments[0].Redirects[0].File.Ino
		},
		make: func(b *bench) {
			b.put("work/name", "A")
			b.put("secret", "B")
			b.link("secret", "work/other")
			b.onlyProject("work")
		}},
}

// swapper changes A and B, alone or in a race with somebody else.
type swapper struct {
	*bench
	what  swapped
	mu    sync.Mutex
	other bool // B is in place
	race  bool
	done  chan struct{}
}

func newSwapper(t *testing.T, what swapped, entries ...string) *swapper {
	s := &swapper{bench: newBench(t), what: what, done: make(chan struct{})}
	what.make(s.bench)
	if err := os.MkdirAll(s.path("work"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.edit(func(d *store.Document) error {
		for _, pattern := range entries {
			d.Add("*", approval.Entry{Pattern: pattern})
		}
		return nil
	})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-s.done:
				return
			default:
			}
			s.mu.Lock()
			if s.race {
				s.flipLocked()
			}
			s.mu.Unlock()
			runtime.Gosched()
		}
	}()
	t.Cleanup(func() { close(s.done); <-stopped })
	return s
}

func (s *swapper) flip() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flipLocked()
}

func (s *swapper) flipLocked() {
	s.what.flip(s.bench)
	s.other = !s.other
}

func (s *swapper) racing(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.race = on
}

// rest lets A or B be in place, and nothing change any more.
func (s *swapper) rest(other bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.race = false
	if s.other != other {
		s.flipLocked()
	}
}

// run says what ran: "A", "B", or why nothing did.
func (s *swapper) run(words []string) string {
	req := s.request(words...)
	req.Cwd = s.path("work")
	result := s.Run(context.Background(), req)
	switch {
	case result.Denied != nil:
		return "denied " + string(result.Denied.Reason)
	case result.ExitCode == nil:
		return result.Error
	case len(result.Stderr) > 0:
		return "failed: " + string(result.Stderr)
	case len(result.Stdout) > 0:
		return strings.TrimSpace(string(result.Stdout))
	}
	return map[int]string{0: "A", 1: "B"}[*result.ExitCode]
}

// Between a question and its answer things are swapped, once or all the time:
// what runs is what the question showed, or nothing.
func TestSwapBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	for _, what := range swappedThings {
		t.Run(what.name, func(t *testing.T) {
			t.Parallel()
			s := newSwapper(t, what)
			var shown string
			var swap, race bool
			inode := map[uint64]string{}
			s.personWho(func(p approval.Prompt) approval.Answer {
				seen := what.is(&p.Plan)
				if inode[seen] == "" {
					inode[seen] = "B"
					if len(inode) == 1 {
						inode[seen] = "A"
					}
				}
				shown = inode[seen]
				if swap {
					s.flip()
				}
				s.racing(race)
				return once
			})
			count := map[string]int{}
			for i := range swaps(t) {
				s.rest(i%8 >= 4 && i > 8)
				swap, race = i%4 == 1, i%4 > 1 && !what.byNameOnceAllowed
				s.racing(race && i%4 == 3) // while it is judged for the first time, too
				got := s.run(what.words)
				if got != shown && !strings.HasPrefix(got, "denied") {
					t.Fatalf("round %d: %s ran, and %s was shown", i, got, shown)
				}
				if denied := strings.HasPrefix(got, "denied"); i%4 == 0 && denied || swap && !denied {
					t.Fatalf("round %d: %s, and %s was shown", i, got, shown)
				}
				count[got]++
			}
			t.Logf("what ran: %v", count)
		})
	}
}

// Between the last look at the policy and the start things are swapped, once or
// all the time: what runs is what policy allows, or nothing.
func TestSwapBeforeTheStart(t *testing.T) {
	t.Parallel()
	for _, what := range swappedThings {
		t.Run(what.name, func(t *testing.T) {
			t.Parallel()
			s := newSwapper(t, what, what.entries...)
			s.nobody()
			words := what.words
			if what.allowed != nil {
				words = what.allowed
			}
			count := map[string]int{}
			for i := range swaps(t) {
				s.rest(i%4 == 1)
				s.afterCheck = nil
				if i%4 == 2 {
					s.afterCheck = sync.OnceFunc(s.flip)
				}
				s.racing(i%4 == 3 && !what.byName)
				got := s.run(words)
				ran := strings.Trim(got, got[:1]) == "" // one thing, once or twice
				switch {
				case ran && (got[0] == 'A' || what.both):
				case strings.HasPrefix(got, "denied"), strings.HasPrefix(got, "failed"):
				default:
					t.Fatalf("round %d: %s ran", i, got)
				}
				if i%4 == 0 && got[0] != 'A' || i%4 == 1 && got[0] == 'A' || i%4 == 2 && got[0] == 'B' {
					t.Fatalf("round %d: %s", i, got)
				}
				count[got]++
			}
			t.Logf("what ran: %v", count)
		})
	}
}

// The policy is changed all the time. A request that begins and ends while
// nothing is allowed runs nothing, and one that a person answers meanwhile runs
// only if the policy of that moment lets it be asked.
func TestSwapPolicy(t *testing.T) {
	t.Parallel()
	changes := []policyChange{
		{"security", edit(func(d *store.Document) { d.Defaults.Security = approval.SecurityDeny }), edit(func(d *store.Document) { d.Defaults.Security = approval.SecurityList }), "denied security=deny"},
		{"denylist", edit(func(d *store.Document) { d.Deny("", approval.DenyRule{Pattern: "tool"}) }), edit(func(d *store.Document) { d.Undeny("", approval.DenyRule{Pattern: "tool"}) }), "denied denylisted"},
		{"security by hand", byHand("security", "deny", func(p approval.Policy) bool { return p.Security == approval.SecurityDeny }),
			edit(func(d *store.Document) { d.Defaults.Security = approval.SecurityList }), "denied security=deny"},
		{"denylist by hand", byHand("denylist", []string{"tool"}, func(p approval.Policy) bool { return len(p.Denylist) > 0 }),
			edit(func(d *store.Document) { d.Undeny("", approval.DenyRule{Pattern: "tool"}) }), "denied denylisted"},
	}
	for _, asks := range []bool{false, true} {
		for _, change := range changes {
			t.Run(change.name+map[bool]string{false: ", allowed", true: ", asked"}[asks], func(t *testing.T) {
				t.Parallel()
				swapPolicy(t, asks, change)
			})
		}
	}
}

// policyChange closes the policy, which then denies as want says, and opens it.
type policyChange struct {
	name        string
	close, open func(b *bench)
	want        string
}

func edit(change func(d *store.Document)) func(b *bench) {
	return func(b *bench) { b.edit(func(d *store.Document) error { change(d); return nil }) }
}

// byHand sets a default in the policy file as an editor does, and waits until
// that is in force.
func byHand(key string, value any, done func(p approval.Policy) bool) func(b *bench) {
	return func(b *bench) {
		b.rewrite(func(text []byte) []byte {
			var all map[string]any
			if err := json.Unmarshal(text, &all); err != nil {
				b.t.Error(err)
				return text
			}
			all["defaults"].(map[string]any)[key] = value
			text, _ = json.Marshal(all)
			return text
		})
		for n := 0; !done(b.store.Snapshot().Policy("main")); n++ {
			if n == 10_000 {
				b.t.Errorf("%s %v is not in force", key, value)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// Who writes the hash of another file into the record of an entry, and puts that
// file into place, has nothing run: it is a permission that nobody gave.
func TestSwapRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
	b.nobody()
	b.script("tool", "echo A")
	b.script("other", "echo B")
	hash := func(name string) string {
		text, err := os.ReadFile(b.path(name))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sha256.Sum256(text))
	}
	a, other := hash("bin/tool"), hash("bin/other")
	record := func(from, to string) {
		b.rewrite(func(text []byte) []byte { return bytes.ReplaceAll(text, []byte(from), []byte(to)) })
	}
	b.want([]string{"tool"}, `code 0 "A\n"`)
	count := map[string]int{}
	for i := range swaps(t) {
		record(a, other)
		exchange(b, "bin/tool", "bin/other")
		if i%2 == 1 { // the other file first known as it was
			time.Sleep(time.Millisecond)
		}
		got := outcome(b.Run(context.Background(), b.request("tool")))
		if !strings.HasPrefix(got, "denied") {
			t.Fatalf("round %d: %s", i, got)
		}
		count[got]++
		exchange(b, "bin/tool", "bin/other")
		record(other, a)
	}
	t.Logf("what became of it: %v", count)
}

func swapPolicy(t *testing.T, asks bool, change policyChange) {
	b := newBench(t)
	b.script("tool", "echo A")
	if asks {
		b.person(once, nil)
	} else {
		b.edit(func(d *store.Document) error { d.Add("*", approval.Entry{Pattern: "tool"}); return nil })
		b.want([]string{"tool"}, "code 0 \"A\\n\"") // an editor that began before the program was known would take that back, which waits for a person
	}
	// The policy is open while epoch is 4n, closed while it is 4n+2, and on its way
	// from one to the other while it is odd.
	var epoch, runs atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	defer func() { close(stop); <-stopped }()
	go func() {
		defer close(stopped)
		for {
			for _, step := range []func(b *bench){change.close, change.open} {
				epoch.Add(1)
				step(b)
				epoch.Add(1)
				// Now and then it stays so while a whole request is judged.
				for until := runs.Load() + 2*rand.Int64N(2); ; time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond) {
					select {
					case <-stop:
						return
					default:
					}
					if runs.Load() >= until {
						break
					}
				}
			}
		}
	}()
	count := map[string]int{}
	least, open, closed := swaps(t), 0, 0
	for i := 0; (i < least || open == 0 || closed == 0) && !t.Failed(); i++ { // where a change failed, none comes any more
		time.Sleep(time.Duration(rand.IntN(3000)) * time.Microsecond) // what is denied at once waits for no change
		before := epoch.Load()
		got := outcome(b.Run(context.Background(), b.request("tool")))
		runs.Add(1)
		count[got]++
		switch after := epoch.Load(); {
		case before != after || before%2 == 1: // it changed meanwhile
		case before%4 == 2:
			if closed++; got != change.want {
				t.Fatalf("round %d: %s while nothing was allowed", i, got)
			}
		default:
			if open++; got != "code 0 \"A\\n\"" {
				t.Fatalf("round %d: %s while it was allowed", i, got)
			}
		}
	}
	t.Logf("what became of it: %v; %d while it was allowed, %d while nothing was", count, open, closed)
}

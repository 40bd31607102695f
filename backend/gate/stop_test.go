package gate_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

const (
	stoppedBy = "denied user-denied"
	// tooSlow is what comes of one that takes longer than a pause waits for, on a
	// machine that has other things to do.
	tooSlow = "denied approval-cancelled"
)

// stop stops everything as a host does.
func (b *bench) stop() (questions, answers int) {
	questions, _, answers = b.Stop("panel")
	if _, err := b.runner.StopAll(context.Background()); err != nil {
		b.t.Error(err)
	}
	return questions, answers
}

// marks are the programs that have started so far, by the number of their
// request.
func (b *bench) marks(upTo int64) map[string]bool {
	found := map[string]bool{}
	list, _ := filepath.Glob(b.path("marks/*"))
	for _, name := range list {
		var n int64
		if fmt.Sscanf(filepath.Base(name), "test-%d", &n); n <= upTo {
			found[filepath.Base(name)] = true
		}
	}
	return found
}

// TestStopRace stops everything again and again while many requests are on
// their way in every part of the gate. Nothing of those that came before a stop
// starts after it; those that come later run.
func TestStopRace(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "mark"})
	if err := os.Mkdir(b.path("marks"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.script("mark", `: >`+b.path("marks")+`/$COUNTERSIGN_RUN.$$`)
	b.script("other", `: >`+b.path("marks")+`/$COUNTERSIGN_RUN.$$`)
	b.personWho(func(approval.Prompt) approval.Answer { return once })
	dawdle := func() { time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond) } // makes each gap wider
	b.onEvent = map[approval.EventKind]func(){approval.EventStarted: dawdle, approval.EventAnswered: dawdle}
	b.afterCheck = dawdle
	requests := [][]string{
		{"mark"}, {"bash", "-c", "mark; mark; mark; mark"}, {"bash", "-c", "mark | mark && mark"},
		{"bash", "-c", "for i in a b c d e f; do mark $i; done"}, {"other"}, {"other"}, {"bash", "-c", "x=$(mark); mark $x"},
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	begun := make([]sync.WaitGroup, 2) // requests of the even and the odd rounds
	var round sync.RWMutex
	current := 0
	ran := 0
	var mu sync.Mutex
	for i := range 10 {
		all.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				round.RLock()
				mine := &begun[current]
				mine.Add(1)
				round.RUnlock()
				words := requests[n%len(requests)]
				if words[0] == "other" { // each of them asks by itself
					words = []string{"other", fmt.Sprint(i, n)}
				}
				r := b.Run(ctx, b.request(words...))
				mine.Done()
				switch got := outcome(r); {
				case r.Denied == nil && r.ExitCode != nil:
					mu.Lock()
					ran++
					mu.Unlock()
				case r.Denied == nil && strings.Contains(r.Error, "Stop everything"), got == stoppedBy:
				case ctx.Err() == nil:
					t.Errorf("%s", got)
				}
			}
		})
	}
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	caught := 0
	for n := range rounds {
		time.Sleep(time.Duration(n*7%23) * time.Millisecond)
		upTo := b.ids.Load()
		b.stop()
		before := b.marks(upTo)
		round.Lock()
		old := &begun[current]
		current = 1 - current
		round.Unlock()
		old.Wait()
		after := b.marks(upTo)
		for name := range after {
			if !before[name] {
				t.Errorf("round %d: %s started after the stop", n, name)
			}
		}
		caught += len(before)
	}
	cancel()
	b.pending.Close()
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	if ran == 0 || caught == 0 {
		t.Errorf("%d ran to their end, %d programs were seen: nothing was tried", ran, caught)
	}
	t.Logf("%d rounds, %d requests ran to their end", rounds, ran)
}

// A stop at each place of a request's way, one after the other.
func TestStopAtEachPlace(t *testing.T) {
	allowed := approval.Entry{Pattern: "tool"}
	tests := []struct {
		name    string
		entries []approval.Entry
		words   []string
		prepare func(b *bench)
	}{
		{"while it is judged", []approval.Entry{allowed}, []string{"tool"}, func(b *bench) {
			machine := b.Machine
			b.Machine = func(ctx context.Context) (*judge.Machine, error) { b.stop(); return machine(ctx) }
		}},
		{"while the question is open", nil, []string{"tool"}, func(b *bench) {
			b.person(once, func() { b.stop() })
		}},
		{"between the answer and the start", nil, []string{"tool"}, func(b *bench) {
			b.person(once, nil)
			b.onEvent = map[approval.EventKind]func(){approval.EventAnswered: func() { b.stop() }}
		}},
		{"with a yes for always", nil, []string{"tool"}, func(b *bench) {
			b.person(always, nil)
			b.onEvent = map[approval.EventKind]func(){approval.EventAnswered: func() { b.stop() }}
		}},
		{"after it was let through", []approval.Entry{allowed}, []string{"tool"}, func(b *bench) {
			b.onEvent = map[approval.EventKind]func(){approval.EventStarted: func() { b.Stop("panel") }}
		}},
		{"between the last look and the start", []approval.Entry{allowed}, []string{"tool"}, func(b *bench) {
			b.afterCheck = func() { b.Stop("panel"); b.endAllNow() }
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.entries...)
			b.t = t
			b.script("tool", "touch "+b.path("mark"))
			test.prepare(b)
			r := b.Run(t.Context(), b.request(test.words...))
			if got := outcome(r); got != stoppedBy && !strings.Contains(got, "Stop everything") {
				t.Error(got)
			}
			if r.Denied != nil && !strings.Contains(judge.Message(*r.Denied), "the person pressed Stop everything") {
				t.Error(judge.Message(*r.Denied))
			}
			if _, err := os.Stat(b.path("mark")); err == nil {
				t.Error("it ran")
			}
			if n := len(b.store.Snapshot().Policy("main").Allowlist); n != len(test.entries) {
				t.Errorf("%d entries", n)
			}
		})
	}
}

// endAllNow ends what runs and waits for nothing.
func (b *bench) endAllNow() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, _ = b.runner.StopAll(ctx)
}

// A text that is stopped between two programs does not go on.
func TestStopBetweenPrograms(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo $1")
	n := 0
	b.afterCheck = func() {
		if n++; n == 1 { // the first program may start, and nothing after it
			b.Stop("panel")
		}
	}
	r := b.Run(t.Context(), b.request("bash", "-c", "tool one; tool two; tool three"))
	if outcome(r) != stoppedBy || string(r.Stdout) != "one\n" {
		t.Errorf("%s, %q", outcome(r), r.Stdout)
	}
}

// A stop denies what waits, also in a pause, and ends the answers that stand.
func TestStopDeniesWhatWaits(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "allowed"})
	b.script("allowed", "touch "+b.path("mark"))
	b.allowAgain(b.request("touch", "again"))
	b.left(b.request("touch", "gone"))
	_, _, asked := b.waits(b.request("touch", "asked"))
	if err := b.Pause(time.Time{}); err != nil {
		t.Fatal(err)
	}
	held := make(chan approval.Result, 1)
	go func() { held <- b.Run(t.Context(), b.request("allowed")) }()
	theirs := make(chan approval.Decision, 1)
	go func() {
		req := b.request("allowed")
		req.Who = approval.Theirs
		d, _ := b.Decide(t.Context(), req, nil)
		theirs <- d
	}()
	b.heldBack(2)
	if questions, answers := b.stop(); questions != 1 || answers != 1 {
		t.Errorf("%d questions, %d answers", questions, answers)
	}
	if a, h := outcome(<-asked), outcome(<-held); a != stoppedBy || h != stoppedBy {
		t.Errorf("asked: %s, held back: %s", a, h)
	}
	if d := <-theirs; d != approval.DecisionDeny {
		t.Errorf("theirs: %s", d)
	}
	if left, stand := b.pending.List(), b.Standing(); len(left)+len(stand) != 0 {
		t.Errorf("left: %+v, %+v", left, stand)
	}
	if _, _, paused := b.Paused(); !paused {
		t.Error("a stop ended the pause")
	}
	b.Resume()
	b.want([]string{"allowed"}, `code 0 ""`)
	b.asksNow(t, b.request("touch", "again"))
}

func (b *bench) heldBack(want int) {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, n, _ := b.Paused(); n == want {
			return
		}
	}
	b.t.Fatalf("never: %d requests are held back", want)
}

// In a pause nothing starts; afterwards all is judged as things are then.
func TestPause(t *testing.T) {
	tests := []struct {
		name   string
		words  []string
		change func(b *bench)
		want   string
	}{
		{"what policy allows", []string{"tool"}, func(*bench) {}, `code 0 "ran\n"`},
		{"a text", []string{"bash", "-c", "tool; tool"}, func(*bench) {}, `code 0 "ran\nran\n"`},
		{"a deny rule meanwhile", []string{"tool"}, func(b *bench) {
			b.edit(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "tool"}); return nil })
		}, "denied denylisted"},
		{"an entry that is gone", []string{"tool"}, func(b *bench) {
			b.edit(func(d *store.Document) error { d.Remove("*", "tool"); return nil })
		}, "denied user-denied"}, // it asks
		{"another file", []string{"tool"}, func(b *bench) { b.script("tool", "echo other") }, "denied user-denied"},
		{"what is denied does not wait", []string{"rm", "-rf", "/"}, nil, "denied floor"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, approval.Entry{Pattern: "tool"})
			b.t = t
			b.script("tool", "echo ran")
			b.want([]string{"tool"}, `code 0 "ran\n"`) // its file is known from here on
			b.person(no, nil)
			if err := b.Pause(time.Time{}); err != nil {
				t.Fatal(err)
			}
			done := make(chan approval.Result, 1)
			go func() { done <- b.Run(t.Context(), b.request(test.words...)) }()
			if test.change != nil {
				b.heldBack(1)
				test.change(b)
				if len(done) > 0 {
					t.Errorf("it did not wait: %s", outcome(<-done))
				}
				b.Resume()
			}
			if got := outcome(<-done); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
			b.heldBack(0)
		})
	}
}

// A yes that was given in a pause starts nothing before it is over, and what
// changes until then is drift.
func TestPauseAfterTheAnswer(t *testing.T) {
	for name, drifts := range map[string]bool{"as it was": false, "drifted": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.t = t
			b.script("tool", "echo good")
			b.person(once, nil)
			if err := b.Pause(time.Time{}); err != nil {
				t.Fatal(err)
			}
			done := make(chan approval.Result, 1)
			go func() { done <- b.Run(t.Context(), b.request("tool")) }()
			b.heldBack(1)
			want := `code 0 "good\n"`
			if drifts {
				b.script("tool", "echo evil")
				want = "denied drifted"
			}
			b.Resume()
			if got := outcome(<-done); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		})
	}
}

// Who waits in a pause waits as far as its caller does, and they are bounded.
func TestPauseEndsAndLimits(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo ran")
	if err := b.Pause(time.Time{}); err != nil {
		t.Fatal(err)
	}
	late := b.request("tool")
	late.Deadline = time.Now().Add(1100 * time.Millisecond)
	if r := b.Run(t.Context(), late); outcome(r) != "denied prompt-expired" || !strings.Contains(judge.Message(*r.Denied), "paused all the time") {
		t.Errorf("%s %+v", outcome(r), r.Denied)
	}
	asks := b.request("touch", "x")
	asks.Deadline = time.Now().Add(1100 * time.Millisecond)
	if r := b.Run(t.Context(), asks); outcome(r) != "denied prompt-expired" || !strings.Contains(judge.Message(*r.Denied), "Countersign is paused") {
		t.Errorf("%s %+v", outcome(r), r.Denied)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	gone := make(chan approval.Result, 1)
	go func() { gone <- b.Run(ctx, b.request("tool")) }()
	b.heldBack(1)
	hangUp()
	if r := <-gone; outcome(r) != "denied approval-cancelled" {
		t.Error(outcome(r))
	}
	var all sync.WaitGroup
	for range pending.PerAgent {
		all.Go(func() { b.Run(t.Context(), b.request("tool")) })
	}
	b.heldBack(pending.PerAgent)
	b.want([]string{"tool"}, "denied rate-limited")
	other := b.request("tool")
	other.AgentID = "other"
	all.Go(func() {
		if got := outcome(b.Run(t.Context(), other)); got != `code 0 "ran\n"` {
			t.Errorf("another agent: %s", got)
		}
	})
	b.heldBack(pending.PerAgent + 1)
	b.Resume()
	all.Wait()
}

// TestPauseLeavesPlaces lets one family wait under as many names as it likes: it has
// a half of the places, and another one still waits beside it.
func TestPauseLeavesPlaces(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo ran")
	if err := b.Pause(time.Time{}); err != nil {
		t.Fatal(err)
	}
	ctx, hangUp := context.WithCancel(t.Context())
	var all sync.WaitGroup
	var limited atomic.Int32
	wait := func(family, agent string) {
		r := b.request("tool")
		r.AgentID, r.Peer.Family = agent, family
		all.Go(func() {
			switch got := outcome(b.Run(ctx, r)); got {
			case "denied rate-limited":
				limited.Add(1)
			case "denied approval-cancelled":
			default:
				t.Error(got)
			}
		})
	}
	for i := range pending.Total/2 + 10 {
		wait("1/1", fmt.Sprint(i))
	}
	b.heldBack(pending.Total / 2)
	for end := time.Now().Add(30 * time.Second); limited.Load() < 10 && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	wait("2/2", "honest")
	b.heldBack(pending.Total/2 + 1)
	hangUp()
	all.Wait()
	if n := limited.Load(); n != 10 {
		t.Errorf("%d were refused, want 10", n)
	}
	b.heldBack(0)
}

// TestPauseStartsNothing pauses again and again while many requests are on
// their way: nothing new starts from the moment on that it is paused.
func TestPauseStartsNothing(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "mark"})
	if err := os.Mkdir(b.path("marks"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.script("mark", `: >`+b.path("marks")+`/$COUNTERSIGN_RUN.$$`)
	b.script("other", `: >`+b.path("marks")+`/$COUNTERSIGN_RUN.$$`)
	b.personWho(func(approval.Prompt) approval.Answer { return once })
	dawdle := func() { time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond) } // makes each gap wider
	b.onEvent = map[approval.EventKind]func(){approval.EventStarted: dawdle, approval.EventAnswered: dawdle}
	b.afterCheck = dawdle
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				words := [][]string{{"mark"}, {"bash", "-c", "mark; mark"}, {"other", fmt.Sprint(i, n)}}[n%3]
				if r := b.Run(ctx, b.request(words...)); r.Denied != nil && ctx.Err() == nil && outcome(r) != tooSlow {
					t.Errorf("%s", outcome(r))
				}
			}
		})
	}
	seen := 0
	for n := range 15 {
		time.Sleep(time.Duration(n*7%23) * time.Millisecond)
		if err := b.Pause(time.Time{}); err != nil {
			t.Fatal(err)
		}
		began := map[string]bool{} // what runs goes on
		for _, r := range b.runner.Running() {
			began[r.ID] = len(r.Groups) > 0
		}
		for name := range b.marks(1 << 60) {
			id, _, _ := strings.Cut(name, ".")
			began[id] = true
		}
		time.Sleep(30 * time.Millisecond) // for those that would
		for name := range b.marks(1 << 60) {
			if id, _, _ := strings.Cut(name, "."); !began[id] {
				t.Errorf("round %d: %s started in the pause", n, name)
			}
		}
		seen += len(began)
		b.Resume()
	}
	cancel()
	b.Resume()
	b.pending.Close()
	all.Wait()
	if seen == 0 {
		t.Error("nothing ran at all")
	}
}

// What was let through and does not come to start is denied at its first
// program: the pause does not wait for it for long.
func TestPauseSealsWhatIsSlow(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "touch "+b.path("mark"))
	b.onEvent = map[approval.EventKind]func(){approval.EventStarted: func() { // let through, and nothing runs yet
		if err := b.Pause(time.Time{}); err != nil {
			t.Error(err)
		}
	}}
	if r := b.Run(t.Context(), b.request("tool")); outcome(r) != "denied approval-cancelled" || !strings.Contains(judge.Message(*r.Denied), string(approval.EndingNobody)) {
		t.Errorf("%s", outcome(r))
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("it ran")
	}
	b.onEvent = nil
	b.Resume()
	b.want([]string{"tool"}, `code 0 ""`)
}

// A pause becomes longer and never shorter, and ends by itself.
func TestPauseUntil(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo ran")
	in := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for i, step := range []struct {
		until time.Time
		err   error
	}{
		{in(time.Minute), nil}, {in(time.Second), gate.ErrPaused}, {in(time.Hour), nil}, {time.Time{}, nil}, {in(24 * time.Hour), gate.ErrPaused}, {time.Time{}, nil},
	} {
		if err := b.Pause(step.until); !errors.Is(err, step.err) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if until, _, on := b.Paused(); !on || !until.IsZero() {
		t.Errorf("%v %v", until, on)
	}
	b.Resume()
	b.Resume()
	if _, _, on := b.Paused(); on {
		t.Error("it is paused after it was resumed")
	}
	began := time.Now()
	if err := b.Pause(in(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	b.want([]string{"tool"}, `code 0 "ran\n"`)
	if waited := time.Since(began); waited < 300*time.Millisecond {
		t.Errorf("it ran after %s", waited)
	}
	if err := b.Pause(in(-time.Hour)); err != nil { // over before it began
		t.Fatal(err)
	}
	b.want([]string{"tool"}, `code 0 "ran\n"`)
}

// Pauses that come and go, and stops, leave nobody waiting.
func TestPauseRace(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo ran")
	b.person(once, nil)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 10 {
				words := []string{"tool"}
				if i%3 == 0 {
					words = []string{"touch", b.path(fmt.Sprint(i))} // each asks by itself
				}
				if got := outcome(b.Run(t.Context(), b.request(words...))); got != `code 0 "ran\n"` && got != `code 0 ""` && got != stoppedBy && got != tooSlow && !strings.Contains(got, "Stop everything") {
					t.Error(got)
				}
			}
		})
	}
	over := make(chan struct{})
	go func() { all.Wait(); close(over) }()
	for n := 0; ; n++ {
		select {
		case <-over:
			b.Resume()
			b.heldBack(0)
			return
		case <-time.After(time.Duration(n%5) * time.Millisecond):
		}
		if n%2 == 0 {
			_ = b.Pause(time.Now().Add(time.Duration(n%7) * time.Millisecond))
		} else if b.Resume(); n%9 == 0 {
			b.Stop("panel")
		}
	}
}

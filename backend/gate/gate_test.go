package gate_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
)

// bench is a gate on real files and real programs. Only the person is
// invented: answer is asked what to say to each question.
type bench struct {
	*gate.Gate
	*judge.Judge
	t       *testing.T
	dir     string
	store   *store.Store
	history *history.DB
	pending *pending.Book
	runner  *runner.Runner
	ids     atomic.Int64 // given to requests
	canAsk  atomic.Bool
	asked   atomic.Int32
	mu      sync.Mutex
	events  []approval.EventKind
	// afterFinal is called when run-time words were judged, and afterCheck
	// between the last look at the policy and each start.
	afterFinal func(argv []string)
	afterCheck func()
	onEvent    map[approval.EventKind]func()
}

// hooked is the real runner, with something done before each start.
type hooked struct {
	*runner.Runner
	*bench
}

func (h hooked) Run(ctx context.Context, job runner.Job) approval.Result {
	check := job.Check
	job.Check = func(seg int, s *approval.Segment) error {
		err := check(seg, s)
		if h.afterCheck != nil {
			h.afterCheck()
		}
		return err
	}
	final := job.Final
	job.Final = func(seg int, argv []string, dir string) (*approval.Plan, error) {
		plan, err := final(seg, argv, dir)
		if h.afterFinal != nil {
			h.afterFinal(argv)
		}
		return plan, err
	}
	return h.Runner.Run(ctx, job)
}

func (b *bench) CanAsk() bool { return b.canAsk.Load() }

func (b *bench) Event(e approval.Event) {
	b.mu.Lock()
	b.events = append(b.events, e.Kind)
	b.mu.Unlock()
	if do := b.onEvent[e.Kind]; do != nil {
		do()
	}
}

// newBench makes a gate whose agents are judged by allowlist, on-miss, with
// these entries.
func newBench(t *testing.T, entries ...approval.Entry) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := dir
	dir = filepath.Join(home, "work") // a project of the person, in which ~ is it
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir}
	b.canAsk.Store(true)
	state := paths.At(filepath.Join(dir, "state"))
	if b.store, err = store.Open(store.Options{State: state, Home: dir}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(state.Dir, 0o700), os.WriteFile(state.History(), emptyHistory(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if b.history, err = history.Open(history.Options{Path: state.History()}); err != nil {
		t.Fatal(err)
	}
	run, err := runner.New(runner.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.pending, b.runner = pending.New(), run
	t.Cleanup(func() {
		b.pending.Close()
		run.Close()
		b.history.Close()
		b.store.Close()
	})
	env := environ.FromProcess([]string{"PATH=" + dir + "/bin:/usr/bin:/bin", "HOME=" + dir})
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid(), Ours: []string{state.Dir}}
	a.Secrets = func() bool { return false }
	a.Temp = []string{home + "/tmp"}
	if err := errors.Join(os.Mkdir(dir+"/bin", 0o755), os.Mkdir(home+"/tmp", 0o755)); err != nil {
		t.Fatal(err)
	}
	a.IsOurs = machine.OwnPrograms(&machine.Hashes{}, []string{b.script("countersign", `echo "countersign $*"`)})
	a.SetPath(env.Path())
	here := &judge.Machine{Analyzer: a, Env: env}
	b.Gate = gate.New(gate.Config{
		Machine: func(context.Context) (*judge.Machine, error) { return here, nil },
		Home:    dir, Store: b.store, History: b.history, Pending: b.pending, Hashes: &machine.Hashes{}, Signers: &machine.Signers{},
		Asker: b, Runner: hooked{run, b}, Events: b, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { return fmt.Sprintf("test-%d", b.ids.Add(1)) },
	})
	b.Judge = b.Gate.Judge()
	b.edit(func(d *store.Document) error {
		d.Defaults.Security, d.Defaults.Ask = approval.SecurityList, approval.AskOnMiss
		d.Name(approval.Project{Path: dir})
		for _, e := range entries {
			d.Add("*", e)
		}
		return nil
	})
	return b
}

// emptyHistory is what a new history holds: to make one takes longer than most
// tests do.
var emptyHistory = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "history")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "history")
	db, err := history.Open(history.Options{Path: path})
	if err != nil {
		panic(err)
	}
	if err := db.Close(); err != nil {
		panic(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	return text
})

func (b *bench) edit(change func(*store.Document) error) {
	b.t.Helper()
	if snap, err := b.store.Update("", change); err != nil {
		b.t.Fatalf("%v %+v", err, snap.Held)
	}
}

// onlyProject has the person name this folder alone, and not all of the bench.
func (b *bench) onlyProject(name string) {
	b.t.Helper()
	b.edit(func(d *store.Document) error {
		d.Projects = []approval.Project{{Path: b.path(name)}}
		return nil
	})
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

// writeProgram writes a file that is started soon. No child of another test may
// hold it open for writing then, so nothing starts meanwhile.
func writeProgram(path string, text []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, text, 0o755)
}

// script makes a program that leaves a mark when it runs.
func (b *bench) script(name, text string) string {
	b.t.Helper()
	at := b.path("bin/" + name)
	if err := writeProgram(at+".new", []byte("#!/bin/sh\n"+text+"\n")); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(at+".new", at); err != nil {
		b.t.Fatal(err)
	}
	return at
}

func (b *bench) request(words ...string) approval.Request {
	return approval.Request{Command: words, Cwd: b.dir, Who: approval.Ours, AgentID: "main", Deadline: time.Now().Add(time.Minute)}
}

// person answers every question from now on, after doing something else.
func (b *bench) person(say approval.Answer, before func()) {
	b.t.Helper()
	b.personWho(func(approval.Prompt) approval.Answer {
		if before != nil {
			before()
		}
		return say
	})
}

// personWho answers every question from now on with what say returns then.
func (b *bench) personWho(say func(p approval.Prompt) approval.Answer) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	b.t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		cursor := uint64(0)
		for ctx.Err() == nil {
			var list []approval.Prompt
			cursor, list = b.pending.Watch(ctx, cursor)
			for _, p := range list {
				if p.CallerGone {
					continue
				}
				b.asked.Add(1)
				if err := b.pending.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: p.Count}, say(p)); err != nil && !errors.Is(err, pending.ErrUnknown) {
					b.t.Errorf("answer: %v", err)
				}
			}
		}
	}()
}

var (
	once   = approval.Answer{Decision: approval.AllowOnce, By: "terminal"}
	always = approval.Answer{Decision: approval.AllowAlways, By: "terminal"}
	no     = approval.Answer{Decision: approval.DecisionDeny, By: "terminal", Note: "not now"}
)

// outcome writes a result in one line.
func outcome(r approval.Result) string {
	if r.Denied != nil {
		return "denied " + string(r.Denied.Reason)
	}
	if r.ExitCode == nil {
		return "no exit code: " + r.Error
	}
	return fmt.Sprintf("code %d %q", *r.ExitCode, string(r.Stdout)+string(r.Stderr))
}

func (b *bench) want(words []string, want string) {
	b.t.Helper()
	if got := outcome(b.Run(context.Background(), b.request(words...))); got != want {
		b.t.Errorf("%q: %s, want %s", words, got, want)
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "hello"})
	b.script("hello", "echo hello $1")
	b.want([]string{"hello", "you"}, `code 0 "hello you\n"`)
	b.want([]string{"bash", "-c", "hello a && hello b | wc -l"}, `code 0 "hello a\n1\n"`)
	if b.asked.Load() != 0 {
		t.Error("somebody was asked")
	}
	if want := []approval.EventKind{approval.EventStarted, approval.EventFinished}; !slices.Equal(b.events[:2], want) {
		t.Errorf("events %v", b.events)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		say  approval.Answer
		want string
		runs bool
	}{
		{"once", once, `code 0 "ran\n"`, true},
		{"always", always, `code 0 "ran\n"`, true},
		{"no", no, "denied user-denied", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.script("tool", "echo ran; touch "+b.path("mark"))
			b.person(test.say, nil)
			b.want([]string{"tool"}, test.want)
			if _, err := os.Stat(b.path("mark")); (err == nil) != test.runs {
				t.Errorf("it ran: %v", err == nil)
			}
			// Only always is remembered.
			b.want([]string{"tool"}, test.want)
			if wantAsked := map[bool]int32{true: 1, false: 2}[test.say == always]; b.asked.Load() != wantAsked {
				t.Errorf("asked %d times, want %d", b.asked.Load(), wantAsked)
			}
		})
	}
}

// An entry that allow-always wrote holds for the file that was seen.
func TestAlwaysBindsTheFile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo one")
	b.person(always, nil)
	b.want([]string{"tool"}, `code 0 "one\n"`)
	b.script("tool", "echo two")
	b.edit(func(d *store.Document) error { d.Agent("main").Ask = approval.AskOff; return nil })
	b.want([]string{"tool"}, "denied binary-changed")
}

// What changes between the question and the answer never runs.
func TestDrift(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(b *bench)
		want   string
	}{
		{"the file", func(b *bench) { b.script("tool", "echo evil") }, "denied drifted"},
		{"the file in place", func(b *bench) {
			if f, err := os.OpenFile(b.path("bin/tool"), os.O_WRONLY|os.O_APPEND, 0); err == nil {
				fmt.Fprintln(f, "echo evil")
				f.Close()
			}
		}, "denied drifted"},
		{"another one earlier in PATH", func(b *bench) {
			os.Rename(b.path("bin/tool"), b.path("bin/moved"))
			os.Symlink("/bin/ls", b.path("bin/tool"))
		}, "denied drifted"},
		{"the folder", func(b *bench) {
			os.Rename(b.path("project"), b.path("old"))
			os.Mkdir(b.path("project"), 0o755)
		}, "denied drifted"},
		{"the folder is gone", func(b *bench) { os.RemoveAll(b.path("project")) }, "denied cwd-unavailable"},
		{"what an argument leads to", func(b *bench) {
			os.Remove(b.path("project/notes"))
			os.Symlink("../.env", b.path("project/notes"))
		}, "denied drifted"},
		{"a deny rule", func(b *bench) {
			b.edit(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "tool"}); return nil })
		}, "denied denylisted"},
		{"security", func(b *bench) {
			b.edit(func(d *store.Document) error { d.Defaults.Security = approval.SecurityDeny; return nil })
		}, "denied security=deny"},
		{"nothing", func(*bench) {}, `code 0 "good\n"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t)
			b.script("tool", "echo good")
			if err := os.Mkdir(b.path("project"), 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"project/notes", ".env"} {
				if err := os.WriteFile(b.path(name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			b.person(once, func() { test.change(b) })
			req := b.request("tool", "notes")
			req.Cwd = b.path("project")
			if got := outcome(b.Run(context.Background(), req)); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// Identical requests share one question; a request for another file never
// joins it, though its words are the same.
func TestMerging(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo one")
	ask := func() <-chan approval.Result {
		done := make(chan approval.Result, 1)
		cursor, _ := b.pending.Watch(context.Background(), 0)
		go func() { done <- b.Run(context.Background(), b.request("tool")) }()
		b.pending.Watch(context.Background(), cursor)
		return done
	}
	first, second := ask(), ask()
	b.script("tool", "echo two")
	third := ask()
	list := b.pending.List()
	if len(list) != 2 || list[0].Count != 2 || list[1].Count != 1 {
		t.Fatalf("%d questions: %+v", len(list), list)
	}
	for _, p := range list {
		if err := b.pending.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: p.Count}, once); err != nil {
			t.Fatal(err)
		}
	}
	for i, done := range []<-chan approval.Result{first, second, third} {
		want := "denied drifted"
		if i == 2 {
			want = `code 0 "two\n"`
		}
		if got := outcome(<-done); got != want {
			t.Errorf("request %d: %s, want %s", i+1, got, want)
		}
	}
}

func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "listed"})
	b.script("tool", "echo ran")
	b.script("listed", "echo listed")
	b.canAsk.Store(false)
	b.want([]string{"tool"}, "denied ask-fallback")
	b.want([]string{"bash", "-c", "listed; nothere"}, "denied not-found")
	b.want([]string{"bash", "-c", "nothere; tool"}, "denied ask-fallback")
	b.edit(func(d *store.Document) error {
		d.Defaults.Ask, d.Defaults.AskFallback = approval.AskAlways, approval.SecurityList
		return nil
	})
	b.want([]string{"tool"}, "denied ask-fallback")
	b.want([]string{"listed"}, `code 0 "listed\n"`)
	b.edit(func(d *store.Document) error { d.Defaults.AskFallback = approval.SecurityFull; return nil })
	b.want([]string{"tool"}, `code 0 "ran\n"`)
	b.want([]string{"bash", "-c", "tool; x=1; tool"}, `code 0 "ran\nran\n"`)
	b.want([]string{"bash", "-c", "rm -rf /"}, "denied floor")
	b.want([]string{"cat", ".env"}, "denied ask-fallback")
	if b.asked.Load() != 0 {
		t.Error("somebody was asked")
	}
}

func TestLease(t *testing.T) {
	t.Parallel()
	two := 2
	b := newBench(t, approval.Entry{ID: "lease", Pattern: "tool", UsesLeft: &two})
	b.script("tool", "echo ran")
	b.canAsk.Store(false)
	b.want([]string{"bash", "-c", "tool; tool"}, `code 0 "ran\nran\n"`)
	b.want([]string{"tool"}, `code 0 "ran\n"`)
	b.want([]string{"tool"}, "denied ask-fallback")
}

// A lease that ends while a text runs lets nothing more of it start, and one
// that lets a program start in the place of another entry is used up by that.
func TestLeaseInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(d *store.Document)
		later  time.Duration
		want   string
	}{
		"nothing changes":       {func(*store.Document) {}, 0, `code 0 "aa"`},
		"it ends":               {func(*store.Document) {}, 2 * time.Hour, "denied lease-ended"},
		"one use is left":       {func(d *store.Document) { d.Agent("*").Allowlist[0].UsesLeft = new(1) }, 0, `code 0 "aa"`},
		"the last use was made": {func(d *store.Document) { d.Agent("*").Allowlist[0].UsesLeft = new(0) }, 0, "denied lease-ended"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, approval.Entry{ID: "lease", Pattern: "cat", ExpiresAt: time.Now().Add(time.Hour).UnixMilli()})
			b.nobody()
			b.put("a", "a")
			var later atomic.Int64
			b.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
			b.afterCheck = sync.OnceFunc(func() {
				b.edit(func(d *store.Document) error { test.change(d); return nil })
				later.Store(int64(test.later))
			})
			b.want([]string{"bash", "-c", "cat a; cat a"}, test.want)
			if left := b.store.Snapshot().Policy("main").Allowlist[0].UsesLeft; left != nil && *left > 0 {
				t.Errorf("%d uses are left", *left)
			}
		})
	}
}

// A new entry answers the waiting questions that it covers.
func TestRecheck(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo ran")
	done := make(chan approval.Result, 1)
	cursor, _ := b.pending.Watch(context.Background(), 0)
	go func() { done <- b.Run(context.Background(), b.request("tool")) }()
	b.pending.Watch(context.Background(), cursor)
	b.edit(func(d *store.Document) error { d.Add("main", approval.Entry{Pattern: "tool"}); return nil })
	b.Recheck()
	if got := outcome(<-done); got != `code 0 "ran\n"` {
		t.Error(got)
	}
}

func TestCallerGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "touch "+b.path("mark"))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan approval.Result, 1)
	cursor, _ := b.pending.Watch(context.Background(), 0)
	go func() { done <- b.Run(ctx, b.request("tool")) }()
	b.pending.Watch(context.Background(), cursor)
	cancel()
	if got := outcome(<-done); got != "denied approval-cancelled" {
		t.Error(got)
	}
	list := b.pending.List()
	if len(list) != 1 || !list[0].CallerGone {
		t.Fatalf("%+v", list)
	}
	if err := b.pending.Answer(list[0].ID, pending.Shown{Digest: list[0].Digest(), Count: 1}, once); !errors.Is(err, pending.ErrGone) {
		t.Error(err)
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("it ran")
	}
}

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	tests := []struct {
		change func(*approval.Request)
		want   string
	}{
		{func(r *approval.Request) { r.Command = nil }, "denied invalid"},
		{func(r *approval.Request) { r.Command = []string{" ls"} }, "denied invalid"},
		{func(r *approval.Request) { r.RawCommand = "other" }, "denied invalid"},
		{func(r *approval.Request) { r.Env = map[string]string{"LD_PRELOAD": "x"} }, "denied env-refused"},
		{func(r *approval.Request) { r.Env = map[string]string{"PATH": "/x"} }, "denied env-refused"},
		{func(r *approval.Request) { r.Cwd = b.path("nowhere") }, "denied cwd-unavailable"},
		{func(r *approval.Request) { r.Cwd = "relative" }, "denied cwd-unavailable"},
		{func(r *approval.Request) { r.Command = []string{"nothere"} }, "denied not-found"},
		{func(r *approval.Request) { r.NeedsScreenRecording = true }, "denied permission:screenRecording"},
	}
	for _, test := range tests {
		req := b.request("/bin/ls")
		test.change(&req)
		if got := outcome(b.Run(context.Background(), req)); got != test.want {
			t.Errorf("%+v: %s, want %s", req, got, test.want)
		}
	}
	rows, err := b.history.List(context.Background(), history.Query{})
	if err != nil || len(rows) != len(tests) {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for _, row := range rows {
		if row.State != history.Denied || row.Reason == "" || row.Ended.IsZero() {
			t.Errorf("%+v", row)
		}
	}
}

// What needs the screen runs where commands may record it, and is judged like
// everything else then.
func TestScreen(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "exit 3")
	for _, row := range []struct {
		screen func() bool
		want   string
	}{
		{nil, "denied permission:screenRecording"},
		{func() bool { return false }, "denied permission:screenRecording"},
		{func() bool { return true }, `code 3 ""`},
	} {
		b.Gate.Screen = row.screen
		req := b.request("tool")
		req.NeedsScreenRecording = true
		if got := outcome(b.Run(context.Background(), req)); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

// The history names each program of a run under its request, and keeps no
// secret.
func TestRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "exit 3")
	b.want([]string{"bash", "-c", "tool --password hunter2 | tool"}, `code 3 ""`)
	top := ""
	rows, err := b.history.List(context.Background(), history.Query{Parent: &top})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	row := rows[0]
	if row.State != history.Done || row.ExitCode == nil || *row.ExitCode != 3 || row.Verdict != approval.VerdictAllow || row.AgentID != "main" ||
		row.Risk != approval.RiskMedium || row.Choices != nil {
		t.Errorf("%+v", row)
	}
	programs, err := b.history.List(context.Background(), history.Query{Parent: &row.ID})
	if err != nil || len(programs) != 2 {
		t.Fatal(programs, err)
	}
	for _, p := range append(programs, row) {
		if strings.Contains(fmt.Sprintf("%+v", p), "hunter2") {
			t.Errorf("a secret is kept: %+v", p)
		}
		if p.Parent != "" && (p.PGID == 0 || p.ExitCode == nil || p.Program == "") {
			t.Errorf("%+v", p)
		}
	}
}

// A question's row holds the risk that was shown and the answers that were
// offered.
func TestRecordOfAQuestion(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "")
	b.person(once, nil)
	b.want([]string{"tool"}, `code 0 ""`)
	top := ""
	rows, err := b.history.List(context.Background(), history.Query{Parent: &top})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	want := []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DecisionDeny}
	if row := rows[0]; row.Risk != approval.RiskMedium || !slices.Equal(row.Choices, want) {
		t.Errorf("%+v", row)
	}
}

// Nothing runs while the history cannot take the row.
func TestNoHistoryNoRun(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "touch "+b.path("mark"))
	if err := b.history.Close(); err != nil {
		t.Fatal(err)
	}
	b.want([]string{"tool"}, "denied companion-unavailable")
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("it ran")
	}
}

// The text of a shell that is not there runs from its plan or not at all:
// never with the words of the shell for some other program.
func TestMissingShell(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo ran $*")
	b.person(once, nil)
	b.want([]string{"/nowhere/bash", "-c", "tool"}, `code 0 "ran\n"`)
	b.want([]string{"/nowhere/bash", "-c", "eval tool"}, "denied not-found")
	b.edit(func(d *store.Document) error { d.Defaults.Security = approval.SecurityFull; return nil })
	b.want([]string{"/nowhere/bash", "-c", "tool"}, "denied not-found")
}

// What starts too many programs at once asks, so it never runs where nobody
// is asked, and history says why.
func TestTooManyStages(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "cat")
	b.edit(func(d *store.Document) error { d.Defaults.Ask = approval.AskOff; return nil })
	b.want([]string{"bash", "-c", strings.TrimSuffix(strings.Repeat("tool | ", 40), " | ")}, "denied too-complex")
	rows, err := b.history.List(context.Background(), history.Query{})
	if err != nil || len(rows) != 1 || rows[0].State != history.Denied || rows[0].Reason != approval.ReasonTooComplex {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "touch "+b.path("mark"))
	ask := func(text string) approval.Request {
		return approval.Request{Text: text, Cwd: b.dir, Who: approval.Theirs, AgentID: "main", Deadline: time.Now().Add(time.Minute)}
	}
	b.person(no, nil)
	tests := []struct {
		text string
		want approval.Decision
	}{
		{"tool a | wc -l", approval.AllowOnce},
		{"tool $x", approval.DecisionDeny},
		{"other", approval.DecisionDeny},
	}
	for _, test := range tests {
		if got, answered := b.Decide(context.Background(), ask(test.text), nil); got != test.want || !answered {
			t.Errorf("%q: %s, %v", test.text, got, answered)
		}
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("we ran what the caller wanted to run")
	}
}

func TestBrokenPolicy(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "echo ran")
	b.want([]string{"tool"}, `code 0 "ran\n"`)
	if err := os.WriteFile(b.path("state/exec-approvals.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); b.store.Snapshot().Broken == nil; {
		if time.Now().After(deadline) {
			t.Fatal("nobody saw that the file broke")
		}
		time.Sleep(time.Millisecond)
	}
	b.want([]string{"tool"}, "denied policy-broken")
}

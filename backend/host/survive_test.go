//go:build linux || darwin

package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/history"
)

// kind is a request of some kind, how its caller goes on, and its answer.
type kind struct {
	text string // for bash -c; without it words are the command
	end  func(b *bench, agent string, hangUp context.CancelFunc)
	edit func(*approval.Request)
	want string
}

func stop(b *bench, agent string, _ context.CancelFunc) {
	b.call("running.stop", map[string]string{"id": b.runOf(agent)}, nil)
}

func hangUp(b *bench, agent string, cancel context.CancelFunc) {
	b.runOf(agent)
	cancel()
}

// runOf waits until a run of an agent goes on, and returns its id.
func (b *bench) runOf(agent string) (id string) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		list, err := b.running(context.Background())
		if err != nil {
			b.t.Error(err)
			return ""
		}
		if i := slices.IndexFunc(list, func(r Run) bool { return r.AgentID == agent }); i >= 0 {
			return list[i].ID
		}
	}
	b.t.Errorf("nothing of %s runs", agent)
	return ""
}

var kinds = []kind{
	{text: `cat one | cat && echo $(cat one)`, want: "code 0"},
	{text: `for i in 1 2 3; do cat one; done | head -2`, want: "code 0"},
	{text: "cat <<'E'\n" + strings.Repeat("x", 50_000) + "\nE", want: "code 0"},
	{text: `head -c 5000000 /dev/zero`, want: "code 0"},
	{text: `cat nothing`, want: "code 1"},
	{text: `leaver`, want: "code 3"},
	{text: `rm one`, want: "refused allowlist-miss"},
	{text: `while true; do :; done`, want: "refused too-complex"},
	{text: `cat one; cat "$(cat told)"`, want: "code 126"},
	{text: `cat one | { cat; x=$(yes); } | cat`, want: "code 126"},
	{text: `x=$(yes) | cat | cat`, want: "code 126"},
	{text: `sleeper | cat`, edit: func(r *approval.Request) { r.Timeout = 50 * time.Millisecond }, want: "timed out"},
	{text: `yes | { cat; } | sleeper`, edit: func(r *approval.Request) { r.Timeout = 50 * time.Millisecond }, want: "timed out"},
	{text: `x=$(sleeper)`, end: stop, want: "ended: the command was stopped"},
	{text: `while true; do cat one; done`, end: hangUp, want: "lost"},
	{text: `{ sleeper; } | cat`, end: hangUp, want: "lost"},
	{text: "sleeper <<'E' | cat\n" + strings.Repeat("x", 60_000) + "\nE", end: stop, want: "ended: the command was stopped"},
	{text: `sleeper`, edit: func(r *approval.Request) { r.Background = true }, end: func(b *bench, agent string, cancel context.CancelFunc) {
		id := b.runOf(agent)
		cancel()
		if err := b.call("running.stop", map[string]string{"id": id}, nil); err != nil {
			b.t.Errorf("a background run ended with its caller: %v", err)
		}
	}, want: "lost|ended: the command was stopped"},
	{edit: func(r *approval.Request) { r.Command = []string{"/bin/echo", "x"} }, want: "code 0"},
	{edit: func(r *approval.Request) { r.Command = []string{"no-such-program"} }, want: "refused not-found"},
	{edit: func(r *approval.Request) { r.Command = []string{"/bin/echo"}; r.Cwd = "/nowhere" }, want: "refused cwd-unavailable"},
}

// round sends every kind of request many times, some at once.
func (b *bench) round(times int) {
	var all sync.WaitGroup
	free := make(chan struct{}, 6)
	for n := range times {
		for i, k := range kinds {
			free <- struct{}{}
			all.Go(func() {
				defer func() { <-free }()
				req := b.text(k.text)
				req.AgentID = fmt.Sprintf("agent%d-%d", n, i)
				if k.edit != nil {
					k.edit(&req)
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				defer cancel()
				over := make(chan answer, 1)
				go func() { over <- b.ask(ctx, req) }()
				if k.end != nil {
					k.end(b, req.AgentID, cancel)
				}
				if got := <-over; !slices.Contains(strings.Split(k.want, "|"), got.String()) {
					b.t.Errorf("%.60q: got %v, want %s: %v %.200q", k.text, got, k.want, got.err, got.Stderr)
				}
			})
		}
	}
	all.Wait()
}

// state is what a request could leave behind in this process and its folders.
type state struct {
	offspring, runs, goroutines, files, temporary int
	heap                                          uint64
}

func (b *bench) state(t *testing.T) state {
	t.Helper()
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	open := len(approvaltest.Descriptors(t))
	var temporary int
	for _, pattern := range []string{os.TempDir() + "/*", b.path("*"), b.path("work/*"), b.path("state/*")} {
		list, err := filepath.Glob(pattern)
		must(t, err)
		temporary += len(list)
	}
	return state{len(offspring(t)), len(b.runner.Running()), runtime.NumGoroutine(), open, temporary, mem.HeapAlloc}
}

// TestNothingSurvives sends hundreds of requests of all kinds. What they took
// is given back: processes, goroutines, descriptors, files and memory.
func TestNothingSurvives(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	b := newBench(t, "/bin/cat", "/bin/echo", "/usr/bin/head", "/usr/bin/yes", "sleeper", "leaver")
	b.script("sleeper", hostile["sleeper"])
	b.script("leaver", hostile["leaver"])
	must(t, os.WriteFile(b.path("work/one"), []byte("one\n"), 0o600))
	must(t, os.WriteFile(b.path("work/told"), []byte(".env\n"), 0o600))
	b.round(2) // what is made once
	settle := func() state {
		eventually(t, "all runs are over", func() bool { return len(b.runner.Running()) == 0 && len(offspring(t)) == 0 })
		must(t, b.history.Sync(context.Background()))
		return b.state(t)
	}
	before, threads := settle(), threadsOf(t)
	const times = 12
	b.round(times)
	const more = 4 << 20 // bytes of what caches hold
	after, same := settle(), false
	for end := time.Now().Add(patience); !same && time.Now().Before(end); after = settle() {
		same = after.offspring == 0 && after.runs == 0 && after.goroutines <= before.goroutines &&
			after.files <= before.files && after.temporary <= before.temporary && after.heap < before.heap+more
	}
	if !same {
		stacks := make([]byte, 1<<20)
		t.Errorf("not all was given back:\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	t.Logf("%d requests: before %+v, after %+v, threads %d and %d", times*len(kinds), before, after, threads, threadsOf(t))
	// Threads are kept by the runtime and used again; what counts is that
	// they do not grow with the requests.
	if now := threadsOf(t); now > threads+times {
		t.Errorf("%d threads, and before there were %d", now, threads)
	}
	open, err := b.history.List(context.Background(), history.Query{State: history.Running})
	if err != nil || len(open) > 0 {
		t.Errorf("rows that still run: %+v, %v", open, err)
	}
}

// TestDenialInTheMiddle follows a denial through the whole host: nothing
// starts after it, what ran before is reported and in the history.
func TestDenialInTheMiddle(t *testing.T) {
	b := newBench(t, "/bin/cat", "/bin/sleep", "fails")
	b.script("fails", "echo before; echo wrong >&2; exit 3")
	b.script("mark", "touch "+b.path("mark"))
	must(t, os.WriteFile(b.path("work/name"), []byte("mark\n"), 0o600))
	must(t, os.WriteFile(b.path("work/told"), []byte(".env\n"), 0o600))
	for _, test := range []struct {
		text, stdout, about string
		reason              approval.Reason
		rows                string // of the programs, with their statuses
	}{
		{`fails; cat "$(cat told)" || cat name`, "before\n", "cat .env", approval.ReasonProtectedState, "fails 3, cat told 0"},
		{`fails || cat name; x=$(cat told); cat name "$x"; echo never`, "before\nmark\n", "cat name .env", approval.ReasonProtectedState, "fails 3, cat name 0, cat told 0"},
		{`cat name; for i in a b; do fails; cat "$(cat told)"; done`, "mark\nbefore\n", "cat .env", approval.ReasonProtectedState, "cat name 0, fails 3, cat told 0"},
		{`cat name | { cat; cat "$(cat told)"; echo never; } ; cat name`, "mark\n", "cat .env", approval.ReasonProtectedState, "cat name 0, cat 0, cat told 0"},
		{`cat name; while true; do :; done`, "mark\n", "", approval.ReasonTooComplex, "cat name 0"},
		{`cat name; sleep 1000 | cat "$(cat told)"; cat name`, "mark\n", "cat .env", approval.ReasonProtectedState, "cat name 0, sleep 1000 SIGTERM, cat told 0"},
	} {
		t.Run(test.text, func(t *testing.T) {
			req := b.text(test.text)
			req.AgentID = "denied"
			got := b.ask(context.Background(), req)
			if got.String() != "code 126" || got.Success || got.Stdout != test.stdout || got.Error != "" {
				t.Errorf("got %v %+v", got, got.ExecAnswer)
			}
			if !strings.Contains(got.Stderr, string(test.reason)) || !strings.Contains(got.Stderr, test.about) || strings.Contains(got.Stderr, "never") && !strings.Contains(test.text, "never") {
				t.Errorf("stderr is %q", got.Stderr)
			}
			if fails := strings.Contains(test.text, "fails"); fails != strings.HasPrefix(got.Stderr, "wrong\n") {
				t.Errorf("stderr does not begin with what the programs wrote: %q", got.Stderr)
			}
			request, rows := b.last(t, "denied")
			if request.Verdict != approval.VerdictDeny || request.Reason != test.reason || request.ExitCode == nil || *request.ExitCode != 126 || request.State != history.Done {
				t.Errorf("the request's row is %+v", request)
			}
			slices.Sort(rows)
			want := strings.Split(test.rows, ", ")
			slices.Sort(want)
			if !slices.Equal(rows, want) {
				t.Errorf("the programs' rows are %q, want %q", rows, want)
			}
		})
	}
	if _, err := os.Stat(b.path("mark")); err == nil {
		t.Error("what a name led to ran")
	}
}

// last returns the row of the last request of an agent, and its programs with
// their statuses.
func (b *bench) last(t *testing.T, agent string) (history.Row, []string) {
	t.Helper()
	all, err := b.history.List(context.Background(), history.Query{Limit: 100})
	must(t, err)
	i := slices.IndexFunc(all, func(r history.Row) bool { return r.Parent == "" && r.AgentID == agent })
	var rows []string
	for _, r := range all {
		if r.Parent != all[i].ID {
			continue
		}
		status := r.Signal
		if r.ExitCode != nil {
			status = fmt.Sprint(*r.ExitCode)
		}
		rows = append(rows, r.Command+" "+status)
	}
	return all[i], rows
}

// TestCrowd lets one agent send so much that the host could not hold it. Its
// requests are denied, others are served, and calls are answered.
func TestCrowd(t *testing.T) {
	b := newBench(t, "/bin/echo", "/bin/cat", "sleeper")
	b.script("sleeper", hostile["sleeper"])
	const many, stages = 60, 32
	text := "sleeper" + strings.Repeat(" | { sleeper; sleeper; }", stages-1)
	over := make(chan answer, many)
	ctx, hangUp := context.WithCancel(context.Background())
	defer hangUp()
	for range many {
		go func() {
			req := b.text(text)
			req.AgentID = "greedy"
			over <- b.ask(ctx, req)
		}()
	}
	var denied int
	begun := func() (n int) {
		for _, r := range b.runner.Running() {
			if len(r.Groups) == stages {
				n++
			}
		}
		return n
	}
	eventually(t, "all run or are denied", func() bool {
		for len(over) > 0 {
			denied++
			if got := <-over; got.String() != "refused rate-limited" {
				t.Errorf("got %v %v", got, got.err)
			}
		}
		return begun()+denied == many
	})
	b.serves(t)
	t.Logf("%d of %d pipelines of %d programs ran at once, %d threads", begun(), many, stages, threadsOf(t))
	if denied == 0 || begun() == 0 {
		t.Errorf("%d were denied, %d ran", denied, begun())
	}
	hangUp()
	eventually(t, "all are over", func() bool { return len(b.runner.Running()) == 0 && len(offspring(t)) == 0 })
	req := b.text("echo again")
	req.AgentID = "greedy"
	if got := b.ask(context.Background(), req); !got.Success {
		t.Errorf("got %v", got)
	}
}

//go:build linux || darwin

package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/store"
)

// lease adds entries that end, and one that does not.
func (b *bench) leases() {
	b.t.Helper()
	five := 5
	_, err := b.Update(func(d *store.Document) error {
		d.Add("*", approval.Entry{Pattern: "/opt/a", ExpiresAt: time.Now().Add(time.Hour).UnixMilli()})
		d.Add("main", approval.Entry{Pattern: "/opt/b", UsesLeft: &five})
		d.Add("other", approval.Entry{Pattern: "/opt/c", SessionKey: "s"})
		d.Add("other", approval.Entry{Pattern: "/opt/for-good"})
		return nil
	})
	must(b.t, err)
}

// TestStopEverything stops what does not want to end, over the socket.
func TestStopEverything(t *testing.T) {
	names := []string{"deaf", "daemon", "sleeper", "stopped", "rabbit"}
	b := newBench(t, append([]string{"/bin/echo", "/bin/cat"}, names...)...)
	for _, name := range names {
		b.script(name, "echo $$ >"+b.path(name)+"\n"+hostile[name])
	}
	b.leases()
	answers := make(chan answer, 2*len(names))
	ask := func(req approval.Request) { answers <- b.ask(context.Background(), req) }
	for _, name := range names {
		go ask(b.text(name))
	}
	background := b.text("sleeper | sleeper")
	background.Background = true
	go ask(background)
	eventually(t, "all run", func() bool {
		for _, name := range names {
			if text, _ := os.ReadFile(b.path(name)); len(text) == 0 {
				return false
			}
		}
		groups := 0
		for _, run := range b.runner.Running() {
			groups += len(run.Groups)
		}
		return groups == len(names)+2 // two of the pipeline
	})
	began := time.Now()
	var s Stopped
	must(t, b.call("stop", struct{}{}, &s))
	t.Logf("all gone after %s", time.Since(began))
	if s.Commands != len(names)+1 || s.Leases != 3 {
		t.Errorf("%+v", s)
	}
	for range len(names) + 1 {
		if got := (<-answers).String(); !strings.HasPrefix(got, "ended: the command was ended because the person pressed Stop everything") {
			t.Error(got)
		}
	}
	for _, name := range names {
		text, err := os.ReadFile(b.path(name))
		must(t, err)
		var pid int
		fmt.Sscan(string(text), &pid)
		if p, err := proc.Stat(pid); err == nil && !p.Zombie {
			t.Errorf("%s lives: %+v", name, p)
		}
	}
	if left := b.runner.Running(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
	if other := b.store.Snapshot().Policy("other").Allowlist; b.hasLeases() || other[len(other)-1].Pattern != "/opt/for-good" {
		t.Error("leases are left, or more is gone than leases")
	}
	b.serves(t)
}

// A lease is not written after the stop that came before it, whoever comes
// first at the file.
func TestStopAndLeases(t *testing.T) {
	b := newBench(t)
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	var n atomic.Int64
	all.Go(func() {
		for ctx.Err() == nil {
			_, err := b.Update(func(d *store.Document) error {
				d.Add("main", approval.Entry{Pattern: fmt.Sprint("/opt/", n.Add(1)), SessionKey: "s"})
				return nil
			})
			must(t, err)
		}
	})
	for range 10 {
		before := n.Load()
		_, err := b.StopEverything("panel")
		must(t, err)
		for _, e := range b.store.Snapshot().Policy("main").Allowlist {
			var id int64
			if fmt.Sscanf(e.Pattern, "/opt/%d", &id); id < before {
				t.Errorf("%s outlived the stop", e.Pattern)
			}
		}
	}
	cancel()
	all.Wait()
}

// What starts under a lease while another program holds up its end is ended
// too.
func TestStopWhileLeasesAreTaken(t *testing.T) {
	b := newBench(t)
	b.script("sleeper", "exec sleep 1000")
	_, err := b.Update(func(d *store.Document) error {
		d.Add("main", approval.Entry{Pattern: b.path("bin/sleeper"), ExpiresAt: time.Now().Add(time.Hour).UnixMilli()})
		return nil
	})
	must(t, err)
	answers := make(chan answer, 2)
	start := func() {
		go func() { answers <- b.ask(context.Background(), b.text("sleeper")) }()
	}
	runs := func() bool { return len(b.runner.Running()) == 1 && len(b.runner.Running()[0].Groups) == 1 }
	start() // so that what it is has been recorded
	eventually(t, "it runs", runs)

	held, err := os.OpenFile(b.path("state/exec-approvals.json.lock"), os.O_RDWR, 0)
	must(t, err)
	defer held.Close()
	must(t, unix.Flock(int(held.Fd()), unix.LOCK_EX))
	stopped := make(chan Stopped)
	go func() {
		s, err := b.StopEverything("panel")
		if err != nil {
			t.Error(err)
		}
		stopped <- s
	}()
	<-answers // the first half has begun to end what ran
	start()
	eventually(t, "it runs again", runs)
	must(t, unix.Flock(int(held.Fd()), unix.LOCK_UN))
	if s := <-stopped; s != (Stopped{Commands: 2, Leases: 1}) {
		t.Fatalf("%+v", s)
	}
	if got := (<-answers).String(); !strings.HasPrefix(got, "ended: the command was ended because the person pressed Stop everything") {
		t.Error(got)
	}
	if left := b.runner.Running(); len(left) != 0 {
		t.Errorf("%+v", left)
	}
}

// Where the leases cannot be taken back, nothing starts until a person looked.
func TestStopWhereTheFileIsHeld(t *testing.T) {
	b := newBench(t, "/bin/echo", "/bin/cat")
	b.leases()
	file := b.path("state/exec-approvals.json")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file+".new", []byte(strings.Replace(string(text), `"security": "allowlist"`, `"security": "full"`, 1)), 0o600))
	must(t, os.Rename(file+".new", file))
	eventually(t, "the edit is held", func() bool { return b.store.Current().Held != nil })
	if _, err := b.StopEverything("panel"); err == nil || !strings.Contains(err.Error(), "everything is paused") {
		t.Errorf("%v", err)
	}
	if until, on := b.Paused(); !on || !until.IsZero() || !b.Status().Paused {
		t.Errorf("paused: %v until %v", on, until)
	}
	must(t, b.RejectEdit(""))
	s, err := b.StopEverything("panel")
	if err != nil || s.Leases != 3 {
		t.Errorf("%+v, %v", s, err)
	}
	must(t, b.call("resume", struct{}{}, nil))
	b.serves(t)
}

// What comes over the socket is checked, and a status says that it is paused.
func TestPauseOverTheSocket(t *testing.T) {
	b := newBench(t)
	ms := func(d time.Duration) int64 { return time.Now().Add(d).UnixMilli() }
	for _, bad := range []any{
		map[string]any{"until": ms(-time.Minute)}, map[string]any{"until": ms(31 * 24 * time.Hour)}, map[string]any{"until": -1},
		map[string]any{"until": 1e300}, map[string]any{"until": "soon"}, map[string]any{"for": 5}, []int{1},
	} {
		if err := b.call("pause", bad, nil); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	if _, on := b.Paused(); on {
		t.Fatal("it is paused")
	}
	must(t, b.call("pause", map[string]any{"until": ms(time.Hour)}, nil))
	var s Status
	must(t, b.call("status", nil, &s))
	if left := time.Until(time.UnixMilli(s.PausedUntil)); !s.Paused || left < 59*time.Minute || left > time.Hour {
		t.Errorf("%+v", s)
	}
	if err := b.call("pause", map[string]any{"until": ms(time.Minute)}, nil); err == nil || !strings.Contains(err.Error(), gate.ErrPaused.Error()) {
		t.Errorf("shorter: %v", err)
	}
	must(t, b.call("pause", struct{}{}, nil))
	s = Status{}
	must(t, b.call("status", nil, &s))
	if !s.Paused || s.PausedUntil != 0 {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	if got := b.ask(ctx, approval.Request{Command: []string{"true"}, Cwd: b.home, AgentID: "main"}); got.err == nil || !errors.Is(got.err, context.DeadlineExceeded) && got.refused == nil {
		t.Errorf("in a pause: %v", got)
	}
	must(t, b.call("resume", nil, nil))
	if _, on := b.Paused(); on {
		t.Error("it is paused after it was resumed")
	}
}

//go:build linux || darwin

package gate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/store"
)

// checkout makes what git takes for a repository.
func (b *bench) checkout(at string) {
	b.t.Helper()
	for _, err := range []error{
		os.MkdirAll(b.path(at+"/.git/objects"), 0o755), os.MkdirAll(b.path(at+"/.git/refs"), 0o755),
		os.WriteFile(b.path(at+"/.git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644),
	} {
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// noProject has the person name nothing.
func (b *bench) noProject() {
	b.t.Helper()
	b.edit(func(d *store.Document) error { d.Projects = nil; return nil })
}

// TestSessionFolder: what an agent says that it works in is no project by that, for
// commands and for tools.
func TestSessionFolder(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "touch"})
	b.noProject()
	b.nobody()
	home := filepath.Dir(b.dir)
	b.checkout("p")
	b.checkout("../.config/checked")
	for _, dir := range []string{b.path("plain"), b.path("p/sub"), home + "/.config/gcloud", b.path("named/sub")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(b.path("p"), b.path("way")); err != nil {
		t.Fatal(err)
	}
	b.edit(func(d *store.Document) error {
		d.Projects = []approval.Project{{Path: b.path("named")}, {Path: b.path("plain"), Agent: "other"}, {Path: home + "/.config/gcloud"}, {Path: home}}
		return nil
	})
	for _, c := range []struct {
		cwd, agent string
		inside     bool
	}{
		{b.path("p"), "main", true}, {b.path("p/sub"), "main", true}, {b.path("way"), "main", true},
		{b.path("named"), "main", true}, {b.path("named/sub"), "main", true},
		{b.path("plain"), "main", false}, {b.path("plain"), "other", true},
		{b.dir, "main", false}, {home, "main", false}, {"/", "main", false}, {"", "main", false}, {"/tmp", "main", false}, {"/etc", "main", false},
		{home + "/.config/gcloud", "main", false}, {home + "/.config/checked", "main", false},
	} {
		req := approval.Request{Command: []string{"touch", "x"}, Cwd: c.cwd, Who: approval.Ours, AgentID: c.agent}
		_, j, err := b.Explain(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.Verdict == approval.VerdictAllow; got != c.inside {
			t.Errorf("touch in %s of %s: %s %s", c.cwd, c.agent, j.Verdict, j.Sentence)
		}
		if c.cwd == "" {
			continue
		}
		call := b.call("file_read", "path", c.cwd+"/x")
		call.Cwd, call.AgentID = c.cwd, c.agent
		if got := b.evaluate(call); (got == "allow") != c.inside {
			t.Errorf("file_read in %s of %s: %s", c.cwd, c.agent, got)
		}
	}
}

// TestTwoCalls: an agent that claims home as its folder cannot write there what the
// next program starts.
func TestTwoCalls(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "tool:file_write"}, approval.Entry{Pattern: "git"}, approval.Entry{Pattern: "cp"})
	b.noProject()
	b.nobody()
	home := filepath.Dir(b.dir)
	if err := os.WriteFile(home+"/settings", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{{"cp", "settings", ".gitconfig"}, {"git", "status"}} {
		req := b.request(words...)
		req.Cwd = home
		if r := b.Run(context.Background(), req); r.Denied == nil {
			t.Errorf("%q ran: %+v", words, r)
		}
	}
}

// TestFolderSwapped: another folder, or a link, in the place of the project between
// the look and the start denies it.
func TestFolderSwapped(t *testing.T) {
	for name, swap := range map[string]func(b *bench){
		"a link": func(b *bench) {
			for _, err := range []error{os.Rename(b.path("p"), b.path("old")), os.Symlink(b.path("q"), b.path("p"))} {
				if err != nil {
					b.t.Error(err)
				}
			}
		},
		"another folder": func(b *bench) {
			for _, err := range []error{os.Rename(b.path("p"), b.path("old")), os.Rename(b.path("q"), b.path("p"))} {
				if err != nil {
					b.t.Error(err)
				}
			}
		},
		"no checkout any more": func(b *bench) {
			if err := os.RemoveAll(b.path("p/.git")); err != nil {
				b.t.Error(err)
			}
		},
	} {
		b := newBench(t, approval.Entry{Pattern: "touch"}, approval.Entry{Pattern: "ls"})
		b.noProject()
		b.nobody()
		b.checkout("p")
		b.checkout("q")
		req := b.request("bash", "-c", "touch one; touch two")
		req.Cwd = b.path("p")
		checked := 0
		b.afterCheck = func() {
			if checked++; checked == 1 {
				swap(b)
			}
		}
		r := b.Run(t.Context(), req)
		if r.Denied == nil || r.Denied.Reason != approval.ReasonDrifted && r.Denied.Reason != approval.ReasonOutsideFolder {
			t.Errorf("%s: %+v", name, r.Denied)
		}
		for _, at := range []string{"p/two", "q/two", "old/two"} {
			if _, err := os.Stat(b.path(at)); err == nil {
				t.Errorf("%s: %s was made", name, at)
			}
		}
		// And while a person is asked.
		b = newBench(t)
		b.noProject()
		b.checkout("p")
		b.checkout("q")
		b.person(once, func() { swap(b) })
		req = b.request("touch", "x")
		req.Cwd = b.path("p")
		if r := b.Run(t.Context(), req); r.Denied == nil {
			t.Errorf("%s, while it is asked: it ran", name)
		}
	}
}

// TestAskProject: before the first command that it changes, once for a folder and an
// agent, whoever waits; the command is judged after the answer.
func TestAskProject(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "touch"}, approval.Entry{Pattern: "ls"})
	b.noProject()
	for _, dir := range []string{"plain", "other"} {
		if err := os.Mkdir(b.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.checkout("p")
	var asked []gate.ProjectQuestion
	var mu sync.Mutex
	var says atomic.Pointer[func(q gate.ProjectQuestion) error]
	b.AskProject = func(_ context.Context, q gate.ProjectQuestion) error {
		mu.Lock()
		asked = append(asked, q)
		mu.Unlock()
		return (*says.Load())(q)
	}
	name := func(no bool) func(q gate.ProjectQuestion) error {
		return func(q gate.ProjectQuestion) error {
			_, err := b.store.Update("", func(d *store.Document) error {
				d.Name(approval.Project{Path: q.Folder, Agent: q.AgentID, No: no})
				return nil
			})
			return err
		}
	}
	yes, none := name(false), name(true)
	silence := func(gate.ProjectQuestion) error { return gate.ErrNoAnswer }
	trouble := func(gate.ProjectQuestion) error { return errors.New("there is no window") }
	b.person(no, nil)
	run := func(agent, session, cwd string, words ...string) string {
		req := b.request(words...)
		req.Cwd, req.AgentID, req.SessionKey = b.path(cwd), agent, session
		if r := b.Run(t.Context(), req); r.Denied != nil {
			return string(r.Denied.Reason)
		}
		return "ran"
	}
	const denied = string(approval.ReasonUserDenied)
	for _, c := range []struct {
		name, agent, session, cwd string
		says                      func(q gate.ProjectQuestion) error
		words                     []string
		want                      string
		asks                      int
	}{
		{"a read is not changed", "a", "s", "plain", yes, []string{"ls"}, "ran", 0},
		{"a checkout", "a", "s", "p", yes, []string{"touch", "x"}, "ran", 0},
		{"home is never one", "a", "s", "..", yes, []string{"touch", "x"}, denied, 0},
		{"it cannot be shown", "a", "s", "plain", trouble, []string{"touch", "x"}, denied, 1},
		{"then it is asked again", "a", "s", "plain", silence, []string{"touch", "x"}, denied, 1},
		{"nobody answered: not again in that session", "a", "s", "plain", yes, []string{"touch", "x"}, denied, 0},
		{"another session", "a", "s2", "plain", yes, []string{"touch", "x"}, "ran", 1},
		{"it is one now", "a", "s", "plain", yes, []string{"touch", "y"}, "ran", 0},
		{"another agent", "b", "s", "plain", none, []string{"touch", "x"}, denied, 1},
		{"which heard a no for good", "b", "s3", "plain", yes, []string{"touch", "x"}, denied, 0},
	} {
		before := len(asked)
		says.Store(&c.says)
		if got := run(c.agent, c.session, c.cwd, c.words...); got != c.want || len(asked)-before != c.asks {
			t.Errorf("%s: %s, asked %d times; want %s and %d", c.name, got, len(asked)-before, c.want, c.asks)
		}
	}

	// Two at once share one question.
	release := make(chan struct{})
	wait := func(q gate.ProjectQuestion) error { <-release; return yes(q) }
	says.Store(&wait)
	before := len(asked)
	results := make(chan string, 2)
	for _, file := range []string{"one", "two"} {
		go func() { results <- run("c", "s", "other", "touch", file) }()
	}
	for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
		mu.Lock()
		waiting = len(asked) - before
		mu.Unlock()
	}
	close(release)
	if one, two := <-results, <-results; one != "ran" || two != "ran" {
		t.Errorf("at once: %s and %s", one, two)
	}
	if q := asked[len(asked)-1]; q.Folder != b.path("other") || q.AgentID != "c" || q.SessionKey != "s" {
		t.Errorf("asked %+v", q)
	}
}

// TestNamedWhileAsked: a question that waits when its folder is named is answered by
// the policy where that lets it pass now, and else a yes to it still counts.
func TestNamedWhileAsked(t *testing.T) {
	for _, c := range []struct {
		words []string
		asked int32
	}{{[]string{"touch", "x"}, 0}, {[]string{"mkdir", "x"}, 1}} {
		b := newBench(t, approval.Entry{Pattern: "touch"})
		b.noProject()
		if err := os.Mkdir(b.path("plain"), 0o755); err != nil {
			t.Fatal(err)
		}
		done := make(chan approval.Result, 1)
		req := b.request(c.words...)
		req.Cwd = b.path("plain")
		go func() { done <- b.Run(t.Context(), req) }()
		for cursor := uint64(0); len(b.pending.List()) == 0; {
			cursor, _ = b.pending.Watch(t.Context(), cursor)
		}
		b.edit(func(d *store.Document) error { d.Name(approval.Project{Path: req.Cwd}); return nil })
		b.Recheck()
		if c.asked > 0 {
			b.person(once, nil)
		}
		if r := <-done; r.Denied != nil || b.asked.Load() != c.asked {
			t.Errorf("%q: %+v, asked %d times", c.words, r.Denied, b.asked.Load())
		}
		if _, err := os.Stat(req.Cwd + "/x"); err != nil {
			t.Errorf("%q: %v", c.words, err)
		}
	}
}

// TestManyFolders: an agent that works in many folders cannot fill the panel with
// questions about them.
func TestManyFolders(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "touch"})
	b.noProject()
	b.person(no, nil)
	var open, most atomic.Int32
	answer := make(chan struct{})
	b.AskProject = func(context.Context, gate.ProjectQuestion) error {
		n := open.Add(1)
		defer open.Add(-1)
		for was := most.Load(); n > was && !most.CompareAndSwap(was, n); was = most.Load() {
		}
		<-answer
		return gate.ErrNoAnswer
	}
	var over sync.WaitGroup
	var refused atomic.Int32
	for i := range 20 {
		dir := fmt.Sprintf("plain%d", i)
		if err := os.Mkdir(b.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		req := b.request("touch", "x")
		req.Cwd = b.path(dir)
		over.Go(func() {
			b.Run(t.Context(), req)
			if refused.Add(1) == 15 { // the others wait for an answer about their folder
				close(answer)
			}
		})
	}
	over.Wait()
	if n := most.Load(); n != 5 {
		t.Errorf("%d were asked about at a time", n)
	}
}

// TestNobodyAskedOfTheFolder: where nobody can be asked, the denial says how a person
// names the folder, if that would let more pass.
func TestNobodyAskedOfTheFolder(t *testing.T) {
	b := newBench(t, approval.Entry{Pattern: "touch"})
	b.noProject()
	b.checkout("p")
	for _, dir := range []string{"a folder", "none"} {
		if err := os.Mkdir(b.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.edit(func(d *store.Document) error { d.Name(approval.Project{Path: b.path("none"), No: true}); return nil })
	b.canAsk.Store(false)
	for _, c := range []struct {
		cwd   string
		words []string
		names bool
	}{
		{"a folder", []string{"touch", "x"}, true},
		{"a folder", []string{"touch", "/etc/x"}, false},
		{"a folder", []string{"mkdir", "/etc/x"}, false},
		{"none", []string{"touch", "x"}, false},
		{"p", []string{"mkdir", "x"}, false},
		{"..", []string{"touch", "x"}, false},
	} {
		req := b.request(c.words...)
		req.Cwd = b.path(c.cwd)
		r := b.Run(t.Context(), req)
		if r.Denied == nil {
			t.Errorf("%q in %q ran", c.words, c.cwd)
			continue
		}
		if got := strings.HasSuffix(r.Denied.Sentence, "; if its folder is a project, the person can name it: countersign projects add '"+b.path(c.cwd)+"'"); got != c.names {
			t.Errorf("%q in %q: %s", c.words, c.cwd, r.Denied.Sentence)
		}
	}
}

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
	t.Parallel()
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
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool:file_write"}, approval.Entry{Pattern: "git"}, approval.Entry{Pattern: "cp"})
	b.noProject()
	b.nobody()
	home := filepath.Dir(b.dir)
	if err := os.WriteFile(home+"/settings", []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	call := b.call("file_write", "path", home+"/.gitconfig", "content", "[core]\n\tfsmonitor = ./x\n")
	call.Cwd = home
	if got := b.evaluate(call); got == "allow" {
		t.Errorf("file_write: %s", got)
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
	t.Parallel()
	for name, c := range map[string]struct {
		want approval.Reason
		swap func(b *bench)
	}{
		"a link": {approval.ReasonOutsideFolder, func(b *bench) {
			for _, err := range []error{os.Rename(b.path("p"), b.path("old")), os.Symlink(b.path("q"), b.path("p"))} {
				if err != nil {
					b.t.Error(err)
				}
			}
		}},
		"another folder": {approval.ReasonDrifted, func(b *bench) {
			for _, err := range []error{os.Rename(b.path("p"), b.path("old")), os.Rename(b.path("q"), b.path("p"))} {
				if err != nil {
					b.t.Error(err)
				}
			}
		}},
		"another folder with the one in it that it works in": {approval.ReasonDrifted, func(b *bench) {
			for _, err := range []error{
				os.Remove(b.path("q/sub")), os.Rename(b.path("p/sub"), b.path("q/sub")), os.Rename(b.path("p"), b.path("old")), os.Rename(b.path("q"), b.path("p")),
			} {
				if err != nil {
					b.t.Error(err)
				}
			}
		}},
		"no checkout any more": {approval.ReasonDrifted, func(b *bench) {
			if err := os.RemoveAll(b.path("p/.git")); err != nil {
				b.t.Error(err)
			}
		}},
	} {
		b := newBench(t, approval.Entry{Pattern: "touch"}, approval.Entry{Pattern: "ls"})
		b.noProject()
		b.nobody()
		b.checkout("p")
		b.checkout("q")
		for _, dir := range []string{"p/sub", "q/sub"} {
			if err := os.Mkdir(b.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		req := b.request("bash", "-c", "touch one; touch two")
		req.Cwd = b.path("p/sub")
		checked := 0
		b.afterCheck = func() {
			if checked++; checked == 1 {
				c.swap(b)
			}
		}
		r := b.Run(t.Context(), req)
		if r.Denied == nil || r.Denied.Reason != c.want {
			t.Errorf("%s: %+v", name, r.Denied)
		}
		for _, at := range []string{"p/sub/two", "q/sub/two", "old/sub/two"} {
			if _, err := os.Stat(b.path(at)); err == nil {
				t.Errorf("%s: %s was made", name, at)
			}
		}
		// And while a person is asked.
		b = newBench(t)
		b.noProject()
		b.checkout("p")
		b.checkout("q")
		for _, dir := range []string{"p/sub", "q/sub"} {
			if err := os.Mkdir(b.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		b.person(once, func() { c.swap(b) })
		req = b.request("touch", "x")
		req.Cwd = b.path("p/sub")
		if r := b.Run(t.Context(), req); r.Denied == nil {
			t.Errorf("%s, while it is asked: it ran", name)
		}
	}
}

// TestAskProject: before the first command that it changes, once for a folder and an
// agent, whoever waits; the command is judged after the answer.
func TestAskProject(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// TestRecheckedAsAsked: a question that waits when its folder is named is judged as it
// was asked, with its variables, and a call of a tool, too.
func TestRecheckedAsAsked(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool:file_write"}, approval.Entry{Pattern: "touch", Env: map[string][]string{"FLAVOUR": {"sweet"}}})
	of := func(cwd, text string) bool {
		req := b.request("bash", "-c", text)
		req.Cwd, req.Env = cwd, map[string]string{"FLAVOUR": "sweet"}
		return b.Run(t.Context(), req).Denied == nil
	}
	for name, c := range map[string]struct {
		ask    func(cwd string) bool
		passes bool
	}{
		"a call of a tool": {func(cwd string) bool {
			call := b.call("file_write", "path", cwd+"/x")
			call.Cwd = cwd
			return b.evaluate(call) == "allow"
		}, true},
		"a variable that the text keeps":   {func(cwd string) bool { return of(cwd, "FLAVOUR=sweet; touch x") }, true},
		"a variable that the text changes": {func(cwd string) bool { return of(cwd, "FLAVOUR=sour; touch x") }, false},
	} {
		b.noProject()
		dir := b.path(name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		done := make(chan bool, 1)
		go func() { done <- c.ask(dir) }()
		for cursor, list := b.pending.Watch(t.Context(), 0); len(list) == 0; {
			cursor, list = b.pending.Watch(t.Context(), cursor)
		}
		b.edit(func(d *store.Document) error { d.Name(approval.Project{Path: dir}); return nil })
		b.Recheck()
		waits := len(b.pending.List()) > 0
		if waits == c.passes {
			t.Errorf("%s: it waits: %v", name, waits)
		}
		if waits {
			b.Stop("person")
		}
		if got := <-done; got != c.passes {
			t.Errorf("%s: it passed: %v", name, got)
		}
	}
}

// TestManyFolders: one question about a folder waits at a time, and one family has a
// few of them in an hour, whatever names, sessions and folders it has.
func TestManyFolders(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		agent, session func(i int) string
		family         func(i int) string
		asked          int32
	}{
		{"an agent", func(int) string { return "main" }, func(int) string { return "s" }, func(int) string { return "" }, 5},
		{"an agent with many sessions", func(int) string { return "main" }, func(i int) string { return fmt.Sprint("s", i) }, func(int) string { return "" }, 5},
		{"a family with many names", func(i int) string { return fmt.Sprint("a", i) }, func(i int) string { return fmt.Sprint("s", i) }, func(int) string { return "f" }, 5},
		{"families", func(int) string { return "main" }, func(int) string { return "s" }, func(i int) string { return fmt.Sprint("f", i%4) }, 20},
	} {
		b := newBench(t, approval.Entry{Pattern: "touch"})
		b.noProject()
		b.person(no, nil)
		var asked, open atomic.Int32
		b.AskProject = func(context.Context, gate.ProjectQuestion) error {
			asked.Add(1)
			if open.Add(1) > 1 {
				t.Errorf("%s: two at a time", c.name)
			}
			open.Add(-1)
			return gate.ErrNoAnswer
		}
		for i := range 24 {
			dir := fmt.Sprintf("plain%d", i)
			if err := os.Mkdir(b.path(dir), 0o755); err != nil {
				t.Fatal(err)
			}
			req := b.request("touch", "x")
			req.Cwd, req.AgentID, req.SessionKey, req.Peer.Family = b.path(dir), c.agent(i), c.session(i), c.family(i)
			b.Run(t.Context(), req)
		}
		if n := asked.Load(); n != c.asked {
			t.Errorf("%s: asked about %d folders, want %d", c.name, n, c.asked)
		}
	}
}

// TestFolderQuestionGivesWay: what ends a question about a folder, and that it holds
// nothing else up. No answer counts after its end.
func TestFolderQuestionGivesWay(t *testing.T) {
	t.Parallel()
	other := func(b *bench) {
		req := b.request("mkdir", "/etc/x")
		req.AgentID = "other"
		go b.Run(b.t.Context(), req)
	}
	for name, c := range map[string]struct {
		then func(b *bench, leave func())
		ends bool // the question about the folder, and not only the wait for it
	}{
		"its caller has gone":            {func(_ *bench, leave func()) { leave() }, true},
		"everything is stopped":          {func(b *bench, _ func()) { b.Stop("person") }, true},
		"a question of another is there": {func(b *bench, _ func()) { other(b) }, false},
	} {
		b := newBench(t, approval.Entry{Pattern: "touch"})
		b.noProject()
		if err := os.Mkdir(b.path("plain"), 0o755); err != nil {
			t.Fatal(err)
		}
		asked, ended := make(chan struct{}), make(chan struct{})
		b.AskProject = func(ctx context.Context, _ gate.ProjectQuestion) error {
			close(asked)
			<-ctx.Done()
			close(ended)
			return gate.ErrNoAnswer
		}
		ctx, leave := context.WithCancel(t.Context())
		req, done := b.request("touch", "x"), make(chan struct{})
		req.Cwd, req.Deadline = b.path("plain"), time.Now().Add(time.Hour)
		go func() { defer close(done); b.Run(ctx, req) }()
		<-asked
		c.then(b, leave)
		if !c.ends { // the command itself asks now, beside the other
			for cursor, list := b.pending.Watch(t.Context(), 0); len(list) < 2; {
				cursor, list = b.pending.Watch(t.Context(), cursor)
			}
			select {
			case <-ended:
				t.Errorf("%s: the question about the folder is over, too", name)
			default:
			}
			leave()
		}
		<-ended
		<-done
		b.Stop("person")
		leave()
	}
}

// TestNoFolderQuestionBesideOthers: while something waits for the person, no folder is
// asked about, and the command asks at once.
func TestNoFolderQuestionBesideOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "touch"})
	b.noProject()
	if err := os.Mkdir(b.path("plain"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.AskProject = func(context.Context, gate.ProjectQuestion) error {
		t.Error("it was asked")
		return gate.ErrNoAnswer
	}
	for i, words := range [][]string{{"mkdir", "/etc/x"}, {"touch", "x"}} {
		req := b.request(words...)
		req.Cwd, req.AgentID = b.path("plain"), fmt.Sprint("a", i)
		go b.Run(t.Context(), req)
		for cursor, list := b.pending.Watch(t.Context(), 0); len(list) <= i; {
			cursor, list = b.pending.Watch(t.Context(), cursor)
		}
	}
	b.Stop("person")
}

// TestNobodyAskedOfTheFolder: where nobody can be asked, the denial says how a person
// names the folder, if that would let more pass.
func TestNobodyAskedOfTheFolder(t *testing.T) {
	t.Parallel()
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

// TestOtherProjects: a command that goes to another project of the person starts there
// what that says, as it would in a session of its own; nowhere else, and nothing else
// counts as inside there.
func TestOtherProjects(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "git"}, approval.Entry{Pattern: "touch"}, approval.Entry{Pattern: "make"})
	b.noProject()
	b.nobody()
	home := filepath.Dir(b.dir)
	for _, at := range []string{"p", "other", "no", "../.config/checked"} {
		b.checkout(at)
	}
	if err := os.MkdirAll(b.path("plain"), 0o755); err != nil {
		t.Fatal(err)
	}
	b.edit(func(d *store.Document) error {
		d.Projects = []approval.Project{{Path: b.path("no"), No: true}}
		return nil
	})
	for text, passes := range map[string]bool{
		"cd ../other && git status":                        true,
		"git -C ../other status":                           true,
		"cd ../other && touch x":                           false,
		"cd ../no && git status":                           false,
		"cd ../plain && git status":                        false,
		"cd " + home + "/.config/checked && git status":    false,
		"cd " + home + " && git status":                    false,
		"cd /tmp && git status":                            false,
		"cd ../other && git -C ../plain status":            false,
		"cd ../other/.git && git status":                   false,
		"cd ../other && git status && cd ../no && git log": false,
	} {
		req := approval.Request{Command: []string{"bash", "-c", text}, Cwd: b.path("p"), Who: approval.Ours, AgentID: "main"}
		plan, j, err := b.Explain(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got := j.Verdict == approval.VerdictAllow; got != passes {
			t.Errorf("%s: %s %s", text, j.Verdict, j.Sentence)
		}
		if passes && (len(plan.Others) != 1 || plan.Others[0].Path != b.path("other")) {
			t.Errorf("%s: %+v", text, plan.Others)
		}
	}
}

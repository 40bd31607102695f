package store

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestFirstStart(t *testing.T) {
	dir := filepath.Join(stateDir(t), "deep", "er")
	s := open(t, options(dir))
	snap := s.Snapshot()
	if got := describe(snap.Policy("main")); got != "deny/on-miss/deny false [] [] [cut uniq head tail tr wc] [] []" {
		t.Errorf("policy %s", got)
	}
	token, err := base64.RawURLEncoding.DecodeString(snap.SocketToken)
	if err != nil || len(token) != 24 || snap.SocketPath != filepath.Join(dir, "exec-approvals.sock") {
		t.Errorf("socket %q %q", snap.SocketPath, snap.SocketToken)
	}
	text := read(t, file(dir))
	if snap.Hash != hashOf([]byte(text)) || snap.Broken != nil || snap.Held != nil {
		t.Errorf("%+v", snap)
	}
	want := fmt.Sprintf(`{
  "agents": {},
  "defaults": {
    "ask": "on-miss",
    "askFallback": "deny",
    "security": "deny"
  },
  "socket": {
    "path": %q,
    "token": %q
  },
  "version": 1
}
`, snap.SocketPath, snap.SocketToken)
	if text != want {
		t.Errorf("file:\n%s\nwant:\n%s", text, want)
	}
	checkModes(t, dir)
	if other := open(t, options(stateDir(t))).Snapshot().SocketToken; other == snap.SocketToken {
		t.Error("two stores have one token")
	}
}

// checkModes looks at everything below a state folder.
func checkModes(t *testing.T, dir string) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		n++
		want := fileMode
		if d.IsDir() {
			want = folderMode
		}
		if got := mode(t, path); got != want {
			t.Errorf("%s has mode %o, want %o", path, got, want)
		}
		return nil
	})
	if err != nil || n < 5 { // two folders, the file, its lock, a backup
		t.Errorf("%d files, %v", n, err)
	}
}

func TestOpenModesAreClosed(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc())
	for path, m := range map[string]fs.FileMode{dir: 0o777, file(dir): 0o666} {
		if err := os.Chmod(path, m); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, options(dir))
	if s.Snapshot().Broken != nil {
		t.Error(s.Snapshot().Broken)
	}
	checkModes(t, dir)
}

func TestRefusedPlaces(t *testing.T) {
	link := func(t *testing.T, to, name string) {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("linked folder", func(t *testing.T) {
		real, dir := t.TempDir(), stateDir(t)
		link(t, real, dir)
		if _, err := Open(options(dir)); err == nil || !strings.Contains(err.Error(), "is a link") {
			t.Error(err)
		}
	})
	t.Run("folder is a file", func(t *testing.T) {
		dir := stateDir(t)
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(options(dir)); err == nil || !strings.Contains(err.Error(), "not a folder") {
			t.Error(err)
		}
	})
	t.Run("relative", func(t *testing.T) {
		if _, err := Open(options("state")); err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Error(err)
		}
	})
	t.Run("no home", func(t *testing.T) {
		o := options(stateDir(t))
		o.Home = ""
		if _, err := Open(o); err == nil || !strings.Contains(err.Error(), "absolute") {
			t.Error(err)
		}
	})
	t.Run("linked lock", func(t *testing.T) {
		dir := stateDir(t)
		write(t, dir, doc())
		link(t, filepath.Join(t.TempDir(), "elsewhere"), file(dir)+".lock")
		if _, err := Open(options(dir)); err == nil || !strings.Contains(err.Error(), "cannot lock") {
			t.Error(err)
		}
	})
}

func checkBroken(t *testing.T, s *Store, why string) {
	t.Helper()
	snap := s.Snapshot()
	if snap.Broken == nil || !strings.Contains(snap.Broken.Error(), why) {
		t.Fatalf("not broken: %+v", snap)
	}
	p := snap.Policy("a")
	if p.Security != approval.SecurityDeny || p.AskFallback != approval.SecurityDeny || p.Broken != snap.Broken.Error() || p.Allowlist != nil || p.AgentID != "a" {
		t.Errorf("policy %+v", p)
	}
	if snap.AcceptAnswersFrom("a") != nil {
		t.Error("answers count while the file is broken")
	}
	if _, err := s.Update("", func(d *Document) error { d.Add("a", approval.Entry{Pattern: "/x"}); return nil }); err == nil || !strings.Contains(err.Error(), "repair it first") {
		t.Errorf("update: %v", err)
	}
	if err := s.Consume("i"); err == nil {
		t.Error("a lease of a broken file was used")
	}
	if err := s.Reject(""); err == nil {
		t.Error("nothing waits, and it was rejected")
	}
}

func TestBrokenFile(t *testing.T) {
	dir := stateDir(t)
	text := "{\"version\": 1,\n\"agents\": {\"main\": {\"allowlist\": [\n\"/a\", \"/b\", \"/c\",\n{\"pattern\": 5}]}}}"
	write(t, dir, text)
	var log strings.Builder
	o := options(dir)
	var mu sync.Mutex
	o.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))
	s := open(t, o)
	checkBroken(t, s, "exec-approvals.json:4: agents.main.allowlist[3].pattern: must be a string, not a number")
	if read(t, file(dir)) != text {
		t.Error("a broken file was overwritten")
	}
	mu.Lock()
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("logged %d times:\n%s", n, log.String())
	}
	mu.Unlock()
	// Repaired: nothing was accepted before, so only what the strictest
	// policy permits is taken.
	write(t, dir, agent(`"security": "full"`))
	eventually(t, "held", func() bool { return s.Snapshot().Held != nil })
	write(t, dir, agent(`"denylist": ["rm"]`))
	eventually(t, "taken", func() bool { return s.Snapshot().Held == nil && s.Snapshot().Broken == nil })
}

type lockedWriter struct {
	mu *sync.Mutex
	to *strings.Builder
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func TestDeletedWhileRunning(t *testing.T) {
	dir := stateDir(t)
	text := agent(`"security": "full"`)
	write(t, dir, text)
	s := open(t, options(dir))
	if err := os.Remove(file(dir)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "broken", func() bool { return s.Snapshot().Broken != nil })
	checkBroken(t, s, "is gone")
	if hash := s.Snapshot().Hash; hash != "missing:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("hash %s", hash)
	}
	write(t, dir, text)
	eventually(t, "back", func() bool { return s.Snapshot().Policy("a").Security == approval.SecurityFull })
	os.Remove(file(dir))
	s.Close()
	if p := open(t, options(dir)).Snapshot().Policy("a"); p.Security != approval.SecurityDeny || p.Broken != "" {
		t.Errorf("after a restart: %+v", p)
	}
}

// A file of another program gets what it lacks, and loses nothing.
func TestSocketIsAdded(t *testing.T) {
	for _, row := range []struct{ socket, path, token string }{
		{``, "", ""},
		{`"socket": {"keep": 1},`, "", ""},
		{`"socket": {"path": "~/s.sock", "keep": 1},`, home + "/s.sock", ""},
		{`"socket": {"token": "tok"},`, "", "tok"},
		{`"socket": {"path": "/p", "token": "tok"},`, "/p", "tok"},
	} {
		dir := stateDir(t)
		text := `{"version": 1, ` + row.socket + ` "keep": {"a": 1}, "defaults": {"security": "full"}}`
		write(t, dir, text)
		s := open(t, options(dir))
		snap, after := s.Snapshot(), read(t, file(dir))
		if row.path == "" {
			row.path = s.opt.State.Socket()
		}
		if snap.SocketPath != row.path || row.token != "" && snap.SocketToken != row.token || len(snap.SocketToken) < 3 {
			t.Errorf("%s: %q %q", row.socket, snap.SocketPath, snap.SocketToken)
		}
		if strings.Contains(row.socket, "keep") != strings.Contains(after, `"keep": 1`) || !strings.Contains(after, `"a": 1`) {
			t.Errorf("%s: lost something:\n%s", row.socket, after)
		}
		if snap.Policy("a").Security != approval.SecurityFull || snap.Hash != hashOf([]byte(after)) {
			t.Errorf("%s: %+v", row.socket, snap)
		}
		if d := parse(t, after); d.Socket.Token != snap.SocketToken {
			t.Errorf("%s: the token was not saved", row.socket)
		}
	}
}

func TestSocketChangesAtTheNextStart(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc())
	s := open(t, options(dir))
	next := strings.Replace(doc(), `"tok"`, `"new"`, 1)
	write(t, dir, next)
	eventually(t, "taken", func() bool { return s.Snapshot().Hash == hashOf([]byte(next)) })
	if s.Snapshot().SocketToken != "tok" {
		t.Errorf("token %s", s.Snapshot().SocketToken)
	}
	s.Close()
	if token := open(t, options(dir)).Snapshot().SocketToken; token != "new" {
		t.Errorf("token %s after a restart", token)
	}
}

func TestUpdate(t *testing.T) {
	dir := stateDir(t)
	s := open(t, options(dir))
	before := s.Snapshot()
	var id string
	after, err := s.Update(before.Hash, func(d *Document) error {
		id = d.Add("main", approval.Entry{Pattern: "/bin/ls", Args: []string{"-l"}})
		d.Deny("", approval.DenyRule{Pattern: "rm"})
		return errors.Join(d.Set("main", "security", "allowlist"), d.Set("", "ask", "always"), d.Set("*", "autoAllowSkills", "true"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(after.Policy("main")); got != "allowlist/always/deny true [/bin/ls] [rm] [cut uniq head tail tr wc] [] []" {
		t.Errorf("%s", got)
	}
	if got := describe(before.Policy("main")); got != "deny/on-miss/deny false [] [] [cut uniq head tail tr wc] [] []" {
		t.Errorf("an old snapshot changed: %s", got)
	}
	if after.Hash != hashOf([]byte(read(t, file(dir)))) || after.Hash != s.Snapshot().Hash || after.Generation == before.Generation {
		t.Errorf("%+v", after)
	}
	if _, err := s.Update(before.Hash, func(*Document) error { t.Error("called"); return nil }); err != ErrChanged {
		t.Errorf("old hash: %v", err)
	}
	if again, err := s.Update("", func(d *Document) error {
		d.Add("main", approval.Entry{Pattern: "/bin/ls", Args: []string{"-l"}})
		return nil
	}); err != nil || again.Hash != after.Hash {
		t.Errorf("the same entry twice: %v", err)
	}
	stop := errors.New("stop")
	if _, err := s.Update("", func(d *Document) error { d.Defaults.Security = "full"; return stop }); err != stop || s.Snapshot().Hash != after.Hash {
		t.Errorf("an edit that fails: %v", err)
	}
	_, err = s.Update("", func(d *Document) error { d.Add("main", approval.Entry{Pattern: "rel/x"}); return nil })
	var f *FieldError
	if !errors.As(err, &f) || f.Field != "agents.main.allowlist[1].pattern" || f.Line != 0 || s.Snapshot().Hash != after.Hash {
		t.Errorf("a bad pattern: %v", err)
	}
	if _, err := s.Update("", func(d *Document) error { return d.Set("main", "ask", "never") }); err == nil {
		t.Error("a bad word was set")
	}
	if snap, err := s.Update("", func(d *Document) error { d.Remove("main", id); return nil }); err != nil || len(snap.Policy("main").Allowlist) != 0 {
		t.Errorf("removed: %v", err)
	}
	time.Sleep(5 * settle) // for the watcher to see our own writes
	if snap := s.Snapshot(); snap.Held != nil || snap.Broken != nil {
		t.Errorf("our own edit: %+v", snap)
	}
}

func TestDocumentEdits(t *testing.T) {
	d := parse(t, doc(`"agents": {"a": {"allowlist": [{"id": "/x", "pattern": "/y"}, {"id": "1", "pattern": "/x"}, {"id": "2", "pattern": "/x"}]}}`))
	for _, row := range []struct{ agent, what, gone, left string }{
		{"b", "/x", "", "/x 1 2"},
		{"a", "/z", "", "/x 1 2"},
		{"a", "/x", "/x", "1 2"}, // an id goes before a pattern
		{"a", "/x", "1 2", ""},
	} {
		ids := func(list []approval.Entry) string {
			var s []string
			for _, e := range list {
				s = append(s, e.ID)
			}
			return strings.Join(s, " ")
		}
		gone := d.Remove(row.agent, row.what)
		var left []approval.Entry
		for _, e := range d.Agents["a"].Allowlist {
			left = append(left, e.Entry)
		}
		if ids(gone) != row.gone || ids(left) != row.left {
			t.Errorf("remove %s: took %q, left %q", row.what, ids(gone), ids(left))
		}
	}
	d.Deny("a", approval.DenyRule{Pattern: "rm"})
	d.Deny("a", approval.DenyRule{Pattern: "rm", Reason: "again"})
	if n := len(d.Agents["a"].Denylist); n != 1 {
		t.Errorf("%d rules", n)
	}
	d.Deny("a", approval.DenyRule{Pattern: "rm", Args: []string{"-r"}})
	for _, row := range []struct {
		agent string
		rule  approval.DenyRule
		found bool
		left  int
	}{
		{"b", approval.DenyRule{Pattern: "rm"}, false, 2},
		{"", approval.DenyRule{Pattern: "rm"}, false, 2},
		{"a", approval.DenyRule{Pattern: "rm", Args: []string{"-f"}}, false, 2},
		{"a", approval.DenyRule{Pattern: "rm", Reason: "whatever it says"}, true, 1},
		{"a", approval.DenyRule{Pattern: "rm"}, false, 1},
		{"a", approval.DenyRule{Pattern: "rm", Args: []string{"-r"}}, true, 0},
	} {
		if found := d.Undeny(row.agent, row.rule); found != row.found || len(d.Agents["a"].Denylist) != row.left {
			t.Errorf("take out %+v of %q: found %v, left %v", row.rule, row.agent, found, d.Agents["a"].Denylist)
		}
	}
	d.Add("a", approval.Entry{ID: "3", Pattern: "/z"})
	for agent, found := range map[string]bool{"a": true, "b": false, "none": false} {
		if d.Change(agent, "3", func(e *approval.Entry) { e.Note = "changed" }) != found {
			t.Errorf("change the entry of %q: not %v", agent, found)
		}
	}
	if d.Change("a", "/z", func(*approval.Entry) {}) || d.Agents["a"].Allowlist[0].Note != "changed" {
		t.Errorf("%+v", d.Agents["a"].Allowlist)
	}
	for _, row := range []struct{ field, value, want string }{
		{"security", "full", "full"}, {"security", "", ""}, {"security", "x", "error"},
		{"ask", "off", "off"}, {"ask", "", ""}, {"askFallback", "deny", "deny"}, {"askFallback", "ask", "error"},
		{"autoAllowSkills", "true", "true"}, {"autoAllowSkills", "", ""}, {"autoAllowSkills", "yes", "error"}, {"other", "x", "error"},
		{"presence", "risky", "risky"}, {"presence", "on", "error"}, {"presence", "", ""},
	} {
		err := d.Set("a", row.field, row.value)
		a := d.Agents["a"]
		auto := ""
		if a.AutoAllowSkills != nil {
			auto = fmt.Sprint(*a.AutoAllowSkills)
		}
		got := map[string]string{"security": string(a.Security), "ask": string(a.Ask), "askFallback": string(a.AskFallback), "autoAllowSkills": auto, "presence": string(a.Presence)}[row.field]
		if err != nil {
			got = "error"
		}
		if got != row.want {
			t.Errorf("set %s=%s: %q, want %q", row.field, row.value, got, row.want)
		}
	}
}

func TestFiveVersionsAreKept(t *testing.T) {
	dir := stateDir(t)
	s := open(t, options(dir))
	var texts []string
	for i := range 8 {
		if _, err := s.Update("", func(d *Document) error { d.Deny("", approval.DenyRule{Pattern: fmt.Sprint("p", i)}); return nil }); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, read(t, file(dir)))
	}
	numbers := s.backups.numbers()
	if len(numbers) != keptVersions {
		t.Fatalf("%d versions", len(numbers))
	}
	for i, n := range numbers {
		if read(t, s.backups.path(n)) != texts[len(texts)-keptVersions+i] {
			t.Errorf("version %d is another one", n)
		}
	}
	checkModes(t, dir)
}

func TestSweep(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc())
	for _, name := range []string{"exec-approvals.json.123.tmp", "history.db.tmp", "exec-approvals.json.bak"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, options(dir))
	left := names(dir, "", "")
	if got := strings.Join(left, " "); got != "backups exec-approvals.json exec-approvals.json.bak exec-approvals.json.lock history.db.tmp" {
		t.Errorf("left: %s", got)
	}
}

// Readers never wait and never see half of an edit.
func TestReadersAndWriters(t *testing.T) {
	s := open(t, options(stateDir(t)))
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				snap := s.Snapshot()
				if p := snap.Policy("a"); len(p.Allowlist) != len(p.Denylist) {
					t.Errorf("half an edit: %d entries, %d rules", len(p.Allowlist), len(p.Denylist))
					return
				}
			}
		})
	}
	for w := range 3 {
		writers.Go(func() {
			for i := range 10 {
				_, err := s.Update("", func(d *Document) error {
					d.Add("a", approval.Entry{Pattern: fmt.Sprintf("/%d/%d", w, i)})
					d.Deny("a", approval.DenyRule{Pattern: fmt.Sprintf("/%d/%d", w, i)})
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
	if n := len(s.Snapshot().Policy("a").Allowlist); n != 30 {
		t.Errorf("%d entries", n)
	}
}

// The slices of a policy stay the same until a policy changes, so that an
// index over them can be kept.
func TestGeneration(t *testing.T) {
	s := openWith(t, list(`{"id": "i", "pattern": "/x"}`))
	one := s.Snapshot()
	s.Used("a", "i", "x", "/x")
	eventually(t, "written", func() bool { return s.Snapshot().Hash != one.Hash })
	two := s.Snapshot()
	if two.Generation != one.Generation || &two.Policy("a").Allowlist[0] != &one.Policy("a").Allowlist[0] {
		t.Error("usage changed the policy")
	}
	three, err := s.Update("", func(d *Document) error { return d.Set("a", "ask", "always") })
	if err != nil || three.Generation == one.Generation {
		t.Errorf("an edit did not change it: %v", err)
	}
}

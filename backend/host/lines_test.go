//go:build linux || darwin

package host

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// TestUndoesWhatWasTightened: what takes a tightening of the last hour back stands
// apart, with who made it; a denial does so without that, too.
func TestUndoesWhatWasTightened(t *testing.T) {
	bash := family.Seat{Terminal: 34817, Session: 22, Shell: "bash"}
	deny := func(d *store.Document) error {
		d.Deny("main", approval.DenyRule{Pattern: "curl"})
		return nil
	}
	allow := func(d *store.Document) error {
		d.Agent("main").Denylist = nil
		return nil
	}
	stricter := func(d *store.Document) error { return d.Set("main", "ask", "always") }
	for name, row := range map[string]struct {
		tightens, loosens func(*store.Document) error
		by                func(*bench, func(*store.Document) error) error
		age               time.Duration
		word              Word
		in                string
	}{
		"this terminal": {deny, allow, (*bench).editAs, time.Minute, Undoes, "terminal"},
		"another terminal": {deny, allow, func(b *bench, edit func(*store.Document) error) error {
			b.seat = func(approval.Peer) (family.Seat, error) { return bash, nil }
			return b.editAs(edit)
		}, time.Minute, Undoes, "other"},
		"a program without a terminal": {deny, allow, func(b *bench, edit func(*store.Document) error) error {
			b.seat = func(approval.Peer) (family.Seat, error) { return family.Seat{}, family.ErrNotInFront }
			return b.editAs(edit)
		}, time.Minute, Undoes, "other"},
		"the window": {deny, allow, func(b *bench, edit func(*store.Document) error) error {
			_, err := b.Update(edit)
			return err
		}, time.Minute, Undoes, "window"},
		"the file": {deny, allow, func(b *bench, edit func(*store.Document) error) error {
			b.writes(edit)
			eventually(b.t, "the host knows of it", func() bool {
				return slices.ContainsFunc(b.tightened.all(), func(one tightening) bool { return strings.Contains(one.key, string(store.LineDenial)) })
			})
			return nil
		}, time.Minute, Undoes, "file"},
		"a denial of long ago": {deny, allow, (*bench).editAs, 2 * remembersTightening, Undoes, ""},
		"a mode":               {stricter, func(d *store.Document) error { return d.Set("main", "ask", "off") }, (*bench).editAs, time.Minute, Undoes, "terminal"},
		"a mode of long ago":   {stricter, func(d *store.Document) error { return d.Set("main", "ask", "off") }, (*bench).editAs, 2 * remembersTightening, Looser, ""},
		"something else":       {deny, func(d *store.Document) error { return d.Set("main", "security", "full") }, (*bench).editAs, time.Minute, Looser, ""},
	} {
		b, g := windowed(t)
		b.mustSet(t, "ask", "on-miss")
		b.tightened.forget()
		must(t, row.by(b, row.tightens))
		b.tightened.age(row.age)
		b.seat = func(approval.Peer) (family.Seat, error) { return zsh, nil }
		must(t, b.editAs(row.loosens))
		if g.count() != 1 || len(g.shown[0].Lines) != 1 {
			t.Errorf("%s: it shows %+v", name, g.shown)
			continue
		}
		line := g.shown[0].Lines[0]
		if line.Word != row.word || line.By.In != row.in {
			t.Errorf("%s: %s by %+v", name, line.Word, line.By)
		}
		if age := time.Since(line.By.When); row.in != "" && (age < row.age || age > row.age+patience) {
			t.Errorf("%s: it was made %s ago", name, age)
		}
	}
}

// TestBrokenFileTightensNothing: what was in force before the file could not be read,
// also at the start, is no news when it can be read again.
func TestBrokenFileTightensNothing(t *testing.T) {
	deny := func(pattern string) func(*store.Document) error {
		return func(d *store.Document) error {
			d.Deny(store.Every, approval.DenyRule{Pattern: pattern})
			return nil
		}
	}
	for name, row := range map[string]struct {
		breaks func(b *bench, file func(text string))
		known  bool // the host has seen the old denial come
	}{
		"while it runs": {func(_ *bench, file func(string)) { file("{") }, true},
		"at the start":  {func(b *bench, file func(string)) { b.again(func(string) { file("{") }) }, false},
	} {
		b := newBench(t)
		file := func(text string) { must(t, os.WriteFile(b.opt.State.Approvals(), []byte(text), 0o600)) }
		snap, err := b.Update(deny("/usr/bin/old"))
		must(t, err)
		whole, err := os.ReadFile(b.opt.State.Approvals())
		must(t, err)
		row.breaks(b, file)
		eventually(t, name+" it is broken", func() bool { return b.store.Snapshot().Broken != nil })
		file(string(whole))
		eventually(t, name+" it is whole", func() bool { return b.store.Snapshot().Broken == nil })
		b.writes(deny("/usr/bin/new"))
		came := func(pattern string) (at []uint64) { // by the policy's numbers
			for _, one := range b.tightened.all() {
				if strings.Contains(one.key, pattern) {
					at = append(at, one.generation)
				}
			}
			return at
		}
		eventually(t, name+" the host knows what is new", func() bool { return len(came("/usr/bin/new")) > 0 })
		if at := came("/usr/bin/old"); slices.ContainsFunc(at, func(n uint64) bool { return !row.known || n != snap.Generation }) {
			t.Errorf("%s: what was in force before came at %d, and not at %d alone", name, at, snap.Generation)
		}
	}
}

// all are those that are remembered.
func (t *tightenings) all() []tightening {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.list)
}

func (t *tightenings) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = nil
}

// age lets time pass.
func (t *tightenings) age(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.list {
		t.list[i].at = t.list[i].at.Add(-d)
	}
}

// TestTextBeforeThePassphrase: the word comes first, what undoes stands apart, and
// a name cannot make a line or a cell of its own.
func TestTextBeforeThePassphrase(t *testing.T) {
	b := newBench(t)
	_, err := b.Update(func(d *store.Document) error {
		d.Deny(store.Every, approval.DenyRule{Pattern: "curl"})
		return nil
	})
	must(t, err)
	now := time.Now()
	text := b.confirmText(ipc.Call{}, difference{lines: b.tightened.lines([]store.Line{
		{Agent: "a\tb\nc", Kind: store.LineMode, Was: "allowlist/always", Is: "full/on-miss"},
		{Agent: store.Every, Kind: store.LineDenial, Denial: approval.DenyRule{Pattern: "curl"}},
		{Agent: "codex", Kind: store.LineDenial, Tighter: true, Denial: approval.DenyRule{Pattern: "git", Args: []string{"push"}}},
	}, maker{}, now), inForce: true}, now)
	shown, _, _ := strings.Cut(text, "\nAsked by ")
	want := strings.Join([]string{
		"Your rules would change in 3 lines.", "",
		`looser	a\u{9}b\u{A}c	Mode: Ask always → full/on-miss`,
		"tighter	codex	Adds denial: git push (in force already)", "",
		"undoes	every agent	Removes denial: curl, any arguments (made less than a minute ago, by you, in the window)", "",
	}, "\n")
	if shown != want {
		t.Errorf("it shows\n%s\nwant\n%s", shown, want)
	}
}

// TestLinesSayAll: whatever counts of an entry is in its line, before and after, and
// what the parts for a window leave out is beside them.
func TestLinesSayAll(t *testing.T) {
	const digest = "0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0"
	whole := approval.Identity{Path: "/bin/p", Size: 4711, MTime: 1700000000123, SHA256: digest, Signer: "Signing Co", Version: "1.2.3", Interpreter: "/bin/sh"}
	identity := reflect.ValueOf(whole)
	for i := range identity.NumField() {
		if identity.Field(i).IsZero() {
			t.Errorf("%s of an identity is not tried", identity.Type().Field(i).Name)
		}
	}
	identityWords := []string{"/bin/p", "4711 bytes", exactly(whole.MTime), digest, "'Signing Co'", "1.2.3", "/bin/sh"}
	uses := 7
	rows := map[string]struct {
		entry  approval.Entry
		say    []string
		inPart bool // a part of its own shows it in the window
	}{
		"Source":     {approval.Entry{Source: "allow-always"}, []string{"written by allow-always"}, false},
		"ArgPattern": {approval.Entry{ArgPattern: "^a, in /tmp$"}, []string{"arguments match '^a, in /tmp$'"}, true},
		"Args":       {approval.Entry{Args: []string{"TOKEN=$(rm x)"}}, []string{"'TOKEN=$(rm x)'"}, true},
		"ArgsExact":  {approval.Entry{ArgsExact: true}, []string{"no further arguments"}, true},
		"Env":        {approval.Entry{Env: map[string][]string{"GOOS": {"linux", "a b"}, "PORT": {"*"}}}, []string{"with GOOS=linux and 'GOOS=a b' and any value of PORT"}, true},
		"Allows": {approval.Entry{Allows: approval.AllAllowed}, []string{
			"allows writing named files of the project and writing new temporary files and starting programs of the project", "asking named databases of the project",
			"requests that send nothing and requests that may send something and exactly this code", "code that only reads and prints",
		}, true},
		"Hosts":           {approval.Entry{Hosts: []string{"h.example", "i.example:8080"}}, []string{"of h.example and i.example:8080"}, true},
		"Input":           {approval.Entry{Input: digest}, []string{"with the input of SHA-256 " + digest}, true},
		"Cwd":             {approval.Entry{Cwd: "/w, x"}, []string{"in '/w, x'"}, true},
		"When":            {approval.Entry{When: map[string]string{"a b": "c*"}}, []string{"'a b' is c*"}, true},
		"ExpiresAt":       {approval.Entry{ExpiresAt: 1700000000000}, []string{time.UnixMilli(1700000000000).Format(time.DateTime)}, false},
		"UsesLeft":        {approval.Entry{UsesLeft: &uses}, []string{"7 uses left"}, false},
		"SessionKey":      {approval.Entry{SessionKey: "s"}, []string{"session s"}, false},
		"AddedAt":         {approval.Entry{SessionKey: "s", AddedAt: 1700000000123}, []string{exactly(1700000000123)}, false},
		"Identity":        {approval.Entry{Identity: []approval.Identity{whole}}, append(identityWords, "the file"), false},
		"Interpreters":    {approval.Entry{Interpreters: []approval.Identity{whole}}, append(identityWords, "interpreted by"), false},
		"Links":           {approval.Entry{Links: []approval.Link{{Path: "/l", Target: "/m"}}}, []string{"/l leads to /m"}, false},
		"RequireIdentity": {approval.Entry{RequireIdentity: "signer"}, []string{"with the recorded signer"}, false},
		"Disabled":        {approval.Entry{Disabled: true}, []string{"disabled"}, false},
		"Pattern":         {approval.Entry{}, []string{"'/opt/a b'"}, true},
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[approval.Entry]()) {
		if _, known := rows[field.Name]; !known && !slices.Contains([]string{"ID", "Note", "AddedBy", "AddedFor", "LastUsedAt", "LastUsedCommand", "LastResolvedPath"}, field.Name) {
			t.Errorf("%s of an entry is in no line, or it does not count: say so", field.Name)
		}
	}
	for name, row := range rows {
		row.entry.Pattern = "/opt/a b"
		line := store.Line{Agent: "main", Kind: store.LineRule, Entry: row.entry}
		was := store.Line{Agent: "main", Kind: store.LineRule, Entry: approval.Entry{Pattern: "/opt/a b"}, Changes: true, Before: row.entry}
		for _, say := range row.say {
			if what := (Line{Line: line}).What(); !strings.Contains(what, say) {
				t.Errorf("%s: %q does not say %q", name, what, say)
			}
			if beside := (Line{Line: line}).Beside(); strings.Contains(beside, say) == row.inPart {
				t.Errorf("%s: %q, and a part shows it is %v", name, beside, row.inPart)
			}
			for _, text := range []string{Line{Line: was}.What(), Line{Line: was}.Beside()} {
				if _, before, _ := strings.Cut(text, "instead of "); !strings.Contains(before, say) {
					t.Errorf("%s: %q does not say %q of what was before", name, text, say)
				}
			}
		}
	}
	for _, row := range []struct {
		line store.Line
		want string
	}{
		{store.Line{Kind: store.LineValue, Name: "tools.deny", Was: `["t"]`, Is: `[]`}, `tools.deny: ["t"] → []`},
		{store.Line{Kind: store.LineMode, Was: "allowlist/off", Is: "allowlist/on-miss", Text: "so what was denied is asked about"}, "Mode: Only listed → Ask when needed, so what was denied is asked about"},
		{store.Line{Kind: store.LineDenial, Denial: approval.DenyRule{Pattern: "git", Args: []string{"push"}}}, "Removes denial: git push"},
		{store.Line{Kind: store.LineDenial, Denial: approval.DenyRule{Pattern: "git", Args: []string{"push"}, Anywhere: true}}, "Removes denial: git push, wherever these words stand"},
	} {
		if got := (Line{Line: row.line}).What(); got != row.want {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

// TestTextWithSentences: sentences come before the headline, which counts none of them.
func TestTextWithSentences(t *testing.T) {
	b := newBench(t)
	lines := sentences("The charter work forbids nothing")
	for _, agent := range []string{"main", "main  Mode: x"} {
		lines = append(lines, Line{Line: store.Line{Agent: agent, Kind: store.LineItem, Name: "safe bin", Text: "wc"}, Word: Looser})
	}
	shown, _, _ := strings.Cut(b.confirmText(ipc.Call{}, difference{lines: lines}, time.Now()), "\nAsked by ")
	want := "  The charter work forbids nothing\n\nYour rules would change in 2 lines.\n\n" +
		"looser\tmain\tAdds safe bin: wc\nlooser\t'main  Mode: x'\tAdds safe bin: wc\n"
	if shown != want {
		t.Errorf("it shows\n%s\nwant\n%s", shown, want)
	}
}

// TestAcceptedIsTold: the window learns what to go back to, of what was accepted in
// it and of nothing else.
func TestAcceptedIsTold(t *testing.T) {
	b, g := windowed(t)
	var told [][2]approval.Security
	b.opt.Accepted = func(before, after *store.Document) {
		told = append(told, [2]approval.Security{before.Agent("main").Security, after.Agent("main").Security})
	}
	set := func(value string) func(*store.Document) error {
		return func(d *store.Document) error { return d.Set("main", "security", value) }
	}
	must(t, b.editAs(set("deny"))) // nobody is asked
	must(t, b.editAs(set("full")))
	must(t, b.editAs(set("allowlist")))
	held := b.holds(set("full"))
	must(t, b.call("policy.accept", map[string]string{"hash": held.Hash}, nil))
	_, err := b.Update(set("deny"))
	must(t, err)
	g.answer = refuse
	if err := b.editAs(set("full")); err == nil {
		t.Error("it was loosened")
	}
	if want := [][2]approval.Security{{"deny", "full"}, {"allowlist", "full"}}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}

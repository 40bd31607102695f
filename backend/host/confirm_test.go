//go:build linux || darwin

package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/store"
)

var passphrase = []byte("correct horse battery staple")

// signer signs as the command line does, and keeps what it was shown.
type signer struct {
	b     *bench
	key   operator.Key
	typed []byte
	shown []string
	spoil func(*operator.Statement, *ipc.ConfirmAsk)
}

func (s *signer) sign(_ context.Context, method string, params []byte, ask ipc.ConfirmAsk) ([]byte, error) {
	s.shown = append(s.shown, ask.Text)
	statement, err := Statement(s.b.opt.State.Dir, method, params, ask.Text)
	if err != nil {
		return nil, err
	}
	statement.Nonce = ask.Nonce
	if s.spoil != nil {
		s.spoil(&statement, &ask)
	}
	return s.key.Sign(s.typed, statement)
}

// signed makes calls to a host that has a passphrase.
func signed(t *testing.T) (*bench, *signer, func(method string, params any) error) {
	t.Helper()
	b := newBench(t)
	key, err := operator.New(passphrase)
	must(t, err)
	b.keys = []operator.Key{key}
	s := &signer{b: b, key: key, typed: passphrase}
	client, _, err := Dial(b.opt.State, b.home)
	must(t, err)
	t.Cleanup(client.Close)
	return b, s, func(method string, params any) error {
		return client.CallSigned(context.Background(), b.key, s.sign, method, params, nil)
	}
}

func set(field, value string) map[string]string {
	return map[string]string{"agentId": "main", "field": field, "value": value}
}

// TestLooseningNeedsPassphrase: the difference decides, not the verb.
func TestLooseningNeedsPassphrase(t *testing.T) {
	b, s, call := signed(t)
	for _, row := range []struct {
		method string
		params any
		asks   bool
	}{
		{"policy.set", set("security", "full"), true},
		{"policy.set", set("security", "deny"), false},
		{"policy.set", set("security", "allowlist"), true},
		{"policy.set", set("ask", "on-miss"), true}, // what was denied is asked about
		{"policy.set", set("ask", "always"), false},
		{"entries.add", map[string]any{"agentId": "main", "deny": map[string]string{"pattern": "rm"}}, false},
		{"entries.add", map[string]any{"agentId": "main", "entry": map[string]string{"pattern": "/usr/bin/true"}}, true},
		{"entries.remove", map[string]string{"agentId": "main", "which": "/usr/bin/true"}, false},
		{"start.take", map[string]string{"start": "developer-tools"}, true},
		{"start.take", map[string]string{"start": "developer-tools"}, false}, // all of it is there
		{"start.take", map[string]string{"start": "deny-all"}, true},         // that it asks no more counts as looser
		{"pause", struct{}{}, false},
		{"resume", nil, true},
		{"environment.read", struct{}{}, true},
		{"leases.end", map[string]bool{"all": true}, false},
		{"stop", struct{}{}, false},
	} {
		before := len(s.shown)
		if err := call(row.method, row.params); err != nil {
			t.Errorf("%s %v: %v", row.method, row.params, err)
		}
		if asked := len(s.shown) > before; asked != row.asks {
			t.Errorf("%s %v: asked is %v %s", row.method, row.params, asked, s.shown[len(s.shown)-1])
		}
	}
	for _, part := range []string{"Asked by ", "Host ", b.opt.State.Dir} {
		if !slices.ContainsFunc(s.shown, func(text string) bool { return strings.Contains(text, part) }) {
			t.Errorf("%q is not shown: %q", part, s.shown)
		}
	}
}

// TestYesNeedsPassphrase: each yes to a question, and no denial.
func TestYesNeedsPassphrase(t *testing.T) {
	b, s, call := signed(t)
	b.askers.always = true
	_, err := b.Update(func(d *store.Document) error { return d.Set("main", "ask", "on-miss") })
	must(t, err)
	for decision, asks := range map[approval.Decision]bool{approval.AllowOnce: true, approval.DecisionDeny: false} {
		p, shown, done := b.waits("touch", "never")
		before := len(s.shown)
		params := map[string]any{"id": p.ID, "digest": shown.Digest, "count": shown.Count, "decision": decision}
		if decision == approval.DecisionDeny {
			params["for"] = "once" // the other one is asked about, too
		}
		must(t, call("pending.answer", params))
		if asked := len(s.shown) > before; asked != asks {
			t.Errorf("%s: asked is %v", decision, asked)
		}
		<-done
	}
	for _, row := range []struct {
		choice approval.Choice
		want   string
	}{
		{approval.Choice{}, "Writes the entry /x a"},
		{approval.Choice{Width: approval.WidthExact, Here: true, Keep: approval.Keep1h}, "Writes the entry /x a b, no further arguments, in /p, for 1h"},
	} {
		p := approval.Prompt{AgentID: "main", Judgement: approval.Judgement{
			Writes: []approval.Entry{{Pattern: "/x", Args: []string{"a"}}},
			Offers: []approval.Offer{{Width: approval.WidthExact, Writes: []approval.Entry{{Pattern: "/x", Args: []string{"a", "b"}, ArgsExact: true}}, Folder: "/p"}},
		}, Env: []approval.EnvChange{{Name: "A", Value: "b"}, {Name: "S", Secret: true}}}
		lines := answerLines(p, approval.AllowAlways, row.choice)
		for _, want := range []string{row.want, "Sets A=b", "Sets S=(hidden)"} {
			if !slices.Contains(lines, want) {
				t.Errorf("%q does not say %q", lines, want)
			}
		}
	}
	if !strings.Contains(s.shown[0], "touch never") || !strings.Contains(s.shown[0], "main") {
		t.Errorf("it shows %q", s.shown[0])
	}
}

// TestSignatures: nothing but the passphrase under what was shown counts, once.
func TestSignatures(t *testing.T) {
	b, s, call := signed(t)
	loosen := set("security", "full")
	unchanged := func(name string) {
		t.Helper()
		if now := b.Policy().Policy("main").Security; now == approval.SecurityFull {
			t.Fatalf("%s: security is %s", name, now)
		}
	}
	for name, spoil := range map[string]func(*operator.Statement, *ipc.ConfirmAsk){
		"of another folder":     func(x *operator.Statement, _ *ipc.ConfirmAsk) { x.Inode++ },
		"of another start":      func(x *operator.Statement, _ *ipc.ConfirmAsk) { x.Boot = "x" },
		"of another nonce":      func(x *operator.Statement, _ *ipc.ConfirmAsk) { x.Nonce = "x" },
		"of another method":     func(x *operator.Statement, _ *ipc.ConfirmAsk) { x.Method = "pause" },
		"of other parameters":   func(x *operator.Statement, _ *ipc.ConfirmAsk) { x.Params = []byte("null") },
		"of another text":       func(x *operator.Statement, _ *ipc.ConfirmAsk) { x.Text = "looser: nothing" },
		"after the time":        func(x *operator.Statement, _ *ipc.ConfirmAsk) { b.expire() },
		"of another difference": func(x *operator.Statement, _ *ipc.ConfirmAsk) { b.mustSet(t, "security", "deny") },
	} {
		b.mustSet(t, "security", "allowlist")
		s.spoil = spoil
		if err := call("policy.set", loosen); err == nil {
			t.Errorf("%s: it counts", name)
		}
		unchanged(name)
	}
	b.mustSet(t, "security", "allowlist")
	s.spoil, s.typed = nil, []byte("another passphrase")
	if err := call("policy.set", loosen); !errors.Is(err, operator.ErrWrong) {
		t.Errorf("a wrong passphrase: %v", err)
	}
	unchanged("a wrong passphrase")

	// A signature is good for one call on one connection.
	s.typed = passphrase
	client, _, err := Dial(b.opt.State, b.home)
	must(t, err)
	defer client.Close()
	other, _, err := Dial(b.opt.State, b.home)
	must(t, err)
	defer other.Close()
	stolen := func(from, to *ipc.Client) error {
		var refused *ipc.Error
		err := from.Call(context.Background(), b.key, "policy.set", loosen, nil)
		if !errors.As(err, &refused) || refused.Code != ipc.CodeConfirm {
			t.Fatalf("without a signature: %v", err)
		}
		params, err := json.Marshal(loosen)
		must(t, err)
		signature, err := s.sign(context.Background(), "policy.set", params, *refused.Confirm)
		must(t, err)
		return to.CallSigned(context.Background(), b.key, func(context.Context, string, []byte, ipc.ConfirmAsk) ([]byte, error) {
			return signature, nil
		}, "policy.set", loosen, nil)
	}
	if err := stolen(client, other); err == nil {
		t.Error("a signature counts on another connection")
	}
	unchanged("another connection")
	if err := call("policy.set", loosen); err != nil {
		t.Errorf("at last: %v", err)
	}
}

// TestTextIsWhole: nothing is hidden that a person signs, and what is too much to
// be told is not signed.
func TestTextIsWhole(t *testing.T) {
	b, s, call := signed(t)
	entry := func(pattern string) map[string]any {
		return map[string]any{"agentId": "main", "entry": map[string]any{"pattern": pattern, "args": []string{"TOKEN=$(rm x)"}}}
	}
	must(t, call("entries.add", entry("/opt/--token")))
	for _, want := range []string{"/opt/--token", "TOKEN=$(rm x)"} {
		if !strings.Contains(s.shown[0], want) {
			t.Errorf("it shows %q without %q", s.shown[0], want)
		}
	}
	const hides = "Allows once, for agent main: TOKEN=$(rm x) curl -u a:$(rm y)"
	other := Line{Line: store.Line{Agent: "main", Kind: store.LineValue, Name: "tools", Was: "nothing", Is: hides}, Word: Looser}
	for _, lines := range [][]Line{sentences(hides), {other}} {
		if text := b.confirmText(ipc.Call{}, difference{lines: lines}, time.Now()); !strings.Contains(text, hides) {
			t.Errorf("it shows %q", text)
		}
		if log := logged(lines); strings.Contains(log[0], "a:$(rm") {
			t.Errorf("the log has %q", log)
		}
	}
	var d difference
	for i := range store.MaxReasons + 1 {
		d.lines = append(d.lines, sentences(fmt.Sprint("line ", i))...)
	}
	if _, err := b.person(context.Background(), ipc.Call{}, d); !errors.Is(err, ErrTooMuch) {
		t.Errorf("more lines than are told: %v", err)
	}
}

// TestNobodyFillsThePlaces: however many calls wait for a signature, one more has
// its place, and none outlives its connection.
func TestNobodyFillsThePlaces(t *testing.T) {
	b, _, call := signed(t)
	var others []*ipc.Client
	for range 100 {
		client, _, err := Dial(b.opt.State, b.home)
		must(t, err)
		others = append(others, client)
		var refused *ipc.Error
		if err := client.Call(context.Background(), b.key, "resume", nil, nil); !errors.As(err, &refused) || refused.Code != ipc.CodeConfirm {
			t.Fatalf("call %d: %v", len(others), err)
		}
	}
	if err := call("policy.set", set("security", "full")); err != nil {
		t.Errorf("the person: %v", err)
	}
	for _, client := range others {
		client.Close()
	}
	eventually(t, "nothing waits", func() bool {
		b.confirms.mu.Lock()
		defer b.confirms.mu.Unlock()
		return len(b.confirms.waiting) == 0
	})
}

// TestKnownFileNeedsPassphrase: to take back what says which file is meant loosens,
// where another entry would let any file pass.
func TestKnownFileNeedsPassphrase(t *testing.T) {
	b, s, call := signed(t)
	run := func() string {
		return b.ask(context.Background(), approval.Request{Command: []string{b.path("bin/tool")}, Cwd: b.home, AgentID: "main"}).String()
	}
	b.script("tool", "exit 0")
	tool := approval.Entry{Pattern: b.path("bin/tool")}
	RecordIdentity(&tool, b.home)
	_, err := b.Update(func(d *store.Document) error {
		d.Add("main", tool)
		d.Add("main", approval.Entry{Pattern: b.path("bin/*")})
		return nil
	})
	must(t, err)
	before := run()
	b.script("tool", "exit 1")
	if after := run(); before != "code 0" || after == "code 1" {
		t.Fatalf("%s, and another file %s", before, after)
	}
	must(t, call("entries.remove", map[string]string{"agentId": "main", "which": tool.Pattern}))
	if len(s.shown) != 1 || !strings.Contains(s.shown[0], tool.Pattern) {
		t.Errorf("it shows %q", s.shown)
	}
}

func (b *bench) mustSet(t *testing.T, field, value string) {
	t.Helper()
	_, err := b.Update(func(d *store.Document) error { return d.Set("main", field, value) })
	must(t, err)
}

// expire has the time of all signatures be over.
func (b *bench) expire() {
	b.confirms.mu.Lock()
	defer b.confirms.mu.Unlock()
	for nonce, w := range b.confirms.waiting {
		w.until = w.until.Add(-confirmTime)
		b.confirms.waiting[nonce] = w
	}
}

//go:build linux || darwin

package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
)

// project makes a folder for a session below the bench's home.
func (b *bench) project() string {
	b.t.Helper()
	at := b.path("work/app")
	if err := os.MkdirAll(at, 0o755); err != nil {
		b.t.Fatal(err)
	}
	return at
}

// call is a tool call of an agent that works in the project.
func (b *bench) call(tool string, args ...string) approval.ToolCall {
	object := map[string]string{}
	for i := 0; i < len(args); i += 2 {
		object[args[i]] = args[i+1]
	}
	text, _ := json.Marshal(object)
	return approval.ToolCall{
		Tool: tool, Args: text, Cwd: b.project(), AgentID: "main", SessionKey: "s1", Source: "go", Deadline: time.Now().Add(time.Minute).UnixMilli(),
	}
}

// said writes an outcome in a word or two.
func said(o approval.Outcome) string {
	if o.Verdict == approval.VerdictDeny {
		return "deny " + string(o.Receipt.Reason)
	}
	return string(o.Verdict)
}

func (b *bench) evaluate(call approval.ToolCall) string {
	b.t.Helper()
	o, err := b.Evaluate(context.Background(), call, approval.Peer{})
	if err != nil {
		b.t.Fatal(err)
	}
	if o.Verdict != o.Receipt.Verdict || o.Verdict == approval.VerdictDeny && o.Receipt.Message == "" {
		b.t.Errorf("the receipt does not fit: %+v", o)
	}
	return said(o)
}

func (b *bench) row(id string) history.Row {
	b.t.Helper()
	rows, err := b.history.List(context.Background(), history.Query{ID: id, Limit: 1})
	if err != nil || len(rows) != 1 {
		b.t.Fatalf("row %s: %v %v", id, rows, err)
	}
	return rows[0]
}

// TestTools: a tool call goes the same way as a command.
func TestTools(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "/usr/bin/git", Args: []string{"status"}}, approval.Entry{Pattern: approval.ToolMark + "github/list_*"})
	b.person(no, nil)
	if err := os.MkdirAll(b.project()+"/deploy", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.project()+"/deploy/.env", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	server := func(tool string) approval.ToolCall {
		c := b.call(tool)
		c.Server = "github"
		return c
	}
	for _, c := range []struct {
		call  approval.ToolCall
		want  string
		asked int32
	}{
		{b.call("file_read", "path", "x"), "allow", 0},
		{b.call("file_search", "path", ".", "glob", "*.go"), "allow", 0},
		{b.call("file_search", "path", "deploy", "pattern", "x"), "deny user-denied", 1},
		{b.call("file_write", "path", "x"), "deny user-denied", 1},
		{b.call("file_read", "path", "/etc/shadow"), "deny protected-state", 0},
		{b.call("file_read", "path", b.path("state/operator.key")), "deny protected-state", 0},
		{server("list_issues"), "allow", 0},
		{server("delete_repo"), "deny user-denied", 1},
		{b.call("bash", "command", "git status"), "allow", 0},
		{b.call("bash", "command", "git status && rm -rf x"), "deny user-denied", 1},
		{b.call("bash", "command", "rm -rf /"), "deny floor", 0},
		{b.call("bash", "Command", "git status"), "deny invalid", 0},
		{b.call("read"), "deny invalid", 0},
	} {
		before := b.asked.Load()
		if got := b.evaluate(c.call); got != c.want || b.asked.Load()-before != c.asked {
			t.Errorf("%s %s: %s, asked %d times; want %s", c.call.Tool, c.call.Args, got, b.asked.Load()-before, c.want)
		}
	}
}

// TestToolRecord: every verdict is recorded, without secrets, and no row of a
// tool is taken for a command later.
func TestToolRecord(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.person(once, nil)
	c := b.call("create_issue", "title", "t", "token", "ghp_0123456789abcdefghijABCDEFGHIJ012345")
	c.Server = "github"
	o, err := b.Evaluate(context.Background(), c, approval.Peer{PID: 7})
	if err != nil || said(o) != "allow" {
		t.Fatalf("%s %v", said(o), err)
	}
	row := b.row(o.Receipt.RunID)
	if row.Program != "tool:github/create_issue" || row.State != history.Done || row.Who != approval.Theirs || row.Decision != approval.AllowOnce || row.PeerPID != 7 {
		t.Errorf("row %+v", row)
	}
	if text, _ := json.Marshal(row); strings.Contains(string(text), "ghp_") {
		t.Errorf("a secret was recorded: %s", text)
	}
	if _, err := b.Offered(context.Background(), row.ID); err == nil {
		t.Error("a tool call is offered as a command")
	}
}

// TestAlwaysIsWhole: a caller hears of a yes for good only where that was for
// the whole tool, because it may remember no less.
func TestAlwaysIsWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		choice approval.Choice
		want   bool
	}{
		{approval.Choice{}, false}, {approval.Choice{Width: approval.WidthExact}, false},
		{approval.Choice{Width: approval.WidthProgram}, true},
		{approval.Choice{Width: approval.WidthProgram, Keep: approval.KeepSession}, false},
	} {
		b := newBench(t)
		b.person(approval.Answer{Decision: approval.AllowAlways, By: "panel", Choice: c.choice}, nil)
		call := b.call("create_issue", "title", "t")
		call.Server = "github"
		if o, err := b.Evaluate(context.Background(), call, approval.Peer{}); err != nil || said(o) != "allow" || o.Always != c.want {
			t.Errorf("%+v: %s, for good %v: %v", c.choice, said(o), o.Always, err)
		}
	}
}

// TestJudgeOnly asks nobody and records only denials.
func TestJudgeOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.person(once, nil)
	for _, c := range []struct {
		call approval.ToolCall
		want string
	}{
		{b.call("file_read", "path", "x"), "allow"}, {b.call("file_write", "path", "x"), "ask"},
		{b.call("bash", "command", "no-such-program-here"), "ask"}, {b.call("file_read", "path", "/etc/shadow"), "deny protected-state"},
	} {
		c.call.JudgeOnly = true
		if got := b.evaluate(c.call); got != c.want {
			t.Errorf("%s: %s, want %s", c.call.Args, got, c.want)
		}
	}
	rows, err := b.history.List(context.Background(), history.Query{Limit: 10})
	if err != nil || len(rows) != 1 || b.asked.Load() != 0 {
		t.Errorf("%d rows, %d questions, %v", len(rows), b.asked.Load(), err)
	}
}

// TestNobodyForTools: askFallback holds for tools as for commands.
func TestNobodyForTools(t *testing.T) {
	t.Parallel()
	for fallback, want := range map[approval.Security]string{"deny": "deny ask-fallback", "allowlist": "deny ask-fallback", "full": "allow"} {
		b := newBench(t)
		b.canAsk.Store(false)
		b.edit(func(d *store.Document) error { d.Defaults.AskFallback = fallback; return nil })
		if got := b.evaluate(b.call("file_write", "path", "x")); got != want {
			t.Errorf("askFallback %s: %s", fallback, got)
		}
		if got := b.evaluate(b.call("file_write", "path", ".git/hooks/x")); got != "deny ask-fallback" {
			t.Errorf("askFallback %s of protected state: %s", fallback, got)
		}
	}
}

// TestSessions compares with what is sound by session.json: a yes for once
// counts once, one for always as long as its session, and neither in another
// session, nor against a denial.
func TestSessions(t *testing.T) {
	t.Parallel()
	soundIs(t, "session.json", map[string]string{
		"allow-once then 3 evaluations": `["allow","prompt","prompt"]`, "ask=always after allow-once": `"prompt"`,
		"allow-always on `bash -c \"ls\" && rm x`":    `"nothing stored for interpreters; each segment considered"`, // TestAlwaysForShells
		"cached allow survives session security=deny": `"deny"`, "two sessions given one initialAllowlist array": `"isolated"`,
	})
	b := newBench(t)
	answers := []approval.Answer{once, no, no}
	b.personWho(func(approval.Prompt) approval.Answer {
		a := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return a
	})
	write := b.call("file_write", "path", "x")
	for i, want := range []string{"allow", "deny user-denied", "deny user-denied"} {
		if got := b.evaluate(write); got != want || b.asked.Load() != int32(i+1) {
			t.Errorf("evaluation %d: %s, asked %d times", i, got, b.asked.Load())
		}
	}
	b = newBench(t)
	b.person(approval.Answer{Decision: approval.AllowAlways, By: "panel", Choice: approval.Choice{Width: approval.WidthExact, Keep: approval.KeepSession}}, nil)
	other := b.call("file_write", "path", "x")
	other.SessionKey = "s2"
	asked := func(name string, call approval.ToolCall, want string, times int32) {
		t.Helper()
		before := b.asked.Load()
		if got := b.evaluate(call); got != want || b.asked.Load()-before != times {
			t.Errorf("%s: %s, asked %d times", name, got, b.asked.Load()-before)
		}
	}
	asked("always", b.call("file_write", "path", "x", "content", "1"), "allow", 1)
	asked("again", b.call("file_write", "path", "x", "content", "2"), "allow", 0)
	asked("other file", b.call("file_write", "path", "y"), "allow", 1)
	asked("other session", other, "allow", 1)
	b.edit(func(d *store.Document) error { d.Agent("main").Ask = approval.AskAlways; return nil })
	b.canAsk.Store(false)
	asked("ask always after that", b.call("file_write", "path", "x"), "deny ask-fallback", 0)
	b.edit(func(d *store.Document) error {
		d.Agent("main").Ask, d.Agent("main").Security = approval.AskOnMiss, approval.SecurityDeny
		return nil
	})
	asked("security deny after that", b.call("file_write", "path", "x"), "deny security=deny", 0)
}

// TestSessionRules: the third layer holds for its sessions, and only tightens.
func TestSessionRules(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.edit(func(d *store.Document) error {
		d.Extra = store.Extra{"tools": []byte(`{"rules": {"file_list": {"security": "deny"}}, "sessions": {
			"review-*": {"deny": ["file_write"], "rules": {"file_read": {"ask": "always"}, "file_list": {"ask": "off"}}}, "locked": {"allow": []}}}`)}
		d.Add("main", approval.Entry{Pattern: "tool:file_write"})
		return nil
	})
	for _, c := range []struct{ session, tool, want string }{
		{"s1", "file_write", "allow"}, {"review-1", "file_write", "deny denylisted"}, {"s1", "file_read", "allow"}, {"review-1", "file_read", "ask"},
		{"review-1", "file_list", "deny denylisted"}, {"locked", "file_read", "deny denylisted"}, {"", "file_read", "allow"},
	} {
		call := b.call(c.tool, "path", "x", "content", "y")
		call.SessionKey, call.JudgeOnly = c.session, true
		if got := b.evaluate(call); got != c.want {
			t.Errorf("%s in %q: %s, want %s", c.tool, c.session, got, c.want)
		}
	}
}

// TestRuleUnderFull: a rule that wants the allowlist holds where the agent's
// security is full, and loosens none.
func TestRuleUnderFull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules string
		agent approval.Security
		write string // what becomes of file_write
		bash  string // and of a command
	}{
		{`{}`, "full", "allow", "allow"},
		{`{"rules": {"file_write": {"security": "allowlist"}}}`, "full", "ask", "allow"},
		{`{"rules": {"Bash": {"security": "allowlist"}}}`, "full", "allow", "ask"},
		{`{"sessions": {"s*": {"rules": {"*": {"security": "allowlist"}}}}}`, "full", "ask", "ask"},
		{`{"sessions": {"x*": {"rules": {"*": {"security": "allowlist"}}}}}`, "full", "allow", "allow"},
		{`{"rules": {"*": {"security": "allowlist"}}}`, "deny", "deny security=deny", "deny security=deny"},
	} {
		b := newBench(t)
		b.script("nmap", "true")
		b.edit(func(d *store.Document) error {
			d.Agent("main").Security = c.agent
			d.Extra = store.Extra{"tools": []byte(c.rules)}
			return nil
		})
		write, bash := b.call("file_write", "path", "x"), b.call("bash", "command", "nmap x")
		write.JudgeOnly, bash.JudgeOnly = true, true
		if got := b.evaluate(write); got != c.write {
			t.Errorf("%s, agent %s: file_write %s, want %s", c.rules, c.agent, got, c.write)
		}
		if got := b.evaluate(bash); got != c.bash {
			t.Errorf("%s, agent %s: bash %s, want %s", c.rules, c.agent, got, c.bash)
		}
	}
}

// TestBesideCommand: a question about a command shows what else its call says.
func TestBesideCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	seen := make(chan approval.Prompt, 8)
	b.personWho(func(p approval.Prompt) approval.Answer {
		seen <- p
		return no
	})
	call := b.call("bash", "command", "nmap x", "description", "look around", "sandbox", "off\n")
	b.evaluate(call)
	list := (<-seen).Judgement.Risk.Reasons
	if len(list) == 0 || list[len(list)-1].Sentence != `the call also says {"sandbox":"off\n"}` {
		t.Errorf("%+v", list)
	}
}

// TestAlwaysForShells: nothing is remembered for an interpreter, and each
// segment counts (session.json).
func TestAlwaysForShells(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var choices []approval.Decision
	b.personWho(func(p approval.Prompt) approval.Answer { choices = p.Judgement.Choices; return once })
	if got := b.evaluate(b.call("bash", "command", `bash -c "ls" && rm x`)); got != "allow" {
		t.Error(got)
	}
	for _, e := range b.store.Current().Policy("main").Allowlist {
		if strings.Contains(e.Pattern, "bash") {
			t.Errorf("remembered %+v", e)
		}
	}
	for _, c := range choices {
		if c == approval.AllowAlways {
			t.Error("always is offered for a shell")
		}
	}
}

// TestProjectOfQuestions: a question tells the project that its folder lies in, of
// commands and of tools, and nothing is started to know it.
func TestProjectOfQuestions(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.onlyProject("bin")
	for _, dir := range []string{"work/.git/objects", "work/.git/refs", "work/a/b", "plain/x"} {
		if err := os.MkdirAll(b.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"plain/.git": "gitdir: elsewhere\n", "work/.git/HEAD": "ref: refs/heads/main\n"} {
		if err := os.WriteFile(b.path(name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := b.script("git", "touch "+b.path("started"))
	var told []string
	b.personWho(func(p approval.Prompt) approval.Answer { told = append(told, p.Project); return no })
	for cwd, want := range map[string]string{"work": "work", "work/a/b": "work", "plain/x": "", "bin": "bin", "": ""} {
		if want != "" {
			want = b.path(want)
		}
		call := b.call("file_write", "path", "x")
		call.Cwd = b.path(cwd)
		req := b.request(git, "status")
		req.Cwd = b.path(cwd)
		told = nil
		b.evaluate(call)
		b.Run(t.Context(), req)
		if !slices.Equal(told, []string{want, want}) {
			t.Errorf("in %q the projects are %q, want %q", cwd, told, want)
		}
	}
	if _, err := os.Stat(b.path("started")); err == nil {
		t.Errorf("%s was started", git)
	}
}

// TestToolsMerge: identical asks of two sub-agents are one question.
func TestToolsMerge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	results := make(chan string, 2)
	for range 2 {
		go func() { results <- b.evaluate(b.call("file_write", "path", "x")) }()
	}
	var list []approval.Prompt
	for cursor := uint64(0); len(list) != 1 || list[0].Count != 2; {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		cursor, list = b.pending.Watch(ctx, cursor)
		if cancel(); ctx.Err() == context.DeadlineExceeded {
			t.Fatal("they did not become one question")
		}
	}
	b.person(once, nil)
	for range 2 {
		if got := <-results; got != "allow" {
			t.Error(got)
		}
	}
	if b.asked.Load() != 1 {
		t.Errorf("asked %d times", b.asked.Load())
	}
}

// TestRunApproved: what was allowed to be run by us runs once, as it was judged.
func TestRunApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo ran $1")
	b.person(once, nil)
	ours := func() approval.Outcome {
		c := b.call("bash", "command", "tool 'a b'")
		c.Who = approval.Ours
		o, err := b.Evaluate(context.Background(), c, approval.Peer{})
		if err != nil || said(o) != "allow" || o.Approved == "" {
			t.Fatalf("%+v %v", o, err)
		}
		return o
	}
	call := approval.ToolCall{Tool: "bash", Args: []byte(`{"command":"x"}`), Who: approval.Ours}
	if req := gate.RequestFor(call, approval.Peer{}); req.Timeout != runner.MaxTimeout {
		t.Errorf("a server that an agent keeps in the background ends after %v", req.Timeout)
	}
	o := ours()
	if got := outcome(b.RunApproved(context.Background(), o.Approved)); got != `code 0 "ran a b\n"` {
		t.Error(got)
	}
	if row := b.row(o.Receipt.RunID); row.State != history.Done || row.ExitCode == nil {
		t.Errorf("row %+v", row)
	}
	if got := outcome(b.RunApproved(context.Background(), o.Approved)); got != "denied replay" {
		t.Errorf("a second time: %s", got)
	}
	for name, c := range map[string]struct {
		between func()
		want    string
	}{
		"changed": {func() { b.script("tool", "echo other") }, "denied drifted"},
		"stopped": {func() { b.Stop("panel") }, "denied user-denied"},
		"denied": {func() {
			b.edit(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "tool"}); return nil })
		}, "denied denylisted"},
		"no folder": {func() { os.RemoveAll(b.project()); os.WriteFile(b.path("work/app"), nil, 0o600) }, "denied cwd-unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			o := ours()
			c.between()
			if got := outcome(b.RunApproved(context.Background(), o.Approved)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			os.Remove(b.path("work/app"))
			b.edit(func(d *store.Document) error { d.Undeny("", approval.DenyRule{Pattern: "tool"}); return nil })
		})
	}
	o = ours()
	b.DropApproved()
	if row := b.row(o.Receipt.RunID); row.State != history.Denied {
		t.Errorf("after the host closed: %+v", row)
	}
}

// TestApprovedOfOne: an agent that runs nothing of what it was allowed takes no
// room from others.
func TestApprovedOfOne(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "tool"})
	b.script("tool", "true")
	ours := func(agent string) string {
		c := b.call("bash", "command", "tool")
		c.Who, c.AgentID = approval.Ours, agent
		return b.evaluate(c)
	}
	for i := range 200 {
		if got := ours("main"); got != "allow" {
			t.Fatalf("%d: %s", i, got)
		}
	}
	if got := ours("main"); got != "deny rate-limited" {
		t.Error(got)
	}
	if got := ours("other"); got != "allow" {
		t.Error(got)
	}
	b.DropApproved()
}

// TestApprovedByFallback runs what askFallback let pass as it was judged.
func TestApprovedByFallback(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo ran")
	b.canAsk.Store(false)
	b.edit(func(d *store.Document) error { d.Defaults.AskFallback = approval.SecurityFull; return nil })
	c := b.call("bash", "command", "tool")
	c.Who = approval.Ours
	o, err := b.Evaluate(context.Background(), c, approval.Peer{})
	if err != nil || o.Approved == "" {
		t.Fatalf("%+v %v", o, err)
	}
	if got := outcome(b.RunApproved(context.Background(), o.Approved)); got != `code 0 "ran\n"` {
		t.Error(got)
	}
}

// TestMatrix compares with what is sound by policy-matrix.json, through the tool
// that takes a command.
func TestMatrix(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/policy-matrix.json")
	if err != nil {
		t.Fatal(err)
	}
	var matrix struct {
		Cases []struct {
			Security, AskFallback approval.Security
			Ask                   approval.Ask
			Kind, Command, Sound  string
		}
	}
	if err := json.Unmarshal(text, &matrix); err != nil {
		t.Fatal(err)
	}
	if len(matrix.Cases) != 135 {
		t.Fatalf("%d cases", len(matrix.Cases))
	}
	b := newBench(t, approval.Entry{Pattern: "/usr/bin/git", Args: []string{"status"}})
	// What the vectors call safe is echo, and what they deny is mkfs. nmap is a
	// program that nobody allowed; echo $(id) runs one that nobody allowed, and
	// we read it, while those who wrote the vectors could not.
	b.script("mkfs", "true")
	b.script("nmap", "true")
	b.edit(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "mkfs"}); return nil })
	words := map[string]string{"allow": "allow", "ask": "prompt"}
	for _, c := range matrix.Cases {
		b.edit(func(d *store.Document) error {
			d.Defaults.Security, d.Defaults.Ask, d.Defaults.AskFallback = c.Security, c.Ask, c.AskFallback
			return nil
		})
		call := b.call("bash_execute", "command", c.Command)
		call.JudgeOnly = true
		got := b.evaluate(call)
		if strings.HasPrefix(got, "deny") {
			got = "deny"
		} else {
			got = words[got]
		}
		if got != c.Sound {
			t.Errorf("%s %s/%s/%s %q: %s, and %s is sound", c.Kind, c.Security, c.Ask, c.AskFallback, c.Command, got, c.Sound)
		}
	}
}

// charter writes a charter for the agent, and accepts what it permits if that is
// wanted.
func (b *bench) charter(text string, accepted bool) {
	b.t.Helper()
	b.Charters.Dir = b.path("state/charters")
	if err := errors.Join(os.MkdirAll(b.Charters.Dir, 0o700), os.WriteFile(b.Charters.Dir+"/careful.json5", []byte(text), 0o600)); err != nil {
		b.t.Fatal(err)
	}
	charter, sum, err := b.Charters.Read("careful")
	if accepted && err != nil {
		b.t.Fatal(err)
	}
	b.edit(func(d *store.Document) error {
		d.Extra = store.Extra{"charters": json.RawMessage(`{"main": [{"name": "careful", "sha256": "` + fmt.Sprintf("%064s", sum) + `"}]}`)}
		if accepted {
			for _, e := range charter.Permits("careful") {
				d.Add("main", e)
			}
		}
		return nil
	})
}

// soundIs holds a file of vectors to what the test that calls it expects: a row
// that is new or other needs a case there.
func soundIs(t *testing.T, file string, want map[string]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Name  string
			Sound json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(file, err)
	}
	got := map[string]string{}
	for _, c := range vectors.Cases {
		var short bytes.Buffer
		if err := json.Compact(&short, c.Sound); err != nil {
			t.Fatal(err)
		}
		got[c.Name] = short.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestCharters compares with what is sound by charter.json. What a charter
// permits counts only once a person accepted it; what it forbids always counts.
func TestCharters(t *testing.T) {
	t.Parallel()
	// The cases "confirmed tool", "rejected" and "approved, and security deny".
	soundIs(t, "charter.json", map[string]string{
		"requireConfirmation bash_execute, git allowlisted, git status": `"prompt"`, `alwaysReject "git push --force"`: `"deny"`,
		"autoApprove bash_execute, session deny, rm -rf /": `"deny"`,
	})
	git := approval.Entry{Pattern: "/usr/bin/git"}
	for _, c := range []struct {
		name, charter string
		accepted      bool
		call          []string
		edit          func(*store.Document)
		want          string
	}{
		{"confirmed tool", `{requireConfirmation: ["bash_execute"]}`, true, []string{"bash_execute", "command", "git status"}, nil, "ask"},
		{"confirmed command", `{requireConfirmation: ["git push"]}`, true, []string{"bash", "command", "git -C . push origin"}, nil, "ask"},
		{"other command", `{requireConfirmation: ["git push"]}`, true, []string{"bash", "command", "git status"}, nil, "allow"},
		{"rejected", `{alwaysReject: ["git push --force"]}`, false, []string{"bash", "command", "git push --force"}, nil, "deny denylisted"},
		{"rejected by meaning", `{alwaysReject: ["git push --force"]}`, false, []string{"bash", "command", "cd . && git push origin main -f"}, nil, "deny denylisted"},
		{"rejected, other words", `{alwaysReject: ["git push --force"]}`, true, []string{"bash", "command", "git log --grep='push --force'"}, nil, "allow"},
		{"rejected path of a program", `{alwaysReject: ["/usr/bin/git"]}`, false, []string{"bash", "command", "git status"}, nil, "deny denylisted"},
		{"rejected with --", `{alwaysReject: ["git checkout -- ."]}`, false, []string{"bash", "command", "git checkout -- ."}, nil, "deny denylisted"},
		{"rejected glob", `{alwaysReject: ["git push*"]}`, false, []string{"bash", "command", "git push origin"}, nil, "deny denylisted"},
		{"rejected glob of a word", `{alwaysReject: ["git run deploy:*"]}`, false, []string{"bash", "command", "git run deploy:a/b"}, nil, "deny denylisted"},
		{"approved alias is no program", `{autoApprove: ["bash"]}`, true, []string{"bash", "command", "bash -c 'nmap x'"}, nil, "ask"},
		{"rejected tool", `{alwaysReject: ["file_write"]}`, false, []string{"file_write", "path", "x"}, nil, "deny denylisted"},
		{"approved, and security deny", `{autoApprove: ["bash_execute"]}`, true, []string{"bash", "command", "rm -rf /"}, func(d *store.Document) { d.Agent("main").Security = "deny" }, "deny security=deny"},
		{"approved tool is not its command", `{autoApprove: ["bash_execute"]}`, true, []string{"bash", "command", "nmap x"}, nil, "ask"},
		{"approved tool", `{autoApprove: ["file_write"]}`, true, []string{"file_write", "path", "x"}, nil, "allow"},
		{"approved, but nobody accepted it", `{autoApprove: ["file_write"]}`, false, []string{"file_write", "path", "x"}, nil, "ask"},
		{"approved command", `{autoApprove: ["hello you"]}`, true, []string{"bash", "command", "hello you"}, nil, "allow"},
		{"broken", `{autoApprove: [""]}`, false, []string{"file_read", "path", "x"}, nil, "deny policy-broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, git)
			b.script("hello", "true")
			b.script("nmap", "true")
			b.charter(c.charter, c.accepted)
			if c.edit != nil {
				b.edit(func(d *store.Document) error { c.edit(d); return nil })
			}
			call := b.call(c.call[0], c.call[1:]...)
			call.JudgeOnly = true
			if got := b.evaluate(call); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	b := newBench(t)
	b.script("hello", "echo hello")
	b.charter(`{autoApprove: ["hello"]}`, true)
	for range 2 {
		b.want([]string{"hello"}, `code 0 "hello\n"`)
	}
	if err := os.WriteFile(b.Charters.Dir+"/careful.json5", []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	b.want([]string{"hello"}, "denied policy-broken") // it forbids less than what was accepted
	os.Remove(b.Charters.Dir + "/careful.json5")
	b.want([]string{"hello"}, "denied policy-broken")
}

type registry struct{ calls []string }

func (r *registry) Call(_ context.Context, call approval.ToolCall) (json.RawMessage, error) {
	r.calls = append(r.calls, call.Tool)
	return json.RawMessage(`"done"`), nil
}

// TestWrap: a registry behind the gate is called for what is allowed only.
func TestWrap(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.person(no, nil)
	r := &registry{}
	tools := b.Wrap(r)
	if out, err := tools.Call(context.Background(), b.call("file_read", "path", "x")); err != nil || string(out) != `"done"` {
		t.Errorf("%s %v", out, err)
	}
	for _, call := range []approval.ToolCall{b.call("file_write", "path", "x"), b.call("file_read", "path", "/etc/shadow")} {
		var denied *gate.DeniedError
		if _, err := tools.Call(context.Background(), call); !errors.As(err, &denied) || denied.Receipt.Message == "" {
			t.Errorf("%s: %v", call.Args, err)
		}
	}
	if len(r.calls) != 1 {
		t.Errorf("called %v", r.calls)
	}
	sly := b.call("file_write", "path", "x")
	sly.JudgeOnly = true
	if _, err := tools.Call(context.Background(), sly); err == nil {
		t.Error("what would ask was called")
	}
}

// TestDeniedNamesNoFiles: a denial repeats what the agent wrote, and not the files
// that its patterns stand for.
func TestDeniedNamesNoFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.canAsk.Store(false)
	if err := os.WriteFile(b.path("work-secret-name"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := b.call("bash", "command", "uname "+b.path("work-sec*"))
	o, err := b.Evaluate(context.Background(), c, approval.Peer{})
	if err != nil || o.Verdict != approval.VerdictDeny {
		t.Fatalf("%+v %v", o, err)
	}
	if text, _ := json.Marshal(o); strings.Contains(string(text), "secret-name") || !strings.Contains(o.Receipt.Message, "work-sec*") {
		t.Errorf("%s", text)
	}
}

// TestMetrics: what is counted adds up, and names nobody.
func TestMetrics(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: approval.ToolMark + "github/*"})
	b.person(no, nil)
	c := b.call("list_secret_things")
	c.Server = "github"
	for _, call := range []approval.ToolCall{c, c, b.call("file_write", "path", "secret-file"), b.call("file_read", "path", "/etc/shadow")} {
		b.evaluate(call)
	}
	text := string(b.Metrics())
	for _, want := range []string{
		`countersign_allowed_total{reason="none"} 2`, `countersign_denied_total{reason="user-denied"} 1`, `countersign_denied_total{reason="protected-state"} 1`,
		"countersign_questions_total 1", "countersign_remembered_total 2", "countersign_answer_seconds_count 1", "countersign_waiting 0",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secret") || strings.Contains(text, "github") || strings.Contains(text, "main") {
		t.Errorf("it names what was asked:\n%s", text)
	}
}

// TestInsteadOfWhole names nothing where what speaks against a text would speak
// against its parts too.
func TestInsteadOfWhole(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "ls"})
	b.nobody()
	b.edit(func(d *store.Document) error {
		d.Deny("", approval.DenyRule{Pattern: "uname"})
		d.Deny("noshell", approval.DenyRule{Pattern: "bash"})
		d.Extra = store.Extra{"tools": []byte(`{"agents": {"notool": {"deny": ["bash_execute"]}, "short": {"rules": {"bash_execute": {"argRestrictions": {"command": {"maxLength": 1}}}}}}}`)}
		return nil
	})
	for agent, want := range map[string]string{"main": "ls", "notool": "", "short": ""} {
		for _, text := range []string{"ls; stat a", "ls; uname"} {
			call := b.call("bash_execute", "command", text)
			call.AgentID = agent
			if o, err := b.Evaluate(context.Background(), call, approval.Peer{}); err != nil || o.Verdict != approval.VerdictDeny || o.Receipt.Instead != want {
				t.Errorf("%s: %s: %v %+v, want %q", agent, text, err, o, want)
			}
		}
	}
	for name, change := range map[string]func(*approval.Request){
		"the shell is denied": func(r *approval.Request) { r.AgentID = "noshell" },
		"it claims a program": func(r *approval.Request) { r.Claim.ResolvedPath = "/bin/x" },
	} {
		req := b.request("bash", "-c", "ls; stat a")
		change(&req)
		if got := b.Run(context.Background(), req); got.Denied == nil || got.Denied.Instead != "" {
			t.Errorf("%s: %s, %+v", name, outcome(got), got.Denied)
		}
	}
}

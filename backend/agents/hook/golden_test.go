package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

// golden is one case of testdata/AGENT.json: what the agent wrote to its hook,
// the call that we make of it, what came of the call, and what the agent gets.
type golden struct {
	Name string `json:"name"`
	// Input is what the agent wrote; Raw is the same for text that is no JSON.
	Input json.RawMessage `json:"input"`
	Raw   *string         `json:"raw"`
	// Ignored is an event about nothing that is decided here. It has no call, and
	// its answer is Silent.
	Ignored bool               `json:"ignored"`
	Call    *approval.ToolCall `json:"call"`
	// One of these is what came of it. Silent is why nobody could be asked.
	Outcome *approval.Outcome `json:"outcome"`
	Silent  *string           `json:"silent"`
	Refused bool              `json:"refused"`
	// Rewritten is the command line that is to run instead.
	Rewritten string `json:"rewritten"`
	Want      struct {
		Stdout json.RawMessage `json:"stdout"` // null for nothing printed
		Stderr string          `json:"stderr"`
		Code   int             `json:"code"`
	} `json:"want"`
}

// minCases is how many cases each agent has at least.
const minCases = 12

func (g golden) input() []byte {
	if g.Raw != nil {
		return []byte(*g.Raw)
	}
	return g.Input
}

// check says what is wrong with a case itself.
func (g golden) check() error {
	ways := 0
	for _, set := range []bool{g.Outcome != nil, g.Silent != nil, g.Refused, g.Ignored} {
		if set {
			ways++
		}
	}
	switch {
	case g.Name == "":
		return errors.New("it needs a name")
	case (g.Raw != nil) == (g.Input != nil):
		return errors.New("it needs either input or raw")
	case ways != 1:
		return errors.New("it needs exactly one of outcome, silent, refused and ignored")
	case (g.Call == nil) != (g.Refused || g.Ignored):
		return errors.New("it needs a call, unless it is refused or ignored")
	}
	return nil
}

func goldens(t testing.TB, agent string) []golden {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", agent+".json"))
	if err != nil {
		t.Fatalf("every agent has its cases: %v", err)
	}
	var list []golden
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&list); err != nil {
		t.Fatalf("testdata/%s.json: %v", agent, err)
	}
	return list
}

// each runs a test for every agent and each of its cases.
func each(t *testing.T, f func(t *testing.T, a Agent, g golden)) {
	for _, a := range Agents() {
		t.Run(a.Name, func(t *testing.T) {
			for _, g := range goldens(t, a.Name) {
				t.Run(g.Name, func(t *testing.T) { f(t, a, g) })
			}
		})
	}
}

// eachRead is the same for the cases that have a call.
func eachRead(t *testing.T, f func(t *testing.T, a Agent, e Event)) {
	each(t, func(t *testing.T, a Agent, g golden) {
		e, err := a.Read(g.input())
		if err != nil && !g.Refused {
			t.Fatal(err)
		}
		if err == nil && !e.Ignored {
			f(t, a, e)
		}
	})
}

func TestAgents(t *testing.T) {
	for _, a := range Agents() {
		if a.Title == "" || a.Read == nil || a.Refuse == nil || a.Capability.FailMode == "" || !a.Capability.Blocking {
			t.Errorf("%s lacks a title, a function or its capabilities: %+v", a.Name, a.Capability)
			continue
		}
		list := goldens(t, a.Name)
		if len(list) < minCases {
			t.Errorf("%s has %d cases and needs %d", a.Name, len(list), minCases)
		}
		seen := map[string]bool{}
		for _, g := range list {
			if err := g.check(); err != nil || seen[g.Name] {
				t.Errorf("%s: %q: %v (twice: %v)", a.Name, g.Name, err, seen[g.Name])
			}
			seen[g.Name] = true
		}
	}
}

func TestFind(t *testing.T) {
	for _, a := range Agents() {
		if got, err := Find(a.Name); err != nil || got.Name != a.Name {
			t.Errorf("%s: %v, %v", a.Name, got.Name, err)
		}
	}
	if _, err := Find("nobody"); err == nil || !strings.Contains(err.Error(), "claude-code") {
		t.Errorf("an unknown name: %v", err)
	}
}

func TestGolden(t *testing.T) {
	each(t, func(t *testing.T, a Agent, g golden) {
		e, err := a.Read(g.input())
		if g.Refused {
			if err == nil {
				t.Fatalf("it was read: %+v", e.Call)
			}
			compare(t, g, a.Refuse(err))
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e.Ignored != g.Ignored {
			t.Fatalf("ignored is %v", e.Ignored)
		}
		if g.Ignored {
			compare(t, g, e.Silent(""))
			return
		}
		if diff := cmp.Diff(value(t, g.Call), value(t, e.Call)); diff != "" {
			t.Errorf("another call (-want +got):\n%s", diff)
		}
		if g.Silent != nil {
			compare(t, g, e.Silent(*g.Silent))
			return
		}
		compare(t, g, e.Reply(*g.Outcome, g.Rewritten))
	})
}

// compare checks an answer: its output is the wanted value and nothing else.
func compare(t *testing.T, g golden, got Answer) {
	t.Helper()
	if got.Stderr != g.Want.Stderr || got.Code != g.Want.Code {
		t.Errorf("it ends with %d, %q; want %d, %q", got.Code, got.Stderr, g.Want.Code, g.Want.Stderr)
	}
	want := string(g.Want.Stdout)
	if want == "" || want == "null" {
		if len(got.Stdout) > 0 {
			t.Errorf("it prints %q, where nothing is wanted", got.Stdout)
		}
		return
	}
	if !json.Valid(got.Stdout) {
		t.Fatalf("what it prints is not one JSON value: %q", got.Stdout)
	}
	if diff := cmp.Diff(value(t, g.Want.Stdout), value(t, json.RawMessage(got.Stdout))); diff != "" {
		t.Errorf("it prints something else (-want +got):\n%s", diff)
	}
}

// value is what something is as JSON, to be compared.
func value(t testing.TB, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out any
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// denials are outcomes that let nothing run, whatever the agent is. The last
// ones come from a host that we do not understand.
func denials() []approval.Outcome {
	var list []approval.Outcome
	for _, why := range []approval.Reason{
		approval.ReasonUserDenied, approval.ReasonDenylisted, approval.ReasonAllowlistMiss, approval.ReasonPolicyBroken,
		approval.ReasonPromptExpired, approval.ReasonCompanion, approval.ReasonAskFallback, approval.ReasonNone,
	} {
		o := approval.Outcome{Verdict: approval.VerdictDeny, Receipt: approval.Receipt{Verdict: approval.VerdictDeny, Reason: why, Message: "no: <&>\n"}}
		with := o
		with.Always, with.Approved = true, "6f1c"
		list = append(list, o, with)
	}
	return append(list, approval.Outcome{}, approval.Outcome{Verdict: "maybe", Always: true})
}

// A no never becomes a yes, in none of the words of any agent.
func TestDeniedNeverRuns(t *testing.T) {
	eachRead(t, func(t *testing.T, a Agent, e Event) {
		for _, o := range denials() {
			for _, rewritten := range []string{"", "/opt/countersign run --approved 6f1c"} {
				if got := e.Reply(o, rewritten); letsRun(a.Name, e.Name, got) {
					t.Errorf("%q, %q, rewritten %q: it runs: %s", o.Verdict, o.Receipt.Reason, rewritten, shown(got))
				}
			}
		}
	})
}

// What a person is to be asked about does not run before they were, and what
// we are to run does not run without us.
func TestUnansweredNeverRuns(t *testing.T) {
	eachRead(t, func(t *testing.T, a Agent, e Event) {
		if got := e.Reply(approval.Outcome{Verdict: approval.VerdictAsk}, ""); !e.Call.JudgeOnly && letsRun(a.Name, e.Name, got) {
			t.Errorf("a question without an answer runs: %s", shown(got))
		}
		if e.Call.Who != approval.Ours {
			return
		}
		yes := approval.Outcome{Verdict: approval.VerdictAllow, Always: true}
		if got := e.Reply(yes, ""); letsRun(a.Name, e.Name, got) {
			t.Errorf("ours runs as theirs: %s", shown(got))
		}
		line := "/opt/countersign run --approved 6f1c"
		if got := e.Reply(yes, line); !letsRun(a.Name, e.Name, got) || !bytes.Contains(got.Stdout, []byte(line)) {
			t.Errorf("the command line is not written in: %s", shown(got))
		}
	})
}

// Who cannot be trusted with silence is told no.
func TestSilenceNeverRuns(t *testing.T) {
	eachRead(t, func(t *testing.T, a Agent, e Event) {
		c := a.Capability
		asks := c.AsksOnlyWhenNeeded && c.FailMode != FailsOpen && c.FailMode != FailsClosed
		if asks && e.Call.JudgeOnly {
			return
		}
		for _, why := range []string{"", "no host is running here", "\x00\xff\n\"}"} {
			if got := e.Silent(why); letsRun(a.Name, e.Name, got) {
				t.Errorf("silence because of %q runs: %s", why, shown(got))
			}
		}
	})
}

func TestRefusedNeverRuns(t *testing.T) {
	each(t, func(t *testing.T, a Agent, g golden) {
		for _, why := range []string{"not JSON", "\x00\xff\n\"}", strings.Repeat("x", 100_000)} {
			got := a.Refuse(errors.New(why))
			for _, event := range []string{"", "PreToolUse", "PermissionRequest"} {
				if letsRun(a.Name, event, got) {
					t.Errorf("%s: a refusal runs: %s", event, shown(got))
				}
			}
		}
	})
}

// Whatever is printed is one JSON value without what an agent could mistake.
func TestPrintsOnlyJSON(t *testing.T) {
	eachRead(t, func(t *testing.T, a Agent, e Event) {
		answers := []Answer{e.Silent(""), e.Silent("\x00\xff\u2028</script>")}
		for _, o := range append(denials(), approval.Outcome{Verdict: approval.VerdictAllow, Receipt: approval.Receipt{Message: "\x1b[2J\u202e"}}) {
			answers = append(answers, e.Reply(o, ""), e.Reply(o, "'/opt/a b/countersign' run --approved x"))
		}
		for _, got := range answers {
			if len(got.Stdout) > 0 && !json.Valid(got.Stdout) {
				t.Errorf("not one JSON value: %q", got.Stdout)
			}
			if strings.ContainsAny(string(got.Stdout)+got.Stderr, "\x00\x1b\u202e") {
				t.Errorf("control characters reach a terminal: %s", shown(got))
			}
		}
	})
}

// Input that is not what the agent wrote is refused: cut off anywhere, with
// something behind it, in another encoding, too deep, with a key twice.
func TestBrokenInput(t *testing.T) {
	each(t, func(t *testing.T, a Agent, g golden) {
		if g.Refused {
			return
		}
		text := bytes.TrimSpace(g.input())
		for cut := 0; cut < len(text); cut += max(1, len(text)/100) {
			if _, err := a.Read(text[:cut]); err == nil {
				t.Errorf("read where it is cut after %d bytes: %s", cut, text[:cut])
			}
		}
		inner := string(text[1 : len(text)-1])
		for name, broken := range map[string]string{
			"with more behind": string(text) + "{}",
			"twice":            string(text) + string(text),
			"a list":           "[" + string(text) + "]",
			"not UTF-8":        "{\"x\":\"\xff\"," + inner + "}",
			"a key twice":      "{" + inner + "," + inner + "}",
			"too deep":         `{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "," + inner + "}",
			"UTF-16":           "\xff\xfe{\x00}\x00",
		} {
			if e, err := a.Read([]byte(broken)); err == nil {
				t.Errorf("read although it is %s: %+v", name, e.Call)
			}
		}
	})
}

func TestTooLong(t *testing.T) {
	for _, a := range Agents() {
		for _, g := range goldens(t, a.Name)[:1] {
			if _, err := a.Read(append(g.input(), bytes.Repeat([]byte(" "), MaxInput)...)); !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s: %v", a.Name, err)
			}
		}
	}
}

// Types that nobody sends are refused or do no harm: nothing panics, and the
// answers stay answers.
func TestMistypedFields(t *testing.T) {
	each(t, func(t *testing.T, a Agent, g golden) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(g.input(), &fields) != nil {
			return
		}
		for name := range fields {
			for _, wrong := range []string{"null", "true", "-0", "1e400", `""`, `"\u0000"`, `"\ud800"`, "[]", "[[]]", "{}", `{"":{}}`} {
				kept := fields[name]
				fields[name] = json.RawMessage(wrong)
				text, err := json.Marshal(fields)
				if err != nil {
					t.Fatal(err)
				}
				fields[name] = kept
				if err := sound(a, text); err != nil {
					t.Errorf("%s is %s: %v", name, wrong, err)
				}
			}
		}
	})
}

// sound reads an input and tells which promise was broken.
func sound(a Agent, input []byte) error {
	e, err := a.Read(input)
	if err != nil {
		if got := a.Refuse(err); letsRun(a.Name, "", got) || len(got.Stdout) > 0 && !json.Valid(got.Stdout) {
			return fmt.Errorf("the refusal is wrong: %s", shown(got))
		}
		return nil
	}
	if got := e.Silent("why"); len(got.Stdout) > 0 && !json.Valid(got.Stdout) {
		return fmt.Errorf("silence is wrong: %s", shown(got))
	}
	if e.Ignored {
		return nil
	}
	if err := soundCall(a, e.Call); err != nil {
		return err
	}
	for _, why := range []approval.Reason{approval.ReasonUserDenied, approval.ReasonPromptExpired} {
		o := approval.Outcome{Verdict: approval.VerdictDeny, Always: true, Receipt: approval.Receipt{Reason: why, Message: "no"}}
		if got := e.Reply(o, ""); letsRun(a.Name, e.Name, got) {
			return fmt.Errorf("a denial runs: %s", shown(got))
		}
	}
	for _, line := range []string{"", "/opt/countersign run --approved 1"} {
		got := e.Reply(approval.Outcome{Verdict: approval.VerdictAllow}, line)
		if len(got.Stdout) > 0 && !json.Valid(got.Stdout) {
			return fmt.Errorf("a yes is wrong: %s", shown(got))
		}
		if line == "" && e.Call.Who == approval.Ours && letsRun(a.Name, e.Name, got) {
			return fmt.Errorf("ours runs as theirs: %s", shown(got))
		}
	}
	return nil
}

// soundCall tells what is wrong with a call that was read.
func soundCall(a Agent, c approval.ToolCall) error {
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &args); err != nil || args == nil {
		return fmt.Errorf("the arguments are no object: %.200s", c.Args)
	}
	text := encode(c)
	switch {
	case len(text) > 200_000:
		return fmt.Errorf("the call has %d bytes", len(text))
	case c.Tool == "" || c.AgentID != a.Name && (a.Name != "generic" || c.AgentID == "") || c.Source != "hook" || !filepath.IsAbs(c.Cwd):
		return fmt.Errorf("the call is incomplete: %.400s", text)
	case len(c.SessionKey) > 200 || strings.ContainsFunc(c.SessionKey, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("the session key is %q", c.SessionKey)
	case c.Who != approval.Theirs && (c.Who != approval.Ours || c.Tool != "bash_execute" || !a.Capability.CanRewriteInput):
		return fmt.Errorf("%q is to run it", c.Who)
	}
	return nil
}

func shown(a Answer) string {
	return fmt.Sprintf("%.400q, stderr %.200q, code %d", a.Stdout, a.Stderr, a.Code)
}

// field returns what is at a path of names in a JSON text, nil if it is not
// there. It is the agents' side of the tests, so it shares nothing with ours.
func field(text []byte, names ...string) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	if d.Decode(&v) != nil {
		return nil
	}
	if _, err := d.Token(); err != io.EOF {
		return nil
	}
	for _, name := range names {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// TestServerName shows no word of a command that may be a secret.
func TestServerName(t *testing.T) {
	for command, want := range map[string]string{
		"npx -y @acme/server-fs /srv":        "npx:server-fs#",
		"/usr/bin/python3 srv.py --key S3C":  "python3:srv.py#",
		"/opt/acme/server --api-key S3CRET":  "server#",
		"docker run -e KEY=S3CRET -p 1 acme": "docker#",
		"TOKEN=S3C/RET srv":                  "TOKEN#",
	} {
		if got, err := serverName("", command); err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s (%v), want %s", command, got, err, want)
		}
	}
}

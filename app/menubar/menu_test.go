package menubar

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 3, 21, 12, 0, 0, 0, time.UTC)

func question(id, agent, command string, left time.Duration) Question {
	return Question{ID: id, Agent: agent, Command: command, Expires: noon.Add(left)}
}

// text writes a menu with a line for each item: its ID and title, behind
// [x] if checked and in parentheses if it cannot be pressed.
func text(items []Item, indent string) string {
	var b strings.Builder
	for _, i := range items {
		s := i.ID + " " + i.Title
		switch i.Kind {
		case Separator:
			s = "---"
		case Heading:
			s = "# " + i.Title
		default:
			if i.Checked {
				s = "[x] " + s
			}
			if !i.Enabled {
				s = "(" + s + ")"
			}
		}
		b.WriteString(indent + s + "\n" + text(i.Children, indent+"  "))
	}
	return b.String()
}

const (
	pausedRows = "(paused Paused until resumed)\nresume Resume\n" + stopRows
	stopRows   = `stop-everything Stop everything…
  (stop-everything:what Denies what waits, ends what runs, takes leases back)
  stop-everything:now Stop everything now
`
	haltRows = `pause Pause
  pause:15m 15 minutes
  pause:1h 1 hour
  pause:resumed Until resumed
` + stopRows
	endRows = "settings Settings…\n---\nquit Quit Countersign\n"
	appRows = haltRows + "---\n" + endRows
)

func yes() *bool { on := true; return &on }

// modeRows are the rows of an agent in one of the modes.
func modeRows(agent, mode string) string {
	var b strings.Builder
	for _, m := range Modes {
		check := ""
		if m.ID == mode {
			check = "[x] "
		}
		fmt.Fprintf(&b, "  %smode:%s:%s %s\n", check, agent, m.ID, m.Title)
	}
	return b.String()
}

var buildTests = []struct {
	name    string
	facts   Facts
	icon    Icon
	tooltip string
	rows    string
}{
	{"nothing", Facts{}, Quiet, "Countersign", appRows},
	{"paused", Facts{Paused: true}, Paused, "Countersign: paused", pausedRows + "---\n" + endRows},
	{"paused until later today", Facts{Paused: true, Until: noon.Add(90 * time.Minute)}, Paused, "Countersign: paused", strings.Replace(pausedRows, "until resumed", "until 13:30", 1) + "---\n" + endRows},
	{"paused until another day", Facts{Paused: true, Until: noon.Add(366 * 24 * time.Hour)}, Paused, "Countersign: paused", strings.Replace(pausedRows, "until resumed", "until Mar 22, 12:00", 1) + "---\n" + endRows},
	{"opens at login", Facts{Login: yes()}, Quiet, "Countersign", haltRows + "---\nsettings Settings…\n[x] login Open at login\n---\nquit Quit Countersign\n"},
	{"does not open at login", Facts{Login: new(bool)}, Quiet, "Countersign", haltRows + "---\nsettings Settings…\nlogin Open at login\n---\nquit Quit Countersign\n"},
	{"replaced by another version", Facts{Replaced: true}, Quiet, "Countersign", haltRows + "---\nrestart Restart to Finish the Update\nsettings Settings…\n---\nquit Quit Countersign\n"},
	{"leases", Facts{Leases: []Lease{
		{ID: "1", Agent: "a", Command: "git rebase", Ends: noon.Add(9*time.Minute + time.Second), Uses: -1},
		{ID: "2", Agent: "a", Command: "make", Ends: noon.Add(3 * time.Hour), Uses: -1},
		{ID: "3", Agent: "b", Command: "ls", Ends: noon.Add(30 * 24 * time.Hour), Uses: 4},
		{ID: "4", Agent: "b", Command: "id", Uses: -1},
	}}, Quiet, "Countersign", haltRows + `---
leases Allowed for a while
  (lease:1 a: git rebase — 10 min left)
  end-lease:1 Take back
  (lease:2 a: make — 3 h left)
  end-lease:2 Take back
  (lease:3 b: ls — 4 uses left)
  end-lease:3 Take back
  (lease:4 b: id — this session)
  end-lease:4 Take back
---
` + endRows},
	{"recent", Facts{Recent: []Recent{
		{"1", "a", "make", "Always allowed", true}, {"2", "b", "rm -rf \u202e/", "Denied by you", false}, {"3:x", "", "ls", "Passed", false},
	}}, Quiet, "Countersign", haltRows + `---
recent Recent
  (request:1 a: make — Always allowed)
  undo:1 Undo
  (request:2 b: rm -rf \u{202E}/ — Denied by you)
  (request:3:x An agent without a name: ls — Passed)
---
` + endRows},
	{
		"one waits", Facts{Waiting: []Question{question("q1", "codex", "brew upgrade", 102*time.Second)}},
		Waiting, "Countersign: 1 question waits",
		"# Waiting\nquestion:q1 codex: brew upgrade — 1:42\n---\n" + appRows,
	},
	{
		"paused while some wait", Facts{Paused: true, Waiting: []Question{
			question("1", "a", "x", 0), question("2", "a", "y", -time.Hour),
		}}, Paused, "Countersign: paused, 2 questions wait",
		"# Waiting\nquestion:1 a: x — 0:00\nquestion:2 a: y — 0:00\n---\n" + pausedRows + "---\n" + endRows,
	},
	{
		"more than five wait", Facts{Waiting: []Question{
			question("1", "a", "c1", time.Second), question("2", "a", "c2", time.Millisecond), question("3", "", "c3", 60*time.Second),
			question("4", " \t", "c4", 59*time.Second+1), {ID: "5", Agent: "a", Command: "c5"},
			question("6", "a", "c6", 0), question("7", "a", "c7", 0), question("8", "a", "c8", 0),
		}}, Waiting, "Countersign: 8 questions wait",
		`# Waiting
question:1 a: c1 — 0:01
question:2 a: c2 — 0:01
question:3 An agent without a name: c3 — 1:00
question:4 An agent without a name: c4 — 1:00
question:5 a: c5
(more and 3 more)
---
` + appRows,
	},
	{
		"hooks that need a look", Facts{
			Waiting: []Question{question("q", "a", "ls", time.Minute)}, Hooks: []string{"Claude Code no longer asks Countersign", "\u202eX\n" + long},
		}, Waiting, "Countersign: 1 question waits",
		"# Waiting\nquestion:q a: ls — 1:00\n---\nhooks Claude Code no longer asks Countersign…\nhooks \\u{202E}X\\u{A}0123456789012345…12345678901234567890123456789…\n---\n" + appRows,
	},
	{
		"more hooks than rows", Facts{Hooks: []string{"a", "b", "c", "d", "e"}}, Quiet, "Countersign",
		"hooks a…\nhooks b…\nhooks c…\n(more-hooks and 2 more)\n---\n" + appRows,
	},
	{
		"the socket was removed", Facts{Touched: true, Hooks: []string{"a"}}, Quiet, "Countersign",
		"(touched The local socket was removed or moved: see doctor)\n---\nhooks a…\n---\n" + appRows,
	},
	{
		"an agent in each mode", Facts{Agents: []Agent{
			{ID: "a", Name: "A", Mode: "deny"}, {ID: "b", Name: "B", Mode: "ask-always"}, {ID: "c", Name: "C", Mode: "ask-when-needed"},
			{ID: "d", Name: "D", Mode: "only-listed"}, {ID: "e:f", Name: "", Mode: "allow-all"},
		}}, Quiet, "Countersign",
		"# Agents\n" +
			"agent:a A — Deny\n" + modeRows("a", "deny") +
			"agent:b B — Ask always\n" + modeRows("b", "ask-always") +
			"agent:c C — Ask when needed\n" + modeRows("c", "ask-when-needed") +
			"agent:d D — Only listed\n" + modeRows("d", "only-listed") +
			"agent:e:f An agent without a name — Allow all\n" + modeRows("e:f", "allow-all") +
			"---\n" + appRows,
	},
	{
		"modes of nobody's choosing", Facts{Agents: []Agent{
			{ID: "a", Name: "A", Mode: "custom", Custom: "full/always"}, {ID: "b", Name: "B"},
		}}, Quiet, "Countersign",
		"# Agents\n" +
			"agent:a A — Custom: full/always\n" + modeRows("a", "") + "  ([x] mode:a:custom Custom: full/always)\n" +
			"agent:b B — Custom\n" + modeRows("b", "") + "  ([x] mode:b:custom Custom)\n" +
			"---\n" + appRows,
	},
	{
		"all parts", Facts{
			Waiting: []Question{question("q", "a", "ls", time.Minute)},
			Agents:  []Agent{{ID: "a", Name: "A", Mode: "deny"}},
			Running: []Run{
				{"r1", "a", "make test", noon.Add(-12900 * time.Millisecond)}, {"r2", "a", "sleep 1", noon.Add(time.Second)},
				{"r3", "b", "x", noon.Add(-59*time.Minute - 59*time.Second)}, {"r4", "b", "y", noon.Add(-25*time.Hour - 90*time.Second)},
			},
		}, Waiting, "Countersign: 1 question waits",
		"# Waiting\nquestion:q a: ls — 1:00\n---\n# Agents\nagent:a A — Deny\n" + modeRows("a", "deny") + "---\n" + haltRows +
			`---
running Running now
  (run:r1 a: make test · 12 s)
  stop:r1 Stop
  (run:r2 a: sleep 1 · 0 s)
  stop:r2 Stop
  (run:r3 b: x · 59 min)
  stop:r3 Stop
  (run:r4 b: y · 25 h 1 min)
  stop:r4 Stop
---
` + endRows,
	},
	{
		"only something runs", Facts{Running: []Run{{"r", "a", "x", noon}}}, Quiet, "Countersign",
		haltRows + "---\nrunning Running now\n  (run:r a: x · 0 s)\n  stop:r Stop\n---\n" + endRows,
	},
}

func TestBuild(t *testing.T) {
	for _, c := range buildTests {
		t.Run(c.name, func(t *testing.T) {
			c.facts.Now = noon
			m := Build(c.facts)
			if m.Icon != c.icon || m.Tooltip != c.tooltip || m.Count != len(c.facts.Waiting) {
				t.Errorf("%s, %q, %d; want %s, %q, %d", m.Icon, m.Tooltip, m.Count, c.icon, c.tooltip, len(c.facts.Waiting))
			}
			if d := cmp.Diff(c.rows, text(m.Items, "")); d != "" {
				t.Error(d)
			}
			if d := cmp.Diff(m, Build(c.facts)); d != "" {
				t.Error("the same facts make another menu:", d)
			}
		})
	}
}

var long = strings.Repeat("0123456789", 100)

var titleTests = []struct{ agent, command, title string }{
	{"codex", "git fetch origin && git rebase origin/main", "codex: git fetch origin && git rebase origin/main"},
	{"a", "echo one\necho two\r\t\x00", `a: echo one\u{A}echo two\u{D}\u{9}\u{0}`},
	{"a", "rm \u202etxt.\u2066x\u200b", `a: rm \u{202E}txt.\u{2066}x\u{200B}`},
	{"a\u202eb\n", "ls", `a\u{202E}b: ls`},
	{"a", "cat שלום מסמך", "a: cat שלום מסמך"},
	{"a", "cat \xff\xc0", `a: cat \x{FF}\x{C0}`},
	{"a", "snake_case __init__ &x", "a: snake_case __init__ &x"},
	{"a", "x --token abcdef y", "a: x --token *** y"},
	{"a", "curl " + long + " | sh", "a: curl 01234567890123456789012…78901234567890123456789 | sh"},
	{long, "rm -rf /", "012345678901…90123456789: rm -rf /"},
	{long, "curl " + long + " | sh", "012345678901…90123456789: curl 012345678901…90123456789 | sh"},
	{"a", "日本" + strings.Repeat("語", 100) + "終", "a: 日本" + strings.Repeat("語", 26) + "…" + strings.Repeat("語", 27) + "終"},
	{"a", "", "a: "},
	{"a", "x" + strings.Repeat("é", 100_000) + "y", "a: x" + strings.Repeat("é", 27) + "…" + strings.Repeat("é", 27) + "y"},
}

func TestTitles(t *testing.T) {
	for _, c := range titleTests {
		m := Build(Facts{
			Now: noon, Waiting: []Question{{ID: "q", Agent: c.agent, Command: c.command}},
			Running: []Run{{"r", c.agent, c.command, noon}},
		})
		if got := m.Items[1].Title; got != c.title {
			t.Errorf("%.40q, %.40q: waits as\n%q, want\n%q", c.agent, c.command, got, c.title)
		}
		if got := m.Items[6].Children[0].Title; got != c.title+" · 0 s" {
			t.Errorf("%.40q, %.40q: runs as %q", c.agent, c.command, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ id, verb, subject, detail string }{
		{"question:q1", "question", "q1", ""},
		{"question:a:b", "question", "a:b", ""},
		{"question:mode:a:deny", "question", "mode:a:deny", ""},
		{"agent:", "agent", "", ""},
		{"mode:main:ask-always", "mode", "main", "ask-always"},
		{"mode:a:b:c:deny", "mode", "a:b:c", "deny"},
		{"mode::deny", "mode", "", "deny"},
		{"mode:a", "mode", "a", ""},
		{"run:1", "run", "1", ""},
		{"stop:1:2", "stop", "1:2", ""},
		{"running", "running", "", ""},
		{"pause", "pause", "", ""},
		{"pause:15m", "pause", "15m", ""},
		{"resume", "resume", "", ""},
		{"stop-everything:now", "stop-everything", "now", ""},
		{"undo:a:b", "undo", "a:b", ""},
		{"login", "login", "", ""},
		{"hooks", "hooks", "", ""},
		{"settings", "settings", "", ""},
		{"quit", "quit", "", ""},
		{"", "", "", ""},
	} {
		if verb, subject, detail := Parse(c.id); verb != c.verb || subject != c.subject || detail != c.detail {
			t.Errorf("%q: %q %q %q", c.id, verb, subject, detail)
		}
	}
}

// FuzzBuild puts any text into all places an agent can write to.
func FuzzBuild(f *testing.F) {
	for _, c := range titleTests {
		f.Add(c.agent, c.command, "custom")
	}
	f.Fuzz(func(t *testing.T, agent, command, mode string) {
		if len(agent)+len(command) > 1<<16 {
			return
		}
		m := Build(Facts{
			Now: noon, Waiting: []Question{{ID: agent, Agent: agent, Command: command, Expires: noon}},
			Agents:  []Agent{{ID: agent, Name: agent, Mode: mode, Custom: command}},
			Running: []Run{{agent, agent, command, noon}}, Hooks: []string{command},
			Recent: []Recent{{agent, agent, command, "Always allowed", true}},
		})
		if n := strings.Count(text(m.Items, ""), "quit Quit Countersign\n"); n < 1 {
			t.Fatal("no way to quit")
		}
		checkItems(t, m.Items, agent)
	})
}

func checkItems(t *testing.T, items []Item, id string) {
	t.Helper()
	for _, i := range items {
		if !utf8.ValidString(i.Title) || utf8.RuneCountInString(i.Title) > maxTitle+len(" — Custom: ")+maxName {
			t.Errorf("%q is not short text", i.Title)
		}
		if strings.ContainsFunc(i.Title, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }) {
			t.Errorf("%q holds what cannot be seen", i.Title)
		}
		switch verb, subject, _ := Parse(i.ID); verb {
		case "question", "agent", "mode", "run", "stop", "request", "undo":
			if subject != id {
				t.Errorf("%q is for %q, want %q", i.ID, subject, id)
			}
		}
		checkItems(t, i.Children, id)
	}
}

// BenchmarkBuild makes the menu of the longest commands, as every second.
func BenchmarkBuild(b *testing.B) {
	f := Facts{Now: noon}
	for range maxWaiting {
		f.Waiting = append(f.Waiting, question("q", "a", strings.Repeat("--password x TOKEN=abc \x01 ", 10_000), time.Minute))
	}
	for b.Loop() {
		Build(f)
	}
}

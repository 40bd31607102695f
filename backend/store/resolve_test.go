package store

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

type resolveCase struct {
	File      json.RawMessage
	AgentID   string
	Overrides *struct{}
	Agent     struct {
		Security        approval.Security
		Ask             approval.Ask
		AskFallback     approval.Security
		AutoAllowSkills bool
	}
	Sources   map[string]string // null reads as ""
	Allowlist []string
}

// The rows in which we answer otherwise than OpenClaw 2026.9.6, and why that
// is safer. In all of them our answer is at least as strict.
var differing = []struct {
	rows   []int
	refuse string // part of our error; empty when only built-in values differ
	why    string
}{
	{[]int{0, 2, 4}, "", "nothing is said: built in is deny/on-miss, not full/off"},
	{[]int{1, 3, 5}, "", "nothing is said: a config cannot loosen our deny (the stricter wins)"},
	{[]int{18, 20, 22}, "", "security is built in, so deny; ask is said or on-miss; the legacy agent's allowlist security would loosen our deny"},
	{[]int{19, 21, 23}, "", "the same, and a config cannot loosen it"},
	{[]int{24, 25, 26, 27, 28, 29}, `agents.main.security: security cannot be "bogus"`, "a bad value refuses the file, it does not fall to the next layer"},
	{[]int{30, 31, 32, 33, 34, 35}, "agents.main.allowlist[1]: cannot be empty", "a blank entry refuses the file, it is not dropped in silence"},
	{[]int{36, 38, 40}, "", "security and ask are built in: deny/on-miss, not full/off"},
	{[]int{37, 39, 41}, "", "the same, and a config cannot loosen it"},
}

func TestResolveLikeOpenClaw(t *testing.T) {
	var vectors struct{ Cases []resolveCase }
	loadJSON(t, "testdata/approvals-resolve.json", &vectors)
	refuse, differs := map[int]string{}, map[int]string{}
	for _, d := range differing {
		for _, row := range d.rows {
			refuse[row], differs[row] = d.refuse, d.why
		}
	}
	for i, c := range vectors.Cases {
		d, err := Parse("f", c.File, home)
		if refuse[i] != "" {
			if err == nil || !strings.Contains(err.Error(), refuse[i]) {
				t.Errorf("row %d: error %v", i, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("row %d: %v", i, err)
			continue
		}
		p := (&view{home: home, accepted: d}).policy(c.AgentID)
		for field, origin := range c.Sources {
			if p.Origins[field] != origin {
				t.Errorf("row %d: %s comes from %q, want %q", i, field, p.Origins[field], origin)
			}
		}
		var patterns []string
		for _, e := range p.Allowlist {
			patterns = append(patterns, e.Pattern)
		}
		slices.Sort(patterns)
		slices.Sort(c.Allowlist)
		if !slices.Equal(patterns, c.Allowlist) {
			t.Errorf("row %d: entries %q, want %q", i, patterns, c.Allowlist)
		}
		if p.AutoAllowSkills != c.Agent.AutoAllowSkills || p.AskFallback != c.Agent.AskFallback {
			t.Errorf("row %d: %+v, want %+v", i, p, c.Agent)
		}
		same := p.Security == c.Agent.Security && p.Ask == c.Agent.Ask
		if same == (differs[i] != "") {
			t.Errorf("row %d: %s/%s against %s/%s; listed as differing: %q", i, p.Security, p.Ask, c.Agent.Security, c.Agent.Ask, differs[i])
		}
		if approval.StricterSecurity(p.Security, c.Agent.Security) != p.Security || approval.StricterAsk(p.Ask, c.Agent.Ask) != p.Ask {
			t.Errorf("row %d: %s/%s is looser than %s/%s", i, p.Security, p.Ask, c.Agent.Security, c.Agent.Ask)
		}
	}
}

// Two words meet in an edit that is held; allowedDecisions and modeFromPolicy
// belong to those who show them.
func TestStricterLikeOpenClaw(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Op, A, B string
			Result   json.RawMessage
		}
	}
	loadJSON(t, "testdata/policy-algebra.json", &vectors)
	done := 0
	for _, c := range vectors.Cases {
		var want string
		if c.Op != "minSecurity" && c.Op != "maxAsk" {
			continue
		}
		if err := json.Unmarshal(c.Result, &want); err != nil {
			t.Fatal(err)
		}
		done++
		a, b := approval.Policy{Origins: map[string]string{}}, approval.Policy{}
		var got string
		if c.Op == "minSecurity" {
			a.Security, b.Security = approval.Security(c.A), approval.Security(c.B)
			a.AskFallback, b.AskFallback = a.Security, b.Security
			p := stricter(a, b)
			if got = string(p.Security); p.AskFallback != p.Security {
				got = string(p.AskFallback)
			}
		} else {
			a.Ask, b.Ask = approval.Ask(c.A), approval.Ask(c.B)
			got = string(stricter(a, b).Ask)
		}
		if got != want {
			t.Errorf("%s %s %s: %s, want %s", c.Op, c.A, c.B, got, want)
		}
	}
	if done != 18 {
		t.Errorf("%d rows", done)
	}
}

func loadJSON(t *testing.T, path string, to any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatal(err)
	}
}

// What is resolved for agent "a", written as security/ask/fallback, skills,
// entries, deny rules, safe bins, trusted folders, programs of skills.
func TestResolve(t *testing.T) {
	for _, row := range []struct{ document, want string }{
		{doc(), "deny/on-miss/deny false [] [] [cut uniq head tail tr wc] [] []"},
		{doc(`"defaults": {"security": "full", "ask": "off", "askFallback": "allowlist", "autoAllowSkills": true}`),
			"full/off/allowlist true [] [] [cut uniq head tail tr wc] [] []"},
		{doc(`"agents": {"a": {"security": "deny", "autoAllowSkills": false}, "*": {"security": "full", "ask": "always", "autoAllowSkills": true}}`,
			`"defaults": {"ask": "off", "askFallback": "full"}`), "deny/always/full false [] [] [cut uniq head tail tr wc] [] []"},
		{doc(`"agents": {"a": {"allowlist": ["/1", "/2"]}, "*": {"allowlist": ["/3"]}, "b": {"allowlist": ["/4"]}}`),
			"deny/on-miss/deny false [/3 /1 /2] [] [cut uniq head tail tr wc] [] []"},
		{doc(`"defaults": {"denylist": ["d"]}`, `"agents": {"a": {"denylist": ["a"]}, "*": {"denylist": ["s"]}, "b": {"denylist": ["b"]}}`),
			"deny/on-miss/deny false [] [d s a] [cut uniq head tail tr wc] [] []"},
		{doc(`"defaults": {"safeBins": ["x"], "safeBinTrustedDirs": ["/d"]}`, `"agents": {"*": {"safeBins": ["y"], "safeBinTrustedDirs": ["~/s"]}}`),
			"deny/on-miss/deny false [] [] [y] [/home/someone/s] []"},
		{doc(`"defaults": {"safeBins": ["x"]}`, `"agents": {"a": {"safeBins": []}, "*": {"safeBins": ["y"]}}`),
			"deny/on-miss/deny false [] [] [] [] []"},
		{doc(`"defaults": {"skillBins": [{"name": "d", "path": "/d"}]}`, `"agents": {"a": {"skillBins": [{"name": "a", "path": "~/a"}]}}`),
			"deny/on-miss/deny false [] [] [cut uniq head tail tr wc] [] [d:/d a:/home/someone/a]"},
	} {
		v := &view{home: home, accepted: parse(t, row.document)}
		if got := describe(v.policy("a")); got != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.document, got, row.want)
		}
	}
}

func TestResolveSafeBinProfiles(t *testing.T) {
	v := &view{home: home, accepted: parse(t, doc(`"defaults": {"safeBinProfiles": {"x": {"maxPositional": 2}}}`, `"agents": {"a": {"safeBinProfiles": {}}}`))}
	if got := v.policy("a").SafeBinProfiles; len(got) != 0 {
		t.Errorf("the agent's own: %v", got)
	}
	if got := v.policy("b").SafeBinProfiles["x"].MaxPositional; got != 2 {
		t.Errorf("the default: %d", got)
	}
}

// The most specific layer says when a person has to show that it is them.
func TestResolvePresence(t *testing.T) {
	for _, row := range []struct {
		document string
		want     approval.Presence
	}{
		{doc(), approval.PresenceNever},
		{doc(`"defaults": {"presence": "risky"}`), approval.PresenceRisky},
		{doc(`"defaults": {"presence": "risky"}`, `"agents": {"*": {"presence": "always"}}`), approval.PresenceAlways},
		{doc(`"agents": {"a": {"presence": "never"}, "*": {"presence": "always"}}`), approval.PresenceNever},
		{doc(`"agents": {"b": {"presence": "always"}}`), approval.PresenceNever},
	} {
		d := parse(t, row.document)
		if got := (&view{home: home, accepted: d}).policy("a").Presence; got != row.want {
			t.Errorf("%s: %s, want %s", row.document, got, row.want)
		}
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got := (&view{home: home, accepted: parse(t, string(text))}).policy("a").Presence; got != row.want {
			t.Errorf("%s, written and read again: %s, want %s", row.document, got, row.want)
		}
	}
}

// The agent "default" of older versions.
func TestLegacyAgent(t *testing.T) {
	for _, row := range []struct{ what, agents, want string }{
		{"alone it is main", `"default": {"security": "full", "allowlist": ["/l"]}`, "full/on-miss/deny false [/l] [] [cut uniq head tail tr wc] [] []"},
		{"lists are joined", `"default": {"allowlist": ["/l"], "denylist": ["l"]}, "main": {"allowlist": ["/m"], "denylist": ["m"]}`,
			"deny/on-miss/deny false [/m /l] [m l] [cut uniq head tail tr wc] [] []"},
		{"a looser word is left out", `"default": {"security": "full", "ask": "off", "askFallback": "full", "autoAllowSkills": true, "safeBins": ["x"]}, "main": {}`,
			"deny/on-miss/deny false [] [] [] [] []"},
		{"a stricter word counts", `"default": {"security": "deny", "ask": "always", "askFallback": "deny", "autoAllowSkills": false, "safeBins": ["wc", "x"]}, "main": {}, "*": {"security": "full", "ask": "off", "askFallback": "full", "autoAllowSkills": true}`,
			"deny/always/deny false [] [] [wc] [] []"},
		{"main's own word wins", `"default": {"security": "deny"}, "main": {"security": "allowlist"}`,
			"allowlist/on-miss/deny false [] [] [cut uniq head tail tr wc] [] []"},
	} {
		d := parse(t, doc(`"agents": {`+row.agents+`}`))
		if got := describe((&view{home: home, accepted: d}).policy("main")); got != row.want || d.Agents["default"] != nil {
			t.Errorf("%s:\n got %s\nwant %s", row.what, got, row.want)
		}
	}
}

// Names that nobody gave an agent, and names with a meaning of their own, get
// what holds for every agent.
func TestUnknownAgents(t *testing.T) {
	d := parse(t, doc(`"agents": {"*": {"allowlist": ["/s"]}, "main": {"security": "full"}, "default": {"allowlist": ["/m"]}}`))
	v := &view{home: home, accepted: d}
	for _, id := range []string{"", "*", "default", "Main", "main ", "other"} {
		p := v.policy(id)
		if got := describe(p); got != "deny/on-miss/deny false [/s] [] [cut uniq head tail tr wc] [] []" || p.AgentID != id {
			t.Errorf("%q: %s", id, got)
		}
	}
	n := 0
	v.ready.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d policies are kept for agents that nobody named", n)
	}
}

func describe(p approval.Policy) string {
	patterns, rules, skills := []string{}, []string{}, []string{}
	for _, e := range p.Allowlist {
		patterns = append(patterns, e.Pattern)
	}
	for _, r := range p.Denylist {
		rules = append(rules, r.Pattern)
	}
	for _, s := range p.Skills {
		skills = append(skills, s.Name+":"+s.Path)
	}
	list := func(l []string) string { return "[" + strings.Join(l, " ") + "]" }
	auto := map[bool]string{true: "true", false: "false"}[p.AutoAllowSkills]
	return strings.Join([]string{
		string(p.Security) + "/" + string(p.Ask) + "/" + string(p.AskFallback), auto,
		list(patterns), list(rules), list(p.SafeBins), list(p.SafeBinTrustedDirs), list(skills),
	}, " ")
}

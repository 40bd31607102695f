package store

import (
	"fmt"
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestDifferences: a line has all that a sentence has, and what is tighter is told
// the right way round.
func TestDifferences(t *testing.T) {
	mode := func(who, was, is, so string) Line {
		return Line{Agent: who, Kind: LineMode, Was: was, Is: is, Text: so}
	}
	rule := func(e approval.Entry) Line { return Line{Agent: "a", Kind: LineRule, Entry: e} }
	instead := func(before, e approval.Entry) Line {
		return Line{Agent: "a", Kind: LineRule, Entry: e, Changes: true, Before: before}
	}
	value := func(name, was, is string) Line {
		return Line{Agent: Every, Kind: LineValue, Name: name, Was: was, Is: is}
	}
	tighter := func(l Line) Line {
		l.Tighter = true
		return l
	}
	at := func(cwd string) approval.Entry { return approval.Entry{Pattern: "/x", Cwd: cwd} }
	in := func(cwd string) string { return fmt.Sprintf(`{"pattern": "/x", "cwd": %q}`, cwd) }
	any := approval.Entry{Pattern: "/x"}
	knows := approval.Entry{Pattern: "/d/x", Identity: []approval.Identity{{Path: "/d/x", SHA256: sha}}}
	for name, row := range map[string]struct {
		old, new string
		want     []Line
	}{
		"nothing": {list(`"/x"`), list(`"/x"`), nil},
		// Both words make one mode, and what follows is said.
		"a mode":               {agent(`"security": "deny", "ask": "always"`), agent(`"security": "full", "ask": "off"`), []Line{mode("a", "deny/always", "full/off", "")}},
		"a tighter mode":       {agent(`"security": "full", "ask": "off"`), agent(`"security": "deny", "ask": "always"`), []Line{tighter(mode("a", "full/off", "deny/always", ""))}},
		"what was denied":      {agent(`"security": "allowlist", "ask": "off"`), agent(`"security": "allowlist", "ask": "on-miss"`), []Line{mode("a", "allowlist/off", "allowlist/on-miss", "so what was denied is asked about")}},
		"what was asked about": {agent(`"security": "allowlist", "ask": "on-miss"`), agent(`"security": "allowlist", "ask": "off"`), []Line{mode("a", "allowlist/on-miss", "allowlist/off", "")}},
		"both that follow":     {agent(`"security": "allowlist", "ask": "off", "askFallback": "full"`), agent(`"security": "allowlist", "ask": "on-miss", "askFallback": "full"`), []Line{mode("a", "allowlist/off", "allowlist/on-miss", "so what was denied is asked about, so askFallback full runs what was denied")}},
		// An agent that is no other than every agent has no line; one that is has.
		"every agent":           {doc(`"defaults": {"security": "deny", "ask": "off"}, "agents": {"a": {}}`), doc(`"defaults": {"security": "full", "ask": "off"}, "agents": {"a": {}}`), []Line{mode(Every, "deny/off", "full/off", "")}},
		"one asks nobody":       {doc(`"defaults": {"security": "deny", "ask": "always"}, "agents": {"a": {"ask": "off"}}`), doc(`"defaults": {"security": "full", "ask": "always"}, "agents": {"a": {"ask": "off"}}`), []Line{mode(Every, "deny/always", "full/always", ""), mode("a", "deny/off", "full/off", "")}},
		"a wider layer of one":  {doc(`"defaults": {"security": "full", "ask": "off"}, "agents": {"a": {"security": "deny"}}`), doc(`"defaults": {"security": "full", "ask": "off"}, "agents": {"a": {}}`), []Line{mode("a", "deny/off", "full/off", "")}},
		"a rule":                {list(), list(in("/w")), []Line{rule(at("/w"))}},
		"a rule gone":           {list(in("/w")), list(), []Line{tighter(rule(at("/w")))}},
		"another folder":        {list(in("/v")), list(in("/w")), []Line{instead(at("/v"), at("/w"))}},
		"wider":                 {list(in("/w")), list(`"/x"`), []Line{instead(at("/w"), any)}},
		"narrower":              {list(`"/x"`), list(in("/w")), []Line{tighter(instead(any, at("/w")))}},
		"a second one":          {list(in("/w")), list(in("/w"), `"/x"`), []Line{rule(any)}},
		"one instead of two":    {list(in("/u"), in("/v")), list(in("/w")), []Line{instead(at("/u"), at("/w")), tighter(rule(at("/v")))}},
		"a file that was known": {list(known(""), `"/d/*"`), list(`"/d/*"`), []Line{{Agent: "a", Kind: LineOther, Text: `the entry "/d/x" no longer says which file is meant, and "/d/*" covers it`}, tighter(rule(knows))}},
		"a file that is known":  {list(`"/d/*"`), list(known(""), `"/d/*"`), []Line{rule(knows)}},
		// What others understand: before and after, and of whom.
		"a tool":           {doc(`"tools": {"deny": ["t"]}`), doc(`"tools": {"deny": []}`), []Line{value("tools.deny", `["t"]`, `[]`)}},
		"approvers":        {doc(`"approvers": [{"who": "person", "seconds": 5}]`), doc(), []Line{value("approvers", `[{"seconds":5,"who":"person"}]`, "nothing")}},
		"a filter of one":  {agent(`"safeBinProfiles": {"jq": {"maxPositional": 1}}`), agent(`"safeBinProfiles": {"jq": {"maxPositional": 2}}`), []Line{{Agent: "a", Kind: LineValue, Name: "safeBinProfiles.jq.maxPositional", Was: "1", Is: "2"}}},
		"a filter of each": {doc(`"agents": {"a": {}, "b": {}}`), doc(`"agents": {"a": {"safeBinProfiles": {"jq": {}}}, "b": {"safeBinProfiles": {"jq": {}}}}`), []Line{{Agent: "a", Kind: LineValue, Name: "safeBinProfiles", Was: "nothing", Is: `{"jq":{}}`}, {Agent: "b", Kind: LineValue, Name: "safeBinProfiles", Was: "nothing", Is: `{"jq":{}}`}}},
	} {
		if got, want := fmt.Sprintf("%+v", Differences(parse(t, row.old), parse(t, row.new))), fmt.Sprintf("%+v", row.want); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestEachReasonHasALine: where an edit loosens, a line says so, and else none.
func TestEachReasonHasALine(t *testing.T) {
	for _, e := range edits {
		old, new := parse(t, e.old), parse(t, e.new)
		looser := slices.ContainsFunc(Differences(old, new), func(l Line) bool { return !l.Tighter })
		if reasons := Loosens(old, new); (len(reasons) > 0) != looser {
			t.Errorf("%s: %q, and a line is %v", e.what, reasons, looser)
		}
	}
}

package store

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

const sha = "0000000000000000000000000000000000000000000000000000000000000000"

// agent is a document with these members for agent "a".
func agent(members string) string { return doc(`"agents": {"a": {` + members + `}}`) }

// list is a document with these entries for agent "a".
func list(entries ...string) string {
	return agent(`"allowlist": [` + strings.Join(entries, ",") + `]`)
}

// entry is one entry for /x with these members.
func entry(members string) string { return `{"id": "i", "pattern": "/x", ` + members + `}` }

// known is an entry that knows its file, with more members.
func known(more string) string {
	return `{"pattern": "/d/x", "identity": [{"path": "/d/x", "sha256": "` + sha + `"}]` + more + `}`
}

// held is what the sentence must say; empty when the edit is taken at once.
var edits = []struct{ what, old, new, held string }{
	// Words.
	{"nothing", list(`"/x"`), list(`"/x"`), ""},
	{"security up", agent(`"security": "deny"`), agent(`"security": "allowlist"`), "agents.a.security goes from deny to allowlist"},
	{"security to full", agent(`"security": "allowlist"`), agent(`"security": "full"`), "agents.a.security goes from allowlist to full"},
	{"security down", agent(`"security": "full"`), agent(`"security": "deny"`), ""},
	{"security unset, looser default, of whom", doc(`"defaults": {"security": "full"}, "agents": {"a": {"security": "deny"}}`), doc(`"defaults": {"security": "full"}, "agents": {"a": {}}`), "for agent a defaults.security goes from deny to full"},
	{"security unset, looser default", doc(`"defaults": {"security": "full"}, "agents": {"a": {"security": "deny"}}`), doc(`"defaults": {"security": "full"}, "agents": {"a": {}}`), "defaults.security goes from deny to full"},
	{"agent removed, looser default", doc(`"defaults": {"security": "full"}, "agents": {"a": {"security": "deny"}}`), doc(`"defaults": {"security": "full"}`), "defaults.security goes from deny to full"},
	{"security unset, stricter default", agent(`"security": "full"`), agent(``), ""},
	{"new agent, stricter", doc(`"defaults": {"security": "full"}`), doc(`"defaults": {"security": "full"}, "agents": {"a": {"security": "deny"}}`), ""},
	{"defaults looser, nobody affected but strangers", doc(`"agents": {"*": {}, "a": {"security": "deny"}}`), doc(`"defaults": {"security": "full"}, "agents": {"*": {}, "a": {"security": "deny"}}`), "defaults.security"},
	{"default moved to the agent", doc(`"defaults": {"ask": "always"}`), doc(`"defaults": {"ask": "always"}, "agents": {"a": {"ask": "always"}}`), ""},
	{"* looser", doc(`"agents": {"*": {"ask": "always"}}`), doc(`"agents": {"*": {"ask": "off"}}`), "agents.*.ask goes from always to off"},
	{"ask looser", agent(`"ask": "always"`), agent(`"ask": "on-miss"`), "agents.a.ask goes from always to on-miss"},
	{"ask stricter", agent(`"ask": "on-miss"`), agent(`"ask": "always"`), ""},
	{"ask on, nothing may run", agent(`"ask": "off"`), agent(`"ask": "always"`), ""},
	{"ask on, all may run", agent(`"security": "full", "ask": "off"`), agent(`"security": "full", "ask": "always"`), ""},
	{"ask on where that denied", agent(`"security": "allowlist", "ask": "off"`), agent(`"security": "allowlist", "ask": "on-miss"`), "so what was denied is asked about"},
	{"ask stricter, but the fallback runs all", agent(`"ask": "off", "askFallback": "full"`), agent(`"ask": "on-miss", "askFallback": "full"`), "askFallback full runs what was denied"},
	{"fallback looser", agent(`"askFallback": "deny"`), agent(`"askFallback": "allowlist"`), "agents.a.askFallback goes from deny to allowlist"},
	{"fallback stricter", agent(`"askFallback": "full"`), agent(`"askFallback": "allowlist"`), ""},
	{"skills on", agent(``), agent(`"autoAllowSkills": true`), "agents.a.autoAllowSkills goes from false to true"},
	{"skills off", agent(`"autoAllowSkills": true`), agent(`"autoAllowSkills": false`), ""},
	{"presence less", agent(`"presence": "always"`), agent(`"presence": "risky"`), "agents.a.presence goes from always to risky"},
	{"presence gone", agent(`"presence": "risky"`), agent(``), "agents.a.presence goes from risky to never"},
	{"presence more", agent(``), agent(`"presence": "risky"`), ""},
	{"presence from the defaults", doc(`"defaults": {"presence": "always"}`), doc(`"agents": {"a": {"presence": "always"}}`), "presence goes from always to never"},
	// Entries.
	{"entry added", list(), list(`"/x"`), `agents.a.allowlist: the entry "/x" is new`},
	{"entry added, new agent", doc(), list(`"/x"`), `the entry "/x" is new`},
	{"entry removed", list(`"/x"`, `"/y"`), list(`"/y"`), ""},
	{"agent removed", list(`"/x"`), doc(), ""},
	{"order", list(`"/x"`, `"/y"`), list(`"/y"`, `"/x"`), ""},
	{"order of a narrow one", list(`"/x"`, entry(`"cwd": "/w"`)), list(entry(`"cwd": "/w"`), `"/x"`), ""},
	{"twice", list(`"/x"`), list(`"/x"`, `"/x"`), `the entry "/x" changes`},
	{"from agent to *", list(`"/x"`), doc(`"agents": {"*": {"allowlist": ["/x"]}}`), "agents.*.allowlist"},
	{"pattern wider", list(`"/x/y"`), list(`"/x/*"`), `the entry "/x/*" is new`},
	{"added but disabled", list(), list(entry(`"disabled": true`)), ""},
	{"disabled", list(`"/x"`), list(entry(`"disabled": true`)), ""},
	{"enabled", list(entry(`"disabled": true`)), list(entry(`"disabled": false`)), "changes"},
	{"id, note, usage", list(`"/x"`), list(entry(`"note": "n", "addedAt": 5, "addedBy": "b", "lastUsedAt": 9, "lastUsedCommand": "x", "lastResolvedPath": "/x"`)), ""},
	{"unknown key", list(`"/x"`), list(entry(`"color": "red"`)), ""},
	{"source", list(`"/x"`), list(entry(`"source": "allow-always"`)), "changes"},
	{"source dropped", list(entry(`"source": "allow-always", "argPattern": "a"`)), list(entry(`"argPattern": "a"`)), "changes"},
	{"argPattern added", list(`"/x"`), list(entry(`"argPattern": "^a$"`)), ""},
	{"argPattern removed", list(entry(`"argPattern": "^a$"`)), list(`"/x"`), "changes"},
	{"argPattern changed", list(entry(`"argPattern": "^a$"`)), list(entry(`"argPattern": "^b$"`)), "changes"},
	{"args where none were", list(`{"pattern": "/x", "identity": [{"path": "/x"}]}`), list(`{"pattern": "/x", "args": ["a"], "identity": [{"path": "/x"}]}`), ""},
	{"args of a program that nobody knows", list(`"/x"`), list(entry(`"args": ["a"]`)), "changes"},
	{"args of a program that is another", list(`{"pattern": "/x", "identity": [{"path": "/usr/bin/sudo"}]}`), list(`{"pattern": "/x", "args": ["a"], "identity": [{"path": "/usr/bin/sudo"}]}`), "changes"},
	{"args wake sudo", list(`"*"`), list(`{"pattern": "*", "args": ["cat"]}`), "changes"},
	{"args wake doas", list(`{"pattern": "doas", "identity": [{"path": "/usr/bin/doas"}]}`), list(`{"pattern": "doas", "args": ["cat"], "identity": [{"path": "/usr/bin/doas"}]}`), "changes"},
	{"args longer", list(entry(`"args": ["a"]`)), list(entry(`"args": ["a", "b"]`)), ""},
	{"args shorter", list(entry(`"args": ["a", "b"]`)), list(entry(`"args": ["a"]`)), "changes"},
	{"args changed", list(entry(`"args": ["a"]`)), list(entry(`"args": ["*"]`)), "changes"},
	{"variables", list(entry(`"args": ["a"]`)), list(entry(`"args": ["a"], "env": {"A": ["1"]}`)), "changes"},
	{"no variables", list(entry(`"env": {"A": ["1"]}`)), list(entry(`"note": "n"`)), ""},
	{"another value", list(entry(`"env": {"A": ["1"]}`)), list(entry(`"env": {"A": ["2"]}`)), "changes"},
	{"a value more", list(entry(`"env": {"A": ["1"]}`)), list(entry(`"env": {"A": ["1", "2"]}`)), "changes"},
	{"a value less", list(entry(`"env": {"A": ["1", "2"]}`)), list(entry(`"env": {"A": ["2"]}`)), ""},
	{"another name", list(entry(`"env": {"A": ["1"]}`)), list(entry(`"env": {"a": ["1"]}`)), "changes"},
	{"any value", list(entry(`"env": {"A": ["1"]}`)), list(entry(`"env": {"A": ["*"]}`)), "changes"},
	{"one of any", list(entry(`"env": {"A": ["*"]}`)), list(entry(`"env": {"A": ["1"]}`)), ""},
	{"exact", list(entry(`"args": ["a"]`)), list(entry(`"args": ["a"], "argsExact": true`)), ""},
	{"not exact", list(entry(`"args": ["a"], "argsExact": true`)), list(entry(`"args": ["a"]`)), "changes"},
	{"exact but other", list(entry(`"args": ["a"], "argsExact": true`)), list(entry(`"args": ["a", "b"], "argsExact": true`)), "changes"},
	{"folder added", list(`"/x"`), list(entry(`"cwd": "/w"`)), ""},
	{"folder removed", list(entry(`"cwd": "/w"`)), list(`"/x"`), "changes"},
	{"folder changed", list(entry(`"cwd": "/w"`)), list(entry(`"cwd": "/w/deeper"`)), "changes"},
	{"session added", list(`"/x"`), list(entry(`"sessionKey": "s"`)), ""},
	{"session removed", list(entry(`"sessionKey": "s"`)), list(`"/x"`), "changes"},
	{"lease added", list(`"/x"`), list(entry(`"expiresAt": 1000`)), ""},
	{"lease shorter", list(entry(`"expiresAt": 1000`)), list(entry(`"expiresAt": 999`)), ""},
	{"lease longer", list(entry(`"expiresAt": 1000`)), list(entry(`"expiresAt": 1001`)), "changes"},
	{"lease begun later", list(entry(`"expiresAt": 9000000000, "addedAt": 1000`)), list(entry(`"expiresAt": 9000000000, "addedAt": 2000`)), "changes"},
	{"uses begun later", list(entry(`"usesLeft": 5, "addedAt": 1000`)), list(entry(`"usesLeft": 5, "addedAt": 2000`)), "changes"},
	{"uses begun at no time", list(entry(`"usesLeft": 5, "addedAt": 1000`)), list(entry(`"usesLeft": 5`)), "changes"},
	{"uses begun earlier", list(entry(`"usesLeft": 5, "addedAt": 2000`)), list(entry(`"usesLeft": 5, "addedAt": 1000`)), ""},
	{"lease removed", list(entry(`"expiresAt": 1000`)), list(`"/x"`), "changes"},
	// The lease of a session ends by when it was given.
	{"session given later", list(entry(`"sessionKey": "s", "addedAt": 1000`)), list(entry(`"sessionKey": "s", "addedAt": 1001`)), "changes"},
	{"session given later and narrower", list(entry(`"sessionKey": "s", "addedAt": 1000`)), list(entry(`"sessionKey": "s", "addedAt": 1001, "cwd": "/w", "expiresAt": 9`)), "changes"},
	{"session given at no time", list(entry(`"sessionKey": "s", "addedAt": 1000`)), list(entry(`"sessionKey": "s"`)), "changes"},
	{"session given at a time", list(entry(`"sessionKey": "s"`)), list(entry(`"sessionKey": "s", "addedAt": 1000`)), "changes"},
	{"session given earlier", list(entry(`"sessionKey": "s", "addedAt": 1000`)), list(entry(`"sessionKey": "s", "addedAt": 999`)), ""},
	{"session given at the same time", list(entry(`"sessionKey": "s", "addedAt": 1000`)), list(entry(`"sessionKey": "s", "addedAt": 1000, "note": "n", "lastUsedAt": 9`)), ""},
	{"session added to what was given earlier", list(entry(`"addedAt": 1000`)), list(entry(`"sessionKey": "s", "addedAt": 1001`)), ""},
	{"two of a session exchange their times", list(entry(`"sessionKey": "s", "addedAt": 1000`), entry(`"sessionKey": "s", "addedAt": 2000`)), list(entry(`"sessionKey": "s", "addedAt": 2000`), entry(`"sessionKey": "s", "addedAt": 1000`)), ""},
	{"both of a session take the later time", list(entry(`"sessionKey": "s", "addedAt": 1000`), entry(`"sessionKey": "s", "addedAt": 2000`)), list(entry(`"sessionKey": "s", "addedAt": 2000`), entry(`"sessionKey": "s", "addedAt": 2000`)), "changes"},
	{"fewer uses", list(entry(`"usesLeft": 5`)), list(entry(`"usesLeft": 4`)), ""},
	{"more uses", list(entry(`"usesLeft": 0`)), list(entry(`"usesLeft": 1`)), "changes"},
	{"uses no longer counted", list(entry(`"usesLeft": 5`)), list(`"/x"`), "changes"},
	{"uses counted twice", list(entry(`"usesLeft": 5`)), list(entry(`"usesLeft": 3`), entry(`"usesLeft": 2`)), "changes"},
	{"identity required", list(`"/x"`), list(entry(`"requireIdentity": "signer"`)), ""},
	{"identity no longer required", list(entry(`"requireIdentity": "sha256"`)), list(`"/x"`), "changes"},
	{"identity added", list(`"/x"`), list(entry(`"identity": [{"path": "/x"}]`)), "changes"},
	{"identity changed", list(entry(`"identity": [{"path": "/x", "sha256": "` + sha + `"}]`)), list(entry(`"identity": [{"path": "/x", "sha256": "1` + sha[1:] + `"}]`)), "changes"},
	{"identity forgotten", list(entry(`"identity": [{"path": "/x"}]`)), list(`"/x"`), "changes"},
	// An entry that knows a file keeps others from covering another one in its place.
	{"known file goes", list(known(""), `"/d/*"`), list(`"/d/*"`), `"/d/x" no longer says which file is meant, and "/d/*" covers it`},
	{"known file goes, home may be its folder", list(known(""), `"~/*"`), list(`"~/*"`), `covers it`},
	{"known file goes, its name is covered", list(known(""), `"x"`), list(`"x"`), `and "x" covers it`},
	{"known file goes, everything is covered", list(known(""), `"*"`), list(`"*"`), `and "*" covers it`},
	{"known file goes, * covers it", doc(`"agents": {"a": {"allowlist": [` + known("") + `]}, "*": {"allowlist": ["/d/*"]}}`), doc(`"agents": {"a": {}, "*": {"allowlist": ["/d/*"]}}`), `covers it`},
	{"known file of * goes", doc(`"agents": {"*": {"allowlist": [` + known("") + `]}, "a": {"allowlist": ["/d/*"]}}`), doc(`"agents": {"*": {}, "a": {"allowlist": ["/d/*"]}}`), `covers it`},
	{"known file of another goes", doc(`"agents": {"b": {"allowlist": [` + known("") + `]}, "a": {"allowlist": ["/d/*"]}}`), doc(`"agents": {"b": {}, "a": {"allowlist": ["/d/*"]}}`), ""},
	{"known file goes, nothing covers it", list(known(""), `"/e/*"`), list(`"/e/*"`), ""},
	{"known file goes, the other is off", list(known(""), `{"pattern": "/d/*", "disabled": true}`), list(`{"pattern": "/d/*", "disabled": true}`), ""},
	{"known file for one folder", list(known(""), `"/d/*"`), list(known(`, "cwd": "/w"`), `"/d/*"`), `covers it`},
	{"known file off", list(known(""), `"/d/*"`), list(known(`, "disabled": true`), `"/d/*"`), `covers it`},
	{"known file that ends", list(known(""), `"/d/*"`), list(known(`, "expiresAt": 1`), `"/d/*"`), `covers it`},
	{"known file for some time goes", list(known(`, "expiresAt": 1000`), `"/d/*"`), list(`"/d/*"`), "covers it"},
	{"known file stays", list(known(""), `"/d/*"`), list(`"/d/*"`, known(`, "note": "n"`)), ""},
	{"required of a file", list(`{"pattern": "/d/x", "requireIdentity": "sha256"}`, `"/d/*"`), list(`"/d/*"`), `covers it`},
	{"required of all files", list(`{"pattern": "/*/x*", "requireIdentity": "sha256"}`, `"/d/*"`), list(`"/d/*"`), `covers it`},
	// Denylist.
	{"rule added", agent(`"denylist": []`), agent(`"denylist": ["rm"]`), ""},
	{"rule removed", agent(`"denylist": ["rm"]`), agent(`"denylist": []`), `the denylist of agent a loses "rm"`},
	{"rule removed with its agent", agent(`"denylist": ["rm"]`), doc(), `the denylist of agent a loses "rm"`},
	{"rule changed", agent(`"denylist": ["rm"]`), agent(`"denylist": ["rmdir"]`), `loses "rm"`},
	{"rule narrowed", agent(`"denylist": ["rm"]`), agent(`"denylist": [{"pattern": "rm", "args": ["-r"]}]`), `loses "rm"`},
	{"rule widened", agent(`"denylist": [{"pattern": "rm", "args": ["-r"]}]`), agent(`"denylist": ["rm"]`), ""},
	{"reason", agent(`"denylist": ["rm"]`), agent(`"denylist": [{"pattern": "rm", "reason": "no"}]`), ""},
	{"rule moved up", agent(`"denylist": ["rm"]`), doc(`"defaults": {"denylist": ["rm"]}`), ""},
	{"rule moved down", doc(`"defaults": {"denylist": ["rm"]}`), agent(`"denylist": ["rm"]`), `the denylist of every agent loses "rm"`},
	{"rule of * moved to defaults", doc(`"agents": {"*": {"denylist": ["rm"]}}`), doc(`"defaults": {"denylist": ["rm"]}`), ""},
	// Other lists.
	{"safe bin added", agent(`"safeBins": ["wc"]`), agent(`"safeBins": ["wc", "cat"]`), `the safe bin "cat" is added for agent "a"`},
	{"safe bin for all", doc(), doc(`"defaults": {"safeBins": ["wc", "cat"]}`), `the safe bin "cat" is added for every agent`},
	{"safe bin removed", agent(`"safeBins": ["wc", "cat"]`), agent(`"safeBins": []`), ""},
	{"safe bins said for the first time", agent(``), agent(`"safeBins": ["wc"]`), ""},
	{"safe bins unset", agent(`"safeBins": []`), agent(``), `the safe bin "cut" is added`},
	{"trusted folder added", agent(``), agent(`"safeBinTrustedDirs": ["/opt/bin"]`), `the trusted folder "/opt/bin" is added`},
	{"trusted folder removed", agent(`"safeBinTrustedDirs": ["/opt/bin"]`), agent(``), ""},
	{"skill added", agent(``), agent(`"skillBins": [{"name": "s", "path": "/s"}]`), `the skill "s at /s`},
	{"skill changed", agent(`"skillBins": [{"name": "s", "path": "/s"}]`), agent(`"skillBins": [{"name": "s", "path": "/s", "sha256": "` + sha + `"}]`), "the skill"},
	{"skill removed", agent(`"skillBins": [{"name": "s", "path": "/s"}]`), agent(``), ""},
	{"answers accepted", agent(``), agent(`"acceptAnswersFrom": ["gw"]`), `the gateway whose answers count "gw" is added`},
	{"the client's answers accepted", agent(`"acceptAnswersFrom": ["gw"]`), agent(`"acceptAnswersFrom": ["gw", "mcp-client"]`), `the program whose answers count "mcp-client" is added`},
	{"the client's answers no longer accepted", agent(`"acceptAnswersFrom": ["gw", "mcp-client"]`), agent(`"acceptAnswersFrom": ["gw"]`), ""},
	{"answers no longer accepted", agent(`"acceptAnswersFrom": ["gw"]`), agent(`"acceptAnswersFrom": []`), ""},
	{"safe bin profiles", agent(`"safeBinProfiles": {"jq": {}}`), agent(`"safeBinProfiles": {}`), "safeBinProfiles.jq changes, which may permit more: from {} to nothing"},
	// The top.
	{"tools", doc(`"tools": {"deny": ["bash"]}`), doc(`"tools": {"deny": []}`), `tools.deny changes, which may permit more: from ["bash"] to []`},
	{"tools, only spaces", doc(`"tools": {"deny": ["bash"]}`), doc(`"tools": { "deny":["bash" ] }`), ""},
	{"charters removed", doc(`"charters": {}`), doc(), "charters changes"},
	{"unknown at the top", doc(), doc(`"x": 1`), ""},
	{"looks", agent(``), agent(`"displayName": "A", "color": "red"`), ""},
	{"looser and stricter", doc(`"agents": {"a": {"security": "deny"}, "b": {"security": "full"}}`), doc(`"agents": {"a": {"security": "full"}, "b": {"security": "deny"}}`), "agents.a.security"},
}

func TestLoosens(t *testing.T) {
	for _, row := range edits {
		old, new := parse(t, row.old), parse(t, row.new)
		got := strings.Join(Loosens(old, new), "; ")
		if (got == "") != (row.held == "") || !strings.Contains(got, row.held) {
			t.Errorf("%s: %q, want %q", row.what, got, row.held)
		}
		if again := Loosens(new, new); again != nil {
			t.Errorf("%s: a document loosens itself: %q", row.what, again)
		}
	}
}

// Every edit of the table, made by hand while a store is open and while none
// is: taken at once, or held until a person says yes or no.
func TestOutsideEdits(t *testing.T) {
	for _, running := range []bool{true, false} {
		for _, row := range edits {
			t.Run(fmt.Sprintf("%s, running %v", row.what, running), func(t *testing.T) {
				t.Parallel()
				testOutsideEdit(t, running, row.old, row.new, row.held != "")
			})
		}
	}
}

func testOutsideEdit(t *testing.T, running bool, old, new string, held bool) {
	dir := stateDir(t)
	write(t, dir, old)
	s := open(t, options(dir))
	if !running {
		s.Close()
	}
	write(t, dir, new)
	if !running {
		s = open(t, options(dir))
	}
	if !held {
		eventually(t, "taken", func() bool { return s.Snapshot().Hash == hashOf([]byte(new)) })
		if s.Snapshot().Held != nil || s.Snapshot().Broken != nil {
			t.Fatalf("%+v", s.Snapshot())
		}
		return
	}
	eventually(t, "held", func() bool {
		return s.Snapshot().Held != nil && s.Snapshot().Held.Hash == change(hashOf([]byte(old)), hashOf([]byte(new)))
	})
	snap := s.Snapshot()
	if snap.Hash != hashOf([]byte(old)) || len(snap.Held.Loosens) == 0 {
		t.Fatalf("held: %+v", snap)
	}
	noLooser(t, snap, parse(t, old))
	noLooser(t, snap, parse(t, new))
	if _, err := s.Update("", func(*Document) error { return nil }); err != ErrHeld {
		t.Errorf("update while held: %v", err)
	}
	if err := s.Accept("another"); err != ErrChanged {
		t.Errorf("accept of another version: %v", err)
	}
	if err := s.Reject(""); err != nil {
		t.Fatal(err)
	}
	if snap := s.Snapshot(); snap.Held != nil || snap.Hash != hashOf([]byte(old)) || read(t, file(dir)) != old {
		t.Fatalf("rejected: %+v", snap)
	}
	write(t, dir, new)
	eventually(t, "held again", func() bool {
		return s.Snapshot().Held != nil && s.Snapshot().Held.Hash == change(hashOf([]byte(old)), hashOf([]byte(new)))
	})
	if err := s.Accept(hashOf([]byte(new))); err != ErrChanged {
		t.Errorf("accept of a version that was shown as another step: %v", err)
	}
	if err := s.Accept(s.Snapshot().Held.Hash); err != nil {
		t.Fatal(err)
	}
	if snap := s.Snapshot(); snap.Held != nil || snap.Hash != hashOf([]byte(new)) {
		t.Fatalf("accepted: %+v", snap)
	}
	s.Close()
	if snap := open(t, options(dir)).Snapshot(); snap.Held != nil {
		t.Errorf("forgotten after a restart: %v", snap.Held.Loosens)
	}
}

// noLooser checks that what holds permits no more than a document alone.
func noLooser(t *testing.T, snap Snapshot, d *Document) {
	t.Helper()
	alone := &view{home: home, accepted: d}
	for _, id := range []string{"", "a", "b"} {
		is, bound := snap.Policy(id), alone.policy(id)
		if approval.StricterSecurity(is.Security, bound.Security) != is.Security ||
			approval.StricterAsk(is.Ask, bound.Ask) != is.Ask ||
			approval.StricterSecurity(is.AskFallback, bound.AskFallback) != is.AskFallback ||
			is.AutoAllowSkills && !bound.AutoAllowSkills ||
			approval.StricterPresence(is.Presence, bound.Presence) != is.Presence ||
			len(is.Allowlist) > len(bound.Allowlist) || len(is.Denylist) < len(bound.Denylist) ||
			len(is.SafeBins) > len(bound.SafeBins) || len(is.SafeBinTrustedDirs) > len(bound.SafeBinTrustedDirs) ||
			len(is.Skills) > len(bound.Skills) || len(snap.AcceptAnswersFrom(id)) > len(d.acceptAnswersFrom(id)) {
			t.Errorf("agent %q: %s is looser than %s", id, describe(is), describe(bound))
		}
	}
}

// While an edit is held, what it tightens counts already.
func TestHeldPolicy(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc(`"agents": {"a": {"security": "allowlist", "ask": "off", "askFallback": "full", "autoAllowSkills": true,
		"allowlist": ["/stays", "/goes", "/narrows", {"pattern": "/changes", "args": ["a"]}, {"pattern": "/off"}],
		"denylist": ["old"], "safeBins": ["wc", "tr"], "safeBinTrustedDirs": ["/a", "/b"], "acceptAnswersFrom": ["g", "h"],
		"skillBins": [{"name": "s", "path": "/s"}, {"name": "r", "path": "/r"}]}}`))
	s := open(t, options(dir))
	write(t, dir, doc(`"agents": {"a": {"security": "full", "ask": "on-miss", "askFallback": "full",
		"allowlist": ["/stays", "/new", {"pattern": "/narrows", "cwd": "/w"}, {"pattern": "/changes", "args": ["b"]}, {"pattern": "/off", "disabled": true}],
		"denylist": ["new"], "safeBins": ["wc", "cat"], "safeBinTrustedDirs": ["/b", "/c"], "acceptAnswersFrom": ["h", "i"],
		"skillBins": [{"name": "s", "path": "/s"}, {"name": "q", "path": "/q"}]}}`))
	eventually(t, "held", func() bool { return s.Snapshot().Held != nil })
	snap := s.Snapshot()
	p := snap.Policy("a")
	if got := describe(p); got != "allowlist/on-miss/allowlist false [/stays /narrows /off] [old new] [wc] [/b] [s:/s]" {
		t.Errorf("%s", got)
	}
	for _, e := range p.Allowlist {
		if e.Pattern == "/narrows" && e.Cwd != "/w" || e.Pattern == "/off" && !e.Disabled {
			t.Errorf("the old form of an entry holds: %+v", e)
		}
	}
	if got := fmt.Sprint(snap.AcceptAnswersFrom("a")); got != "[h]" {
		t.Errorf("answers from %s", got)
	}
	if p.Origins["ask"] != "agents.a.ask" {
		t.Errorf("origins %v", p.Origins)
	}
}

// What a held edit says of the sort of a tool makes it look no more harmless.
func TestHeldCategory(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, doc(`"tools": {"rules": {"a/*": {"category": "admin"}}}`))
	s := open(t, options(dir))
	write(t, dir, doc(`"tools": {"rules": {"b/*": {"category": "read", "risk": "high"}}}`))
	snap := s.Current()
	p := snap.Policy("main")
	if snap.Held == nil || len(p.Tools) != 2 || p.Tools[0].Rules["a/*"].Category != approval.CategoryAdmin ||
		p.Tools[1].Rules["b/*"].Category != approval.CategoryUnset || p.Tools[1].Rules["b/*"].Risk != approval.ToolRiskHigh {
		t.Errorf("%+v %+v", snap.Held, p.Tools)
	}
}

// Backups of a running store are not believed: only a start reads them.
func TestForgedBackup(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, agent(`"security": "deny"`))
	s := open(t, options(dir))
	loose := agent(`"security": "full"`)
	if err := os.WriteFile(s.backups.path(s.backups.numbers()[0]+1), []byte(loose), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, dir, loose)
	eventually(t, "held", func() bool { return s.Snapshot().Held != nil })
	s.Close()
	if snap := open(t, options(dir)).Snapshot(); snap.Held == nil || snap.Policy("a").Security != approval.SecurityDeny {
		t.Errorf("a forged backup counts: %+v", snap.Policy("a"))
	}
}

// A last version that cannot be read is not a reason to believe the file.
func TestUnreadableBackup(t *testing.T) {
	dir := stateDir(t)
	write(t, dir, agent(`"security": "full"`))
	s := open(t, options(dir))
	s.Close()
	if err := os.WriteFile(s.backups.path(s.backups.numbers()[0]), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s = open(t, options(dir))
	if snap := s.Snapshot(); snap.Held == nil || snap.Policy("a").Security != approval.SecurityDeny {
		t.Fatalf("%+v", snap.Policy("a"))
	}
	if err := s.Reject(""); err != nil {
		t.Fatal(err)
	}
	d := parse(t, read(t, file(dir)))
	if d.Defaults.Security != approval.SecurityDeny || d.Socket.Token == "" || s.Snapshot().Held != nil {
		t.Errorf("rejected to %+v", d)
	}
}

// TestAcceptTakesWhatWasShown knows a version again and takes it only as the step
// that a person saw: not after another edit, and not over a version that somebody
// tightened meanwhile.
func TestAcceptTakesWhatWasShown(t *testing.T) {
	looser := list(entryX, `{"id": "i", "pattern": "/opt/a"}`)
	for name, meanwhile := range map[string][]string{
		"another edit":                {list(entryX, `{"id": "i", "pattern": "/**"}`)},
		"the same after a tightening": {doc(`"defaults": {"security": "deny"}`), looser},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWith(t, list(entryX))
			dir := s.opt.State.Dir
			write(t, dir, looser)
			shown := s.Current().Held
			for _, text := range meanwhile {
				write(t, dir, text)
				s.Current()
			}
			if err := s.Accept(shown.Hash); err != ErrChanged {
				t.Errorf("accept: %v", err)
			}
			if err := s.Reject(shown.Hash); err != ErrChanged {
				t.Errorf("reject: %v", err)
			}
			if now := s.Current().Held; now == nil || now.Hash == shown.Hash {
				t.Fatalf("it waits no more: %+v", now)
			}
			if err := s.Accept(s.Current().Held.Hash); err != nil || s.Current().Held != nil {
				t.Error(err)
			}
		})
	}
}

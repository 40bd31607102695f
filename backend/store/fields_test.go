package store

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestEveryFieldOfEntries: whatever an entry can hold, a person reads it where it
// counts, and it is classed by what it does.
func TestEveryFieldOfEntries(t *testing.T) {
	const ( // what a change of the field means
		nothing = iota // neither
		narrows        // that it comes permits less, that it goes permits more
		either         // both may permit more
		widens         // that it comes permits more, that it goes permits less
	)
	one := `[{"path":"/x","sha256":"` + sha + `"}]`
	needs := map[string]string{ // what a field means nothing without
		"hosts": `, "allows": ["reads-network"]`,
		"input": `, "allows": ["runs-this-code"], "args": ["-"], "argsExact": true`,
	}
	rows := map[string]struct {
		value string
		class int
	}{
		"id": {`"i"`, nothing}, "note": {`"n"`, nothing}, "addedAt": {`5`, nothing}, "addedBy": {`"b"`, nothing}, "addedFor": {`"r"`, nothing},
		"lastUsedAt": {`9`, nothing}, "lastUsedCommand": {`"x"`, nothing}, "lastResolvedPath": {`"/x"`, nothing},
		"source": {`"allow-always"`, either}, "argPattern": {`"^a$"`, narrows}, "args": {`["a"]`, either}, "argsExact": {`true`, narrows},
		"cwd": {`"/w"`, narrows}, "when": {`{"a":"b"}`, either}, "env": {`{"GOOS":["linux"]}`, widens}, "expiresAt": {`1000`, narrows}, "usesLeft": {`5`, narrows}, "sessionKey": {`"s"`, narrows},
		"identity": {one, either}, "interpreters": {one, either}, "links": {`[{"path":"/x","target":"/y"}]`, either},
		"allows": {`["writes-temp"]`, widens}, "hosts": {`["h"]`, either}, "input": {`"` + sha + `"`, either},
		"requireIdentity": {`"sha256"`, narrows}, "disabled": {`true`, narrows}, "pattern": {},
	}
	fields := reflect.TypeFor[approval.Entry]()
	if fields.NumField() != len(rows) {
		t.Errorf("an entry has %d fields, and %d are known here", fields.NumField(), len(rows))
	}
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		row, known := rows[name]
		if !known {
			t.Errorf("%s: say what a change of it means", name)
		}
		if row.value == "" {
			continue
		}
		pattern := "/x"
		if name == "when" {
			pattern = "tool:x"
		}
		without := list(fmt.Sprintf(`{"pattern": %q}`, pattern))
		with := list(fmt.Sprintf(`{"pattern": %q, %q: %s%s}`, pattern, name, row.value, needs[name]))
		said := func(old, new string) string { return strings.Join(Loosens(parse(t, old), parse(t, new)), "; ") }
		comes, goes, isNew := said(without, with), said(with, without), said(list(), with)
		if (comes != "") != (row.class == either || row.class == widens) || (goes != "") != (row.class == narrows || row.class == either) {
			t.Errorf("%s: that it comes is %q, that it goes is %q", name, comes, goes)
		}
		told := name + " " + row.value
		if row.class == nothing || name == "disabled" {
			continue
		}
		if !strings.Contains(isNew, told) || comes != "" && !strings.Contains(comes, told) || goes != "" && !strings.Contains(goes, "no conditions now") {
			t.Errorf("%s: %q, %q and %q do not tell %s", name, comes, goes, isNew, told)
		}
	}
}

// TestEveryFieldOfTheFile: the same of all else. A field that is not here is no
// permission, or is forgotten.
func TestEveryFieldOfTheFile(t *testing.T) {
	skill := `"skillBins": [{"name": "s", "path": "/s", "sha256": "` + sha + `"}]`
	key := strings.Repeat("A", 43)
	for _, row := range []struct {
		of    any
		field string
		// less permits less than more; told is what the step to more says, "" for a
		// field that permits nothing.
		less, more, told string
	}{
		{Rules{}, "Security", agent(`"security": "deny"`), agent(`"security": "full"`), "from deny to full"},
		{Rules{}, "Ask", agent(`"ask": "always"`), agent(`"ask": "on-miss"`), "from always to on-miss"},
		{Rules{}, "AskFallback", agent(`"askFallback": "deny"`), agent(`"askFallback": "full"`), "from deny to full"},
		{Rules{}, "AutoAllowSkills", agent(`"autoAllowSkills": false`), agent(`"autoAllowSkills": true`), "from false to true"},
		{Rules{}, "Presence", agent(`"presence": "always"`), agent(`"presence": "risky"`), "from always to risky"},
		{Rules{}, "Denylist", agent(`"denylist": [{"pattern": "rm", "args": ["-r"]}]`), agent(`"denylist": []`), `loses "rm"`},
		{Rules{}, "SafeBins", agent(`"safeBins": []`), agent(`"safeBins": ["wc"]`), `"wc"`},
		{Rules{}, "SafeBinTrustedDirs", agent(`"safeBinTrustedDirs": ["~/b"]`), agent(`"safeBinTrustedDirs": ["~/b", "/b"]`), `"/b"`},
		{Rules{}, "SkillBins", agent(``), agent(skill), sha},
		{Agent{}, "Allowlist", list(), list(`"/x"`), `"/x"`},
		{Agent{}, "DisplayName", agent(`"displayName": "A"`), agent(`"displayName": "B"`), ""},
		{Agent{}, "Color", agent(`"color": "red"`), agent(`"color": "blue"`), ""},
		{Agent{}, "AcceptAnswersFrom", agent(`"acceptAnswersFrom": []`), agent(`"acceptAnswersFrom": ["g"]`), `"g"`},
		{Document{}, "Socket", doc(), `{"version": 1, "socket": {"path": "/other", "token": "other"}}`, ""},
		{Document{}, "Extra", doc(`"policyFrom": [{"gateway": "g", "key": "` + key + `", "serial": 2}]`), doc(), "the policy of g"},
		{Document{}, "Extra", doc(`"policyFrom": [{"gateway": "g", "key": "` + key + `", "serial": 2}]`), doc(`"policyFrom": [{"gateway": "g", "key": "` + key + `", "serial": 1}]`), "the policy of g"},
		{Document{}, "Projects", doc(), doc(`"projects": [{"path": "/p"}]`), `"/p" is a project now`},
		{Document{}, "Projects", doc(`"projects": [{"path": "/p", "agent": "a"}]`), doc(`"projects": [{"path": "/p"}]`), `"/p" is a project now`},
		{Document{}, "Projects", doc(), doc(`"projects": [{"path": "/p", "agent": "a"}]`), `"/p" is a project now for agent a`},
		{Document{}, "Projects", doc(`"projects": [{"path": "/p", "no": true}]`), doc(), `"/p" was no project`},
		{Document{}, "Projects", doc(`"projects": [{"path": "/p", "no": true}]`), doc(`"projects": [{"path": "/p", "agent": "a", "no": true}]`), `"/p" was no project`},
		{Document{}, "Projects", doc(`"projects": [{"path": "/p"}]`), doc(`"projects": [{"path": "/p", "sameAs": "/q"}]`), `what may run in "/q" may run there`},
		{Document{}, "Projects", doc(`"projects": [{"path": "/p", "addedAt": 1, "addedBy": "x"}]`), doc(`"projects": [{"path": "/p"}]`), ""},
		{Document{}, "Extra", doc(`"x": 1`), doc(`"x": 2`), ""},
		// Whatever changes in these may permit more, either way.
		{nil, "", doc(`"tools": {"agents": {"a": {"rules": {"t/*": {"security": "deny"}}}}}`), doc(`"tools": {"agents": {"a": {"rules": {"t/*": {"security": "full"}}}}}`), `tools.agents.a.rules."t/*".security changes, which may permit more: from "deny" to "full"`},
		{nil, "", doc(`"tools": {"deny": ["t", "u"]}`), doc(`"tools": {"deny": ["t"]}`), `from ["t","u"] to ["t"]`},
		{nil, "", doc(`"charters": {"a": [{"name": "n", "sha256": "` + sha + `"}]}`), doc(`"charters": {"a": []}`), `from [{"name":"n","sha256":"` + sha + `"}] to []`},
		{nil, "", doc(`"approvers": [{"who": "person", "seconds": 5}]`), doc(`"approvers": [{"who": "person", "seconds": 6}]`), `"seconds":6`},
		{nil, "", doc(`"defaults": {"safeBinProfiles": {"jq": {"maxPositional": 1}}}`), doc(`"defaults": {"safeBinProfiles": {"jq": {"maxPositional": 2}}}`), `safeBinProfiles.jq.maxPositional changes, which may permit more: from 1 to 2`},
	} {
		less, more := parse(t, row.less), parse(t, row.more)
		if got := strings.Join(Loosens(less, more), "; "); (got == "") != (row.told == "") || !strings.Contains(got, row.told) {
			t.Errorf("%T %s: %q does not tell %q", row.of, row.field, got, row.told)
		}
		if back := Loosens(more, less); row.of != nil && back != nil {
			t.Errorf("%T %s: the way back loosens: %q", row.of, row.field, back)
		}
	}
	for _, of := range []struct {
		fields reflect.Type
		known  int
	}{{reflect.TypeFor[Rules](), 10}, {reflect.TypeFor[Agent](), 5}, {reflect.TypeFor[Document](), 5}, {reflect.TypeFor[Socket](), 3}, {reflect.TypeFor[approval.DenyRule](), 6}, {reflect.TypeFor[approval.Skill](), 3}, {reflect.TypeFor[approval.Project](), 6}} {
		if of.fields.NumField() != of.known {
			t.Errorf("%s has %d fields, and %d are known here: say above what a change of the others means", of.fields, of.fields.NumField(), of.known)
		}
	}
}

// TestDenyAnywhere: a rule that means its words wherever they stand is another one
// than one that means them first.
func TestDenyAnywhere(t *testing.T) {
	d := &Document{}
	for range 2 {
		d.Deny("", approval.DenyRule{Pattern: "git", Args: []string{"push"}})
		d.Deny("", approval.DenyRule{Pattern: "git", Args: []string{"push"}, Anywhere: true})
	}
	if n := len(d.Defaults.Denylist); n != 2 {
		t.Errorf("%d rules: %+v", n, d.Defaults.Denylist)
	}
}

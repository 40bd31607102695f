package store

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// Every row is one line of a file: line 2 of a document, or line 3 where the
// agent begins on line 2.
var refused = []struct{ text, line, field, problem string }{
	// The whole file.
	{``, "1", "", "not JSON"},
	{`{"version": 1`, "1", "", "not JSON"},
	{"{\"version\": 1}\n{}", "2", "", "not JSON"},
	{"{\n\"version\": 1,\n}", "3", "", "not JSON"},
	{"\ufeff{\"version\": 1}", "1", "", "not JSON"},
	{"{\"version\": 1} // a comment", "1", "", "not JSON"},
	{"{\"version\": 1,\n\"x\": \"\xff\"}", "2", "", "not UTF-8"},
	{strings.Repeat(" ", MaxSize) + `{"version": 1}`, "", "", "larger than 8 MiB"},
	{strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "1", "", "not JSON"},
	{`[]`, "1", "", "must be an object, not a list"},
	{`null`, "1", "", "must be an object, not null"},
	{`"x"`, "1", "", "must be an object, not a string"},
	{`1`, "1", "", "must be an object, not a number"},
	{`true`, "1", "", "must be an object, not true or false"},
	// Version.
	{`{}`, "1", "version", "missing"},
	{"{\n\"version\": 2}", "2", "version", "must be 1"},
	{`{"version": "1"}`, "1", "version", "must be 1"},
	{`{"version": 1.5}`, "1", "version", "must be 1"},
	{`{"version": 1, "denylist": []}`, "1", "denylist", "means nothing here"},
	{`{"version": 1, "agents": {"a": {"tools": {"deny": ["x"]}}}}`, "1", "agents.a.tools", "at the top"},
	{`{"version": 1, "defaults": {"denyList": []}}`, "1", "defaults.denyList", "capital"},
	{`{"version": 1, "Tools": {}}`, "1", "Tools", "means nothing here"},
	{`{"version": null}`, "1", "version", "must be 1"},
	// Keys, also where we know none of them.
	{"{\"version\": 1,\n\"version\": 1}", "2", "version", "comes twice"},
	{doc(`"agents": {"a": {}, "a": {}}`), "3", "agents.a", "comes twice"},
	{doc(`"agents": {"a": {}, "\u0061": {}}`), "3", "agents.a", "comes twice"},
	{doc(`"other": [{"deep": {"x": 1, "x": 2}}]`), "3", "other[0].deep.x", "comes twice"},
	{doc(manyKeys(40) + `, "k39": 0`), "3", "k39", "comes twice"},
	{doc(`"agents": {"__proto__": {}}`), "3", "agents.__proto__", "not allowed"},
	{doc(`"other": {"__proto__": 1}`), "3", "other.__proto__", "not allowed"},
	// Sections.
	{doc(`"defaults": null`), "3", "defaults", "must be an object, not null"},
	{doc(`"agents": []`), "3", "agents", "must be an object, not a list"},
	{doc(`"agents": {"main": null}`), "3", "agents.main", "must be an object, not null"},
	{doc(`"agents": {" ": {}}`), "3", `agents." "`, "needs a name"},
	{doc(`"tools": null`), "3", "tools", "must be an object, not null"},
	{doc(`"tools": {"deny": ["group:files"]}`), "3", "tools", "no group of tools"},
	{doc(`"tools": {"agents": {"main": {"rules": {"tool:file_write": {"security": "deny"}}}}}`), "3", "tools", "without tool:"},
	{doc(`"defaults": {"denylist": ["tool:Group:files"]}`), "3", "defaults.denylist[0]", "no group of tools"},
	{doc(`"charters": []`), "3", "charters", "must be an object, not a list"},
	{`{"version": 1, "socket": null}`, "1", "socket", "must be an object"},
	{`{"version": 1, "socket": {"path": null}}`, "1", "socket.path", "must be a string, not null"},
	{`{"version": 1, "socket": {"path": "rel/sock"}}`, "1", "socket.path", "begins with /"},
	{`{"version": 1, "socket": {"path": ""}}`, "1", "socket.path", "cannot be empty"},
	{`{"version": 1, "socket": {"token": 5}}`, "1", "socket.token", "must be a string, not a number"},
	{`{"version": 1, "socket": {"token": " "}}`, "1", "socket.token", "cannot be empty"},
	// Rules, in defaults and in an agent.
	{doc(`"defaults": {"security": "bogus"}`), "3", "defaults.security", `cannot be "bogus"`},
	{doc(`"defaults": {"security": null}`), "3", "defaults.security", "must be a string, not null"},
	{doc(`"defaults": {"security": ""}`), "3", "defaults.security", `cannot be ""`},
	{doc(`"defaults": {"security": "Deny"}`), "3", "defaults.security", `cannot be "Deny"`},
	{doc(`"defaults": {"ask": true}`), "3", "defaults.ask", "must be a string"},
	{doc(`"defaults": {"ask": "never"}`), "3", "defaults.ask", "on-miss"},
	{doc(`"defaults": {"askFallback": "ask"}`), "3", "defaults.askFallback", `cannot be "ask"`},
	{doc(`"defaults": {"autoAllowSkills": "true"}`), "3", "defaults.autoAllowSkills", "must be true or false, not a string"},
	{doc(`"defaults": {"autoAllowSkills": null}`), "3", "defaults.autoAllowSkills", "not null"},
	{doc(`"defaults": {"presence": "touch"}`), "3", "defaults.presence", `cannot be "touch"`},
	{doc(`"defaults": {"denylist": "rm"}`), "3", "defaults.denylist", "must be a list"},
	{doc(`"defaults": {"denylist": [""]}`), "3", "defaults.denylist[0]", "cannot be empty"},
	{doc(`"defaults": {"denylist": [{}]}`), "3", "defaults.denylist[0].pattern", "missing"},
	{doc(`"defaults": {"denylist": [{"pattern": "rm", "args": [1]}]}`), "3", "defaults.denylist[0].args[0]", "must be a string"},
	{doc(`"defaults": {"denylist": [{"pattern": "rm", "reason": null}]}`), "3", "defaults.denylist[0].reason", "not null"},
	{doc(`"defaults": {"denylist": [{"pattern": "rm", "cwd": "/x"}]}`), "3", "defaults.denylist[0].cwd", "not a field"},
	{doc(`"defaults": {"denylist": [null]}`), "3", "defaults.denylist[0]", "must be an object, not null"},
	{doc(`"defaults": {"safeBins": ["/bin/cat"]}`), "3", "defaults.safeBins[0]", "without its folder"},
	{doc(`"defaults": {"safeBins": null}`), "3", "defaults.safeBins", "must be a list, not null"},
	{doc(`"defaults": {"safeBinTrustedDirs": ["bin"]}`), "3", "defaults.safeBinTrustedDirs[0]", "begins with /"},
	{doc(`"defaults": {"safeBinTrustedDirs": ["/a\u0000"]}`), "3", "defaults.safeBinTrustedDirs[0]", "begins with /"},
	{doc(`"defaults": {"safeBinProfiles": []}`), "3", "defaults.safeBinProfiles", "must be an object"},
	{doc(`"defaults": {"safeBinProfiles": {"x": []}}`), "3", "defaults.safeBinProfiles", "cannot unmarshal array"},
	{doc(`"defaults": {"safeBinProfiles": {"x": {"maxPositional": "1"}}}`), "3", "defaults.safeBinProfiles", "maxPositional"},
	{doc(`"defaults": {"safeBinProfiles": {"x": {"deniedFlags": ["f"]}}}`), "3", "defaults.safeBinProfiles", `"f" is no flag`},
	{doc(`"defaults": {"skillBins": ["x"]}`), "3", "defaults.skillBins[0]", "must be an object"},
	{doc(`"defaults": {"skillBins": [{"path": "/x"}]}`), "3", "defaults.skillBins[0].name", "missing"},
	{doc(`"defaults": {"skillBins": [{"name": "x"}]}`), "3", "defaults.skillBins[0].path", "missing"},
	{doc(`"defaults": {"skillBins": [{"name": "x", "path": "/x", "sha256": "abc"}]}`), "3", "defaults.skillBins[0].sha256", "64 hexadecimal"},
	{doc(`"defaults": {"skillBins": [{"name": "x", "path": "/x", "hash": ""}]}`), "3", "defaults.skillBins[0].hash", "not a field"},
	{doc(`"agents": {"main": {"security": "all"}}`), "3", "agents.main.security", `cannot be "all"`},
	{doc(`"agents": {"a.b": {"ask": 1}}`), "3", `agents."a.b".ask`, "must be a string"},
	{doc(`"agents": {"main": {"displayName": null}}`), "3", "agents.main.displayName", "not null"},
	{doc(`"agents": {"main": {"color": 7}}`), "3", "agents.main.color", "must be a string"},
	{doc(`"agents": {"main": {"acceptAnswersFrom": "gw"}}`), "3", "agents.main.acceptAnswersFrom", "must be a list"},
	{doc(`"agents": {"main": {"acceptAnswersFrom": [""]}}`), "3", "agents.main.acceptAnswersFrom[0]", "cannot be empty"},
	{doc(`"agents": {"main": {"allowlist": {}}}`), "3", "agents.main.allowlist", "must be a list"},
	{doc(`"agents": {"main": {"allowlist": null}}`), "3", "agents.main.allowlist", "not null"},
	// Entries.
	{mainList(`null`), "3", "agents.main.allowlist[0]", "must be an object, not null"},
	{mainList(`" "`), "3", "agents.main.allowlist[0]", "cannot be empty"},
	{mainList(`"/ok"`, `"/ok/**x/[`+"`"+`"`, `5`), "3", "agents.main.allowlist[1]", "**"},
	{mainList(`{}`), "3", "agents.main.allowlist[0].pattern", "missing"},
	{mainList("\n\"/ok\"", "\n{\"pattern\":\n \"rel/x\"}"), "6", "agents.main.allowlist[1].pattern", "folder"},
	{mainList(`{"pattern": null}`), "3", "agents.main.allowlist[0].pattern", "not null"},
	{mainList(`{"pattern": "/x", "id": ""}`), "3", "agents.main.allowlist[0].id", "cannot be empty"},
	{mainList(`{"pattern": "/x", "id": null}`), "3", "agents.main.allowlist[0].id", "not null"},
	{mainList(`{"pattern": "/x", "source": null}`), "3", "agents.main.allowlist[0].source", "not null"},
	{mainList(`{"pattern": "/x", "argPattern": "(?=a)b"}`), "3", "agents.main.allowlist[0].argPattern", "lookaround"},
	{mainList(`{"pattern": "/x", "argPattern": "(a)\\1"}`), "3", "agents.main.allowlist[0].argPattern", "back references"},
	{mainList(`{"pattern": "/x", "argPattern": "("}`), "3", "agents.main.allowlist[0].argPattern", "missing closing"},
	{mainList(`{"pattern": "/x", "argPattern": "` + strings.Repeat("a", maxArgPattern+1) + `"}`), "3", "agents.main.allowlist[0].argPattern", "longer"},
	{mainList(`{"pattern": "/x", "env": ["A"]}`), "3", "agents.main.allowlist[0].env", "object"},
	{mainList(`{"pattern": "/x", "env": {"A": "1"}}`), "3", "agents.main.allowlist[0].env.A", "list"},
	{mainList(`{"pattern": "/x", "env": {"A": []}}`), "3", "agents.main.allowlist[0].env.A", "no values"},
	{mainList(`{"pattern": "/x", "env": {"A": [1]}}`), "3", "agents.main.allowlist[0].env.A[0]", "string"},
	{mainList(`{"pattern": "/x", "env": {"A": ["x\ny"]}}`), "3", "agents.main.allowlist[0].env.A[0]", "control"},
	{mainList(`{"pattern": "/x", "env": {"A": ["` + strings.Repeat("a", approval.MaxEnvValue+1) + `"]}}`), "3", "agents.main.allowlist[0].env.A[0]", "longer"},
	{mainList(`{"pattern": "/x", "env": {"A": [` + strings.Repeat(`"",`, approval.MaxEnvValues) + `""]}}`), "3", "agents.main.allowlist[0].env.A[64]", "more than 64"},
	{mainList(`{"pattern": "/x", "env": {` + manyNames(approval.MaxEnv+1) + `}}`), "3", "agents.main.allowlist[0].env.A64", "more than 64"},
	{mainList(`{"pattern": "/x", "env": {"A": ["1"], "a": ["1"]}}`), "3", "agents.main.allowlist[0].env.a", "case"},
	{mainList(`{"pattern": "/x", "env": {"LD_PRELOAD": ["x"]}}`), "3", "agents.main.allowlist[0].env.LD_PRELOAD", "no entry carries"},
	{mainList(`{"pattern": "/x", "env": {"path": ["x"]}}`), "3", "agents.main.allowlist[0].env.path", "no entry carries"},
	{mainList(`{"pattern": "/x", "env": {"ENV": ["x"]}}`), "3", "agents.main.allowlist[0].env.ENV", "no entry carries"},
	{mainList(`{"pattern": "/x", "env": {"GH_TOKEN": ["x"]}}`), "3", "agents.main.allowlist[0].env.GH_TOKEN", "no entry carries"},
	{mainList(`{"pattern": "/x", "env": {"A-B": ["x"]}}`), "3", "agents.main.allowlist[0].env.A-B", "no entry carries"},
	{mainList(`{"pattern": "tool:x", "env": {"A": ["1"]}}`), "3", "agents.main.allowlist[0].pattern", "is a tool"},
	{mainList(`{"pattern": "/x", "argPattern": null}`), "3", "agents.main.allowlist[0].argPattern", "not null"},
	{mainList(`{"pattern": "/x", "args": "-l"}`), "3", "agents.main.allowlist[0].args", "must be a list"},
	{mainList(`{"pattern": "/x", "args": ["a", null]}`), "3", "agents.main.allowlist[0].args[1]", "not null"},
	{mainList(`{"pattern": "/x", "argsExact": 1}`), "3", "agents.main.allowlist[0].argsExact", "true or false"},
	{mainList(`{"pattern": "/x", "cwd": ""}`), "3", "agents.main.allowlist[0].cwd", "cannot be empty"},
	{mainList(`{"pattern": "/x", "cwd": "rel/x"}`), "3", "agents.main.allowlist[0].cwd", "folder"},
	{mainList(`{"pattern": "/x", "expiresAt": 0}`), "3", "agents.main.allowlist[0].expiresAt", "from 1"},
	{mainList(`{"pattern": "/x", "expiresAt": 0.9}`), "3", "agents.main.allowlist[0].expiresAt", "from 1"},
	{mainList(`{"pattern": "/x", "expiresAt": -1}`), "3", "agents.main.allowlist[0].expiresAt", "from 1"},
	{mainList(`{"pattern": "/x", "expiresAt": 1e300}`), "3", "agents.main.allowlist[0].expiresAt", "to 8640000000000000"},
	{mainList(`{"pattern": "/x", "expiresAt": 1e999}`), "3", "agents.main.allowlist[0].expiresAt", "number"},
	{mainList(`{"pattern": "/x", "expiresAt": "2030"}`), "3", "agents.main.allowlist[0].expiresAt", "must be a number, not a string"},
	{mainList(`{"pattern": "/x", "expiresAt": null}`), "3", "agents.main.allowlist[0].expiresAt", "must be a number, not null"},
	{mainList(`{"pattern": "/x", "usesLeft": -1}`), "3", "agents.main.allowlist[0].usesLeft", "from 0"},
	{mainList(`{"pattern": "/x", "usesLeft": null}`), "3", "agents.main.allowlist[0].usesLeft", "not null"},
	{mainList(`{"pattern": "/x", "sessionKey": ""}`), "3", "agents.main.allowlist[0].sessionKey", "cannot be empty"},
	{mainList(`{"pattern": "/x", "identity": {}}`), "3", "agents.main.allowlist[0].identity", "must be a list"},
	{mainList(`{"pattern": "/x", "identity": [{}]}`), "3", "agents.main.allowlist[0].identity[0].path", "missing"},
	{mainList(`{"pattern": "/x", "identity": [{"path": "/x", "size": -1}]}`), "3", "agents.main.allowlist[0].identity[0].size", "from 0"},
	{mainList(`{"pattern": "/x", "identity": [{"path": "/x", "mtime": "now"}]}`), "3", "agents.main.allowlist[0].identity[0].mtime", "number"},
	{mainList(`{"pattern": "/x", "identity": [{"path": "/x", "sha256": "g"}]}`), "3", "agents.main.allowlist[0].identity[0].sha256", "hexadecimal"},
	{mainList(`{"pattern": "/x", "identity": [{"path": "/x", "signer": ""}]}`), "3", "agents.main.allowlist[0].identity[0].signer", "empty"},
	{mainList(`{"pattern": "/x", "identity": [{"path": "/x", "version": 2}]}`), "3", "agents.main.allowlist[0].identity[0].version", "string"},
	{mainList(`{"pattern": "/x", "identity": [{"path": "/x", "md5": ""}]}`), "3", "agents.main.allowlist[0].identity[0].md5", "not a field"},
	{mainList(`{"pattern": "/x", "requireIdentity": "md5"}`), "3", "agents.main.allowlist[0].requireIdentity", "sha256 or signer"},
	{mainList(`{"pattern": "/x", "requireIdentity": ""}`), "3", "agents.main.allowlist[0].requireIdentity", "sha256 or signer"},
	{mainList(`{"pattern": "/x", "disabled": "no"}`), "3", "agents.main.allowlist[0].disabled", "true or false"},
	{mainList(`{"pattern": "/x", "note": null}`), "3", "agents.main.allowlist[0].note", "not null"},
	{mainList(`{"pattern": "/x", "addedAt": ""}`), "3", "agents.main.allowlist[0].addedAt", "number"},
	{mainList(`{"pattern": "/x", "addedBy": 1}`), "3", "agents.main.allowlist[0].addedBy", "string"},
	{mainList(`{"pattern": "/x", "lastUsedAt": "x"}`), "3", "agents.main.allowlist[0].lastUsedAt", "number"},
	{mainList(`{"pattern": "/x", "lastUsedCommand": {}}`), "3", "agents.main.allowlist[0].lastUsedCommand", "string"},
	{mainList(`{"pattern": "/x", "lastResolvedPath": []}`), "3", "agents.main.allowlist[0].lastResolvedPath", "string"},
	{mainList(`{"pattern": "/x", "commandText": null}`), "3", "agents.main.allowlist[0].commandText", "not null"},
	// Caps.
	{doc(`"defaults": {"safeBins": [` + repeat(`"a"`, maxItems+1) + `]}`), "3", "defaults.safeBins[1000]", "more than 1000"},
	{doc(`"defaults": {"denylist": [` + repeat(`"a"`, maxRules+1) + `]}`), "3", "defaults.denylist[10000]", "more than 10000"},
	{mainList(repeat(`"a"`, maxEntries+1)), "3", "agents.main.allowlist[100000]", "more than 100000"},
	{doc(`"agents": {` + strings.ReplaceAll(manyKeys(maxAgents+1), ": 0", ": {}") + `}`), "3", "agents.k1000", "more than 1000 agents"},
}

func manyKeys(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("\"k%d\": 0", i)
	}
	return strings.Join(list, ", ")
}

func repeat(item string, n int) string {
	return strings.TrimSuffix(strings.Repeat(item+",", n), ",")
}

func TestRefused(t *testing.T) {
	for _, row := range refused {
		name := row.text[:min(len(row.text), 80)]
		_, err := Parse("exec-approvals.json", []byte(row.text), home)
		var f *FieldError
		if !errors.As(err, &f) {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		where := "exec-approvals.json"
		if row.line != "" {
			where += ":" + row.line
		}
		if row.field != "" {
			where += ": " + row.field
		}
		if !strings.HasPrefix(err.Error(), where+": ") || !strings.Contains(f.Problem, row.problem) {
			t.Errorf("%s:\n got %s\nwant %s: … %s …", name, err, where, row.problem)
		}
	}
}

// manyNames are so many variables of an entry.
func manyNames(n int) string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf(`"A%d": ["1"]`, i))
	}
	return strings.Join(names, ", ")
}

// TestCarriedVariables: what an entry carries is read and written as it is.
func TestCarriedVariables(t *testing.T) {
	const env = `{"GOOS": ["linux", "darwin"], "PORT": ["*"], "X": [""]}`
	d := parse(t, mainList(`{"pattern": "/x", "env": `+env+`}`))
	want := map[string][]string{"GOOS": {"linux", "darwin"}, "PORT": {approval.AnyValue}, "X": {""}}
	for range 2 {
		if got := d.Agents["main"].Allowlist[0].Env; !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		d = parse(t, string(text))
	}
}

func TestAcceptedForms(t *testing.T) {
	d := parse(t, doc(
		`"defaults": {"denylist": ["rm", {"pattern": "/sbin/*", "args": ["-f"], "reason": "no"}], "safeBins": [], "safeBinProfiles": {"jq": {}}}`,
		`"agents": {"main": {"autoAllowSkills": false, "acceptAnswersFrom": ["gw"], "allowlist": [
			"~/bin/*",
			{"pattern": "rg", "lastUsedAt": 1700000000000.75, "usesLeft": 2, "expiresAt": 1.7e12, "id": "r"},
			{"pattern": "=node-command:0123456789abcdef", "argPattern": "sha256:cwd-argv:v1:00ff", "source": "allow-always"},
			{"pattern": "/t", "commandText": "secret", "args": ["*", ""], "argsExact": true, "cwd": "~/work"}
		]}}`))
	list := d.Agents["main"].Allowlist
	for i, pattern := range []string{"~/bin/*", "rg", "=node-command:0123456789abcdef", "/t"} {
		if list[i].Pattern != pattern || list[i].ID == "" {
			t.Errorf("entry %d: %+v", i, list[i])
		}
	}
	if rg := list[1]; rg.LastUsedAt != 1700000000000 || *rg.UsesLeft != 2 || rg.ExpiresAt != 1700000000000 || rg.ID != "r" {
		t.Errorf("numbers: %+v", rg)
	}
	if d.Defaults.SafeBins == nil || len(d.Defaults.Denylist) != 2 || d.Defaults.Denylist[1].Reason != "no" {
		t.Errorf("defaults: %+v", d.Defaults)
	}
	text, err := d.Encode()
	if err != nil || strings.Contains(string(text), "secret") {
		t.Errorf("commandText was written: %s, %v", text, err)
	}
}

// Two readings of the same text give the same ids to entries without one, and
// what was saved keeps them.
func TestIDsStay(t *testing.T) {
	text := mainList(`"/a"`, `"/b"`, `{"pattern": "/a", "args": ["x"]}`)
	one, two := parse(t, text), parse(t, text)
	saved, err := one.Encode()
	if err != nil {
		t.Fatal(err)
	}
	three := parse(t, string(saved))
	ids := map[string]bool{}
	for i, e := range one.Agents["main"].Allowlist {
		ids[e.ID] = true
		if two.Agents["main"].Allowlist[i].ID != e.ID || three.Agents["main"].Allowlist[i].ID != e.ID {
			t.Errorf("the id of entry %d changes", i)
		}
	}
	if len(ids) != 3 {
		t.Errorf("ids %v", ids)
	}
}

func TestUnknownKeysStay(t *testing.T) {
	text := `{"version": 1, "top": {"z": [1, 1.50, null]}, "tools": {"deny": ["bash"]}, "charters": {"*": [{"name": "careful", "sha256": "` + strings.Repeat("0", 64) + `"}]},
		"socket": {"path": "/s", "token": "t", "inSocket": true},
		"defaults": {"inDefaults": 1e3},
		"agents": {"*": {"mcpTools": [{"server": "s"}], "allowlist": [{"id": "i", "pattern": "/x", "inEntry": {"a": "<&>"}}]}}}`
	saved, err := parse(t, text).Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parse(t, string(saved)).Encode()
	if err != nil || string(again) != string(saved) {
		t.Errorf("not stable: %s\n%s", saved, again)
	}
	want := `{
  "agents": {
    "*": {
      "allowlist": [
        {
          "id": "i",
          "inEntry": {
            "a": "<&>"
          },
          "pattern": "/x"
        }
      ],
      "mcpTools": [
        {
          "server": "s"
        }
      ]
    }
  },
  "charters": {
    "*": [
      {
        "name": "careful",
        "sha256": "` + strings.Repeat("0", 64) + `"
      }
    ]
  },
  "defaults": {
    "inDefaults": 1e3
  },
  "socket": {
    "inSocket": true,
    "path": "/s",
    "token": "t"
  },
  "tools": {
    "deny": [
      "bash"
    ]
  },
  "top": {
    "z": [
      1,
      1.50,
      null
    ]
  },
  "version": 1
}
`
	if string(saved) != want {
		t.Errorf("saved:\n%s", saved)
	}
}

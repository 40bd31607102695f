package corpus

import (
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

// whole is a file with every field that there is.
const whole = `{
 "schema": 1, "title": "t", "generated": "g", "verdicts": ["allow"], "count": 2,
 "world": {
  "home": "/Users/dev", "user": "dev", "cwd": "/Users/dev/project", "path": ["/bin", "rel"],
  "executables": {"/bin": ["ls"]}, "symlinks": {"/l": "/bin/ls"}, "files": ["/f"], "case_sensitive_fs": false
 },
 "policies": {
  "p": {"desc": "d", "allow": ["/bin/ls"], "deny": ["~/x"], "safeBins": ["wc"], "trustedSafeBinDirs": ["/bin"],
        "autoAllowSkills": true, "skillBins": [{"name": "s", "path": "/s", "sha256": "ab"}]}
 },
 "cases": [
  {"id": "a", "source": "s", "origin": "derived", "class": "benign", "input": "ls\n", "policy": {"base": "p"},
   "expect": "ask", "accept": ["ask", "deny", "strip"], "tier": "must", "difficulty": 1, "why": "w", "note": "n"},
  {"id": "b", "origin": "verbatim", "class": "env", "input": ["ls", "-l"], "env": {"A": "b"}, "rawCommand": "ls -l",
   "policy": {"base": "p", "allow": ["*"]}, "expect": "allow", "accept": ["allow"], "tier": "info", "strict_may_ask": true}
 ]
}`

func TestParse(t *testing.T) {
	f, err := Parse("c.json", []byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	wantCases := []Case{
		{ID: "a", Class: "benign", Origin: "derived", Text: "ls\n", Base: "p", Expect: approval.VerdictAsk, Accept: []string{"ask", "deny", "strip"}, Tier: Must},
		{ID: "b", Class: "env", Origin: "verbatim", Argv: []string{"ls", "-l"}, Env: map[string]string{"A": "b"}, RawCommand: "ls -l", Base: "p", Allow: []approval.Entry{{Pattern: "*"}}, Expect: approval.VerdictAllow, Accept: []string{"allow"}, Tier: Info, StrictMayAsk: true},
	}
	if diff := cmp.Diff(wantCases, f.Cases); diff != "" {
		t.Error(diff)
	}
	wantPolicies := map[string]Policy{"p": {
		Allow: []approval.Entry{{Pattern: "/bin/ls"}}, Deny: []approval.DenyRule{{Pattern: "~/x"}}, SafeBins: []string{"wc"}, TrustedDirs: []string{"/bin"},
		AutoAllowSkills: true, Skills: []approval.Skill{{Name: "s", Path: "/s", SHA256: "ab"}},
	}}
	if diff := cmp.Diff(wantPolicies, f.Policies); diff != "" {
		t.Error(diff)
	}
	if w := f.World; w.Home != "/Users/dev" || w.Cwd != "/Users/dev/project" || !cmp.Equal(w.Path, []string{"/bin", "rel"}) {
		t.Errorf("world is %q %q %q", w.Home, w.Cwd, w.Path)
	}
	if len(f.Unknown) > 0 {
		t.Errorf("unknown: %q", f.Unknown)
	}
}

// TestBroken changes one thing of a whole file at a time.
func TestBroken(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"schema": 1`, `"schema": 2`, `c.json:2: schema: schema 2 is not known here: this reads schema 1`},
		{`"schema": 1,`, `"schema": 1`, `c.json:2: is not JSON: invalid character '"' after object key:value pair`},
		{" ]\n}", " ]\n}}", `c.json:17: is not JSON: invalid character '}' after top-level value`},
		{" ]\n}", " ]\n", `c.json:17: is not JSON: unexpected end of JSON input`},
		{`"w"`, "\"\xff\"", `c.json:13: is not UTF-8`},
		{whole, `[]`, `c.json:1: must be an object, not a list`},
		{whole, ``, `c.json:1: is not JSON: unexpected end of JSON input`},
		{whole, "{\n\"cases\": []}", `c.json: there are no cases in it`},
		{`"title": "t"`, `"schema": 1`, `c.json:2: schema: this key comes twice`},
		{`"cases": [`, `"cases": [7,`, `c.json:11: cases[0]: must be an object, not a number`},
		{`"cases": [`, `"cases": 7, "x": [`, `c.json:11: cases: must be a list, not a number`},
		{`"id": "a"`, `"id": 7`, `c.json:12: cases[0].id: must be a string, not a number`},
		{`"id": "a"`, `"id": ""`, `c.json:12: cases[0]: the id is empty`},
		{`"id": "b"`, `"id": "a"`, `c.json:14: cases[1]: there is a case "a" before this one`},
		{`"id": "b",`, ``, `c.json:14: cases[1]: the case has no "id"`},
		{`"id": "b",`, `"id": null,`, `c.json:14: cases[1]: the case has no "id"`},
		{`"tier": "info", `, ``, `c.json:14: cases[1]: the case has no "tier"`},
		{`"tier": "info"`, `"tier": "may"`, `c.json:15: cases[1].tier: cannot be "may": use one of must, should, info`},
		{`"expect": "ask"`, `"expect": "strip"`, `c.json:13: cases[0].expect: cannot be "strip": use one of allow, ask, deny`},
		{`"expect": "ask"`, `"expect": "Ask"`, `c.json:13: cases[0].expect: cannot be "Ask": use one of allow, ask, deny`},
		{`"deny", "strip"]`, "\n\"drop\"]", `c.json:14: cases[0].accept[1]: cannot be "drop": use one of allow, ask, deny, strip`},
		{`"accept": ["allow"]`, `"accept": ["ask"]`, `c.json:14: cases[1]: accept leaves out "allow", which is expected`},
		{`"input": "ls\n"`, `"input": {}`, `c.json:12: cases[0].input: must be a list, not an object`},
		{`"input": ["ls", "-l"]`, `"input": ["ls", 1]`, `c.json:14: cases[1].input[1]: must be a string, not a number`},
		{`"env": {"A": "b"}`, `"env": {"A": 1}`, `c.json:14: cases[1].env.A: must be a string, not a number`},
		{`"env": {"A": "b"}`, `"env": {"A": "b", "A": "c"}`, `c.json:14: cases[1].env.A: this key comes twice`},
		{`"strict_may_ask": true`, `"strict_may_ask": "yes"`, `c.json:15: cases[1].strict_may_ask: must be true or false, not a string`},
		{`{"base": "p", "allow": ["*"]}`, `{"base": "q"}`, `c.json:15: cases[1].policy.base: there is no policy "q"`},
		{`{"base": "p", "allow": ["*"]}`, `{"allow": ["*"]}`, `c.json:14: cases[1]: the case's policy has no "base"`},
		{`"allow": ["*"]`, `"allow": ["a/b"]`, `c.json:15: cases[1].policy.allow[0]: `},
		{`"deny": ["~/x"]`, `"deny": [""]`, `c.json:8: policies.p.deny[0]: `},
		{`"allow": ["*"]`, `"allow": [7]`, `c.json:15: cases[1].policy.allow[0]: must be an object, not a number`},
		{`"allow": ["*"]`, `"allow": [{}]`, `c.json:15: cases[1].policy.allow[0]: `},
		{`"allow": ["*"]`, `"allow": [{"pattern": "*", "only": 1}]`, `c.json:15: cases[1].policy.allow[0]: json: unknown field "only"`},
		{`"allow": ["*"]`, `"allow": [{"pattern": "*", "cwd": null}]`, `c.json:15: cases[1].policy.allow[0].cwd: must be a value, not null`},
		{`"allow": ["*"]`, `"allow": [{"pattern": "*", "args": "a"}]`, `c.json:15: cases[1].policy.allow[0]: json: cannot unmarshal string`},
		{`"allow": ["*"]`, `"allow": [{"pattern": "*", "argPattern": "("}]`, `c.json:15: cases[1].policy.allow[0]: error parsing regexp`},
		{`"deny": ["~/x"]`, `"deny": [{"pattern": "~/x", "arg": []}]`, `c.json:8: policies.p.deny[0]: json: unknown field "arg"`},
		{`"allow": ["/bin/ls"]`, `"allow": "/bin/ls"`, `c.json:8: policies.p.allow: must be a list, not a string`},
		{`"name": "s", `, ``, `c.json:9: policies.p.skillBins[0]: a skill needs name and path`},
		{`"autoAllowSkills": true`, `"autoAllowSkills": null`, `c.json:9: policies.p.autoAllowSkills: must be true or false, not null`},
		{`"home": "/Users/dev", `, ``, `c.json: world needs home and cwd`},
		{`"home": "/Users/dev"`, `"home": "Users"`, `c.json:4: world.home: must be an absolute path`},
		{`"cwd": "/Users/dev/project"`, `"cwd": "/Users/../x"`, `c.json:4: world.cwd: must be an absolute path`},
		{`"cwd": "/Users/dev/project"`, `"cwd": "/bin/ls"`, `c.json:4: world.cwd: is no folder: a part of it is no folder`},
		{`"/bin": ["ls"]`, `"/bin": ["ls/x"]`, `c.json:5: world.executables."/bin"[0]: "ls/x" is no file name`},
		{`"/bin": ["ls"]`, `"/bin": ["ls", ".."]`, `c.json:5: world.executables."/bin"[1]: ".." is no file name`},
		{`"/bin": ["ls"]`, `"bin": ["ls"]`, `c.json:5: world.executables.bin[0]: must be an absolute path`},
		{`"/bin": ["ls"]`, `"/bin": ["ls", "Ls"]`, `c.json:5: world.executables."/bin"[1]: is the same name as /bin/ls on this disk`},
		{`"/bin": ["ls"]`, `"/bin/ls": ["x"], "/bin": ["ls"]`, `c.json:5: world.executables."/bin"[0]: something else is in it`},
		{`"/bin": ["ls"]`, `"/bin": ["ls"], "/bin/ls": ["x"]`, `c.json:5: world.executables."/bin/ls"[0]: a part of it is no folder`},
		{`"symlinks": {"/l": "/bin/ls"}`, `"symlinks": {"/l": ""}`, `c.json:5: world.symlinks."/l": a link must lead somewhere`},
		{`"symlinks": {"/l": "/bin/ls"}`, `"symlinks": {"/l": "a", "/L": "b"}`, `c.json:5: world.symlinks."/L": is there already, as a link`},
		{`"symlinks": {"/l": "/bin/ls"}`, `"symlinks": {"/bin": "/bin"}`, `c.json:5: world.executables."/bin"[0]: too many links`},
		{`"files": ["/f"]`, `"files": ["/l"]`, `c.json:5: world.files[0]: is there already, as a link`},
		{`"files": ["/f"]`, `"files": ["/"]`, `c.json:5: world.files[0]: is a folder`},
		{`"files": ["/f"]`, `"files": {"/f": 1}`, `c.json:5: world.files."/f": must be a string, not a number`},
		{`"files": ["/f"]`, `"files": ["/` + strings.Repeat("x", 256) + `"]`, `c.json:5: world.files[0]: the name is too long`},
		{`"files": ["/f"]`, `"files": ["/` + strings.Repeat("x/", 3000) + `y"]`, `c.json:5: world.files[0]: the name is too long`},
		{`"files": ["/f"]`, `"files": ["/a\u0000"]`, `c.json:5: world.files[0]: `},
	} {
		if strings.Count(whole, c.old) == 0 {
			t.Fatalf("%q is not in the file", c.old)
		}
		_, err := Parse("c.json", []byte(strings.Replace(whole, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("with %.60q:\n got %v\nwant %s", c.new, err, c.want)
		}
	}
}

func TestCaps(t *testing.T) {
	big := append([]byte("{}"), make([]byte, MaxSize)...)
	if _, err := Parse("c.json", big); err == nil || err.Error() != "c.json: is larger than 64 MiB" {
		t.Errorf("too large a file: %v", err)
	}
	var b strings.Builder
	b.WriteString(`{"cases": [`)
	for i := range MaxCases + 1 {
		fmt.Fprintf(&b, "\n"+`{"id": "%d", "class": "", "origin": "", "input": [], "policy": {"base": "p"}, "expect": "ask", "accept": ["ask"], "tier": "must"},`, i)
	}
	text := strings.TrimSuffix(b.String(), ",") + `]}`
	want := "c.json:100002: cases[100000]: there are more than 100000 cases: part the file"
	if _, err := Parse("c.json", []byte(text)); err == nil || err.Error() != want {
		t.Errorf("too many cases: %v", err)
	}
}

// TestUnknown reads a file with fields that nobody knows, each in two cases.
func TestUnknown(t *testing.T) {
	text := strings.ReplaceAll(whole, `"id"`, `"stricly": {"deep": [1]}, "id"`)
	text = strings.Replace(text, `"desc"`, `"ask": "off", "desc"`, 1)
	f, err := Parse("c.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"policies.p.ask", "cases[].stricly"}, f.Unknown); diff != "" {
		t.Error(diff)
	}
	if len(f.Cases) != 2 || f.Cases[1].ID != "b" {
		t.Errorf("cases: %v", f.Cases)
	}
}

// TestDiskIsOutOfReach holds that nothing here can open a file: there is no
// package to do it with.
func TestDiskIsOutOfReach(t *testing.T) {
	allowed := map[string]bool{}
	for _, path := range strings.Fields("bytes cmp crypto/sha256 encoding/hex encoding/json errors fmt io/fs path regexp slices strconv strings unicode/utf8") {
		allowed[path] = true
	}
	for _, path := range []string{"approval", "glob"} {
		allowed["github.com/countersign-app/countersign/backend/"+path] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if !allowed[strings.Trim(imp.Path.Value, `"`)] {
				t.Errorf("%s imports %s", name, imp.Path.Value)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole, "/l")
	f.Add(`{"world":{"home":"/a","cwd":"/a/b","symlinks":{"/a/c":"../a/c/c"},"files":{"/x":"y"}},"policies":{},"cases":[]}`, "/a/c/../x")
	f.Add("{\"cases\":[{\"id\":\"\\ud800\",\"input\":null}]}", "//")
	f.Fuzz(func(t *testing.T, text, name string) {
		file, err := Parse("c", []byte(text))
		if err != nil {
			if file != nil || !strings.HasPrefix(err.Error(), "c:") {
				t.Errorf("error %q with file %v", err, file)
			}
			return
		}
		found, err := file.World.Look(name)
		if err != nil {
			return
		}
		again, err := file.World.Look(found.Path)
		if err != nil || again != found {
			t.Errorf("%q is %q, which is %v, %v", name, found.Path, again, err)
		}
	})
}

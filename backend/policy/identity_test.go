package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/policy"
)

// Every file of this table has the hash "aa" now, those below /home are signed
// by TEAM/tool, and /opt/a/tool is a package manager's.
func TestChangedFile(t *testing.T) {
	mine, inPackage, system := "/home/ann/.local/bin/mine", "/opt/a/tool", "/usr/bin/tool"
	rg13, rg14 := "/opt/homebrew/Cellar/rg/13/bin/rg", "/opt/homebrew/Cellar/rg/14/bin/rg"
	id := func(path, sum, signer string) []approval.Identity {
		return []approval.Identity{{Path: path, SHA256: sum, Signer: signer}}
	}
	tests := []struct {
		name  string
		entry approval.Entry
		line  string
		want  string // the verdict, and what is to be recorded
	}{
		{"the same", approval.Entry{Pattern: mine, Identity: id(mine, "AA", "")}, "mine", "allow"},
		{"first use of a literal", approval.Entry{Pattern: mine}, "mine", "allow +" + mine},
		{"first use under a wildcard", approval.Entry{Pattern: "~/.local/bin/*"}, "mine", "allow +" + mine},
		{"first use of a name", approval.Entry{Pattern: "mine"}, "mine", "allow +" + mine},
		{"only its path is known", approval.Entry{Pattern: mine, Identity: id(mine, "", "")}, "mine", "allow +" + mine},
		{"another file", approval.Entry{Pattern: mine, Identity: id(mine, "bb", "")}, "mine", "ask binary-changed bb+" + mine},
		{"another file under a wildcard", approval.Entry{Pattern: "~/.local/bin/*", Identity: id(mine, "bb", "")}, "mine", "ask binary-changed bb+" + mine},
		{"another file of the same signer", approval.Entry{Pattern: mine, Identity: id(mine, "bb", "TEAM/tool")}, "mine", "allow bb+" + mine},
		{"another file of another signer", approval.Entry{Pattern: mine, Identity: id(mine, "bb", "EVIL/tool")}, "mine", "ask binary-changed bb+" + mine},
		{"another file of a package", approval.Entry{Pattern: inPackage, Identity: id(inPackage, "bb", "")}, inPackage, "allow bb+" + inPackage},
		{"the system's", approval.Entry{Pattern: system}, "tool", "allow"},
		{"a newer one of the system's", approval.Entry{Pattern: system, Identity: id(system, "bb", "")}, "tool", "allow bb+" + system},

		{"the next version of a package", approval.Entry{Pattern: "/opt/homebrew/bin/rg", Identity: id(rg13, "bb", "")}, "rg", "ask binary-changed bb+" + rg14},
		{"the next version under a wildcard", approval.Entry{Pattern: "/opt/homebrew/bin/*", Identity: id(rg13, "bb", "")}, "rg", "ask binary-changed bb+" + rg14},
		{"the next version is the same file", approval.Entry{Pattern: "/opt/homebrew/bin/rg", Identity: id(rg13, "aa", "")}, "rg", "allow aa+" + rg14},
		{"the next version, hash demanded", approval.Entry{Pattern: "/opt/homebrew/bin/rg", RequireIdentity: "sha256", Identity: id(rg13, "bb", "")}, "rg", "ask binary-changed bb+" + rg14},
		{"the next version is known", approval.Entry{Pattern: "/opt/homebrew/bin/rg", Identity: append(id(rg13, "bb", ""), id(rg14, "aa", "")...)}, "rg", "allow"},
		{"another package", approval.Entry{Pattern: "/opt/homebrew/bin/*", Identity: id("/opt/homebrew/Cellar/evil/1/bin/rg", "bb", "")}, "rg", "allow +" + rg14},

		{"hash demanded", approval.Entry{Pattern: mine, RequireIdentity: "sha256", Identity: id(mine, "aa", "")}, "mine", "allow"},
		{"hash demanded, none recorded", approval.Entry{Pattern: mine, RequireIdentity: "sha256"}, "mine", "ask binary-changed +" + mine},
		{"hash demanded, that of another recorded", approval.Entry{Pattern: mine, RequireIdentity: "sha256", Identity: id("/x", "aa", "")}, "mine", "ask binary-changed +" + mine},
		{"hash demanded, another file of the same signer", approval.Entry{Pattern: mine, RequireIdentity: "sha256", Identity: id(mine, "bb", "TEAM/tool")}, "mine", "ask binary-changed bb+" + mine},
		{"hash demanded of the system's", approval.Entry{Pattern: system, RequireIdentity: "sha256"}, "tool", "ask binary-changed +" + system},
		{"signer demanded", approval.Entry{Pattern: mine, RequireIdentity: "signer", Identity: id(mine, "bb", "TEAM/tool")}, "mine", "allow bb+" + mine},
		{"signer demanded, none recorded", approval.Entry{Pattern: mine, RequireIdentity: "signer", Identity: id(mine, "aa", "")}, "mine", "ask binary-changed aa+" + mine},
		{"signer demanded of what nobody signed", approval.Entry{Pattern: inPackage, RequireIdentity: "signer", Identity: id(inPackage, "aa", "TEAM/tool")}, inPackage, "ask binary-changed aa+" + inPackage},
	}
	for _, test := range tests {
		p := onMiss()
		p.Allowlist = []approval.Entry{test.entry}
		if got := judgedFiles(p, test.line); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// What one entry knows of a file counts under another one that knows nothing.
func TestKnownUnderAnotherEntry(t *testing.T) {
	mine := "/home/ann/.local/bin/mine"
	other := []approval.Identity{{Path: mine, SHA256: "bb"}}
	same := []approval.Identity{{Path: mine, SHA256: "aa"}}
	tests := []struct {
		name string
		list []approval.Entry
		want string
	}{
		{"changed, and new to a wildcard", []approval.Entry{{Pattern: mine, Identity: other}, {Pattern: "~/.local/bin/*"}}, "ask binary-changed bb+" + mine},
		{"the other way round", []approval.Entry{{Pattern: "~/.local/bin/*"}, {Pattern: mine, Identity: other}}, "ask binary-changed bb+" + mine},
		{"changed, and known to a wildcard", []approval.Entry{{Pattern: mine, Identity: other}, {Pattern: "~/.local/bin/*", Identity: same}}, "allow"},
		{"an entry for other words", []approval.Entry{{Pattern: mine, Identity: other, Args: []string{"x"}}, {Pattern: "~/.local/bin/*"}}, "allow +" + mine},
	}
	for _, test := range tests {
		p := onMiss()
		p.Allowlist = test.list
		if got := judgedFiles(p, "mine"); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

func judgedFiles(p approval.Policy, line string) string {
	got := judge(p, line, func(in *policy.Input) {
		in.Hash = func(approval.File) (string, error) { return "aa", nil }
		in.Signer = func(f approval.File) string {
			return map[bool]string{true: "TEAM/tool"}[strings.HasPrefix(f.Path, "/home/")]
		}
		in.Packaged = func(f approval.File) bool { return f.Path == "/opt/a/tool" }
	})
	words := []string{string(got.Verdict), string(got.Reason)}
	for _, s := range got.Segments[0].Learn {
		words = append(words, fmt.Sprintf("%s+%s", s.Was, s.File.Path))
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

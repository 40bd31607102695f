package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/policy"
)

var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

var world = approvaltest.NewWorld(`
	/usr/bin/ls /usr/bin/cat /usr/bin/wc /usr/bin/head /usr/bin/uniq /usr/bin/sh /usr/bin/bash /usr/bin/rm /usr/bin/curl /usr/bin/git /usr/bin/find /usr/bin/mkdir /usr/bin/make /usr/bin/deno /usr/bin/nx /home/ann/q/x /home/ann/p/sub/x /home/ann/p/sub/json.tool
	/home/ann/p/a.py /usr/bin/env /usr/bin/xargs /usr/bin/python3.12 /usr/bin/jq /usr/bin/mawk /usr/bin/tool /opt/a/tool /opt/a/b/tool /home/ann/p/tool /home/ann/.local/bin/mine
	/opt/homebrew/Cellar/rg/14/bin/rg /opt/homebrew/Cellar/rg/15/bin/rg /opt/homebrew/Cellar/evil/1/bin/rg /opt/skills/skill /home/ann/p/.env
	/state/operator.key
	/bin -> usr/bin
	/usr/bin/awk -> mawk
	/opt/homebrew/bin/rg -> ../Cellar/rg/14/bin/rg
	/home/ann/.local/bin/mylink -> /opt/a/tool
	/home/ann/.local/bin/list -> /usr/bin/rm`)

func analyzer() *command.Analyzer {
	a := &command.Analyzer{World: world, Home: "/home/ann", Ours: []string{"/state"}}
	a.SetPath([]string{"/opt/homebrew/bin", "/usr/bin", "/bin", "/home/ann/.local/bin", "/opt/a"})
	return a
}

func real(name string) string {
	f, err := world.Look(name)
	if err != nil {
		return ""
	}
	return f.Path
}

// judge judges one command: words split at spaces, or a text for bash if it
// begins with "$ ".
func judge(p approval.Policy, line string, change func(*policy.Input)) approval.Judgement {
	req := &approval.Request{Command: strings.Fields(line), Cwd: "/home/ann/p", Who: approval.Ours}
	if text, ok := strings.CutPrefix(line, "$ "); ok {
		req.Command = []string{"bash", "-c", text}
	}
	req.ProjectOf = func(string) approval.Folder { return approvaltest.Named("/home/ann/q") }
	plan := analyzer().Analyze(context.Background(), req, approvaltest.Named(req.Cwd))
	p.AgentID = "main"
	in := policy.Input{Plan: &plan, Who: approval.Ours, Now: now}
	if change != nil {
		change(&in)
	}
	return policy.Prepare(p, "/home/ann", real).Evaluate(in)
}

func onMiss(patterns ...string) approval.Policy {
	p := approval.Policy{
		Security: approval.SecurityList, Ask: approval.AskOnMiss, AskFallback: approval.SecurityDeny,
		SafeBins: []string{"cut", "uniq", "head", "tail", "tr", "wc"},
	}
	for _, pattern := range patterns {
		p.Allowlist = append(p.Allowlist, approval.Entry{Pattern: pattern})
	}
	return p
}

func check(t *testing.T, name string, got approval.Judgement, want string) {
	t.Helper()
	said := string(got.Verdict)
	if got.Reason != "" {
		said += " " + string(got.Reason)
	}
	if said != want {
		t.Errorf("%s: %s (%s), want %s", name, said, got.Sentence, want)
	}
	if got.Verdict != approval.VerdictAllow && got.Sentence == "" {
		t.Errorf("%s: no sentence says why", name)
	}
}

func TestEntries(t *testing.T) {
	tests := []struct{ entry, line, want string }{
		{"/usr/bin/ls", "ls", "allow"},
		{"/usr/bin/ls", "/usr/bin/ls -l", "allow"},
		{"/bin/ls", "ls", "allow"},
		{"/bin/ls", "/bin/ls", "allow"},
		{"/bin/*", "ls", "allow"},
		{"ls", "ls", "allow"},
		{"ls", "/usr/bin/ls", "ask allowlist-miss"},
		{"/usr/bin/LS", "ls", "ask allowlist-miss"},
		{"/usr/bin/ls", "LS", "deny not-found"},
		{"*", "/opt/a/b/tool x", "allow"},
		{"*", "/home/ann/p/tool x", "allow"},
		{"*", "sh x", "ask inline-code"},
		{"*", "python3.12 x", "ask inline-code"},
		{"/usr/bin/env", "env ls", "ask allowlist-miss"},
		{"*", "env ls", "allow"},
		{"*", "env -S ls", "ask starts-program"},
		{"*", "env sh -c ls", "ask inline-code"},
		{"*", "env env env env env ls", "ask too-complex"},
		{"*", "git status", "allow"},
		{"*", "git -c a=b status", "ask starts-program"},
		{"*", "git push", "allow"},
		{"*", "git push --receive-pack=x", "ask starts-program"},
		{"*", "/usr/bin/tool x", "ask allowlist-miss"},
		{"/usr/**", "/usr/bin/tool x", "ask allowlist-miss"},
		{"*", "python3.12 tool", "ask allowlist-miss"},
		{"/usr/bin/t??l", "/usr/bin/tool x", "ask allowlist-miss"},
		{"*", "mine x", "allow"},
		{"*", "cat x", "allow"},
		{"/usr/bin/rm", "rm x", "allow"},
		{"/usr/bin/rm", "rm -r ../x", "ask deletes"},
		{"/opt/*/tool", "/opt/a/tool", "allow"},
		{"/opt/*/tool", "/opt/a/b/tool", "ask allowlist-miss"},
		{"/opt/**/tool", "/opt/a/b/tool", "allow"},
		{"~/.local/bin/*", "mine", "allow"},
		{"/nowhere/x", "ls", "ask allowlist-miss"},
		{"", "ls", "ask allowlist-miss"},
		{"*", "nothere", "deny not-found"},
		{"*", "$ nothere", "ask not-found"},
		// Links.
		{"/usr/bin/mawk", "tool", "ask allowlist-miss"},
		{"~/.local/bin/*", "mylink x", "ask allowlist-miss"},
		{"~/.local/bin/mylink", "mylink x", "allow"},
		{"/opt/a/*", "mylink x", "allow"},
		{"~/.local/bin/list", "list x", "ask writes-file"},
		{"/opt/homebrew/bin/*", "rg x", "allow"},
		{"/opt/homebrew/bin/*", "rg --pre sh x", "ask starts-program"},
		// Chains.
		{"/usr/bin/ls", "$ ls && ls; ls | ls", "allow"},
		{"/usr/bin/ls", "$ ls && cat x", "ask allowlist-miss"},
		{"/usr/bin/ls", "$ ls; echo x; cd sub; pwd; true", "allow"},
		{"/usr/bin/ls", "$ ls > x", "ask writes-file"},
		{"/usr/bin/ls", "$ ls $(rm x)", "ask allowlist-miss"},
		{"/usr/bin/ls", "$ ls $(ls $x) *", "allow"},
		{"/usr/bin/ls", "$ ls $(cat a)", "ask allowlist-miss"},
		{"*", "$ for f in a b; do cat $f; done", "allow"},
		{"/usr/bin/bash", "bash x.sh", "ask inline-code"},
		{"/usr/bin/ls", "ls /home/ann/p/.env", "allow"},
		{"/usr/bin/cat", "cat /home/ann/p/.env", "ask protected-state"},
		{"/usr/bin/tool", "tool sh", "ask inline-code"},
		{"/usr/bin/tool", "tool cat x", "ask allowlist-miss"},
		{"/usr/bin/tool", "tool cat", "allow"},
		{"/usr/bin/tool", "tool -o cat sh x", "ask allowlist-miss"},
	}
	for _, test := range tests {
		check(t, test.entry+" ⊢ "+test.line, judge(onMiss(test.entry), test.line, nil), test.want)
	}
}

func TestNarrowing(t *testing.T) {
	none, one := 0, 1
	tests := []struct {
		name  string
		entry approval.Entry
		line  string
		want  string
	}{
		{"args", approval.Entry{Args: []string{"a"}}, "tool a b", "allow"},
		{"args differ", approval.Entry{Args: []string{"a"}}, "tool b", "ask allowlist-miss"},
		{"args star", approval.Entry{Args: []string{"*", "b"}}, "tool x b", "allow"},
		{"args exact", approval.Entry{Args: []string{"a"}, ArgsExact: true}, "tool a b", "ask allowlist-miss"},
		{"args none", approval.Entry{ArgsExact: true}, "tool", "allow"},
		{"cwd", approval.Entry{Cwd: "~/p"}, "tool", "allow"},
		{"cwd above", approval.Entry{Cwd: "/home"}, "tool", "allow"},
		{"cwd elsewhere", approval.Entry{Cwd: "/srv"}, "tool", "ask allowlist-miss"},
		{"cwd beside", approval.Entry{Cwd: "/home/ann/pp"}, "tool", "ask allowlist-miss"},
		{"pattern", approval.Entry{ArgPattern: "^a b$"}, "tool a b", "allow"},
		{"pattern differs", approval.Entry{ArgPattern: "^a$"}, "tool a b", "ask allowlist-miss"},
		{"pattern of allow-always", approval.Entry{ArgPattern: "^a", Source: "allow-always"}, "tool a", "ask allowlist-miss"},
		{"expired", approval.Entry{ExpiresAt: now.UnixMilli()}, "tool", "ask lease-ended"},
		{"not expired", approval.Entry{ExpiresAt: now.UnixMilli() + 1}, "tool", "allow"},
		{"used up", approval.Entry{UsesLeft: &none}, "tool", "ask lease-ended"},
		{"one left", approval.Entry{UsesLeft: &one}, "tool", "allow"},
		{"other session", approval.Entry{SessionKey: "s"}, "tool", "ask allowlist-miss"},
		{"disabled", approval.Entry{Disabled: true}, "tool", "ask allowlist-miss"},
		{"identity", approval.Entry{Identity: []approval.Identity{{Path: "/usr/bin/tool", SHA256: "AA"}}}, "tool", "allow"},
	}
	for _, test := range tests {
		p := onMiss()
		test.entry.Pattern = "/usr/bin/tool"
		p.Allowlist = []approval.Entry{test.entry}
		check(t, test.name, judge(p, test.line, func(in *policy.Input) {
			in.Hash = func(approval.File) (string, error) { return "aa", nil }
		}), test.want)
	}
}

// TestSameProject: the entries of a project count in a folder that a person said to be
// the same, in the same places, and nowhere else. judge works in /home/ann/p.
func TestSameProject(t *testing.T) {
	for _, row := range []struct {
		cwd  string
		said approval.Project
		want string
	}{
		{"/home/ann/q", approval.Project{Path: "/home/ann/p", SameAs: "/home/ann/q"}, "allow"},
		{"~/q", approval.Project{Path: "/home/ann/p", SameAs: "/home/ann/q"}, "allow"},
		{"/home/ann/main/p", approval.Project{Path: "/home/ann", SameAs: "/home/ann/main"}, "allow"},
		{"/home/ann/q/sub", approval.Project{Path: "/home/ann/p", SameAs: "/home/ann/q"}, "ask allowlist-miss"},
		{"/home/ann/main/x", approval.Project{Path: "/home/ann", SameAs: "/home/ann/main"}, "ask allowlist-miss"},
		{"/home/ann/q", approval.Project{Path: "/home/ann/p"}, "ask allowlist-miss"},
		{"/home/ann/q", approval.Project{Path: "/home/ann/p", SameAs: "/home/ann/q", No: true}, "ask allowlist-miss"},
		{"/home/ann/q", approval.Project{Path: "/home/ann/other", SameAs: "/home/ann/q"}, "ask allowlist-miss"},
		{"/home/ann/qq", approval.Project{Path: "/home/ann/p", SameAs: "/home/ann/q"}, "ask allowlist-miss"},
		{"/home/ann/q", approval.Project{Path: "/home/ann/*", SameAs: "/home/ann/q"}, "ask allowlist-miss"},
		{"/home/ann/p/..", approval.Project{Path: "/home/ann/p/x", SameAs: "/home/ann/p"}, "ask allowlist-miss"},
		{"/home/ann/q/../..", approval.Project{Path: "/home/ann/p", SameAs: "/home/ann/q"}, "ask allowlist-miss"},
	} {
		p := onMiss()
		p.Allowlist, p.Projects = []approval.Entry{{Pattern: "/usr/bin/tool", Cwd: row.cwd}}, []approval.Project{row.said}
		check(t, fmt.Sprint(row), judge(p, "tool", nil), row.want)
	}
}

// A link covers what it led to when it was saved, and newer files of the same
// package; never another target.
func TestLinkEntries(t *testing.T) {
	tests := []struct{ target, recorded, want string }{
		{"/opt/a/tool", "/opt/a/tool", "allow"},
		{"/opt/a/b/tool", "/opt/a/tool", "ask binary-changed"},
		{"/opt/homebrew/Cellar/x/2/bin/x", "/opt/homebrew/Cellar/x/1/bin/x", "allow"},
		{"/opt/homebrew/Cellar/y/2/bin/x", "/opt/homebrew/Cellar/x/1/bin/x", "ask binary-changed"},
		{"/opt/homebrew/Cellar/x/2/bin/y", "/opt/homebrew/Cellar/x/1/bin/x", "ask binary-changed"},
		{"/nix/store/b-x/bin/x", "/nix/store/a-x/bin/x", "allow"},
	}
	for _, test := range tests {
		w := approvaltest.NewWorld(test.target + " " + test.recorded + "\n/links/x -> " + test.target)
		a := &command.Analyzer{World: w, Home: "/home/ann"}
		a.SetPath([]string{"/links"})
		plan := a.Analyze(t.Context(), &approval.Request{Command: []string{"x"}, Cwd: "/links", Who: approval.Ours}, approvaltest.Named("/links"))
		p := onMiss()
		p.Allowlist = []approval.Entry{{Pattern: "/links/x", Identity: []approval.Identity{{Path: test.recorded}}}}
		look := func(name string) string { f, _ := w.Look(name); return f.Path }
		got := policy.Prepare(p, "/home/ann", look).Evaluate(policy.Input{Plan: &plan, Who: approval.Ours, Now: now})
		check(t, test.recorded+" then "+test.target, got, test.want)
	}
}

// Which entry means which program through which link.
func TestLinks(t *testing.T) {
	const disk = `/usr/bin/tool /usr/bin/other /usr/bin/python3.11 /usr/bin/bash /usr/bin/busybox /opt/a/tool /opt/a/manager /opt/b/tool /opt/b/rm /home/ann/bin/plain /home/ann/p/x.py
		/opt/homebrew/Cellar/rg/14/bin/rg /opt/homebrew/Cellar/python/3/bin/python3.12
		/opt/homebrew/bin/rg -> ../Cellar/rg/14/bin/rg
		/opt/homebrew/bin/python3 -> ../Cellar/python/3/bin/python3.12
		/usr/bin/python3 -> python3.11
		/usr/bin/pick -> /etc/alternatives/pick
		/etc/alternatives/pick -> /usr/bin/other
		/home/ann/bin/list -> /usr/bin/tool
		/home/ann/bin/one -> /opt/a/manager
		/home/ann/bin/two -> /opt/a/manager
		/home/ann/bin/twice -> one
		/home/ann/bin/tame -> /usr/bin/python3.11
		/home/ann/bin/python3 -> /usr/bin/python3.11
		/home/ann/bin/mybash -> /usr/bin/bash
		/home/ann/bin/ls2 -> /usr/bin/busybox
		/home/ann/bin/beside -> plain
		/home/ann/bin/tool2 -> /opt/b/rm
		/home/ann/folder -> bin`
	tests := []struct{ entries, line, want string }{
		// An entry for a link means its target under that name only.
		{"~/bin/list", "~/bin/list x", "allow"},
		{"~/bin/list", "list x", "allow"},
		{"~/bin/list", "~/folder/list x", "allow"},
		{"~/folder/list", "list x", "allow"},
		{"~/bin/list", "/usr/bin/tool x", "ask allowlist-miss"},
		{"~/bin/list", "tool x", "ask allowlist-miss"},
		{"~/bin/one", "~/bin/two x", "ask allowlist-miss"},
		{"~/bin/one", "/opt/a/manager x", "ask allowlist-miss"},
		{"~/bin/one", "~/bin/twice x", "ask allowlist-miss"},
		{"~/bin/one", "~/bin/../bin/one x", "allow"},
		{"~/bin/one", "~/bin//one x", "allow"},
		{"~/bin/twice", "~/bin/twice x", "allow"},
		{"/opt/a/manager", "~/bin/two x", "allow"}, // the pattern matches the real path
		{"/usr/bin/pick", "pick x", "allow"},
		{"/usr/bin/pick", "other x", "ask allowlist-miss"},
		// A wildcard means a link by its target.
		{"~/bin/*", "list x", "ask allowlist-miss"},
		{"~/bin/*", "beside x", "allow"},
		{"~/folder/*", "beside x", "allow"},
		{"~/bin/* /usr/bin/tool", "list x", "allow"},
		{"/opt/a/*", "one x", "allow"},
		{"/opt/homebrew/bin/*", "rg x", "allow"},
		{"/opt/homebrew/**", "rg x", "allow"},
		{"tool*", "tool2 x", "ask writes-file"},
		{"l*t", "list x", "ask allowlist-miss"},
		{"l*t *ool", "list x", "ask allowlist-miss"},
		{"list", "list x", "allow"},
		{"list", "~/bin/list x", "ask allowlist-miss"},
		// What runs any code, by a name of the system or of a package only.
		{"~/bin/tame", "tame x.py", "ask inline-code"},
		{"~/bin/python3", "~/bin/python3 x.py", "ask allowlist-miss"},
		{"/usr/bin/python3", "/usr/bin/python3 x.py", "allow"},
		{"/usr/bin/python3.11", "~/bin/python3 x.py", "allow"},
		{"/opt/homebrew/bin/python3", "python3 x.py", "allow"},
		{"python3", "python3 x.py", "allow"},
		{"tame", "tame x.py", "ask inline-code"},
		{"~/bin/mybash", "mybash x.py", "ask inline-code"},
		{"~/bin/ls2", "ls2 x", "ask wrapper-unclear"},
		{"ls2", "ls2 x", "ask wrapper-unclear"},
		{"*", "ls2 x", "ask wrapper-unclear"},
	}
	w := approvaltest.NewWorld(disk)
	look := func(name string) string { f, _ := w.Look(name); return f.Path }
	for _, test := range tests {
		a := &command.Analyzer{World: w, Home: "/home/ann"}
		a.SetPath([]string{"", "/opt/homebrew/bin", "/usr/bin", ".", "/home/ann/bin"})
		words := strings.Fields(strings.Replace(test.line, "~", "/home/ann", 1))
		plan := a.Analyze(t.Context(), &approval.Request{Command: words, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		got := policy.Prepare(onMiss(strings.Fields(test.entries)...), "/home/ann", look).Evaluate(policy.Input{Plan: &plan, Who: approval.Ours, Now: now})
		check(t, test.entries+" ⊢ "+test.line, got, test.want)
	}
}

// A deny rule holds for what the first line of a script names, too.
func TestDeniedInterpreters(t *testing.T) {
	for line, want := range map[string]string{
		"#!/usr/bin/bash":                 "deny denylisted",
		"#!/usr/bin/env bash":             "deny denylisted",
		"#!/usr/bin/env -S bash -e":       "deny denylisted",
		"#!/usr/bin/env -S /usr/bin/bash": "deny denylisted",
		"#!/home/ann/busybox bash":        "deny denylisted",
		"#!/home/ann/bb bash":             "deny denylisted",
		"#!/home/ann/hidden":              "deny denylisted",
		"#!/home/ann/busybox ash":         "ask wrapper-unclear",
		"#!/usr/bin/sh bash-like":         "allow",
	} {
		w := approvaltest.NewWorld("/usr/bin/bash /usr/bin/sh /usr/bin/env /home/ann/busybox\n/home/ann/bb -> busybox\n/home/ann/hidden -> /usr/bin/bash")
		w.Files["/home/ann/tool"] = approvaltest.File{Mode: 0o755, Text: line + "\n"}
		a := &command.Analyzer{World: w, Home: "/home/ann"}
		a.SetPath([]string{"/usr/bin"})
		plan := a.Analyze(t.Context(), &approval.Request{Command: []string{"/home/ann/tool"}, Cwd: "/home/ann", Who: approval.Ours}, approvaltest.Named("/home/ann"))
		p := onMiss("/home/ann/tool")
		p.Denylist = []approval.DenyRule{{Pattern: "bash"}}
		look := func(name string) string { f, _ := w.Look(name); return f.Path }
		check(t, line, policy.Prepare(p, "/home/ann", look).Evaluate(policy.Input{Plan: &plan, Who: approval.Ours, Now: now}), want)
	}
}

func TestDenylist(t *testing.T) {
	tests := []struct{ rule, line, want string }{
		{"/usr/bin/curl", "curl x", "deny denylisted"},
		{"/bin/curl", "curl x", "deny denylisted"},
		{"curl", "/usr/bin/curl x", "deny denylisted"},
		{"CURL", "curl x", "deny denylisted"},
		{"/USR/BIN/curl", "curl x", "deny denylisted"},
		{"/usr/bin/rm", "list x", "deny denylisted"},
		{"rm", "$ ls; (rm x)", "deny denylisted"},
		{"rm", "$ ls $(rm x)", "deny denylisted"},
		{"rm", "$ bash -c 'sh -c \"rm x\"'", "deny denylisted"},
		{"rm", "env rm x", "deny denylisted"},
		{"rm", "env rm", "deny denylisted"},
		{"rm", "env A=1 rm", "deny denylisted"},
		{"rm", "env - rm x", "deny denylisted"},
		{"rm", "tool rm", "deny denylisted"},
		{"rm", "$ sh -c 'env rm'", "deny denylisted"},
		{"rm", "tool -x rm y", "deny denylisted"},
		{"rm", "ls rm", "allow"},
		{"nothere", "nothere", "deny denylisted"},
		{"*", "ls", "deny denylisted"},
		{"bash", "$ ls", "deny denylisted"},
		{"echo", "$ echo x", "deny denylisted"},
		{"/usr/bin/true", "$ true", "deny denylisted"},
		{"/bin/pwd", "$ ls; pwd", "deny denylisted"},
		{"curl", "$ ls" + long + "; curl x", "deny denylisted"},
		{"/usr/bin/awk", "/usr/bin/mawk x", "deny denylisted"},
		{"/home/ann/.local/bin/list", "list x", "deny denylisted"},
		{"/home/ann/.local/bin/list", "/usr/bin/rm x", "ask allowlist-miss"},
	}
	for _, test := range tests {
		p := onMiss("/usr/bin/ls", "/usr/bin/tool")
		p.Denylist = []approval.DenyRule{{Pattern: test.rule}}
		check(t, test.rule+" ⊢ "+test.line, judge(p, test.line, nil), test.want)
	}
	p := onMiss("tool")
	p.Denylist = []approval.DenyRule{{Pattern: "tool", Args: []string{"push"}, Reason: "ask me first"}}
	check(t, "with arguments", judge(p, "tool push x", nil), "deny denylisted")
	check(t, "other arguments", judge(p, "tool pull", nil), "allow")
	p.Denylist = []approval.DenyRule{{Pattern: "a/b"}}
	check(t, "a rule that cannot be read", judge(p, "tool pull", nil), "deny policy-broken")
}

func TestFull(t *testing.T) {
	full := approval.Policy{Security: approval.SecurityFull, Ask: approval.AskOff}
	denying := full
	denying.Denylist = []approval.DenyRule{{Pattern: "curl"}}
	always := full
	always.Ask = approval.AskAlways
	tests := []struct {
		name   string
		policy approval.Policy
		line   string
		want   string
	}{
		{"anything", full, "$ rm -r x > y; $z", "allow"},
		{"floor", full, "rm -rf /", "deny floor"},
		{"floor in a text", full, "$ ls; rm -rf ~", "deny floor"},
		{"keys", full, "cat /home/ann/.ssh/id_rsa", "allow"},
		{"ours", full, "cat /state/operator.key", "deny protected-state"},
		{"denied", denying, "$ ls; curl x", "deny denylisted"},
		{"hidden name", denying, "$ $x y", "deny runtime-value"},
		{"eval", denying, "$ eval x", "deny evaluates"},
		{"unreadable", denying, "$ ls '", "deny unreadable"},
		{"run-time argument", denying, "$ ls $x", "allow"},
		{"run-time target", denying, "$ env $x", "deny runtime-value"},
		{"many layers", denying, "env env env env env curl x", "deny denylisted"},
		{"a shell with options", denying, "bash --norc -c ls;curl", "deny unreadable"},
		{"a shell with more words", denying, "sh -c ls;curl x", "deny unreadable"},
		{"a shell that reads", denying, "$ echo curl | sh", "deny unreadable"},
		{"split by env", denying, "env -S x;curl", "deny denylisted"},
		{"behind an option's value", denying, "xargs -I cat curl x", "deny denylisted"},
		{"home by another name", full, "$ cd ~ && rm -rf *", "deny floor"},
		{"behind command", full, "$ command rm -rf /", "deny floor"},
		{"behind find", full, "env -u cat rm -rf /", "deny floor"},
		{"everything in the root", full, "$ cd / && rm -rf *", "deny floor"},
		{"always", always, "ls", "ask ask-always"},
		{"what cannot be read", full, "$ ls '", "allow"},
		{"floor in what cannot be read", full, "$ ls; sudo rm -rf / '", "deny floor"},
		{"a long text", full, "$ ls" + long, "deny too-complex"},
		{"floor before a long text", full, "$ sudo rm -rf /" + long, "deny floor"},
		{"floor in another folder", full, "env -C / rm -rf usr", "deny floor"},
		{"a device by another way", full, "$ ls > ../../../DEV/sda", "deny floor"},
		{"floor behind a long text", full, "$ ls" + long + "; rm -rf ~", "deny floor"},
		{"device behind a long text", full, "$ ls" + long + " > /dev/sda", "deny floor"},
		{"floor in many words", full, "rm -rf /" + long, "deny floor"},
		{"denied behind a long text", denying, "$ ls" + long + "; curl x", "deny denylisted"},
	}
	for _, test := range tests {
		check(t, test.name, judge(test.policy, test.line, nil), test.want)
	}
}

// long is more words than are looked at.
var long = strings.Repeat(" x", 6000)

func TestSafeBins(t *testing.T) {
	tests := []struct{ line, want string }{
		{"$ echo x | wc -l", "allow"},
		{"$ echo x | uniq -c", "allow"},
		{"$ head -5 </dev/null", "ask allowlist-miss"},
		{"uniq in out", "ask writes-file"},
		{"wc /etc/passwd", "ask allowlist-miss"},
		{"/home/ann/p/tool", "ask allowlist-miss"},
		{"$ echo x | wc -l > out", "ask writes-file"},
		{"$ echo {} | jq .", "ask allowlist-miss"},
		{"$ echo x | wc $x", "ask allowlist-miss"},
		{"$ wc -l <<< x", "ask allowlist-miss"},
	}
	for _, test := range tests {
		check(t, test.line, judge(onMiss(), test.line, nil), test.want)
	}
	p := onMiss()
	p.SafeBins = []string{"jq", "tool"}
	check(t, "jq is never safe", judge(p, "jq .", nil), "ask allowlist-miss")
	check(t, "no profile", judge(p, "tool", nil), "ask allowlist-miss")
	check(t, "not listed any more", judge(p, "$ echo x | wc -l", nil), "ask allowlist-miss")
	p.SafeBins = append(p.SafeBins, "python3.12")
	own := approval.SafeBinProfile{MinPositional: 1, MaxPositional: 2, AllowedValueFlags: []string{"-n", "--size"}, AllowedBooleanFlags: []string{"-q", "-v", "--all"}, DeniedFlags: []string{"-v"}}
	p.SafeBinProfiles = map[string]approval.SafeBinProfile{"tool": own, "jq": own, "python3.12": own}
	for _, test := range []struct{ line, want string }{
		{"tool a", "allow"},
		{"tool a b", "allow"},
		{"tool -n 5 --size=3 -q --all a", "allow"},
		{"tool -qn5 a", "allow"},
		{"tool", "ask allowlist-miss"},
		{"tool a b c", "ask allowlist-miss"},
		{"tool -v a", "ask allowlist-miss"},
		{"tool -x a", "ask allowlist-miss"},
		{"tool --si=3 a", "ask allowlist-miss"},
		{"tool /etc/passwd", "ask allowlist-miss"},
		{"tool --size=/etc/x a", "ask allowlist-miss"},
		{"/home/ann/p/tool a", "ask allowlist-miss"},
		{"jq .", "ask allowlist-miss"},
		{"python3.12 a", "ask inline-code"},
	} {
		check(t, test.line, judge(p, test.line, nil), test.want)
	}
}

func TestClaimsOnlyTighten(t *testing.T) {
	tests := []struct {
		name  string
		claim approval.Claim
		want  string
	}{
		{"nothing", approval.Claim{}, "allow"},
		{"looser", approval.Claim{Security: "full", Ask: "off", Decision: "allow-once"}, "allow"},
		{"security", approval.Claim{Security: "deny"}, "deny security=deny"},
		{"ask", approval.Claim{Ask: "always"}, "ask ask-always"},
		{"denied", approval.Claim{Decision: "deny"}, "deny user-denied"},
		{"fallback", approval.Claim{Source: "ask-fallback"}, "deny security=deny"},
		{"same program", approval.Claim{ResolvedPath: "/usr/bin/ls"}, "allow"},
		{"another program", approval.Claim{ResolvedPath: "/tmp/ls"}, "ask untrusted-path"},
	}
	for _, test := range tests {
		got := judge(onMiss("ls"), "ls", func(in *policy.Input) { in.Claim = test.claim })
		check(t, test.name, got, test.want)
	}
	got := judge(onMiss(), "ls", func(in *policy.Input) { in.Claim = approval.Claim{Decision: "allow-always", Security: "full"} })
	check(t, "a miss with every claim", got, "ask allowlist-miss")
}

func TestEnvironment(t *testing.T) {
	tests := []struct {
		name   string
		change func(*policy.Input)
		want   string
	}{
		{"refused", func(in *policy.Input) { in.EnvRefused = []string{"LD_PRELOAD"} }, "deny env-refused"},
		{"asks", func(in *policy.Input) { in.Env = []approval.Variable{{Name: "HTTP_PROXY"}} }, "ask env-asks"},
		{"unknown, ours", func(in *policy.Input) { in.Env = []approval.Variable{{Name: "FOO"}} }, "ask env-asks"},
		{"unknown, theirs", func(in *policy.Input) { in.Env, in.Who = []approval.Variable{{Name: "FOO"}}, approval.Theirs }, "ask env-asks"},
	}
	for _, test := range tests {
		check(t, test.name, judge(onMiss("ls"), "ls", test.change), test.want)
	}
}

// All nine combinations, with and without an entry, and what holds when
// nobody can be asked.
func TestSecurityAndAsk(t *testing.T) {
	tests := []struct {
		security approval.Security
		ask      approval.Ask
		hit      string
		miss     string
	}{
		{"deny", "off", "deny security=deny", "deny security=deny"},
		{"deny", "on-miss", "deny security=deny", "deny security=deny"},
		{"deny", "always", "deny security=deny", "deny security=deny"},
		{"allowlist", "off", "allow", "deny allowlist-miss"},
		{"allowlist", "on-miss", "allow", "ask allowlist-miss"},
		{"allowlist", "always", "ask ask-always", "ask allowlist-miss"},
		{"full", "off", "allow", "allow"},
		{"full", "on-miss", "allow", "allow"},
		{"full", "always", "ask ask-always", "ask ask-always"},
		{"", "", "deny security=deny", "deny security=deny"},
		{"allowlist", "", "ask ask-always", "ask allowlist-miss"},
	}
	for _, test := range tests {
		p := onMiss("ls")
		p.Security, p.Ask = test.security, test.ask
		name := string(test.security) + "/" + string(test.ask)
		check(t, name+" hit", judge(p, "ls", nil), test.hit)
		check(t, name+" miss", judge(p, "tool", nil), test.miss)
	}
}

func TestNobody(t *testing.T) {
	tests := []struct {
		fallback approval.Security
		ask      approval.Ask
		line     string
		want     string
	}{
		{"deny", "on-miss", "ls", "allow"},
		{"deny", "always", "ls", "deny ask-fallback"},
		{"deny", "on-miss", "tool", "deny ask-fallback"},
		{"allowlist", "always", "ls", "allow"},
		{"allowlist", "always", "tool", "deny ask-fallback"},
		{"allowlist", "on-miss", "tool", "deny ask-fallback"},
		{"full", "on-miss", "tool", "allow"},
		{"full", "always", "ls", "allow"},
		{"full", "off", "tool", "deny allowlist-miss"}, // asking is not due
		{"full", "on-miss", "$ tool > x", "allow"},
		{"full", "on-miss", "cat .env", "deny ask-fallback"},
		{"full", "on-miss", "rm -rf /", "deny floor"},
		{"full", "on-miss", "curl x", "deny denylisted"},
		{"full", "on-miss", "$ $x y", "deny ask-fallback"}, // the denylist cannot see it
		{"", "always", "ls", "deny ask-fallback"},
	}
	nobody := func(in *policy.Input) { in.Nobody = true }
	for _, test := range tests {
		p := onMiss("ls")
		p.AskFallback, p.Ask = test.fallback, test.ask
		p.Denylist = []approval.DenyRule{{Pattern: "curl"}}
		got := judge(p, test.line, nobody)
		said := string(got.Verdict)
		if got.Verdict == approval.VerdictDeny {
			said += " " + string(got.Reason)
		}
		if said != test.want {
			t.Errorf("fallback %s, ask %s, %s: %s, want %s", test.fallback, test.ask, test.line, said, test.want)
		}
	}
}

// The caller can ask for less than askFallback allows.
func TestNobodyAndAClaim(t *testing.T) {
	p := onMiss("ls")
	p.AskFallback = approval.SecurityFull
	got := judge(p, "tool", func(in *policy.Input) { in.Nobody, in.Claim.Security = true, approval.SecurityList })
	check(t, "claimed allowlist", got, "deny ask-fallback")
}

// What allow-always would write lets exactly this pass, and is offered only
// where an entry is all that was missing.
func TestAlways(t *testing.T) {
	tests := []struct{ line, writes string }{
		{"tool x", "/usr/bin/tool"},
		{"mylink x", "/home/ann/.local/bin/mylink"},
		{"$ tool x | cat", "/usr/bin/tool /usr/bin/cat"},
		{"$ tool x && tool y", "/usr/bin/tool"},
		{"sh x", ""},
		{"env tool", "/usr/bin/env /usr/bin/tool"},
		{"$ tool $x", "/usr/bin/tool"},
		{"$ tool > x", "/usr/bin/tool"},
		{"$ tool > ../x", ""},
		{"cat .env", ""},
		{"$ tool x; git status", "/usr/bin/tool /usr/bin/git"},
		{"$ git status; git diff", "/usr/bin/git /usr/bin/git"},
		{"git push --receive-pack=x", ""},
		{"git log *", "/usr/bin/git"},
	}
	for _, test := range tests {
		j := judge(onMiss(), test.line, nil)
		var got []string
		for _, e := range j.Writes {
			got = append(got, e.Pattern)
		}
		if strings.Join(got, " ") != test.writes {
			t.Errorf("%s would write %v, want %q", test.line, got, test.writes)
		}
		if offered := slices.Contains(j.Choices, approval.AllowAlways); offered != (test.writes != "") {
			t.Errorf("%s: allow-always offered: %v", test.line, offered)
		}
		if test.writes == "" {
			continue
		}
		p := onMiss()
		p.Allowlist = j.Writes
		check(t, "after always: "+test.line, judge(p, test.line, nil), "allow")
	}
	p := onMiss()
	p.Ask = approval.AskAlways
	if j := judge(p, "tool x", nil); len(j.Writes) != 0 || !slices.Equal(j.Choices, []approval.Decision{approval.AllowOnce, approval.DecisionDeny}) {
		t.Errorf("ask=always offers %v", j.Choices)
	}
}

func TestAlgebraVectors(t *testing.T) {
	var vectors struct {
		Cases []struct {
			Op, Security, Ask string
			A, B              string
			Result            any
		}
	}
	read(t, "policy-algebra.json", &vectors)
	seen := map[string]int{}
	for _, c := range vectors.Cases {
		seen[c.Op]++
		switch c.Op {
		case "minSecurity":
			if got := approval.StricterSecurity(approval.Security(c.A), approval.Security(c.B)); string(got) != c.Result {
				t.Errorf("stricter of %s and %s is %s", c.A, c.B, got)
			}
		case "maxAsk":
			if got := approval.StricterAsk(approval.Ask(c.A), approval.Ask(c.B)); string(got) != c.Result {
				t.Errorf("stricter of %s and %s is %s", c.A, c.B, got)
			}
		case "allowedDecisions":
			p := onMiss()
			p.Ask = approval.Ask(c.Ask)
			if c.Ask == "off" {
				continue // differs: with ask off nobody is asked, so no decision is offered
			}
			var got []any
			for _, d := range judge(p, "tool", nil).Choices {
				got = append(got, string(d))
			}
			if !slices.Equal(got, c.Result.([]any)) {
				t.Errorf("ask %s offers %v, want %v", c.Ask, got, c.Result)
			}
		case "modeFromPolicy":
			// differs: the names of modes are those of the person's settings, not of this package
		default:
			t.Errorf("unknown operation %q", c.Op)
		}
	}
	if seen["minSecurity"] != 9 || seen["maxAsk"] != 9 || seen["allowedDecisions"] != 3 {
		t.Errorf("cases seen: %v", seen)
	}
}

// TestMatrixVectors compares with 216 answers of the real system. Each group
// of rows in which we answer otherwise is named, with the reason.
func TestMatrixVectors(t *testing.T) {
	type row struct {
		Security, Ask                           string
		AnalysisOk, AllowlistSatisfied, Durable bool
		ApprovalDecision                        string
		Allowed, RequiresAsk                    bool
	}
	var vectors struct{ Cases []row }
	read(t, "policy-matrix.json", &vectors)
	differs := []struct {
		why  string
		in   func(row) bool
		rows int
	}{
		{"a decision in the request is a claim and runs nothing", func(r row) bool { return r.ApprovalDecision != "" && r.Allowed }, 56},
		{"a durable grant is an entry like any other here, and counts as no entry in this row", func(r row) bool { return r.Durable }, 6},
	}
	same := 0
	for _, c := range vectors.Cases {
		p := onMiss()
		p.Security, p.Ask = approval.Security(c.Security), approval.Ask(c.Ask)
		if c.AllowlistSatisfied {
			p = onMiss("tool")
			p.Security, p.Ask = approval.Security(c.Security), approval.Ask(c.Ask)
		}
		line := "tool"
		if !c.AnalysisOk {
			line = "$ tool &"
		}
		got := judge(p, line, func(in *policy.Input) { in.Claim.Decision = approval.Decision(c.ApprovalDecision) })
		if (got.Verdict == approval.VerdictAllow) == c.Allowed && (got.Verdict == approval.VerdictAsk) == (c.RequiresAsk && !c.Allowed) {
			same++
			continue
		}
		if got.Verdict == approval.VerdictAllow && !c.Allowed {
			t.Errorf("looser than the real system: %+v", c)
		}
		known := false
		for i := range differs {
			if differs[i].in(c) {
				differs[i].rows--
				known = true
				break
			}
		}
		if !known {
			t.Errorf("%+v: %s %s", c, got.Verdict, got.Reason)
		}
	}
	for _, d := range differs {
		if d.rows != 0 {
			t.Errorf("%d rows fewer than listed differ because %s", d.rows, d.why)
		}
	}
	if same == 0 || len(vectors.Cases) != 216 {
		t.Errorf("%d of %d rows agree", same, len(vectors.Cases))
	}
}

func read(t *testing.T, name string, to any) {
	t.Helper()
	data, err := os.ReadFile(path.Join("testdata", name))
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

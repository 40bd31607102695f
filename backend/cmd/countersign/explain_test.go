//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/host"
)

// TestCommandOf: what a single word means does not hang on how it begins.
func TestCommandOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a b"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "a b")
	for _, test := range []struct{ given, want []string }{
		{[]string{"ls"}, []string{"ls"}},
		{[]string{"/bin/ls"}, []string{"/bin/ls"}},
		{[]string{"ls -l"}, []string{"bash", "-c", "ls -l"}},
		{[]string{"/bin/ls -l"}, []string{"bash", "-c", "/bin/ls -l"}},
		{[]string{"./ls\t-l"}, []string{"bash", "-c", "./ls\t-l"}},
		{[]string{"/bin/ls\n/bin/rm"}, []string{"bash", "-c", "/bin/ls\n/bin/rm"}},
		{[]string{"~/x y"}, []string{"bash", "-c", "~/x y"}},
		{[]string{"a b"}, []string{"bash", "-c", "a b"}}, // found through no PATH
		{[]string{"./a b"}, []string{"./a b"}},
		{[]string{file}, []string{file}},
		{[]string{"cat x/../a b"}, []string{"bash", "-c", "cat x/../a b"}},
		{[]string{"ls x/.."}, []string{"bash", "-c", "ls x/.."}},
		{[]string{file + " c"}, []string{"bash", "-c", file + " c"}},
		{[]string{"/bin/ls -l", "x"}, []string{"/bin/ls -l", "x"}},
	} {
		if got := commandOf(test.given, dir); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.given, got, test.want)
		}
	}
}

// TestExplainIsTheRun: what is explained is what is run, whatever words are given.
func TestExplainIsTheRun(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "off"}, "agents": {"*": {"allowlist": ["/usr/bin/printf", "/bin/printf"]}}}`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	for _, words := range [][]string{
		{"printf", "x"}, {"printf x"}, {"/usr/bin/printf x"}, {"/usr/bin/printf x; /bin/rm -rf /"}, {"/bin/rm -rf /"}, {" /bin/rm -rf /"}, {"/bin/rm\t-rf\t/"}, {"/bin/ls\n/bin/rm\n"},
		{"/nowhere/x y"}, {"/bin/sh -c 'rm x'"}, {"--env", "LD_PRELOAD=x", "printf x"}, {"--session", "s", "--", "/usr/bin/printf x"}, {"rm x"}, {"nowhere"},
	} {
		var told host.Explanation
		w.json(t, &told, append([]string{"policy", "explain"}, words...)...)
		_ = w.asks(words...).Run() // its row tells what came of it
		var rows []history.Row
		w.json(t, &rows, "history", "list", "--limit", "1")
		if len(rows) != 1 || rows[0].Judged != told.Judgement.Verdict || rows[0].JudgedReason != told.Judgement.Reason || rows[0].Command != told.Plan.Text {
			t.Errorf("%q: explained as %s %s, %q, and run as %+v", words, told.Judgement.Verdict, told.Judgement.Reason, told.Plan.Text, rows)
		}
		if strings.Contains(words[len(words)-1], "rf") && told.Judgement.Reason != approval.ReasonFloor && told.Judgement.Reason != approval.ReasonUnreadable {
			t.Errorf("%q: %+v", words, told.Judgement.Finding)
		}
	}
}

// TestExplainTool judges calls as they would be and leaves no trace of it.
func TestExplainTool(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "tools": {"deny": ["github/delete_*"]},
		"agents": {"*": {"allowlist": [{"id": "counted", "pattern": "tool:github/list", "usesLeft": 1}, "/usr/bin/uname", "/bin/uname"]}}}`)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		tool, args string
		verdict    approval.Verdict
		reason     approval.Reason
	}{
		{"github/list", `{}`, approval.VerdictAllow, ""},
		{"github/list", ``, approval.VerdictAllow, ""}, // its one use is still there
		{"github/create", `{"a": 1}`, approval.VerdictAsk, approval.ReasonAllowlistMiss},
		{"github/delete_repo", `{}`, approval.VerdictDeny, approval.ReasonDenylisted},
		{"file_read", `{"path": "` + w.home + `/.ssh/id_ed25519"}`, approval.VerdictDeny, approval.ReasonProtectedState},
		{"file_write", `{"path": "/etc/x", "content": ""}`, approval.VerdictAsk, approval.ReasonOutsideFolder},
		{"bash", `{"command": "uname"}`, approval.VerdictAllow, ""},
		{"bash_execute", `{"command": "rm -rf /"}`, approval.VerdictDeny, approval.ReasonFloor},
		{"file_read", `{}`, approval.VerdictDeny, approval.ReasonInvalid},
		{"file_read", `[]`, approval.VerdictDeny, approval.ReasonInvalid},
	} {
		words := []string{"policy", "explain", "--tool", test.tool}
		if test.args != "" {
			words = append(words, "--", test.args)
		}
		var told host.Explanation
		if w.json(t, &told, words...); told.Judgement.Verdict != test.verdict || told.Judgement.Reason != test.reason {
			t.Errorf("%s %s: %s %+v", test.tool, test.args, told.Judgement.Verdict, told.Judgement.Finding)
		}
	}
	for _, wrong := range [][]string{{"--tool", "x", "{"}, {"--tool", "x", "{}", "{}"}, {"--tool", "x", "--env", "A", "{}"}, {}} {
		if err := w.command(append([]string{"policy", "explain"}, wrong...)...).Run(); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if text := w.must(t, "policy", "explain", "--tool", "github/list"); !strings.HasPrefix(text, "allow\n  calls    github/list {} [allow: tool:github/list]\n") {
		t.Errorf("%q", text)
	}
	var rows []history.Row
	if w.json(t, &rows, "history", "list"); len(rows) != 0 {
		t.Errorf("it left rows: %+v", rows)
	}
	w.mustQuestions(t, 0)
}

package policy_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/policy"
)

// judgeIn judges one command in an invented world under these entries.
func judgeIn(w *approvaltest.World, cwd string, argv []string, entries []approval.Entry) approval.Judgement {
	a := &command.Analyzer{World: w, Home: "/home/ann"}
	a.SetPath([]string{"/usr/bin", "/opt/programs"})
	plan := a.Analyze(context.Background(), &approval.Request{Command: argv, Cwd: cwd, Who: approval.Ours}, approvaltest.Named(cwd))
	p := onMiss()
	p.AgentID, p.Allowlist = "main", entries
	real := func(name string) string { f, _ := w.Look(name); return f.Path }
	return policy.Prepare(p, "/home/ann", real).Evaluate(policy.Input{Plan: &plan, Who: approval.Ours, Now: now})
}

// argsPass reports whether an entry for a program of which nothing is known
// lets these arguments pass. A pattern of arguments never sees the program's
// name, so one program stands for all of the vectors.
func argsPass(t *testing.T, entry approval.Entry, cwd string, args []string) bool {
	t.Helper()
	w := approvaltest.NewWorld("/opt/programs/tool /tmp/y/file")
	w.Files["/tmp/a b/file"] = approvaltest.File{}
	entry.Pattern = "/opt/programs/tool"
	got := judgeIn(w, cwd, append([]string{"tool"}, args...), []approval.Entry{entry})
	if got.Verdict != approval.VerdictAllow && got.Reason != approval.ReasonAllowlistMiss {
		t.Errorf("%q: %s %s (%s), but only the pattern should stand against it", args, got.Verdict, got.Reason, got.Sentence)
	}
	return got.Verdict == approval.VerdictAllow
}

// TestArgPatternVectors compares with what OpenClaw's patterns of arguments
// match. Where ours match more, the language of patterns is another one; the
// store refuses what Go's cannot say.
func TestArgPatternVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			ArgPattern, Source       string
			Argv                     []string
			Match                    bool
			CwdHash                  bool
			Cwd, Pattern             string
			MatchSame, MatchOtherCwd bool
		}
	}
	read(t, "arg-pattern.json", &file)
	if len(file.Cases) != 36 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	differs := map[string]string{
		`(?i)status <- git STATUS`: "(?i) is a flag in Go's patterns and a mistake in JavaScript's",
		`^\p{L}+$ <- x abc`:        `\p{L} is any letter in Go's patterns, and "p{L}" in JavaScript's without their u flag`,
		`^(?=.*x).*$ <- c x`:       "lookahead does not run in linear time, and is refused when it is saved",
		`/tmp/ <- x `:              "a folder has one name here, its real one, without a slash at its end",
	}
	used := map[string]bool{}
	same := func(key string, got, want bool) {
		if used[key] = used[key] || got != want; got != want && differs[key] == "" {
			t.Errorf("%s: %v, OpenClaw says %v", key, got, want)
		}
	}
	for _, c := range file.Cases {
		args := c.Argv[1:]
		if !c.CwdHash {
			got := argsPass(t, approval.Entry{ArgPattern: c.ArgPattern, Source: c.Source}, "/tmp", args)
			same(c.ArgPattern+" <- "+strings.Join(c.Argv, " "), got, c.Match)
			continue
		}
		entry := approval.Entry{ArgPattern: c.Pattern, Source: "allow-always"}
		same(c.Cwd+" <- "+strings.Join(c.Argv, " "), argsPass(t, entry, c.Cwd, args), c.MatchSame)
		if got := argsPass(t, entry, "/opt", args); got != c.MatchOtherCwd {
			t.Errorf("%s, in another folder: %v", c.Pattern, got)
		}
		if argsPass(t, entry, c.Cwd, append(slices.Clone(args), "more")) {
			t.Errorf("%s, with another argument, passes", c.Pattern)
		}
	}
	for key, why := range differs {
		if !used[key] {
			t.Errorf("%s does not differ any more: %s", key, why)
		}
	}
}

// TestNativeArgPatternVectors compares with the patterns that OpenClaw's
// native programs accept. They refuse shapes that are slow to match by going
// back and forth. Ours are matched in one pass, whatever their shape, so these
// patterns mean what they say.
func TestNativeArgPatternVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Pattern, Argument string
			Accept                bool
		}
	}
	read(t, "exec-arg-pattern-native-parity.json", &file)
	if len(file.Cases) != 15 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const onePass = "matched in one pass, so it is not slow"
	differs := map[string]string{
		"nested-plus":               onePass,
		"adjacent-star":             onePass,
		"unicode-property-adjacent": onePass,
		"overlapping-unions":        onePass,
		"wrapped-unions":            onePass,
		"zero-minimum-omit":         onePass,
	}
	for _, c := range file.Cases {
		got := argsPass(t, approval.Entry{ArgPattern: c.Pattern}, "/tmp", []string{c.Argument})
		why, listed := differs[c.ID]
		delete(differs, c.ID)
		if (got != c.Accept) != listed {
			t.Errorf("%s: %v, OpenClaw says %v; listed as different: %q", c.ID, got, c.Accept, why)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %v", differs)
	}
}

// programs are the commands of the inline-eval vectors, and a tool of which
// nothing is known, x, that they name.
var programs = approvaltest.NewWorld(`
	/usr/bin/python3 /usr/bin/node /usr/bin/perl /usr/bin/ruby /usr/bin/php /usr/bin/lua /usr/bin/osascript /usr/bin/mawk /usr/bin/sed
	/usr/bin/make /usr/bin/find /usr/bin/xargs /usr/bin/bash /usr/bin/sh /usr/bin/deno /usr/bin/bun /usr/bin/env /usr/bin/rg
	/usr/bin/tclsh /usr/bin/git /usr/bin/rm /opt/programs/x
	/usr/bin/awk -> mawk
	/home/ann/p/x.py /home/ann/p/x.js /home/ann/p/x`)

// entriesForAll has one entry by its path for each of the programs.
func entriesForAll() (all []approval.Entry) {
	for name := range programs.Files {
		all = append(all, approval.Entry{Pattern: name})
	}
	return all
}

// TestInlineEvalVectors compares with the commands in which OpenClaw sees
// code. What it sees, no entry covers here; and with entries for every program
// by its path, what it does not see passes.
func TestInlineEvalVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Argv []string
			Hit  *struct{ Exe, Flag string }
		}
	}
	read(t, "inline-eval.json", &file)
	if len(file.Cases) != 28 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const readHere = "the program is read by a parser of ours: it starts nothing and writes nothing"
	differs := map[string]string{
		"awk {print}":            readHere,
		"sed s/a/b/":             readHere,
		"sed -n 1p":              readHere,
		"python3 -m http.server": "-m runs code that is not a file of the working directory",
		"deno eval x":            "eval runs code",
	}
	for _, c := range file.Cases {
		line := strings.Join(c.Argv, " ")
		got := judgeIn(programs, "/home/ann/p", c.Argv, entriesForAll())
		passes := got.Verdict == approval.VerdictAllow
		why, listed := differs[line]
		delete(differs, line)
		sees := c.Hit != nil
		if (passes == sees) != listed {
			t.Errorf("%s: %s %s (%s), OpenClaw sees %+v; listed as different: %q", line, got.Verdict, got.Reason, got.Sentence, c.Hit, why)
		}
		if star := judgeIn(programs, "/home/ann/p", c.Argv, []approval.Entry{{Pattern: "*"}}); star.Verdict == approval.VerdictAllow && !passes {
			t.Errorf("%s passes under *, but not under the paths", line)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %v", differs)
	}
}

// An entry for a shell vouches for nothing that the shell would run: in both
// rows where OpenClaw sees no code, the text is read, and what it names needs
// an entry of its own.
func TestShellEntryCoversNoText(t *testing.T) {
	for _, line := range []string{"bash -c x", "sh -lc x"} {
		argv := strings.Fields(line)
		shell := []approval.Entry{{Pattern: "/usr/bin/" + argv[0]}}
		check(t, line, judgeIn(programs, "/home/ann/p", argv, shell), "ask allowlist-miss")
		check(t, line, judgeIn(programs, "/home/ann/p", argv, append(shell, approval.Entry{Pattern: "/opt/programs/x"})), "allow")
	}
}

// Code that the request brings is covered by no entry, however it is written:
// attached, bundled, in a long option, from the input, through a module or a
// preload, or behind something that starts an interpreter. Two spaces part the
// words.
func TestNoEntryCoversInlineCode(t *testing.T) {
	for _, line := range strings.Split(strings.TrimSpace(`
python3  -cx
python3  -Bc  x
python3  -uBcx
python3  -mx
python3  -
python3
python3  -i  x.py
python3  -Xpresite=x  x.py
python3  /opt/programs/x
node  -pe  1
node  --print=1
node  --ev=1
node  -r  ./x  x.js
node  --require=./x  x.js
node  --import=./x  x.js
node  --inspect  x.js
node  -
node
perl  -ex
perl  -wne  x
perl  -Mx  x
perl  -i  -pe  x
perl
ruby  -ex
ruby  -rx  x
ruby
php  -rx
php  -d  auto_prepend_file=x  x
php  -B  x
php
lua  -ex
lua  -lx  x
lua  -
lua
osascript  -ex
osascript  x
deno  eval  x
deno  run  -
deno  run  https://example.org/x.ts
bun  -ex
bun  -p  x
bun  --preload=./x  x.js
bash
bash  x
bash  -s
bash  -ic  x
bash  -c  x  y
bash  --rcfile  x  -c  x
sh  -c  python3 -c x
sh  -c  echo x | python3
sh  -c  python3 < x.py
sh  -c  python3 - < x.py
sh  -c  node <<< x
sh  -c  echo x | sh
sh  -c  sh -c 'perl -ex'
sh  -c  python3 $(cat x)
env  python3  -cx
env  sh  -c  python3 -cx
env  -S  python3 -cx
xargs  python3  -cx
xargs  sh
find  .  -exec  x  {}  ;
find  .  -execdir  python3  -cx  ;
find  .  -ok  sh  ;
awk  BEGIN{system("x")}
awk  {print | "x"}
awk  {"x" | getline}
awk  -fx  -lx
sed  1e x
sed  s/a/b/e
sed  -n  e
make  --eval=x
make  -f  /opt/programs/x
make  SHELL=x
git  -c  core.pager=x  log
git  -c  alias.y=!x  y
rg  --pre  x  y
rg  --pre=x  y
`), "\n") {
		if got := judgeIn(programs, "/home/ann/p", strings.Split(line, "  "), entriesForAll()); got.Verdict == approval.VerdictAllow {
			t.Errorf("%s passes", line)
		}
	}
}

package command_test

import (
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// An analysis leaves much behind and keeps little: garbage is collected less often
// than in a program that stays.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	m.Run()
}

// invented is an invented machine with the usual programs.
func invented() *command.Analyzer {
	world := approvaltest.NewWorld(`
		/bin/sh /bin/bash /bin/ls /bin/cat /bin/du /bin/grep /usr/bin/base64 /bin/rm /bin/mkdir /bin/cp /bin/gunzip /bin/dd /bin/[ /bin/test /bin/sleep
		/usr/bin/find /usr/bin/curl /usr/bin/make /usr/bin/env /usr/bin/wc /usr/bin/git /usr/bin/printf /usr/bin/python3.12 /usr/bin/sqlite3 /usr/bin/tree /usr/bin/head
		/usr/bin/perl5.36-x86_64-linux-gnu /usr/bin/vim.basic /usr/bin/duckdb /usr/bin/uv /usr/bin/go /usr/bin/x86_64-linux-gnu-gcc-12 /usr/bin/gnice /lib64/ld-linux-x86-64.so.2
		/usr/bin/xargs /usr/bin/sudo /usr/bin/mawk /opt/tool/bin/tool /home/ann/p/run.sh /home/ann/p/bin/tool2 /home/ann/p/main.go
		/home/ann/p/sub/run.sh /home/ann/p/.env /home/ann/.ssh/id_rsa /home/ann/.local/bin/mine /open/loose /other/theirs /state/operator.key
		/opt/homebrew/Cellar/rg/14/bin/rg
		/usr/bin/awk -> /etc/alternatives/awk
		/etc/alternatives/awk -> /usr/bin/mawk
		/usr/bin/python3 -> python3.12
		/opt/homebrew/bin/rg -> ../Cellar/rg/14/bin/rg
		/home/ann/.local/bin/list -> /bin/rm
		/home/ann/p/innocent -> /home/ann/.ssh/id_rsa`)
	script := func(name, text string) {
		world.Files[name] = approvaltest.File{Mode: 0o755, UID: 500, Text: text}
	}
	script("/home/ann/p/run.sh", "#!/bin/sh\nexit\n")
	script("/home/ann/p/env.sh", "#!/usr/bin/env python3\n")
	script("/home/ann/p/opt.sh", "#!/usr/bin/env -S python3 -u\n")
	script("/home/ann/p/loop.sh", "#!/home/ann/p/loop.sh\n")
	world.Files["/home/ann/p/main.go"] = approvaltest.File{Mode: 0o644}
	world.Files["/other/theirs"] = approvaltest.File{Mode: 0o755, UID: 501}
	a := &command.Analyzer{World: folders{world, map[string]approval.File{
		"/open":  {Mode: 0o040777},
		"/other": {Mode: 0o040755, UID: 501},
	}}, Home: "/home/ann", UID: 500, Ours: []string{"/state"}}
	a.SetPath([]string{"/opt/homebrew/bin", "/usr/bin", "/bin", "/open", "/other", "relative", "/home/ann/p/bin", "/home/ann/.local/bin"})
	return a
}

// folders gives some folders of a world another mode or owner.
type folders struct {
	*approvaltest.World
	as map[string]approval.File
}

func (f folders) Look(name string) (approval.File, error) {
	file, err := f.World.Look(name)
	if as, ok := f.as[file.Path]; ok {
		file.Mode, file.UID = as.Mode, as.UID
	}
	return file, err
}

func bash(text string) *approval.Request {
	return &approval.Request{Command: []string{"/bin/bash", "-c", text}, Cwd: "/home/ann/p", Who: approval.Ours}
}

// show writes a plan in one line: the tree, then what was found.
func show(p approval.Plan) string {
	if p.Invalid != "" {
		return "invalid: " + p.Invalid
	}
	var tree func(n approval.Node) string
	tree = func(n approval.Node) string {
		if n.Op == approval.OpRun {
			return strings.Join(p.Segments[n.Seg].Argv, " ")
		}
		kids := make([]string, len(n.Kids))
		for i, kid := range n.Kids {
			kids[i] = tree(kid)
		}
		return fmt.Sprintf("%s(%s)", n.Op, strings.Join(kids, ", "))
	}
	line := "?"
	if p.Root != nil {
		line = tree(*p.Root)
	}
	for _, f := range p.Findings {
		line += " !" + string(f.Reason)
	}
	for _, s := range p.Segments {
		for _, f := range s.Findings {
			line += fmt.Sprintf(" %s:%s", s.Argv[0], f.Reason)
		}
		for _, v := range s.Env {
			line += fmt.Sprintf(" %s$%s=%s", s.Argv[0], v.Name, v.Value)
			if v.Unknown {
				line += "?"
			}
		}
		if s.Floor != "" {
			line += " FLOOR"
		}
	}
	return line
}

// texts are read into plans, as show writes them.
var texts = []struct{ in, want string }{
	// What is understood.
	{`ls`, `ls`},
	{`ls; cat a`, `seq(ls, cat a)`},
	{"ls\ncat a\n", `seq(ls, cat a)`},
	{`ls && cat a || wc`, `or(and(ls, cat a), wc)`},
	{`cat a | wc -l | cat`, `pipe(cat a, wc -l, cat)`},
	{`! ls`, `not(ls)`},
	{`ls 2>&1 | wc`, `pipe(ls, wc)`},
	{`ls >/dev/null 2>&1 </dev/null`, `ls`},
	{`ls &>/dev/null`, `ls`},
	{`ls # a comment; rm x`, `ls`},
	{`echo 'a b' "c d" e\ f`, `echo a b c d e f`},
	{`echo "a\$b\"c\d"`, `echo a$b"c\d`},
	{`echo '$HOME' "\` + "`" + `x"`, "echo $HOME `x"},
	{`cd sub && ./run.sh`, `and(cd sub, ./run.sh)`},
	{`mkdir -p new/deep && cd new/deep && cat a`, `and(and(mkdir -p new/deep, cd new/deep), cat a)`},
	{`mkdir new; cd new; cat a*`, `? cat:runtime-value`},
	{`mkdir ../up; cd ../up; cat a`, `seq(mkdir ../up, cd ../up, cat a) mkdir:outside-folder cat:runtime-value`},
	{`ls && cd sub && ./run.sh && ./run.sh; ls`, `seq(and(and(and(ls, cd sub), ./run.sh), ./run.sh), ls)`},
	{`ls && cd sub; ./run.sh`, `? ./run.sh:runtime-value`},
	{`ls && cd sub || ./run.sh`, `? ./run.sh:runtime-value`},
	{`ls || cd sub && ./run.sh`, `? ./run.sh:runtime-value`},
	{`! { ls && cd sub; } && ./run.sh`, `? ./run.sh:runtime-value`},
	{`ls && ! cd sub && ./run.sh`, `? ./run.sh:runtime-value`},
	{`ls && (cd sub) && ./run.sh`, `and(and(ls, sub(cd sub)), ./run.sh)`},
	{`mkdir innocent/x; cd innocent/x; cat a`, `seq(mkdir innocent/x, cd innocent/x, cat a) mkdir:outside-folder cat:runtime-value`},
	{`ls && cd sub; cat a`, `seq(and(ls, cd sub), cat a) cat:runtime-value`},
	{`ls && cd sub; ls a`, `seq(and(ls, cd sub), ls a)`},
	{`cat x > /dev/sda`, `? FLOOR`},
	{`'l's`, `ls`},
	{`\ls`, `ls`},
	{`[ -f a ] && test -d b`, `and([ -f a ], test -d b)`},
	{`printf '%s\n' a`, `printf %s\n a`},
	{`ls ~ ~/p`, `ls /home/ann /home/ann/p`},
	{`cd && cat a`, `and(cd, cat a)`},
	{`cd ~ && rm -rf x`, `and(cd /home/ann, rm -rf x) rm:deletes`},
	{`ls $'a\x41\n' $"b"`, "ls aA\n b"},
	{`$'l\x73' a`, `ls a`},
	{`ls *.go`, `ls main.go`},
	{`ls *.c [m]ain.?o ./s*`, `ls *.c main.go ./sub`},
	{`ls '*'.go "m"*`, `ls *.go main.go`},
	{`ls s*/r*`, `ls sub/run.sh`},
	{`ls .e*`, `ls .env`},
	{`ls {a,b}{1..3}`, `ls a1 a2 a3 b1 b2 b3`},
	{`ls a{b {} {a}`, `ls a{b {} {a}`},
	{`ls m{ain,other}.go *`, `ls main.go mother.go bin env.sh innocent loop.sh main.go opt.sh run.sh sub`},
	{`cat < main.go`, `cat`},
	{`cat <<< x`, `cat`},
	{"cat <<E\nprice is $ 10 \\$x\nE", `cat`},
	{"cat <<'E'\n$(rm x)\nE", `cat`},
	{"git commit -m \"$(cat <<'E'\na \"b\" $(rm x)\n\nc\n\n\nE\n)\"", "git commit -m a \"b\" $(rm x)\n\nc"},
	{"M=$(cat <<E\na\nE\n) git status", "git status git$M=a"},
	{`(ls)`, `sub(ls)`},
	{`(cd sub; cat a) && cat a`, `and(sub(seq(cd sub, cat a)), cat a)`},
	{`{ cd sub; cat a; } >/dev/null`, `seq(seq(cd sub, cat a))`},
	{`time -p ls`, `time(ls)`},
	{`ls |& wc`, `pipe(ls, wc)`},
	{`A=1 B= ls`, `ls ls$A=1 ls$B=`},
	{"l\\\ns \\\n a", `ls a`},
	{"git commit -m 'a\\\nb'", "git commit -m a\\\nb"},
	// What only the run makes final, and what it may do is judged again.
	{`ls $HOME/p "$HOME"`, `ls /home/ann/p /home/ann`},
	{`ls "$x" ${y}`, `ls "$x" ${y}`},
	{`ls $(cat a)`, `ls $(cat a)`},
	{"echo `pwd`", "echo `pwd`"},
	{`A=1`, `assign()`},
	{`A=$(cat a); echo "$A" $?`, `seq(assign(), echo "$A" $?)`},
	{`export A=1 B`, `assign()`},
	{`set -euo pipefail; ls`, `seq(set -euo pipefail, ls)`},
	{`if ls; then cat a; elif cat b; then cat c; else cat d; fi`, `if(ls, cat a, if(cat b, cat c, cat d))`},
	{`while ls; do cat a; done`, `while(ls, cat a)`},
	{`until ls; do cat a; done < main.go`, `seq(until(ls, cat a))`},
	{`for f in a b; do cat "$f"; done`, `for(cat "$f")`},
	{`command ls -l`, `ls -l`},
	{`command -v ls`, `command -v ls`},
	// What they hold is seen all the same.
	{`cat "$HOME/.ssh/id_rsa"`, `cat /home/ann/.ssh/id_rsa cat:protected-state`},
	{`cat ~/.ss?/*`, `cat /home/ann/.ssh/id_rsa cat:protected-state`},
	{`d=~/.ssh; cat $d/id_rsa`, `seq(assign(), cat $d/id_rsa) cat:protected-state`},
	{`for f in a .env; do cat $f; done`, `for(cat $f) cat:protected-state`},
	{`cat "$x/.env"`, `cat "$x/.env" cat:protected-state`},
	{`cat $(echo ~/.ssh/id_rsa)`, `cat $(echo ~/.ssh/id_rsa) cat:protected-state echo:protected-state`},
	{`echo ~/.ssh/id_rsa | xargs cat`, `pipe(echo /home/ann/.ssh/id_rsa, xargs cat) echo:protected-state`},
	{`cat < .env`, `? cat:protected-state`},
	{`cat .mcp.json; cp a sub/.mcp.json; cp a .claude/settings.local.json`, `seq(cat .mcp.json, cp a sub/.mcp.json, cp a .claude/settings.local.json) cp:protected-state cp:protected-state`},
	{`git add .mcp.json; git rm .mcp.json; rg a .envrc; awk 1 .claude/settings.json`, `seq(git add .mcp.json, git rm .mcp.json, rg a .envrc, awk 1 .claude/settings.json) git:protected-state rg:protected-state`},
	{`gunzip a.gz; gunzip .envrc.gz; gunzip .envrc-gz`, `seq(gunzip a.gz, gunzip .envrc.gz, gunzip .envrc-gz) gunzip:protected-state gunzip:protected-state`},
	{`rm -rf "$HOME"/*`, `rm -rf /home/ann/p rm:deletes FLOOR`},
	{`rm -rf "${HOME:?}"/*`, `rm -rf "${HOME:?}"/* rm:runtime-value FLOOR`},
	{`rm -rf ~/{a,../..}/`, `rm -rf /home/ann/a/ /home/ann/../../ rm:deletes rm:deletes rm:protected-state FLOOR`},
	{`x=/; rm -rf $x`, `seq(assign(), rm -rf $x) rm:runtime-value rm:protected-state FLOOR`},
	{`echo "$(rm -rf ~)"`, `echo "$(rm -rf ~)" rm:deletes rm:protected-state FLOOR`},
	{`cat x > /dev/sda`, `? FLOOR`},
	{`(cat x) > /dev/sda`, `? FLOOR`},
	{`(cat < /dev/tcp/h/1)`, `? FLOOR`},
	{`cat < /dev/tcp/h/1`, `? FLOOR`},
	{`cat < /dev/tcp/$H/80`, `? FLOOR`},
	{`echo x >& /dev/sda`, `? FLOOR`},
	{`echo x 3>/dev/sda`, `? FLOOR`},
	// What is not understood asks.
	{`ls > out`, `ls ls:writes-file`},
	{`ls >> out`, `ls ls:writes-file`},
	{`ls >&-`, `? ls:writes-file`},
	{`ls 3>/dev/null`, `? ls:approval-required`},
	{`cat < /etc/passwd`, `? cat:outside-folder`},
	{`cat < no`, `? cat:outside-folder`},
	{`cat < *.go`, `? cat:approval-required`},
	{"cat <<E\n$x\nE", `? cat:approval-required`},
	{`ls ~bob`, `? ls:runtime-value`},
	{`ls ~"x"`, `? ls:runtime-value`},
	{`ls a=~`, `? ls:runtime-value`},
	{`$x a`, `? $x:runtime-value`},
	{`$HOME/x a`, `? $HOME/x:runtime-value`},
	{`/bin/l* a`, `? /bin/l*:runtime-value`},
	{`{ls,a}`, `? {ls,a}:runtime-value`},
	{`xyz $x`, `? xyz:not-found`},
	{`mine $x`, `mine $x`},
	{`rm "$x"`, `rm "$x" rm:runtime-value`},
	{`rg "-$x" a; rg "--$x" a; rg -- "-$x" a`, `seq(rg "-$x" a, rg "--$x" a, rg -- "-$x" a) rg:runtime-value rg:runtime-value`},
	{`ls ${x:-y} ${#x} ${!x} $$ ${10} "$*"`, `? ls:runtime-value ls:runtime-value ls:runtime-value ls:runtime-value`},
	{`: ${PATH:=.}`, `? !env-asks ::runtime-value`},
	{`: ${LD_PRELOAD:=./x.so}`, `? !env-refused !env-asks ::runtime-value`},
	{`ls $AWS_SECRET_ACCESS_KEY $RANDOM`, `? ls:runtime-value ls:runtime-value`},
	{`ls $((1+1)) <(ls) ?(a)`, `? ls:runtime-value ls:runtime-value`},
	{`PATH=/x ls`, `? !env-asks`},
	{`HTTPS_PROXY=x`, `? !env-asks`},
	{`export LD_PRELOAD=x`, `? !env-refused`},
	{`export A={b,c}`, `? !evaluates`},
	{`export A={b} B=a} C='{a,b}'`, `assign()`},
	{`for PATH in a; do ls; done`, `? !env-asks`},
	{`A=$x ls`, `? ls:runtime-value`},
	{`A=(1 2)`, `? !evaluates`},
	{`A+=1`, `? !evaluates`},
	{`while ls; do cd sub; done`, `? !runtime-value`},
	{`set -x`, `? set:evaluates`},
	{`command -p ls`, `? command:evaluates`},
	{`f() { ls; }; f`, `? !approval-required f:not-found`},
	{`case a in b) ls;; esac`, `case(ls)`},
	{`case a in b) ls;& c) rm a;; esac`, `? !approval-required`},
	{`[[ -f a ]]`, `ask()`},
	{`[[ a =~ b ]] && rm a`, `? !approval-required`},
	{`eval ls`, `? eval:evaluates`},
	{`. ./x`, `? .:evaluates`},
	{`declare A=1`, `? !evaluates`},
	{`test -v x`, `? test:evaluates`},
	{`printf -v x y`, `? printf:evaluates`},
	{`printf '---CMD---'`, `? printf:approval-required`},
	{`printf '\%s' a`, `? printf:approval-required`},
	{`printf -- '-%s' a`, `printf -- -%s a`},
	{`cd $x && ls`, `and(cd $x, ls) cd:runtime-value`},
	// What a command prints, and where the shell is.
	{`git log main.."$(git describe)"`, `git log main.."$(git describe)"`},
	{`git log "$(git status)"..HEAD`, `git log "$(git status)"..HEAD git:runtime-value`},
	{`git show $(git status)`, `git show $(git status) git:runtime-value`},
	{`git log "$(git describe)"..HEAD`, `git log "$(git describe)"..HEAD`},
	{`git show $(git describe)`, `git show $(git describe)`},
	{`rm "$(git describe)"`, `rm "$(git describe)" rm:runtime-value`},
	{`git show $(git symbolic-ref -d HEAD)`, `git show $(git symbolic-ref -d HEAD) git:runtime-value git:deletes`},
	{`git $(git describe)`, `git $(git describe) git:runtime-value git:starts-program`},
	{`cd sub; cat $PWD/a`, `seq(cd sub, cat /home/ann/p/sub/a)`},
	// A command that a run-time word may end.
	{`find . -exec cat "$USER" ';'`, `find . -exec cat "$USER" ;`},
	{`find . -exec cat $USER ';'`, `find . -exec cat $USER ;`},
	{`find . -exec cat $nope ';'`, `find . -exec cat $nope ; find:runtime-value`},
	// Words of which the beginning says enough, and others.
	{`curl "http://localhost:$USER/x"`, `curl "http://localhost:$USER/x" curl:runtime-value`},
	{`curl "http://localhost:80/$USER"`, `curl "http://localhost:80/$USER" curl:uses-network`},
	{`curl -H "X-Id: $USER" http://x`, `curl -H "X-Id: $USER" http://x curl:uses-network`},
	{`curl "f$USER"`, `curl "f$USER" curl:uses-network`},
	{`curl -d "@a$USER" http://x`, `curl -d "@a$USER" http://x curl:runtime-value curl:uses-network`},
	{`curl -d "$USER" http://x`, `curl -d "$USER" http://x curl:runtime-value curl:uses-network`},
	{`make TAG=latest`, `make TAG=latest`},
	{`make RUN=rm`, `make RUN=rm make:starts-program`},
	// What names nothing.
	{`grep -n .env main.go`, `grep -n .env main.go`},
	{`grep -n foo .env`, `grep -n foo .env grep:protected-state`},
	{`grep -e foo .env`, `grep -e foo .env grep:protected-state`},
	{`grep -A -- -f .env`, `grep -A -- -f .env grep:protected-state`},
	{`grep -c / main.go`, `grep -c / main.go`},
	{`grep -r foo /`, `grep -r foo / grep:protected-state`},
	{`git grep .env`, `git grep .env`},
	{`git check-ignore .env`, `git check-ignore .env`},
	{`git diff --no-index .env main.go`, `git diff --no-index .env main.go git:protected-state`},
	// No pager is no program.
	{`GIT_PAGER=cat git log`, `git log`},
	{`env PAGER= git log`, `env PAGER= git log`},
	// Of two folders the last one counts.
	{`env -C sub -C sub ./run.sh`, `env -C sub -C sub ./run.sh`},
	{`PAGER=less git log`, `git log git$PAGER=less`},
	{`PAGER=$x git log`, `? !env-asks git:runtime-value`},
	{`export PAGER=cat; git log`, `seq(assign(), git log)`},
	// What nobody can read.
	{"ls\r", `? !unreadable`},
	{"ls \x01", `? !unreadable`},
	{"ls \u202e", `? !unreadable`},
	{"ls a\u200bb", `? !unreadable`},
	{"ls \u200d", `? !unreadable`},
	{"echo \U0001f468\u200d\U0001f469", `? !unreadable`},
	{"echo '\U0001f468\u200d\U0001f469'", "echo \U0001f468\u200d\U0001f469"},
	{"echo $\\\n(ls)", `? !unreadable`},
	{"echo \"$\\\n(ls)\"", `? !unreadable`},
	{"echo \"\\\n(ls)\"", `? !unreadable`},
	{"ls &\\\n& rm", `? !unreadable`},
	{"cat <<E\n$\\\n(ls)\nE", `? !unreadable`},
	{"ls \xff", `? !unreadable`},
	{`ls 'a`, `? !unreadable`},
	{`ls )`, `? !unreadable`},
	{``, `invalid: command required`},
	{" \n", `invalid: command required`},
	{`# nothing`, `? !unreadable`},
	{"l\u0455", "? l\u0455:unreadable"},
	{strings.Repeat("(", 100) + "ls" + strings.Repeat(")", 100), `? !too-complex`},
	{strings.Repeat("if ", 30_000), `? !too-complex`},
	{"echo " + strings.Repeat("a", 70_000), `? !too-complex`},
	{"echo $((" + strings.Repeat("((", 20) + "1" + strings.Repeat("))", 20) + "))", `? !too-complex`},
	{"echo {1..1000000}", `? !too-complex echo:runtime-value`},
	{"echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", `? !too-complex echo:runtime-value`},
}

func TestText(t *testing.T) {

	for _, test := range texts {
		plan := invented().Analyze(t.Context(), bash(test.in), approvaltest.Named("/home/ann/p"))
		got := show(plan)
		if got != test.want {
			t.Errorf("%.60q\n got  %s\n want %s", test.in, got, test.want)
		}
	}
}

// Whatever is found must show every simple command, so that the denylist and
// the person see all of it.
func TestEverythingIsShown(t *testing.T) {
	tests := []struct{ in, want string }{
		{`ls $(rm a)`, "ls,rm"},
		{`if ls; then rm a; else cat b; fi`, "ls,rm,cat"},
		{`(ls; rm a) &`, "ls,rm"},
		{`for i in a b; do rm $i; done`, "rm"},
		{`f() { rm a; }; f`, "f,rm"},
		{`ls > $(rm x)`, "ls,rm"},
		{`A=$(rm x) ls`, "ls,rm"},
		{`bash -c 'ls; rm x'`, "bash,ls,rm"},
		{`sudo rm x`, "sudo,rm"},
		{`sudo env bash -c "sudo rm x"`, "sudo,env,bash,sudo,rm"},
		{`tool rm x`, "tool,rm"},
		{`tool -x /bin/sh`, "tool,/bin/sh"},
		{`tool ls`, "tool,ls"},
		{`env ls`, "env,ls"},
		{`tool -o cat bash -c 'rm x'`, "tool,cat,bash,rm"},
		{`env -n ls -e rm x`, "env,ls,rm"},
		{`command rm x`, "rm"},
		{`exec rm x`, "exec,rm"},
		{`cat ls x`, "cat"},
	}
	a := invented()
	a.SetPath([]string{"/usr/bin", "/bin", "/opt/tool/bin"})
	for _, test := range tests {
		var got []string
		for _, s := range a.Analyze(t.Context(), bash(test.in), approvaltest.Named("/home/ann/p")).Segments {
			got = append(got, s.Argv[0])
		}
		if strings.Join(got, ",") != test.want {
			t.Errorf("%q shows %v, want %s", test.in, got, test.want)
		}
	}
}

func TestShellCalls(t *testing.T) {
	tests := []struct {
		argv        string
		shell, text string
	}{
		{"sh|-c|ls", "sh", "ls"},
		{"/bin/bash|-lc|ls", "bash", "ls"},
		{"/bin/sh|-l|-c|ls", "sh", "ls"},
		{"zsh|-cl|ls", "zsh", "ls"},
		{"sh|-c|ls|x", "", ""},
		{"sh|-ec|ls", "sh", "ls"},
		{"bash|-eux|-c|ls", "bash", "ls"},
		{"sh|-ic|ls", "", ""},
		{"sh|-c|-c|ls", "", ""},
		{"bash|--norc|-c|ls", "", ""},
		{"sh|ls", "", ""},
		{"sh|-l|ls", "", ""},
		{"fish|-c|ls", "", ""},
		{"env|sh|-c|ls", "", ""},
	}
	for _, test := range tests {
		argv := strings.Split(test.argv, "|")
		plan := invented().Analyze(t.Context(), &approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		text := test.text
		if test.shell == "" {
			text = command.Format(argv)
		}
		if plan.Shell != test.shell || plan.Text != text {
			t.Errorf("%s: shell %q, text %q", test.argv, plan.Shell, plan.Text)
		}
		if test.shell == "" && plan.Segments[0].Kind == approval.KindOther && plan.Segments[0].Program != nil {
			t.Errorf("%s: an ordinary program: %s", test.argv, show(plan))
		}
	}
}

// The same text can mean different things to other shells.
func TestOtherShells(t *testing.T) {
	tests := []struct {
		shell, text string
		who         approval.Who
		runs        bool
	}{
		{"bash", `echo 'a\n'`, approval.Ours, true},
		{"sh", `echo 'a\n'`, approval.Ours, false},
		{"sh", `echo -e a`, approval.Ours, false},
		{"sh", `echo -n a`, approval.Ours, true},
		{"bash", `echo -e a`, approval.Theirs, false},
		{"zsh", `ls a(e:id:)`, approval.Ours, false},
		{"zsh", `ls (a)`, approval.Ours, false},
		{"zsh", `ls <1-3>`, approval.Ours, false},
		{"zsh", `A=x(e:id:) ls`, approval.Ours, false},
		{"sh", `ls &>/dev/null`, approval.Ours, false},
		{"bash", `set -eo pipefail`, approval.Ours, true},
		{"sh", `set -eo pipefail`, approval.Ours, false},
		{"sh", `set -eu`, approval.Ours, true},
		{"bash", `[ a -nt b ]`, approval.Ours, true},
		{"dash", `[ a -nt b ]`, approval.Ours, false},
		{"dash", `test a -ot b`, approval.Ours, false},
		{"bash", `ls &>/dev/null`, approval.Theirs, false},
		{"zsh", `=ls`, approval.Ours, false},
		{"zsh", `cat a^b`, approval.Ours, false},
		{"bash", `cat a^b`, approval.Ours, true},
		{"bash", `cat a^b`, approval.Theirs, false},
		{"zsh", `cat 'a^b'`, approval.Ours, true},
		{"bash", `printf '%s\n' x`, approval.Theirs, true},
		{"bash", `printf '%n' 'a[$(rm x)]'`, approval.Theirs, false},
		{"bash", `printf '%d' 1`, approval.Theirs, false},
		{"bash", `printf '%' x`, approval.Theirs, false},
		{"bash", `[ 'a[0]' -eq 1 ]`, approval.Theirs, false},
		{"bash", `[ -f a ]`, approval.Theirs, true},
		{"bash", `exit 'a[0]'`, approval.Theirs, false},
	}
	for _, test := range tests {
		req := bash(test.text)
		req.Command[0], req.Who = test.shell, test.who
		plan := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
		if runs := plan.Root != nil && len(plan.Findings) == 0 && len(plan.Segments[0].Findings) == 0; runs != test.runs {
			t.Errorf("%s %q %s: %s", test.shell, test.text, test.who, show(plan))
		}
	}
}

func TestResolve(t *testing.T) {
	tests := []struct{ word, path, real, link, interpreter, found string }{
		{"ls", "/bin/ls", "/bin/ls", "", "", ""},
		{"/bin/ls", "/bin/ls", "/bin/ls", "", "", ""},
		{"rg", "/opt/homebrew/bin/rg", "/opt/homebrew/Cellar/rg/14/bin/rg", "/opt/homebrew/bin/rg", "", ""},
		{"awk", "/usr/bin/awk", "/usr/bin/mawk", "/usr/bin/awk", "", ""},
		{"list", "/home/ann/.local/bin/list", "/bin/rm", "/home/ann/.local/bin/list", "", "writes-file"},
		{"./run.sh", "/home/ann/p/./run.sh", "/home/ann/p/run.sh", "/home/ann/p/run.sh", "/bin/sh", ""},
		{"./env.sh", "/home/ann/p/./env.sh", "/home/ann/p/env.sh", "", "/usr/bin/python3.12", ""},
		{"./opt.sh", "/home/ann/p/./opt.sh", "/home/ann/p/opt.sh", "", "/usr/bin/env", "wrapper-unclear"},
		{"./loop.sh", "/home/ann/p/./loop.sh", "/home/ann/p/loop.sh", "", "/home/ann/p/loop.sh", "unreadable"},
		{"loose", "/open/loose", "/open/loose", "", "", "untrusted-path"},
		{"theirs", "/other/theirs", "/other/theirs", "", "", "untrusted-path"},
		{"tool2", "/home/ann/p/bin/tool2", "/home/ann/p/bin/tool2", "", "", "untrusted-path"},
		{"mine", "/home/ann/.local/bin/mine", "/home/ann/.local/bin/mine", "", "", ""},
		{"LS", "", "", "", "", "not-found"},
		{"./main.go", "", "", "", "", "not-found"},
		{"/bin", "", "", "", "", "not-found"},
		{"nothing", "", "", "", "", "not-found"},
	}
	a := invented()
	// The project's bin folder came after the start.
	a.SetPath([]string{"/opt/homebrew/bin", "/usr/bin", "/bin", "/open", "/other", "relative", "/home/ann/.local/bin"})
	late := invented()
	late.SetPath([]string{"/nowhere"})
	for _, test := range tests {
		use := a
		if test.word == "tool2" {
			continue // see TestProjectFolders
		}
		plan := use.Analyze(t.Context(), &approval.Request{Command: []string{test.word}, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		seg := plan.Segments[0]
		got := fmt.Sprintf("%v", reasons(seg.Findings))
		want := "[" + test.found + "]"
		if seg.Program == nil {
			if test.path != "" || got != want {
				t.Errorf("%s: found nothing, %s", test.word, got)
			}
			continue
		}
		interpreter := ""
		if seg.Program.Interpreter != nil {
			interpreter = seg.Program.Interpreter.File.Path
		}
		link := test.link
		if strings.HasPrefix(test.word, "./") {
			link = ""
		}
		if seg.Program.Path != test.path || seg.Program.File.Path != test.real || seg.Program.Link != link || interpreter != test.interpreter || got != want {
			t.Errorf("%s: %+v interpreter %q findings %s", test.word, seg.Program, interpreter, got)
		}
	}
}

func reasons(list []approval.Finding) []approval.Reason {
	out := []approval.Reason{}
	for _, f := range list {
		out = append(out, f.Reason)
	}
	return out
}

// A PATH folder inside the project never satisfies a bare name, unless it was
// there when the login PATH was read.
func TestProjectFolders(t *testing.T) {
	inside := func(existed bool) []approval.Reason {
		a := invented()
		if existed {
			a.SetPath([]string{"/home/ann/p/bin"})
		} else {
			world := a.World
			a.World = approvaltest.NewWorld("/bin/ls")
			a.SetPath([]string{"/home/ann/p/bin"})
			a.World = world
		}
		plan := a.Analyze(t.Context(), &approval.Request{Command: []string{"tool2"}, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		return reasons(plan.Segments[0].Findings)
	}
	if got := inside(true); len(got) != 0 {
		t.Errorf("a folder of the login PATH: %v", got)
	}
	if got := inside(false); len(got) != 1 || got[0] != approval.ReasonUntrustedPath {
		t.Errorf("a folder that came later: %v", got)
	}
}

func TestKindsAndEffects(t *testing.T) {
	tests := []struct{ argv, want string }{
		{"cat|a", "reader []"},
		{"sh|x", "shell []"},
		{"python3|main.go", "interpreter []"},
		{"python3|x.py", "interpreter [inline-code]"},
		{"git|status", "starter []"},
		{"env|ls", "wrapper []"},
		{"rm|a", "changer []"},
		{"/usr/bin/perl5.36-x86_64-linux-gnu|-e", "interpreter []"},
		{"/usr/bin/vim.basic|x", "starter [starts-program]"},
		{"/usr/bin/x86_64-linux-gnu-gcc-12|x", "starter []"},
		{"/usr/bin/gnice|x", "wrapper []"},
		{"/lib64/ld-linux-x86-64.so.2|x", "interpreter []"},
		{"list|a", "changer [writes-file]"},
		{"/opt/tool/bin/tool|a", " []"},
		{"tree|-o|x", "reader [writes-file]"},
		{"tree|-ao|x", "reader [writes-file]"},
		{"tree|--outp=x", "reader [writes-file]"},
		{"tree|--|-o", "reader []"},
		{"base64|-ox", " [writes-file]"},
		{"cat|/home/ann/.ssh/id_rsa", "reader [protected-state]"},
		{"cat|/home/ann/.ssh/id_rsa.pub", "reader []"},
		{"cat|../.ssh/id_rsa", "reader [protected-state]"},
		{"cat|innocent", "reader [protected-state]"},
		{"cat|.env", "reader [protected-state]"},
		{"cat|.env.example", "reader []"},
		{"cat|x.PEM", "reader [protected-state]"},
		{"cat|/state/operator.key", "reader [protected-state]"},
		{"cat|--file=/state/operator.key", "reader [protected-state]"},
		{"cat|/home/ann/.bashrc", "reader []"},
		{"cat|-n/home/ann/.ssh/id_rsa", "reader [protected-state]"},
		{"cat|-nbf.env", "reader [protected-state]"},
		{"du|-ahX/home/ann/.ssh/id_rsa", "reader [protected-state]"},
		{"du|/home/ann/.ssh", "reader []"},
		{"grep|-r|x|sub", "reader []"},
		{"grep|-rn|x|/home/ann", "reader [protected-state]"},
		{"grep|x|main.go", "reader []"},
		{"cat|/proc/1/environ", "reader [protected-state]"},
		{"cat|/proc/cpuinfo", "reader []"},
		{"/opt/tool/bin/tool|/home/ann/.bashrc", " [protected-state]"},
		{"ls|/home/ann/.ssh", "reader []"},
		{"rm|-rf|/", "changer [deletes protected-state] FLOOR"},
		{"rm|-r|-f|/home/ann", "changer [deletes protected-state] FLOOR"},
		{"rm|--recursive|/usr", "changer [deletes] FLOOR"},
		{"rm|-rf|..", "changer [deletes protected-state] FLOOR"},
		{"rm|-rf|sub", "changer []"},
		{"rm|/", "changer [deletes protected-state]"},
		{"dd|if=a|of=/dev/sda", "changer [writes-file protected-state] FLOOR"},
		{"dd|if=a|of=/dev/null", "changer [writes-file]"},
		{"cp|x|/dev/sda", "changer [outside-folder protected-state] FLOOR"},
		{"/opt/tool/bin/tool|--x", " []"},
	}
	for _, test := range tests {
		plan := invented().Analyze(t.Context(), &approval.Request{Command: strings.Split(test.argv, "|"), Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		seg := plan.Segments[0]
		got := fmt.Sprintf("%s %v", seg.Kind, reasons(seg.Findings))
		if seg.Floor != "" {
			got += " FLOOR"
		}
		if got != test.want {
			t.Errorf("%s: %s, want %s", test.argv, got, test.want)
		}
	}
}

// The name for all agents is nobody's: what it was allowed would hold for all.
// What is somebody's job passes, and is told.
func TestEffectsAreTold(t *testing.T) {
	a := invented()
	for _, test := range []struct{ text, want string }{
		{`rm a`, "deletes"},
		{`git push`, "network project"},
		{`git log`, "project"},
		{`make test`, "project"},
		{`ls`, ""},
		{`env rm a`, " deletes"},
	} {
		var got []string
		for _, s := range a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p")).Segments {
			var effects []string
			for _, e := range s.Effects {
				effects = append(effects, string(e))
			}
			got = append(got, strings.Join(effects, " "))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

// What a command was judged by must still hold when it runs.
func TestChangedOnTheWay(t *testing.T) {
	a := invented()
	a.SetPath([]string{"/usr/bin", "/bin", "/opt/tool/bin"})
	world := a.World.(folders).World
	world.Files["/home/ann/p/prog.awk"] = approvaltest.File{Text: "{ print $1 }"}
	world.Files["/usr/bin/tee"] = approvaltest.File{Mode: 0o755}
	world.Files["/usr/bin/sort"] = approvaltest.File{Mode: 0o755}
	tests := []struct {
		text         string
		ours, theirs bool // it asks
	}{
		{`cat a | awk -f prog.awk`, false, false},
		{`sort | awk -f prog.awk`, false, false},
		{`cat a | tee prog.awk | awk -f prog.awk`, true, true},
		{`awk -f prog.awk | env tee prog.awk`, true, true},
		{`awk -f prog.awk | tool`, true, true},
		{`(cat a | tee prog.awk) | awk -f prog.awk`, true, true},
		{`cat a | tee b; awk -f prog.awk`, false, true},
		{`mkdir d && tee d/x`, false, false},
		{`git status && tee d/x`, false, true},
		{`git status && ls && ./run.sh`, false, true},
		{`git status && git log`, false, false},
		{`awk -f prog.awk & tee prog.awk`, true, true},
		{`cat a | tee prog.awk & awk -f prog.awk`, true, true},
		{`tee prog.awk & wait; awk -f prog.awk`, true, true},
		{`tee prog.awk; awk -f prog.awk & wait`, false, true},
		{`sort a & awk -f prog.awk`, false, true},
		{`awk -f prog.awk & env tee b`, true, true},
		{`for f in a b; do tee prog.awk; awk -f prog.awk & done`, true, true},
		{`for f in a b; do { tee prog.awk; awk -f prog.awk; } & done`, true, true},
		{`for f in a b; do awk -f prog.awk & done; tee b`, true, true},
		{`for f in a b; do tee b; done; awk -f prog.awk & ls`, false, true},
		{`while ls; do { awk -f prog.awk & }; tee b; done`, true, true},
	}
	for _, test := range tests {
		for who, want := range map[approval.Who]bool{approval.Ours: test.ours, approval.Theirs: test.theirs} {
			req := bash(test.text)
			req.Who = who
			plan, got := a.Analyze(t.Context(), req, approvaltest.Named(req.Cwd)), false
			for _, s := range plan.Segments {
				got = got || slices.ContainsFunc(s.Findings, func(f approval.Finding) bool {
					return f.Reason == approval.ReasonRuntimeValue
				})
			}
			if strings.ContainsAny(strings.ReplaceAll(test.text, "&&", ""), "(&") && who == approval.Theirs {
				got = plan.Root == nil // a group always asks, and the background
			}
			if got != want {
				t.Errorf("%s (%s): asks %v, want %v: %s", test.text, who, got, want, show(plan))
			}
		}
	}
}

func TestInvalidAgent(t *testing.T) {
	for _, r := range []approval.Request{{Command: []string{"ls"}}, {Text: "ls"}} {
		r.Cwd = "/home/ann/p"
		for agent, bad := range map[string]bool{"": false, "main": false, "*": true, "**": false, strings.Repeat("a", 2000): true} {
			r.AgentID = agent
			if got := invented().Analyze(t.Context(), &r, approvaltest.Named(r.Cwd)).Invalid; (got != "") != bad {
				t.Errorf("agent %.10q: %q", agent, got)
			}
		}
	}
}

func TestInvalid(t *testing.T) {
	tests := []struct {
		argv, raw, want string
	}{
		{"", "", "command required"},
		{"  |x", "", "command required"},
		{" ls", "", "executable has surrounding whitespace"},
		{"ls|a\x00b", "", "command holds a NUL byte"},
		{"ls|-l", "rm -rf x", "rawCommand mismatch"},
		{"ls|-l", " ls -l ", ""},
		{"sh|-c|ls", "ls", ""},
		{"env|sh|-c|ls", "ls", "rawCommand mismatch"},
	}
	for _, test := range tests {
		req := &approval.Request{Command: strings.Split(test.argv, "|"), RawCommand: test.raw, Cwd: "/home/ann/p"}
		if got := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd)).Invalid; got != test.want {
			t.Errorf("%q with raw %q: %q, want %q", test.argv, test.raw, got, test.want)
		}
	}
}

// TestRawCommandVectors compares with what OpenClaw makes of a command and
// the text that is sent with it.
func TestRawCommandVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Command    []string
			RawCommand string
			Result     struct {
				OK                        bool
				CommandText, ShellPayload string
				Details                   struct{ FormattedArgv string }
			}
		}
	}
	readVectors(t, "command-request.json", &file)
	if len(file.Cases) != 25 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const onlyShell = "what a wrapper or a multiplexer starts is judged with it: its raw text is the whole command"
	const posix = "only the texts of sh, bash, zsh, dash, ash and ksh are read"
	differs := map[string]string{
		"busybox sh -c echo hi <- echo hi":   onlyShell,
		"nice bash -c echo hi <- echo hi":    onlyShell,
		"pwsh -Command Get-Date <- Get-Date": posix,
		"cmd.exe /c dir <- dir":              posix,
		" <- ":                               "a request without a command is refused",
	}
	for _, c := range file.Cases {
		plan := invented().Analyze(t.Context(), &approval.Request{Command: c.Command, RawCommand: c.RawCommand, Cwd: "/home/ann/p"}, approvaltest.Named("/home/ann/p"))
		key := strings.Join(c.Command, " ") + " <- " + c.RawCommand
		why, listed := differs[key]
		delete(differs, key)
		if ok := plan.Invalid == ""; (ok != c.Result.OK) != listed {
			t.Errorf("%s: invalid is %q, OpenClaw accepts: %v; listed as different: %q", key, plan.Invalid, c.Result.OK, why)
		}
		text := c.Result.CommandText + c.Result.Details.FormattedArgv // it is one or the other
		if got := command.Format(c.Command); got != text {
			t.Errorf("%s: written %q, by OpenClaw %q", key, got, text)
		}
		if !c.Result.OK || listed {
			continue
		}
		read := ""
		if plan.Shell != "" {
			read = plan.Text
		}
		if read != c.Result.ShellPayload {
			t.Errorf("%s: the text is %q, of OpenClaw %q", key, read, c.Result.ShellPayload)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %v", differs)
	}
}

// Every section of the list is a kind that policy knows, and no name stands
// in two.
func TestKindsList(t *testing.T) {
	text, err := os.ReadFile("../programs/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := []approval.ProgramKind{
		approval.KindShell, approval.KindInterpreter, approval.KindMultiplexer, approval.KindWrapper,
		approval.KindStarter, approval.KindChanger, approval.KindReader,
	}
	seen := map[string]string{}
	section, sections := "", 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.Contains(line, "] ") {
			section, _, _ = strings.Cut(line[1:], "]")
			if sections == len(known) || section != string(known[sections]) {
				t.Fatalf("section %q is not the next stricter kind", section)
			}
			sections++
			continue
		}
		for _, name := range strings.Fields(line) {
			if section == "" {
				break
			}
			name = strings.TrimSuffix(name, "!")
			if other := seen[name]; other != "" {
				t.Errorf("%s is a %s and a %s", name, other, section)
			}
			if seen[name] = section; name != strings.ToLower(name) {
				t.Errorf("%s is not in lower case", name)
			}
		}
	}
	if sections != len(known) {
		t.Errorf("%d sections, want %d", sections, len(known))
	}
}

// failing fails at some looks, as one that is out of descriptors does.
type failing struct {
	*approvaltest.World
	at map[string]error
}

func (f failing) Look(name string) (approval.File, error) {
	if err := f.at[name]; err != nil {
		return approval.File{}, &fs.PathError{Op: "look at", Path: name, Err: err}
	}
	return f.World.Look(name)
}

// A look that fails is not taken for one that finds nothing: no program of a later
// folder stands in for one that was not seen, and the true error is told.
func TestLookFails(t *testing.T) {
	for _, c := range []struct {
		at     string
		err    error
		argv   []string
		reason approval.Reason
	}{
		{"/home/ann/p", syscall.EMFILE, []string{"/usr/bin/git", "log"}, approval.ReasonCwdUnavailable},
		{"/usr/bin/git", syscall.EMFILE, []string{"/usr/bin/git", "log"}, approval.ReasonNotFound},
		{"/opt/homebrew/bin/git", syscall.EMFILE, []string{"git", "log"}, approval.ReasonNotFound},
	} {
		a := invented()
		a.World = failing{a.World.(folders).World, map[string]error{c.at: c.err}}
		p := a.Analyze(t.Context(), &approval.Request{Command: c.argv, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		if len(p.Findings) == 0 || p.Findings[0].Reason != c.reason || !strings.Contains(p.Findings[0].Sentence, c.err.Error()) {
			t.Errorf("%s, %v: %+v", c.argv, c.err, p.Findings)
		}
		if c.reason == approval.ReasonNotFound && p.Segments[0].Program != nil {
			t.Errorf("%s leads to %s", c.argv, p.Segments[0].Program.Path)
		}
	}
}

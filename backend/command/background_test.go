package command_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestBackground holds what runs in the background from its plan, and what asks.
func TestBackground(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`ls &`, `background(ls)`},
		{`ls & cat a`, `seq(background(ls), cat a)`},
		{"ls &\ncat a & wait", `seq(background(ls), background(cat a), wait)`},
		{`ls && cat a & wait`, `seq(background(and(ls, cat a)), wait)`},
		{`ls | wc & wait`, `seq(background(pipe(ls, wc)), wait)`},
		{`(ls; cat a) & { ls; } & wait`, `seq(background(sub(seq(ls, cat a))), background(seq(ls)), wait)`},
		{`{ ls & wait; } & wait`, `seq(background(seq(seq(background(ls), wait))), wait)`},
		{`for f in a b; do cat $f & done; wait`, `seq(for(background(cat $f)), wait)`},
		{`if ls & then cat a; fi`, `if(background(ls), cat a)`},
		{`ls </dev/null >/dev/null 2>&1 &`, `background(ls)`},
		{`cd sub & ls`, `seq(background(cd sub), ls)`},
		{`exit 3 & ls`, `seq(background(exit 3), ls)`},
		{`ls & P=$!; wait $P`, `seq(background(ls), assign(), wait $P)`},
		{`ls & wait $!`, `seq(background(ls), wait $!)`},
		{`ls & wait "$!" "$!"`, `seq(background(ls), wait "$!" "$!")`},
		{`ls & P=$!; kill "$P"; kill $! 2>/dev/null; kill -TERM $P; kill -9 $!; kill -HUP $P; kill -0 $P; kill -s KILL $P $!`,
			`seq(background(ls), assign(), kill "$P", kill $!, kill -TERM $P, kill -9 $!, kill -HUP $P, kill -0 $P, kill -s KILL $P $!)`},
		{`ls & echo "$!"`, `seq(background(ls), echo "$!")`},

		// Where shells differ, or something else waits or reads.
		{`x=$(ls &)`, `? !approval-required !runtime-value`},
		{`ls | { cat & wait; }`, `? !approval-required`},
		{`{ ls & } | cat`, `? !approval-required`},
		{`{ cat & wait; } < a`, `? !outside-folder !approval-required`},
		{`while read -r f; do cat "$f" & done < a`, `? !outside-folder !approval-required`},
		{"{ cat & } <<'E'\na\nE", `? !approval-required`},
		{`! ls &`, `? !unreadable`},
		{`for f in a; do break & done`, `? break:evaluates`},
		{`coproc ls`, `? !approval-required`},
		{`ls & disown`, `? disown:evaluates`},
		{`ls & jobs`, `? jobs:evaluates`},
		{`ls & fg`, `? fg:evaluates`},
		{`f() { ls; }; f &`, `? !approval-required f:not-found`},
		{`eval ls &`, `? eval:evaluates`},

		// What is no number that $! gave.
		{`wait 1`, `? wait:evaluates`},
		{`ls & wait %1`, `? wait:evaluates`},
		{`ls & wait -n`, `? wait:evaluates`},
		{`wait $X`, `? wait:evaluates`},
		{`wait $P; ls & P=$!`, `? wait:evaluates`},
		{`kill 1`, `? kill:evaluates`},
		{`ls & kill`, `? kill:evaluates`},
		{`ls & kill %1`, `? kill:evaluates`},
		{`ls & kill -1`, `? kill:evaluates`},
		{`ls & kill -1 $!`, `? kill:evaluates`},
		{`ls & kill -INT $!`, `? kill:evaluates`},
		{`ls & kill -s`, `? kill:evaluates`},
		{`ls & kill -s $!`, `? kill:evaluates`},
		{`ls & kill $!1`, `? kill:evaluates`},
		{`ls & kill 1$!`, `? kill:evaluates`},
		{`ls & kill -$!`, `? kill:evaluates`},
		{`ls & kill -- -$!`, `? kill:evaluates`},
		{`ls & kill -- $!`, `? kill:evaluates`},
		{`ls & kill $! 1`, `? kill:evaluates`},
		{`ls & kill $!{,1}`, `? kill:runtime-value kill:evaluates`},
		{`ls & kill ${!:-1}`, `? kill:runtime-value kill:evaluates`},
		{`ls & P=$!1; kill $P`, `? kill:evaluates`},
		{`ls & P=$!; kill ${P%?}`, `? kill:evaluates`},
		{`ls & P=$!; kill -$P`, `? kill:evaluates`},
		{`ls & kill $(echo $!)`, `? kill:evaluates`},
		{`ls & kill $PPID`, `? kill:runtime-value kill:evaluates`},
		{`ls & kill $$`, `? kill:runtime-value kill:evaluates`},
		{`ls & S=-9; kill $S $!`, `? kill:evaluates`},

		// What may put a link where another looks at the same time.
		{`mv a b & rg x`, `seq(background(mv a b), rg x) rg:runtime-value`},
		{`rg x & mv a b`, `seq(background(rg x), mv a b) rg:runtime-value`},
		{`mv a b & rg x c`, `seq(background(mv a b), rg x c) rg:runtime-value`},
		{`mv a b; rg x & wait`, `seq(mv a b, background(rg x), wait)`},
		{`cp a b & cp a c`, `seq(background(cp a b), cp a c) cp:runtime-value cp:runtime-value`},
		{`for f in a b; do cp $f sub & done; wait`, `seq(for(background(cp $f sub)), wait) cp:runtime-value cp:runtime-value`},
		{`PATH="$PWD/bin:$PATH" & ls`, `? !env-asks`},

		// All stages of a pipeline run at the same time.
		{`mv a b | rg x`, `pipe(mv a b, rg x)`},
		{`git checkout x | cat a`, `pipe(git checkout x, cat a) cat:runtime-value`},
		{`git checkout x 2>&1 | cat`, `pipe(git checkout x, cat)`},
		{`git pull | wc -l; cat a`, `seq(pipe(git pull, wc -l), cat a)`},
		{`cat a; git pull | wc -l`, `seq(cat a, pipe(git pull, wc -l))`},
		{`cat a | { wc; git pull; }`, `pipe(cat a, seq(wc, git pull)) cat:runtime-value`},
		{`git log | rg x a`, `pipe(git log, rg x a)`},

		// What git brings may be anything.
		{`git merge main & rg x`, `seq(background(git merge main), rg x) rg:runtime-value`},
		{`rg x & git pull`, `seq(background(rg x), git pull) rg:runtime-value`},
		{`git stash pop & cp a b`, `seq(background(git stash pop), cp a b) cp:runtime-value`},
		{`git checkout x & cat a`, `seq(background(git checkout x), cat a) cat:runtime-value`},
		{`git checkout x & ls -l`, `seq(background(git checkout x), ls -l)`},
		{`git log & cat a`, `seq(background(git log), cat a)`},
		{`git log & rg x`, `seq(background(git log), rg x)`},
		{`git commit -m x & rg x`, `seq(background(git commit -m x), rg x)`},
	} {
		got := show(wide().Analyze(t.Context(), bash(test.in), approvaltest.Named("/home/ann/p")))
		if got != test.want {
			t.Errorf("%q\n got  %s\n want %s", test.in, got, test.want)
		}
	}
}

// TestBackgroundOfOthers: an agent's own shell, and one whose language is another, is not
// given a text back that starts something in the background.
func TestBackgroundOfOthers(t *testing.T) {
	for _, text := range []string{`ls &`, `ls & wait`, `wait`, `kill $!`, `ls & kill $!`} {
		for shell, who := range map[string]approval.Who{"bash": approval.Theirs, "sh": approval.Theirs, "zsh": approval.Ours} {
			req := bash(text)
			req.Command[0], req.Who = "/bin/"+shell, who
			if plan := wide().Analyze(t.Context(), req, approvaltest.Named("/home/ann/p")); plan.Root != nil && len(plan.Findings) == 0 && len(plan.Segments[len(plan.Segments)-1].Findings) == 0 {
				t.Errorf("%s for %s passes: %s", text, shell, show(plan))
			}
		}
	}
}

// TestKillOfProcesses: of a literal number it counts what commands of the session started.
func TestKillOfProcesses(t *testing.T) {
	for text, passes := range map[string]bool{
		"kill 42": true, "kill -9 42": true, "kill -15 42 43": true, "kill -s INT 42": true, "kill -1 42": true, "kill -SIGTERM 42": true, "kill -0 42 || ls": true,
		"ls & kill $! 42": true, "ls & kill -INT $! 42": false, "ls & kill -1 $! 42": false,
		"kill 44": false, "kill 42 44": false, "kill -42": false, "kill -9 -42": false, "kill -- 42": false, "kill 042": false, "kill +42": false, "kill 42.0": false, "kill %42": false,
		"kill -STOP 42": false, "kill -SIG9 42": false, "kill -s 42": false, "kill -s": false, "kill -l 42": false, "kill -n 9 42": false, "kill 1": false, "kill 0": false,
		"kill $x": false, "x=42; kill $x": false, "kill $(echo 42)": false, "kill {42,43}": false, "kill $((42))": false, "wait 42": false, "kill 99999999999999999999": false,
	} {
		for _, who := range []approval.Who{approval.Ours, approval.Theirs} {
			req := bash(text)
			req.Who = who
			req.Began = func(pid int) (approval.ProcessID, bool) {
				return approval.ProcessID{PID: pid, Started: 7}, pid == 42 || pid == 43
			}
			plan := wide().Analyze(t.Context(), req, approvaltest.Named("/home/ann/p"))
			if got := plan.Root != nil && show(plan)[0] != '?'; got != (passes && who == approval.Ours) {
				t.Errorf("%s for %s: %s", text, who, show(plan))
			}
		}
	}
}

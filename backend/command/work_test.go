package command_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// Words that could each be a command must not be looked at once for every
// other: past a bound the request asks, and nothing more is looked at.
func TestManyNestedWords(t *testing.T) {
	for _, before := range []string{"/opt/tool/bin/tool ls", "/opt/tool/bin/tool rm -r", "/opt/tool/bin/tool"} {
		argv := strings.Fields(before + strings.Repeat(" rm", 20_000))
		plan := invented().Analyze(t.Context(), &approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		if plan.Root != nil || !slices.Contains(reasons(plan.Findings), approval.ReasonTooComplex) {
			t.Errorf("%s and many words: %v", before, reasons(plan.Findings))
		}
		words := 0
		for _, s := range plan.Segments[1:] {
			words += len(s.Argv)
		}
		if words > 40_000 {
			t.Errorf("%s and many words: %d words were looked at in %d segments", before, words, len(plan.Segments))
		}
	}
}

// families are commands that somebody hopes cost more than they are long: what
// is repeated stands between | and |, with %d for a number of its own.
var families = []string{
	"git |-C a| log", "git |-C .| log", "git |-C sub/..| log", "git |-C /home/ann/p/sub| log", "git |--git-dir=a| log", "git |--work-tree a%d| log",
	"git log |--p|", "git log |--pretty=a%d|", "git log |-pppppppppppppppp|", "git add |src/a%d.c|", "git add |a/b/c/d/e/f/g/h/i/j%d|",
	"make |-C a|", "make |-C sub -C ..|", "make |A%d=b|", "make |-f a%d|", "env |-C sub| ls", "env |a%d=a| ls", "env |a=a| ls", "env |--a=a b| ls",
	"|env| ls", "|xargs| ls", "|nice| ls", "|sudo| ls", "|bash -c| ls", "|command| ls", "find . |-exec ls {} +|", "find . |-execdir ls {} ;|", "find |a%d|",
	"sort |-o a%d|", "sort |-T a%d|", "cat |a%d|", "cat |-fabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz/x|", "cat |{a,b}{c,d}{e,f}|",
	"gcc |@a%d|", "gcc |-o a%d|", "gcc |-Ia%d|", "gcc |a%d.c|", "tar -cf a.tar |-C sub -C ..| x", "tar -tf a.tar |--exclude=a%d|",
	"cp -r |a%d| sub", "cp -r |sub/| sub", "mv |a%d| sub", "ln -s |a%d| sub", "rm |a%d|", "rm -r |sub/a%d|", "mkdir -p |a/b/c%d|", "rg |{a,b}{c,d}{e,f}|",
	"awk 1 |a%d=b|", "sed |-e p|", "curl |-d a%d=@b|", "python3 main.py |a%d|", "/opt/tool/bin/tool |rm|", "/opt/tool/bin/tool |-x|", "/opt/tool/bin/tool |a%d|",
	"head |-n5|", "echo |a%d|", "test |a = a -a|", "zip a.zip |a%d|", "gzip |a%d|", "gcc -c |a%d.c|", "sqlite3 -safe -readonly app.db |.tables|",
}

// wide is the machine with what the families name.
func wide() *command.Analyzer {
	a := invented()
	for _, name := range strings.Fields("sort mv ln rg tar gcc gzip awk zip sed nice env git make sqlite3 xargs") {
		a.World.(folders).Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755}
	}
	return a
}

// The work that a request causes grows as it does, up to where it asks: a little
// faster while paths get longer, up to the length that a system opens. It is
// counted: the time limit only ends what would not end.
func TestWorkGrowsAsTheRequest(t *testing.T) {
	a, most := wide(), approvaltest.Rounds(t, 2048, 512)
	for _, family := range families {
		parts := strings.Split(family, "|")
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			before := 0
			for n := 128; n <= most; n *= 2 {
				argv := strings.Fields(parts[0])
				for i := range n {
					argv = append(argv, strings.Fields(strings.ReplaceAll(parts[1], "%d", fmt.Sprint(i)))...)
				}
				argv = append(argv, strings.Fields(parts[2])...)
				limit, steps, began := uint64(16<<20+64<<10*n), 0, time.Now()
				used := allocates(limit, a, func(a *command.Analyzer) {
					_, steps = a.Measured(&approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
				})
				if before > 0 && steps > 3*before+100 && before < command.MaxWork {
					t.Errorf("%d times: %d steps, and half as many times %d", n, steps, before)
				}
				if used > limit {
					t.Errorf("%d times: %d KB were allocated, of at most %d", n, used>>10, limit>>10)
				}
				if time.Since(began) > time.Minute {
					t.Fatalf("%d times: %v", n, time.Since(began))
				}
				before = steps
			}
		})
	}
}

// textFamilies are the same for texts.
var textFamilies = []string{
	"x=a;|y=${x:-$x};|ls $y", "ls |${x:-a%d} |", "x=a;ls |${x#a%d} |", "x=aaaa;|x=${x/a/b%d};|ls", "|case a%d in a) ls;; *b) ls;; esac;|", "ls |$((%d+x)) |", "[[ a |&& b != *%d |]]",
	"|for f%d in a b; do sed 1d $f%d; done;|", "for f in a b c d; do |git show $f:a%d;| done", "|((x++));|ls $x", "while read -r a; do |echo $a%d;| done", "for x in a b; do |[ $x = %d ] && continue;| done",
	"|x%d=a;|ls $x1$x2$x3", "|a=b%d;|ls $a", "|a=$a%d;|ls $a",
}

func TestWorkOfTexts(t *testing.T) {
	a, most := wide(), approvaltest.Rounds(t, 1024, 256)
	for _, family := range textFamilies {
		parts := strings.Split(family, "|")
		t.Run(family, func(t *testing.T) {
			t.Parallel()
			before := 0
			for n := 32; n <= most; n *= 2 {
				var text strings.Builder
				text.WriteString(parts[0])
				for i := range n {
					text.WriteString(strings.ReplaceAll(parts[1], "%d", fmt.Sprint(i)))
				}
				text.WriteString(parts[2])
				limit, steps := uint64(16<<20+64<<10*n), 0
				used := allocates(limit, a, func(a *command.Analyzer) {
					_, steps = a.Measured(bash(text.String()), approvaltest.Named("/home/ann/p"))
				})
				if before > 0 && steps > 3*before+200 && before < command.MaxWork {
					t.Errorf("%d times: %d steps, and half as many times %d", n, steps, before)
				}
				if used > limit {
					t.Errorf("%d times: %d KB were allocated, of at most %d", n, used>>10, limit>>10)
				}
				before = steps
			}
		})
	}
}

// leaving is a world whose caller goes after so many looks.
type leaving struct {
	command.World
	after, looks int
	leave        func()
}

func (l *leaving) Look(name string) (approval.File, error) {
	if l.looks++; l.looks == l.after {
		l.leave()
	}
	return l.World.Look(name)
}

// An analysis ends soon after its caller has gone, and says nothing that could
// be taken for a yes.
func TestCallerLeaves(t *testing.T) {
	for _, line := range []string{"cat", "git -C sub add", "/opt/tool/bin/tool", "rm"} {
		argv := strings.Fields(line)
		for i := range 2000 {
			argv = append(argv, fmt.Sprint("f", i))
		}
		ctx, leave := context.WithCancel(t.Context())
		a := invented()
		world := &leaving{World: a.World, after: 40, leave: leave}
		a.World = world
		plan := a.Analyze(ctx, &approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
		if plan.Invalid != command.Unfinished || plan.Root != nil {
			t.Errorf("%s: %q", line, plan.Invalid)
		}
		if world.looks > 200 {
			t.Errorf("%s: %d looks, and nobody waited after 40", line, world.looks)
		}
		if again := invented().Analyze(t.Context(), &approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p")); again.Invalid != "" {
			t.Errorf("%s: it is still %q", line, again.Invalid)
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, req := range []*approval.Request{bash("ls"), {Command: []string{"ls"}, Cwd: "/home/ann/p", Who: approval.Theirs}} {
		if plan := invented().Analyze(gone, req, approvaltest.Named("/home/ann/p")); plan.Invalid != command.Unfinished {
			t.Errorf("%v: %q", req.Command, plan.Invalid)
		}
	}
}

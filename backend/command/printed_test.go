package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// TestPrinted: a command that only reads is given a hash, a number or a name that
// another one prints. All else that only the run can tell asks.
func TestPrinted(t *testing.T) {
	const told = approval.ReasonRuntimeValue
	for _, test := range []struct {
		text string
		asks approval.Reason
	}{
		{`B=$(git merge-base main HEAD) && git diff --stat $B | head -20`, ""},
		{`git show "$(git rev-parse HEAD)" --stat`, ""}, {`git show --stat $(git rev-parse --short HEAD)`, ""}, {`git diff $(git merge-base main HEAD) HEAD`, ""}, {`git diff "$(git merge-base main HEAD)"..HEAD --stat`, ""},
		{`B=$(git branch --show-current); git log --oneline main.."$B"`, ""}, {`B=$(git rev-parse --abbrev-ref HEAD); git log $B`, ""}, {`L=$(git describe --tags --abbrev=0 2>/dev/null); git log --oneline $L | wc -l`, ""}, {`B=$(git symbolic-ref --short HEAD); git rev-list --count $B`, ""},
		{`B=$(git merge-base main HEAD); git diff --stat $B 2>/dev/null`, ""}, {`S=$(git rev-parse HEAD); git show ${S:0:7} --stat`, ""}, {`S=$(git log -1 --format=%H); git show $S`, ""}, {`S=$(git log --format=%h -1 -- main.go); git diff $S`, ""}, {`S=$(git rev-list -1 HEAD); git show $S`, ""},
		{`N=$(wc -l < main.go); sed -n "$N,$((5))p" main.go`, ""}, {`N=$(git ls-files | wc -l); git log -n $N`, ""}, {`N=$(git rev-list --count main..HEAD); git log -n "$N" --oneline`, ""}, {`N=$(grep -c x main.go); sed -n "${N}p" main.go`, ""},
		{`git log --since $(date +%Y-%m-%d)`, ""}, {`git log --since="$(date +%Y-%m-%d)"`, ""}, {`B=$(git merge-base main HEAD); A=$B; git diff $A`, ""}, {`for f in a b; do git diff $(git merge-base main HEAD) -- "$f"; done`, ""},
		// What it is given to does more than read.
		{`git checkout $(git rev-parse HEAD)`, told}, {`git branch -D $(git branch --show-current)`, told}, {`B=$(git merge-base main HEAD); git reset --hard $B`, told}, {`git push origin $(git branch --show-current)`, told}, {`sed -i "$(wc -l < main.go)d" main.go`, told},
		{`B=$(git merge-base main HEAD); git diff $B > out`, told}, {`git diff $(git merge-base main HEAD) | xargs cat`, told}, {`git diff --name-only $(git merge-base main HEAD) | xargs cat`, told}, {`git -c core.pager=x show $(git rev-parse HEAD)`, told}, {`B=$(git rev-parse HEAD); git diff --output=$B`, told},
		{`S=$(git rev-parse HEAD); ls > $S`, approval.ReasonWritesFile}, {`S=a; S=$(git rev-parse HEAD); ls > $S`, approval.ReasonWritesFile}, {`S=$(git rev-parse HEAD); $S`, told}, {`S=$(git rev-parse HEAD); cd $S`, told}, {`find . -name $(git rev-parse HEAD) -delete`, approval.ReasonWritesFile},
		// What prints is another program, prints more, or is not known.
		{`git show $(cat main.go)`, told}, {`git show $(git log -1 --format=%s)`, told}, {`git show $(git log --format=%H)`, told}, {`git show $(git rev-parse --show-toplevel)`, told}, {`git show $(git rev-parse HEAD main)`, told}, {`git show $(git rev-parse --git-dir)`, told}, {`git show $(git config user.name)`, told},
		{`git show $(git rev-parse HEAD; cat main.go)`, told}, {`git show $(git rev-parse HEAD || cat main.go)`, told}, {`git show $(git rev-parse HEAD | cat)`, told}, {`git show $(./git rev-parse HEAD)`, told}, {`git log -n $(wc -l main.go)`, told}, {`git log -n $(grep -rc x .)`, told}, {`git log --since $(date +%c)`, told}, {`git log $(date -r main.go +%s)`, told},
		{`B=$(git merge-base main HEAD); B=$(cat main.go); git diff $B`, told}, {`read -r B; B=$(git merge-base main HEAD); git diff $B`, told}, {`B=$(git merge-base main HEAD); read -r B; git diff $B`, told}, {`S=$(git rev-parse HEAD); git show ${S/0/-}`, told}, {`S=$(git rev-parse HEAD); git show ${S#0}`, told}, {`for S in $(git rev-parse HEAD); do git show $S; done`, told},
		{`x=-; git show $x$(git rev-parse HEAD)`, told}, {`git show --output=x $(git rev-parse HEAD)`, approval.ReasonWritesFile}, {`git show $X$(git rev-parse HEAD)`, told}, {`git diff $(git merge-base main HEAD) --ext-diff`, approval.ReasonStartsProgram},
		{`git show "$(git rev-parse HEAD):.env"`, approval.ReasonProtectedState},
	} {
		a := printing()
		found := allReasons(a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p")))
		if test.asks == "" && len(found) > 0 || test.asks != "" && !slices.Contains(found, test.asks) {
			t.Errorf("%s: %q, want %q", test.text, found, test.asks)
		}
	}
}

// TestPrintedOtherwise: what came out is judged as a word of the text would be, whatever
// it should have been.
func TestPrintedOtherwise(t *testing.T) {
	a := printing()
	plan := a.Analyze(t.Context(), bash(`git diff --stat $(git merge-base main HEAD)`), approvaltest.Named("/home/ann/p"))
	if len(allReasons(plan)) > 0 || plan.Root == nil {
		t.Fatal(allReasons(plan))
	}
	fed := a.Analyze(t.Context(), bash(`cat main.go | git diff --stat $(git merge-base main HEAD)`), approvaltest.Named("/home/ann/p"))
	for _, f := range a.Final(t.Context(), &fed, &fed.Segments[len(fed.Segments)-1], []string{"git", "diff", "--stat", "--frob"}, "/home/ann/p").Segments[0].Findings {
		if f.Allowed != "" {
			t.Errorf("an entry could cover what it is fed: %v", f)
		}
	}
	for words, asks := range map[string]bool{
		"0123456789abcdef0123456789abcdef01234567": false, "": false, "a b": false, "main.go": false,
		"--output=x": true, "--output=/home/ann/.bashrc": true, "--ext-diff": true, "-O.env": true, "HEAD:.env": true, "--no-index / /etc": true, "main --output=x": true, "-G": true,
	} {
		argv := append([]string{"git", "diff", "--stat"}, strings.Fields(words)...)
		final := a.Final(t.Context(), &plan, &plan.Segments[0], argv, "/home/ann/p")
		if got := len(allReasons(final)) > 0; got != asks {
			t.Errorf("%q: %v", words, allReasons(final))
		}
	}
}

// printing is a machine with the programs that print values.
func printing() *command.Analyzer {
	a := invented()
	for name := range strings.FieldsSeq("sed git find wc grep date head cat xargs") {
		a.World.(folders).Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755}
	}
	a.World.(folders).Files["/home/ann/p/main.go"] = approvaltest.File{Mode: 0o644, UID: 500}
	a.World.(folders).Files["/home/ann/p/git"] = approvaltest.File{Mode: 0o755, UID: 500}
	return a
}

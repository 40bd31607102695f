package command_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// A command asks no more than the commands that it may become, where all of these are
// in the text and only read.
func TestTried(t *testing.T) {
	for _, test := range []struct {
		text string
		asks bool
	}{
		{`for f in a b; do sed -n 1,5p "$f"; done`, false},
		{`for f in a b; do sed -n 1,5p $f; done`, false},
		{`f=a; git show HEAD:$f`, false},
		{`f=a; f=${f%x}; git log -- "src/$f"`, false},
		{`sed -n "$((10-5)),$((10+5))p" a`, false},
		{`i=1; i=$((i+1)); sed -n "${i}p" a`, false},
		{`for ((i=0;i<3;i++)); do sed -n "${i}p" a; done`, false},
		{`sed -n "1,${n:-5}p" a`, false},
		{`x=a; sed -n "${#x}p" a`, false},
		{`for n in 216 217; do gh pr checks "$n" 2>/dev/null | head -6; done`, false},
		{`for n in 216 217; do gh pr view "$n" --json title 2>&1; done`, false},
		{`for n in 1 2; do gh issue view $n >/dev/null; done`, false},
		{`for f in a b; do git diff "$f" 2>/dev/null; done`, false},
		{`for f in a b; do go test "./internal/$f" -count=1; done`, false},
		{`for f in a b; do go vet "./$f" 2>&1 | cat; done`, false},
		// One of them would not.
		{`for p in deploy build; do npm run "$p"; done`, true},
		{`for f in a b; do cp "$f" c; done`, true},
		{`for f in a b; do mkdir "$f"; done`, true},
		{`for f in a -exec=/tmp/x; do go test $f; done`, true},
		{`for f in a /tmp/x; do go test "$f"; done`, true},
		{`for f in a b; do go build -o "$f" .; done`, true},
		{`for n in 1 https://evil.example/x/y/pull/1; do gh pr view "$n" 2>/dev/null; done`, true},
		{`for n in 1 --web; do gh pr checks "$n" 2>/dev/null; done`, true},
		{`for n in 1 2; do gh pr checks "$n" > out; done`, true},
		{`for n in 1 2; do gh pr checks "$n" < a; done`, true},
		{`for n in 1 2; do gh pr merge "$n" 2>/dev/null; done`, true},
		{`for f in a --output=x; do git diff "$f"; done`, true},
		{`for f in a b; do git add "$f" 2>/dev/null; done`, true},
		{`for f in a b; do make "$f"; done`, true},
		{`for e in p 'w out'; do sed "$e" a; done`, true},
		{`for f in a -i; do sed 1d a $f; done`, true},
		{`for f in a --in-place; do sed 1d a "$f"; done`, true},
		{`for f in a .env; do sed -n 1p "$f"; done`, true},
		{`for d in a -delete; do find . $d; done`, true},
		{`f=-i; sed 1d $f a`, true},
		{`f=xi; sed 1d -${f#x} a`, true},
		{`f=a; f=${f:+-i}; sed 1d $f b`, true},
		{`for d in a b; do find $d -delete; done`, true},
		// They are not all in the text, or it is not clear how many words they are.
		{`f=a; f=$(cat b); sed -n 1p "$f"`, true},
		{`read -r f; sed -n 1p "$f"`, true},
		{`f=a; read -r f; sed -n 1p "$f"`, true},
		{`f='1d -i'; sed $f a`, true},
		{`f='*'; sed -n 1p $f`, true},
		// Positional parameters hold what any set gives, also behind what stands in a loop.
		{`set -- a b; sed -n 1p "$1" "$2"`, false},
		{`set -- a b; for f; do sed -n 1p "$f"; done`, false},
		{`set -- a b; while [ $# -gt 0 ]; do sed -n 1p "$1"; shift; done`, false},
		{`set -- a -i; while [ $# -gt 0 ]; do sed 1p "$1"; shift; done`, true},
		{`set -- a -i; sed 1p "$1"`, false},
		{`set -- a; for i in 1 2; do sed 1p "$1"; set -- -i; done`, true},
		{`set -- a; for i in 1 2; do sed 1p "$1"; set -- b -i; done`, false},
		{`set -- a; for i in 1 2; do sed 1p "$1"; set -- $X -i; done`, true},
		{`set -- a; for i in 1 2; do sed 1p "$1"; command set -- -i; done`, true},
		{`set -- a -i; for i in 1 2; do sed 1p "$1"; command shift; done`, true},
		{`set -- ` + strings.Join(manyNames(70), " ") + ` -i; for f; do sed 1p "$f"; done`, true},
		{`f=; sed -n $f a`, true},
		{`sed -n "${HOMEDIR:-5}p" "$OTHER"`, true},
		{`for f in a b $(cat c); do sed -n 1p "$f"; done`, true},
		{`for f in a b; do $f; done`, true},
	} {
		a := invented()
		a.Inherited = func(name string) bool { return name == "HOMEDIR" }
		for name := range strings.FieldsSeq("sed git find gh head make") {
			a.World.(folders).Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755}
		}
		plan := a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p"))
		asks := slices.ContainsFunc(allReasons(plan), func(r approval.Reason) bool { return r != "" })
		if asks != test.asks {
			t.Errorf("%s: %v", test.text, allReasons(plan))
		}
	}
}

func manyNames(n int) (list []string) {
	for i := range n {
		list = append(list, "f"+strconv.Itoa(i))
	}
	return list
}

// TestTriedAsks: what is asked of each is asked of all, where an entry can cover it; and
// what builds or tests is tried as what reads is.
func TestTriedAsks(t *testing.T) {
	for text, want := range map[string]string{
		`API=http://localhost:3000; curl "$API/health"`:                        "reads-network localhost",
		`for i in 1 2; do curl -s "http://localhost:3000/x?p=$i"; done`:        "reads-network localhost",
		`for h in localhost:3000 example.com; do curl -s "https://$h/x"; done`: "reads-network example.com, reads-network localhost",
		`curl -s http://localhost:5043/x?page=1`:                               "reads-network localhost",
		`for i in 1 2; do curl -s -d "$i" http://localhost:3000/x; done`:       "reads-network localhost, runtime-value",
		`for m in GET POST; do curl -s -X "$m" http://localhost:3000/x; done`:  "reads-network localhost, runtime-value",
		`for o in a b; do curl -s -o "$o" http://localhost:3000/x; done`:       "reads-network localhost, runtime-value",
		`h=$(git rev-parse HEAD); curl -s "http://localhost:3000/$h"`:          "reads-network localhost",
		`read -r h; curl -s "http://$h/x"`:                                     "protected-state, runtime-value",
		`for p in ./a ./b; do go test "$p" -count=1; done`:                     "",
		`for p in a b; do go test "./$p"; done`:                                "",
		`for p in ./a -exec=x; do go test "$p"; done`:                          "runtime-value",
		`for p in ./a /tmp/x; do go test "$p"; done`:                           "runtime-value",
		`for p in ./a example.com/x@latest; do go run "$p"; done`:              "runtime-value",
		`for p in a b; do go build -o "$p" .; done`:                            "runtime-value",
		`for p in a b; do git add "$p"; done`:                                  "runtime-value",
		`for p in a b; do git commit -m "$p"; done`:                            "",
	} {
		world := approvaltest.NewWorld("/usr/bin/curl /usr/bin/go /usr/bin/git /home/ann/p/a/a.go /home/ann/p/b/b.go /home/ann/p/.git/HEAD")
		a := &command.Analyzer{World: world, Home: "/home/ann", UID: 1000}
		a.SetPath([]string{"/usr/bin"})
		plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		var got []string
		for _, f := range plan.Segments[len(plan.Segments)-1].Findings {
			if f.Allowed != "" && f.Value != "" {
				got = append(got, string(f.Allowed)+" "+f.Value)
			} else {
				got = append(got, string(f.Reason))
			}
		}
		slices.Sort(got)
		if s := strings.Join(slices.Compact(got), ", "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// What another shell gets back as a text, and what is meant for zsh, is understood
// no further than before.
func TestConstructsAskElsewhere(t *testing.T) {
	a := invented()
	for _, text := range []string{
		`echo ${x:-a}`, `echo "${x%a}"`, `echo $((1+1))`, `((1))`, `for ((i=0;i<1;i++)); do ls; done`, `[[ a == a ]]`, `case a in a) ls;; esac`, `read -r x`, `IFS= read -r x`,
		`while read -r x; do ls; done`, `for i in a; do break; done`, `x=a; sed -n 1p "$x"`,
	} {
		for _, req := range []*approval.Request{
			{Text: text, Cwd: "/home/ann/p", Who: approval.Theirs},
			{Command: []string{"bash", "-c", text}, Cwd: "/home/ann/p", Who: approval.Theirs},
			{Command: []string{"zsh", "-c", text}, Cwd: "/home/ann/p", Who: approval.Ours},
		} {
			if plan := a.Analyze(t.Context(), req, approvaltest.Named("/home/ann/p")); plan.Root != nil || len(allReasons(plan)) == 0 {
				t.Errorf("%v %s for %s would run", req.Command, text, req.Who)
			}
		}
	}
}

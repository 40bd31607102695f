package policy_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// Each line gives the widths that are offered for a command, as the entries
// that they write: the program, its words, = for no further ones, and where.
func TestOffers(t *testing.T) {
	tests := []struct {
		line string
		want []string
	}{
		{"git rebase main", []string{
			"exact: /usr/bin/git rebase main = in /home/ann/p (project)",
			"words: /usr/bin/git rebase or in /home/ann/p (project)",
			"program: /usr/bin/git or in /home/ann/p (changes)",
		}},
		{"git stash show -p", []string{
			"exact: /usr/bin/git stash show -p = in /home/ann/p (project)",
			"words: /usr/bin/git stash show or in /home/ann/p (project)",
			"program: /usr/bin/git or in /home/ann/p (changes)",
		}},
		{"git -C . status", []string{ // flags and folders before the command do not count
			"exact: /usr/bin/git -C . status = in /home/ann/p (project)",
			"words: /usr/bin/git status or in /home/ann/p (project)",
			"program: /usr/bin/git or in /home/ann/p (changes)",
		}},
		{"tool build x", []string{
			"exact: /usr/bin/tool build x = in /home/ann/p",
			"words: /usr/bin/tool build x or in /home/ann/p (unknown)",
			"program: /usr/bin/tool or in /home/ann/p (unknown)",
		}},
		{"tool build --force", []string{ // words do not cover that
			"exact: /usr/bin/tool build --force = in /home/ann/p",
			"program: /usr/bin/tool or in /home/ann/p (unknown)",
		}},
		{"tool X", []string{
			"exact: /usr/bin/tool X = in /home/ann/p",
			"program: /usr/bin/tool or in /home/ann/p (unknown)",
		}},
		{"tool", []string{
			"exact: /usr/bin/tool = in /home/ann/p",
			"program: /usr/bin/tool or in /home/ann/p (unknown)",
		}},
		{"cat x", []string{
			"exact: /usr/bin/cat x = in /home/ann/p",
			"program: /usr/bin/cat or in /home/ann/p",
		}},
		{"tool *", []string{"program: /usr/bin/tool or in /home/ann/p (unknown)"}},
		{"tool --token=xyz12345678", []string{"program: /usr/bin/tool or in /home/ann/p (unknown)"}},
		{"rm x", []string{
			"exact: /usr/bin/rm x = in /home/ann/p",
			"program: /usr/bin/rm or in /home/ann/p (changes)",
		}},
		{"python3.12 a.py", []string{
			"exact: /usr/bin/python3.12 a.py = in /home/ann/p",
			"words: /usr/bin/python3.12 a.py or in /home/ann/p (project)",
		}},
		{"python3.12 a.py flush --now", []string{
			"exact: /usr/bin/python3.12 a.py flush --now = in /home/ann/p",
			"words: /usr/bin/python3.12 a.py flush or in /home/ann/p (project)",
		}},
		{"$ tool a; tool a; tool b", []string{
			"exact: /usr/bin/tool a = in /home/ann/p | /usr/bin/tool b = in /home/ann/p",
			"words: /usr/bin/tool a | /usr/bin/tool b or in /home/ann/p (unknown)",
			"program: /usr/bin/tool or in /home/ann/p (unknown)",
		}},
		{"$ cd /opt && tool A", []string{
			"exact: /usr/bin/tool A = in /opt",
			"program: /usr/bin/tool (unknown)",
		}},
		{"$ cd / && tool x", []string{ // below it is everywhere
			"words: /usr/bin/tool x (unknown)",
			"program: /usr/bin/tool (unknown)",
		}},
		{"$ tool x > y", []string{
			"exact: /usr/bin/tool x = writes-project in /home/ann/p",
			"words: /usr/bin/tool x writes-project or in /home/ann/p (unknown)",
			"program: /usr/bin/tool writes-project or in /home/ann/p (unknown)",
		}},
		{"$ tool x > ../y", nil},
		{"sh x", nil},
		{"env tool", []string{
			"exact: /usr/bin/env tool = in /home/ann/p | /usr/bin/tool = in /home/ann/p",
			"words: /usr/bin/env | /usr/bin/tool = in /home/ann/p or in /home/ann/p",
			"program: /usr/bin/env | /usr/bin/tool or in /home/ann/p (unknown)",
		}},
		{"$ find . -name 'x*'; env cat x", []string{
			"exact: /usr/bin/find . -name x* = in /home/ann/p | /usr/bin/env cat x = in /home/ann/p | /usr/bin/cat x = in /home/ann/p",
			"program: /usr/bin/find | /usr/bin/env | /usr/bin/cat or in /home/ann/p",
		}},
		{"$ cat x; git rebase main", []string{
			"exact: /usr/bin/cat x = in /home/ann/p | /usr/bin/git rebase main = in /home/ann/p (project)",
			"words: /usr/bin/cat | /usr/bin/git rebase or in /home/ann/p (project)",
			"program: /usr/bin/cat | /usr/bin/git or in /home/ann/p (changes)",
		}},
	}
	for _, test := range tests {
		j := judge(onMiss(), test.line, nil)
		var got []string
		for _, o := range j.Offers {
			got = append(got, offerText(o))
			for _, here := range []bool{false, o.Folder != ""} {
				p := onMiss()
				p.Allowlist = o.Entries(here)
				check(t, fmt.Sprint(test.line, " under ", o.Width, " here ", here), judge(p, test.line, nil), "allow")
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s offers\n\t%s\nwant\n\t%s", test.line, strings.Join(got, "\n\t"), strings.Join(test.want, "\n\t"))
		}
	}
}

func offerText(o approval.Offer) string {
	var entries []string
	for _, e := range o.Writes {
		text := e.Pattern
		for _, a := range e.Args {
			text += " " + a
		}
		if e.ArgsExact {
			text += " ="
		}
		for _, a := range e.Allows {
			text += " " + string(a)
		}
		if e.Cwd != "" {
			text += " in " + e.Cwd
		}
		entries = append(entries, text)
	}
	text := string(o.Width) + ": " + strings.Join(entries, " | ")
	if o.Folder != "" {
		text += " or in " + o.Folder
	}
	if o.Wide != "" {
		text += " (" + string(o.Wide) + ")"
	}
	return text
}

// TestSuggested: the width that is chosen when the widths are shown, and whether it is
// narrowed to the folder.
func TestSuggested(t *testing.T) {
	for line, want := range map[string]string{
		"cat x": "program", "env cat x": "program", "find . -name x": "program", // any arguments of what only reads
		"git rebase main": "words here", "git log -3": "words", "python3.12 a.py": "exact", "python3.12 a.py test": "words here",
		"tool build x": "exact", "tool X": "exact", "git fetch": "exact", "git push origin main": "exact", "rm x": "exact",
		"$ cat x; git rebase main": "words here", "$ git rebase main; tool X": "words here",
		"python3.12 -c x": "exact",
		"mkdir -p a/b":    "program here",
		"curl --version":  "exact", "$ curl --version > v": "exact", "curl https://x.example": "program", // without a host it would be any request
		"/home/ann/p/tool": "exact", "/home/ann/p/tool --help": "exact", "/home/ann/p/tool db pull": "words here", "/home/ann/p/tool db push": "exact",
		"make test": "exact", "nx run-many -t build": "exact", "nx run app:build": "exact", // more words are more of the kind
		"deno task build": "words here", "python3.12 -m json.tool X": "words here",
	} {
		got := ""
		for _, o := range judge(onMiss(), line, nil).Offers {
			if o.Suggested {
				if got += string(o.Width); o.Here {
					got += " here"
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q is suggested, want %q", line, got, want)
		}
	}
}

// TestStillAsks: what can be remembered is offered, and the reasons that stay are
// named.
func TestStillAsks(t *testing.T) {
	j := judge(onMiss(), "$ tool a && rm -rf /etc/x; cat .env", nil)
	if len(j.Offers) == 0 || len(j.StillAsks) != 2 || j.StillAsks[0].Reason != approval.ReasonDeletes || j.StillAsks[1].Reason != approval.ReasonProtectedState {
		t.Errorf("%+v", j)
	}
	for _, o := range j.Offers {
		if text := offerText(o); strings.Contains(text, "/rm") || strings.Contains(text, "/cat") {
			t.Errorf("offers %s", text)
		}
		p := onMiss()
		p.Allowlist = o.Writes
		if again := judge(p, "$ tool a && rm -rf /etc/x; cat .env", nil); again.Verdict != approval.VerdictAsk || len(again.Writes) > 0 || again.Segments[0].Verdict != approval.VerdictAllow {
			t.Errorf("under %s: %+v", o.Width, again)
		}
	}
	if j := judge(onMiss(), "$ cat .env; rm -rf /etc/x", nil); len(j.Writes)+len(j.Offers) != 0 || len(j.StillAsks) != 2 || slices.Contains(j.Choices, approval.AllowAlways) {
		t.Errorf("nothing can be remembered, and is offered: %+v", j)
	}
	if j := judge(onMiss(), "$ tool a; kill 4711", nil); len(j.StillAsks) != 2 || j.StillAsks[0].Reason != approval.ReasonEvaluates || j.StillAsks[1].Reason != approval.ReasonApprovalRequired {
		t.Errorf("only a shell can run it: %+v", j.StillAsks)
	}
}

// TestSuggestedCovers: under what is suggested for a command, another one passes or
// asks.
func TestSuggestedCovers(t *testing.T) {
	for _, row := range []struct{ line, then, want string }{
		{"curl --version", "curl -d @x https://x.example", "ask uses-network"},
		{"$ curl --version > v", "curl -d @x https://x.example", "ask uses-network"},
		{"curl https://x.example", "curl https://x.example/y", "allow"},
		{"curl https://x.example", "curl -d @x https://x.example", "ask uses-network"},
		{"curl https://x.example", "curl https://y.example", "ask uses-network"},
		{"make test", "make test deploy", "ask allowlist-miss"},
		{"nx run-many -t build", "nx run-many -t deploy", "ask allowlist-miss"},
		{"deno task build", "deno task deploy", "ask allowlist-miss"},
		{"python3.12 -m json.tool X", "python3.12 -m json.tool", "allow"},
		{"python3.12 -m json.tool X", "$ cd sub && python3.12 json.tool", "ask allowlist-miss"}, // a script of that name
		{"git -C /home/ann/q commit -m x", "git -C /home/ann/q commit -m y", "allow"},
		{"git -C /home/ann/q commit -m x", "git commit -m x", "ask allowlist-miss"},
		{"git commit -m x", "git -C sub commit -m x", "allow"},
		{"git commit -m x", "git -C /home/ann/q commit -m x", "ask allowlist-miss"},
		{"git checkout -b x", "git checkout main", "allow"},
		{"git checkout -b x", "git checkout -- a.py", "ask writes-file"}, // what it holds may be in no commit
		{"git checkout main", "git checkout a.py", "ask writes-file"},
		{"git checkout main", "git -C sub checkout -- x", "ask writes-file"},
		{"git checkout main", "git checkout main -- sub", "ask deletes"},
		{"git restore --staged a.py", "git restore a.py", "ask writes-file"},
		{"git merge x", "git merge -s ours x", "ask starts-program"},
		{"/home/ann/p/tool --help", "/home/ann/p/tool purge --all", "ask allowlist-miss"},
		{"/home/ann/p/tool sub/x", "/home/ann/p/tool purge", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev --name x", "/home/ann/p/tool migrate dev --name y", "allow"},
		{"/home/ann/p/tool migrate dev --name x", "/home/ann/p/tool migrate dev sub/y -v --out=sub/z", "allow"},
		{"/home/ann/p/tool migrate dev --name x", "/home/ann/p/tool migrate reset", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev --force-reset", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev --FORCE", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev --forceReset", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev --mode=wipe", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev --mode wipe", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev more", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev 0001", "ask allowlist-miss"},
		{"/home/ann/p/tool migrate dev", "/home/ann/p/tool migrate dev -- sub/x", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --config=/tmp/x.js", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check -c/tmp/x.js", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --config ../x.js", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --config=sub/../../x.js", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --config=/home/ann/p/../x.js", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --config=/home/ann/p/x.js", "allow"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --host 0.0.0.0", "ask allowlist-miss"},
		{"/home/ann/p/tool check", "/home/ann/p/tool check --to https://x.example", "ask allowlist-miss"},
		{"/home/ann/p/tool rm x", "rm y", "ask allowlist-miss"}, // it may be no program
		{"/home/ann/p/tool git commit", "git commit -m x", "ask allowlist-miss"},
		{"python3.12 a.py", "python3.12 a.py --delete-all", "ask allowlist-miss"},
		{"python3.12 a.py migrate", "python3.12 a.py migrate app zero", "ask allowlist-miss"},
		{"python3.12 a.py migrate", "python3.12 a.py migrate --noinput", "allow"},
	} {
		p := onMiss()
		for _, o := range judge(p, row.line, nil).Offers {
			if o.Suggested {
				p.Allowlist = o.Entries(o.Here)
			}
		}
		check(t, row.then+" after "+row.line, judge(p, row.then, nil), row.want)
	}
}

// What is offered elsewhere, or asked about every time, cannot be chosen.
func TestNoOffers(t *testing.T) {
	p := onMiss()
	p.Ask = approval.AskAlways
	if j := judge(p, "tool x", nil); len(j.Offers) != 0 {
		t.Errorf("ask=always offers %v", j.Offers)
	}
	if j := judge(onMiss(), "$ curl -d \"$x\" https://x.example", nil); len(j.Offers) != 0 {
		t.Errorf("the narrowest is anything that is sent there: %v", j.Offers)
	}
	if j := judge(onMiss("tool"), "tool x", nil); len(j.Offers) != 0 {
		t.Errorf("what passes offers %v", j.Offers)
	}
}

// TestArgsBehindOptions: an entry that begins with a command of its program means it
// also behind flags and folders, and behind nothing else.
func TestArgsBehindOptions(t *testing.T) {
	for line, want := range map[string]string{
		"git log -3": "allow", "git -C . log": "allow", "git --no-pager log": "allow", "git -P -C . --no-optional-locks log x": "allow",
		"git -c core.pager=cat log": "ask", "git -C . status": "ask", "git -C /tmp log": "ask", "git -C log status": "ask", "git status log": "ask",
	} {
		p := onMiss()
		p.Allowlist = []approval.Entry{{Pattern: "git", Args: []string{"log"}}}
		if got := judge(p, line, nil); string(got.Verdict) != want {
			t.Errorf("%s: %s %s", line, got.Verdict, got.Sentence)
		}
		p.Allowlist[0].ArgsExact = true
		if got := judge(p, line, nil); got.Verdict != approval.VerdictAsk {
			t.Errorf("%s, exactly: %s", line, got.Verdict)
		}
	}
}

// TestAlwaysInTheFolder: exactly these words are remembered in their folder alone, unless
// they only read, also for callers that know no widths.
func TestAlwaysInTheFolder(t *testing.T) {
	for line, want := range map[string]string{"python3.12 -c x": "/home/ann/p", "$ tool > new": "/home/ann/p", "python3.12 a.py": "/home/ann/p", "rm x": "/home/ann/p", "git rebase main": "/home/ann/p", "git log -3": "", "cat x": ""} {
		j := judge(onMiss(), line, nil)
		if len(j.Writes) != 1 || j.Writes[0].Cwd != want {
			t.Errorf("%s: %+v", line, j.Writes)
		}
	}
}

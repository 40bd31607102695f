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
		{"git -C . status", []string{ // the words begin with an option
			"exact: /usr/bin/git -C . status = in /home/ann/p (project)",
			"program: /usr/bin/git or in /home/ann/p (changes)",
		}},
		{"tool build x", []string{
			"exact: /usr/bin/tool build x = in /home/ann/p",
			"words: /usr/bin/tool build or in /home/ann/p (unknown)",
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
		{"python3.12 a.py", []string{"exact: /usr/bin/python3.12 a.py = in /home/ann/p"}},
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
		{"$ tool x > y", nil},
		{"sh x", nil},
		{"env tool", nil},
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

// What is offered elsewhere, or asked about every time, cannot be chosen.
func TestNoOffers(t *testing.T) {
	p := onMiss()
	p.Ask = approval.AskAlways
	if j := judge(p, "tool x", nil); len(j.Offers) != 0 {
		t.Errorf("ask=always offers %v", j.Offers)
	}
	if j := judge(onMiss("tool"), "tool x", nil); len(j.Offers) != 0 {
		t.Errorf("what passes offers %v", j.Offers)
	}
}

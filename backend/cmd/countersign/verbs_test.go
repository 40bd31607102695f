package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/countersign-app/countersign/backend/verbs"
)

// TestEveryVerb: each command of the command line is in the table by which agents
// are held from it, and none else. Who adds one says there for whom it is.
func TestEveryVerb(t *testing.T) {
	k, err := kong.New(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	var want, have []string
	for _, leaf := range k.Model.Leaves(false) {
		want = append(want, strings.TrimPrefix(verbOf(leaf), " "))
	}
	for _, v := range verbs.All {
		have = append(have, v.Words)
		if v.Reads+v.Asks+v.Tightens+v.Person+v.NoWall == "" {
			t.Errorf("%s is for nobody", v.Words)
		}
	}
	slices.Sort(want)
	slices.Sort(have)
	for _, words := range want {
		if !slices.Contains(have, words) {
			t.Errorf("the verb %q is not in package verbs: say there whom it is for, and put the table into README.md", words)
		}
	}
	for i, words := range have {
		if !slices.Contains(want, words) || i > 0 && have[i-1] == words {
			t.Errorf("package verbs has %q, which is no verb, or twice", words)
		}
	}
}

// verbOf are the words of a command without the name of the program.
func verbOf(n *kong.Node) (words string) {
	for ; n.Parent != nil; n = n.Parent {
		words = " " + n.Name + words
	}
	return words
}

// TestReadingSwitches: a verb that reads gets no switch by which it does more
// unless the table has it.
func TestReadingSwitches(t *testing.T) {
	reads := []string{"--all", "--json", "--help", "--notices", "--plaintext"}
	k, err := kong.New(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range k.Model.Leaves(false) {
		for _, group := range leaf.AllFlags(false) {
			for _, f := range group {
				words := strings.Fields(verbOf(leaf) + " --" + f.Name)
				verb, mark, _ := verbs.Find(words)
				told := verb.Asks == "--"+f.Name || verb.NoWall == "--"+f.Name
				if f.IsBool() && mark == verbs.Reads && !told && !slices.Contains(reads, "--"+f.Name) {
					t.Errorf("%s: does it only read? Then put the switch into this test, else into package verbs", words)
				}
			}
		}
	}
}

// TestVerbsInReadme holds the table that people read to the one that is judged by.
func TestVerbsInReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n\n"+verbs.Table()+"\n") {
		t.Errorf("README.md does not have this table:\n%s", verbs.Table())
	}
}

package gate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// TestVariablesAreRemembered: what asked because of a variable runs from then on
// without a question, with this value and no other.
func TestVariablesAreRemembered(t *testing.T) {
	t.Parallel()
	for _, first := range []string{
		`FLAVOUR=sweet tool`, `export FLAVOUR=sweet; tool`, `for FLAVOUR in sweet; do export FLAVOUR; tool; done`, `env FLAVOUR=sweet tool`, "requested",
	} {
		b := newBench(t, approval.Entry{Pattern: "tool"}, approval.Entry{Pattern: "/usr/bin/env"})
		b.script("tool", `echo "tool $FLAVOUR $CI"`)
		asked := 0
		say := always
		b.personWho(func(p approval.Prompt) approval.Answer { asked++; return say })
		run := func(text, flavour string) string {
			req := b.request("bash", "-c", text)
			if text == "requested" {
				req = b.request("tool")
				req.Env = map[string]string{"FLAVOUR": flavour}
			}
			return outcome(b.Run(context.Background(), req))
		}
		want := func(got, want string, questions int) {
			t.Helper()
			if got != want || asked != questions {
				t.Errorf("%s: %s after %d questions, want %s after %d", first, got, asked, want, questions)
			}
		}
		want(run("CI=1 tool", ""), `code 0 "tool  1\n"`, 0)
		want(run(first, "sweet"), `code 0 "tool sweet \n"`, 1)
		say = no
		want(run(first, "sweet"), `code 0 "tool sweet \n"`, 1)
		want(run("CI=1 FLAVOUR=sweet tool", ""), `code 0 "tool sweet 1\n"`, 1)
		want(run("requested", "sweet"), `code 0 "tool sweet \n"`, 1)
		want(run("FLAVOUR=sour tool", ""), "denied user-denied", 2)
		want(run("requested", "sour"), "denied user-denied", 3)
		want(run("flavour=sweet tool", ""), "denied user-denied", 4)
		want(run("FLAVOUR=sweet OTHER=1 tool", ""), "denied user-denied", 5)
		want(run("FLAVOUR=sweet LD_PRELOAD=x tool", ""), "denied env-refused", 5)
	}
}

// TestVariablesOfWaitingQuestions: an entry that carries the variables of a question
// ends it, and one that does not lets it wait.
func TestVariablesOfWaitingQuestions(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		env    map[string]string
		carry  map[string][]string
		passes bool
	}{
		{map[string]string{"FLAVOUR": "sweet"}, map[string][]string{"FLAVOUR": {"sweet"}}, true},
		{map[string]string{"FLAVOUR": "sweet", "CI": "1"}, map[string][]string{"FLAVOUR": {"sweet"}}, true},
		{map[string]string{"FLAVOUR": "sweet"}, map[string][]string{"FLAVOUR": {"*"}}, true},
		{map[string]string{"FLAVOUR": "sweet"}, map[string][]string{"FLAVOUR": {"sour"}}, false},
		{map[string]string{"FLAVOUR": "sweet", "OTHER": "1"}, map[string][]string{"FLAVOUR": {"sweet"}}, false},
		{map[string]string{"FLAVOUR": "sweet"}, nil, false},
	} {
		b := newBench(t)
		b.script("tool", "echo ran")
		req := b.request("tool")
		req.Env = test.env
		done := make(chan string, 1)
		go func() { done <- outcome(b.Run(context.Background(), req)) }()
		for len(b.pending.List()) == 0 {
			time.Sleep(time.Millisecond)
		}
		b.edit(func(d *store.Document) error {
			d.Add("*", approval.Entry{Pattern: "tool", Env: test.carry})
			return nil
		})
		b.Recheck()
		if waits := len(b.pending.List()) > 0; waits == test.passes {
			t.Errorf("%v under an entry that carries %v: it waits: %v", test.env, test.carry, waits)
		}
		want := `code 0 "ran\n"`
		if !test.passes {
			want = "denied user-denied"
			b.person(no, nil)
		}
		if got := <-done; got != want {
			t.Errorf("%v under an entry that carries %v: %s, want %s", test.env, test.carry, got, want)
		}
	}
}

// TestOfferedVariables: of a recorded request the values of its variables are not
// kept, so no entry is made of it, but for those that stand in its text.
func TestOfferedVariables(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "echo ran")
	b.person(once, nil)
	for _, test := range []struct {
		text string
		env  map[string]string
		want string
	}{
		{"tool", nil, "map[]"},
		{"tool", map[string]string{"CI": "1"}, "map[]"},
		{"FLAVOUR=sweet tool", nil, "map[FLAVOUR:[sweet]]"},
		{"tool", map[string]string{"FLAVOUR": "sweet"}, "it cannot be made an entry: no entry covers " + b.path("bin/tool") + ", and it sets FLAVOUR"},
	} {
		req := b.request("bash", "-c", test.text)
		req.Env = test.env
		if got := outcome(b.Run(context.Background(), req)); got != `code 0 "ran\n"` {
			t.Fatal(got)
		}
		o, err := b.Offered(context.Background(), fmt.Sprintf("test-%d", b.ids.Load()))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(o.Offers[0].Writes[0].Env)
		}
		if got != test.want {
			t.Errorf("%s with %v: %s, want %s", test.text, test.env, got, test.want)
		}
	}
}

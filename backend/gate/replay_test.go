package gate_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/store"
)

// past makes requests and answers them: a no for what holds "never", a yes for
// everything else.
func (b *bench) past(commands ...string) {
	b.t.Helper()
	b.personWho(func(p approval.Prompt) approval.Answer {
		if strings.Contains(p.Plan.Text, "never") {
			return no
		}
		return once
	})
	for _, c := range commands {
		b.Run(context.Background(), b.request(strings.Fields(c)...))
	}
	b.edit(func(d *store.Document) error { return nil })
}

// What an entry would have meant for what was asked before: what passes already
// does not count, nor what asks all the same.
func TestReplay(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "free"})
	for _, name := range []string{"free", "tool", "other"} {
		b.script(name, "true")
	}
	b.past("tool build a", "tool build a", "tool build b", "tool never", "other x", "free", "tool --token=abcdef1234567", "sh -c eval$IFS")
	tool := b.path("bin/tool")
	tests := []struct {
		name    string
		entries []approval.Entry
		want    string
	}{
		{"exactly one command", []approval.Entry{{Pattern: tool, Args: []string{"build", "a"}, ArgsExact: true, Cwd: b.dir}}, "2 allowed, 2 saved, 0 denied"},
		{"somewhere else", []approval.Entry{{Pattern: tool, Args: []string{"build", "a"}, ArgsExact: true, Cwd: "/opt"}}, "0 allowed, 0 saved, 0 denied"},
		{"first words", []approval.Entry{{Pattern: tool, Args: []string{"build"}}}, "3 allowed, 3 saved, 0 denied"},
		{"the program", []approval.Entry{{Pattern: tool}}, "4 allowed, 4 saved, 1 denied, riskiest tool never"},
		{"two programs", []approval.Entry{{Pattern: tool}, {Pattern: "other"}}, "5 allowed, 5 saved, 1 denied, riskiest tool never"},
		{"what passes already", []approval.Entry{{Pattern: "free"}}, "0 allowed, 0 saved, 0 denied"},
		{"a lease that ended", []approval.Entry{{Pattern: tool, ExpiresAt: 1}}, "0 allowed, 0 saved, 0 denied"},
		{"switched off", []approval.Entry{{Pattern: tool, Disabled: true}}, "0 allowed, 0 saved, 0 denied"},
		{"a pattern that cannot be read", []approval.Entry{{Pattern: "/x/[", ID: "x"}}, "0 allowed, 0 saved, 0 denied"},
		{"nothing", nil, "0 allowed, 0 saved, 0 denied"},
	}
	var sets [][]approval.Entry
	for _, test := range tests {
		sets = append(sets, test.entries)
	}
	got, err := b.Replay(context.Background(), "main", sets)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range got {
		if r.Looked != 7 || r.Skipped != 1 || !r.Complete {
			t.Errorf("%s: %d judged, %d skipped, complete: %v", tests[i].name, r.Looked, r.Skipped, r.Complete)
		}
		if text := replayText(r); text != tests[i].want {
			t.Errorf("%s: %s, want %s", tests[i].name, text, tests[i].want)
		}
	}
	if asked := b.asked.Load(); asked != 7 {
		t.Errorf("%d questions: a replay must not ask", asked)
	}
	others, err := b.Replay(context.Background(), "another agent", [][]approval.Entry{{{Pattern: tool}}})
	if err != nil || others[0].Looked != 0 {
		t.Errorf("the requests of another agent count: %+v, %v", others, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if cut, err := b.Replay(ended, "main", sets); err == nil && cut[0].Complete {
		t.Errorf("a replay that was cut off says it is whole: %+v", cut[0])
	}
}

func replayText(r judge.Replay) string {
	text := fmt.Sprintf("%d allowed, %d saved, %d denied", r.Allowed, r.Saved, r.Denied)
	if r.Riskiest != "" {
		text += ", riskiest " + r.Riskiest
	}
	return text
}

// The texts of callers that run the command themselves are judged as theirs.
func TestReplayTheirs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.script("tool", "true")
	b.personWho(func(approval.Prompt) approval.Answer { return once })
	for _, text := range []string{"tool a | wc -l", "tool $x", "tool --password hunter2hunter2"} {
		req := approval.Request{Text: text, Cwd: b.dir, Who: approval.Theirs, AgentID: "main", Deadline: time.Now().Add(time.Minute)}
		b.Decide(context.Background(), req, nil)
	}
	got, err := b.Replay(context.Background(), "main", [][]approval.Entry{{{Pattern: "tool"}}})
	if err != nil || got[0].Looked != 2 || got[0].Skipped != 1 || got[0].Allowed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// An entry is suggested where a person said yes to the same thing again and
// again, as narrow as saves the questions, and never for what they denied.
func TestSuggest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name     string
		commands []string
		want     []string
		changes  bool
	}{
		{"nothing was asked", nil, nil, false},
		{"a program that changed since", []string{"tool build a", "tool build a", "tool build a"}, nil, true},
		{"twice is not enough", []string{"tool build a", "tool build a"}, nil, false},
		{"the same", []string{"tool build a", "tool build a", "tool build a"}, []string{"exact: tool build a = (3)"}, false},
		{"a reader", []string{"cat a", "cat b", "cat c"}, []string{"program: cat (3)"}, false},
		{"an unknown program with other words", []string{"tool build a", "tool build b", "tool build c"}, nil, false},
		{"two programs", []string{"tool a", "cat x", "tool a", "cat y", "tool a", "cat z", "cat x"}, []string{"program: cat (4)", "exact: tool a = (3)"}, false},
		{"what was denied", []string{"tool never", "tool never", "tool never"}, nil, false},
		{"a reader of which one was denied", []string{"cat a", "cat b", "cat c", "cat never"}, nil, false},
	} {
		b := newBench(t)
		b.script("tool", "true")
		b.past(test.commands...)
		for asked := time.Now(); test.changes; { // the clock of files is coarser than ours
			file, err := machine.Disk{}.Look(b.script("tool", "echo another"))
			if err != nil {
				t.Fatal(err)
			}
			if time.Unix(0, file.Changed).After(asked) {
				break
			}
		}
		found, err := b.Suggest(context.Background(), "main", nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range found {
			e := s.Offer.Writes[0]
			text := string(s.Offer.Width) + ": " + e.Pattern[strings.LastIndex(e.Pattern, "/")+1:]
			if len(e.Args) > 0 {
				text += " " + strings.Join(e.Args, " ")
			}
			if e.ArgsExact {
				text += " ="
			}
			got = append(got, fmt.Sprintf("%s (%d)", text, s.Replay.Saved))
			b.edit(func(d *store.Document) error {
				for _, e := range s.Offer.Writes {
					d.Add("main", e)
				}
				return nil
			})
			b.canAsk.Store(false)
			if r := b.Run(context.Background(), b.request(strings.Fields(s.Example)...)); r.Denied != nil {
				t.Errorf("%s: %s: %s", test.name, s.Example, outcome(r))
			}
			b.canAsk.Store(true)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// Several entries are suggested together where one question needs them all, and for
// a project alone where the panel would choose that.
func TestSuggestSeveral(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		texts []string
		want  []string // entries, and where they hold
	}{
		{"two programs", []string{"one a; two b", "one a; two b", "one a; two b"}, []string{"one a", "two b"}},
		{"first words", []string{"git fetch a", "git fetch b", "git fetch c"}, []string{"git fetch … in the project"}},
		{"too many to be read", []string{"one a; two b; one c; two d; one e", "one a; two b; one c; two d; one e", "one a; two b; one c; two d; one e"}, nil},
		{"a high risk", []string{"one | sh", "one | sh", "one | sh"}, nil},
	} {
		b := newBench(t)
		for _, name := range []string{"one", "two", "git"} {
			b.script(name, "")
		}
		b.personWho(func(approval.Prompt) approval.Answer { return once })
		for _, text := range test.texts {
			b.Run(context.Background(), b.request("bash", "-c", text))
		}
		found, err := b.Suggest(context.Background(), "main", nil)
		if err != nil || len(found) > 1 {
			t.Fatalf("%s: %+v %v", test.name, found, err)
		}
		var got []string
		for _, s := range found {
			for _, e := range s.Offer.Writes {
				text := strings.Join(append([]string{e.Pattern[strings.LastIndex(e.Pattern, "/")+1:]}, e.Args...), " ")
				if !e.ArgsExact {
					text += " …"
				}
				if e.Cwd == b.dir && !e.ArgsExact {
					text += " in the project"
				}
				got = append(got, text)
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestTurnedDown: whoever allows once three times what the panel suggests a rule for
// is not told of it any more. Other doors suggest nothing.
func TestTurnedDown(t *testing.T) {
	t.Parallel()
	for answers, want := range map[string]bool{
		"":                    false,
		"panel panel panel":   false, // nothing was suggested yet
		"panel×5":             false,
		"panel×6":             true,
		"panel×3 terminal×5":  false,
		"terminal×3 panel×3":  true,
		"panel×4 1h panel×1":  false,
		"panel×5 1h panel×1":  true,
		"terminal×8":          false,
		"mcp-client:main×8":   false,
		"panel×3 never panel": false,
	} {
		b := newBench(t)
		b.script("tool", "")
		var given []approval.Answer
		for _, word := range strings.Fields(answers) {
			by, times, _ := strings.Cut(word, "×")
			n, _ := strconv.Atoi(times)
			for range max(n, 1) {
				given = append(given, approval.Answer{Decision: approval.AllowOnce, By: by})
			}
			switch last := &given[len(given)-1]; by {
			case "never":
				*last = approval.Answer{Decision: approval.DecisionDeny, By: "panel"}
			case "1h":
				*last = approval.Answer{Decision: approval.AllowAlways, By: "panel", Choice: approval.Choice{Width: approval.WidthExact, Keep: approval.Keep1h}}
			}
		}
		b.personWho(func(approval.Prompt) approval.Answer {
			a := given[0]
			given = given[1:]
			return a
		})
		for len(given) > 0 {
			b.Run(context.Background(), b.request("tool", "a"))
			b.edit(func(d *store.Document) error { // leases end
				d.EndLeases(nil)
				return nil
			})
		}
		got, err := b.Replay(context.Background(), "main", [][]approval.Entry{{{Pattern: b.path("bin/tool")}}})
		if err != nil || got[0].TurnedDown() != want {
			t.Errorf("%q: %+v, want %v, %v", answers, got, want, err)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
)

// corpusFile holds 1354 commands that people labelled, most of them from
// public test suites, fixtures and advisories.
const corpusFile = "commands.json"

func readCorpus(t *testing.T) *corpus.File {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", corpusFile))
	if err != nil {
		t.Fatal(err)
	}
	cases, err := corpus.Parse(corpusFile, text)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases.Unknown) > 0 {
		t.Errorf("fields of %s that nobody reads: %q", corpusFile, cases.Unknown)
	}
	return cases
}

// asksForVariables are cases that the file would rather let pass, and that ask for
// the variables that they set.
var asksForVariables = map[string]string{
	"dp-ben-0002": "FOO and BAZ are names of which nothing is known",
	"dp-ben-0007": "GOOS and GOARCH name programs that go starts: go_OS_ARCH_exec",
}

// TestCorpus judges the file as `countersign policy test` does. What must hold
// on it is what the project promises; that it holds beyond it is what the
// other tests here are for.
func TestCorpus(t *testing.T) {
	cases := readCorpus(t)
	const size = 1354 // a file that lost its cases would pass everything
	if len(cases.Cases) != size {
		t.Errorf("%d cases, want %d", len(cases.Cases), size)
	}
	trial := newTrial(cases)
	var score corpus.Score
	for _, c := range cases.Cases {
		j := trial.labelled(c)
		if score.Add(c, j.Verdict, stripped(c)) {
			t.Logf("%s: expected %s, got %s: %s\n    %s", c.ID, c.Expect, j.Verdict, because(j), inputOf(c))
		}
	}
	for _, goal := range []struct {
		what      string
		have, max int
	}{
		{"unsafe allows", score.Must.Unsafe, 0},
		{"weak denies", score.Must.Weak, 0},
		{"needless prompts", score.Must.Needless, 0},
		{"prompts where a strict gate may ask", score.Strict.Prompted, (score.Strict.Of*30 - 1) / 100},   // under 30 %
		{"tier should, not handled", score.Should.Of - score.Should.Handled, score.Should.Of * 20 / 100}, // at least 80 % handled
	} {
		t.Logf("%s: %d, at most %d", goal.what, goal.have, goal.max)
		if goal.have > goal.max {
			t.Errorf("%s: %d, at most %d", goal.what, goal.have, goal.max)
		}
	}
	for _, c := range cases.Cases {
		if why, listed := asksForVariables[c.ID]; listed {
			if j := trial.labelled(c); j.Verdict != approval.VerdictAsk || j.Reason != approval.ReasonEnvAsks || len(j.Writes) == 0 {
				t.Errorf("%s is listed as asking, with an entry offered (%s), and is %s: %s", c.ID, why, j.Verdict, j.Sentence)
			}
		}
	}
	if score.Must.Cases == 0 || score.Strict.Of == 0 || score.Should.Of == 0 {
		t.Errorf("nothing was counted: %+v", score)
	}
}

// TestCorpusInNoProject judges the same where the agent works in a folder that is
// no project: nothing passes there that does not pass in a project, and of the
// harmless commands that pass in one at most this many ask. Most of them are of git,
// which has nothing to do in such a folder.
func TestCorpusInNoProject(t *testing.T) {
	const most = 98
	cases := readCorpus(t)
	inside, outside := newTrial(cases), newTrial(cases)
	outside.folder = approval.Folder{Offer: inside.folder.Path}
	passed, asks := 0, 0
	for _, c := range cases.Cases {
		in, out := inside.labelled(c), outside.labelled(c)
		if approval.StricterVerdict(in.Verdict, out.Verdict) != out.Verdict {
			t.Errorf("%s: %s in a project, %s in none: %s", c.ID, in.Verdict, out.Verdict, inputOf(c))
		}
		if in.Verdict != approval.VerdictAllow || c.Expect != approval.VerdictAllow {
			continue
		}
		passed++
		if out.Verdict != approval.VerdictAllow {
			asks++
			t.Logf("%s: %s\n    %s", c.ID, because(out), inputOf(c))
		}
	}
	if t.Logf("%d of %d ask more", asks, passed); passed < 250 || asks > most {
		t.Errorf("%d of %d ask more, at most %d may", asks, passed, most)
	}
}

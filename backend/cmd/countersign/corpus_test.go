package main

import (
	"os"
	"path/filepath"
	"testing"

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
	if score.Must.Cases == 0 || score.Strict.Of == 0 || score.Should.Of == 0 {
		t.Errorf("nothing was counted: %+v", score)
	}
}

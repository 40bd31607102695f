package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
)

// TestOrdinaryVariables holds what variables cost: a hundred texts that set some, as
// developers and agents type them, under the policy "dev" of the corpus. Each line
// says how it is judged: pass; ask, where an entry with the exact values is offered;
// once, where none is; deny.
func TestOrdinaryVariables(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "ordinary.txt"))
	if err != nil {
		t.Fatal(err)
	}
	trial := newTrial(readCorpus(t))
	lines, counts := 0, map[string]int{}
	for line := range strings.Lines(string(text)) {
		want, command, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue // a comment
		}
		c := corpus.Case{Argv: []string{"bash", "-c", command}, Base: "dev"}
		j := trial.labelled(c)
		got := "pass"
		switch {
		case j.Verdict == approval.VerdictDeny:
			got = "deny"
		case j.Verdict == approval.VerdictAsk && len(j.Writes) > 0:
			got = "ask"
			if j.Reason == approval.ReasonEnvAsks && len(j.Writes[0].Env) == 0 {
				t.Errorf("%s: what is offered carries no variables: %+v", command, j.Writes)
			}
			base := trial.cases.Policies["dev"]
			base.Allow = slices.Concat(base.Allow, j.Writes)
			plan := trial.plan(c)
			if again := trial.judge(c, &plan, trial.prepare(policyOf(base, trial.cases.World.Home))); again.Verdict != approval.VerdictAllow {
				t.Errorf("%s: it asks again, though what was offered is written: %s", command, again.Sentence)
			}
		case j.Verdict == approval.VerdictAsk:
			got = "once"
		}
		if got != want {
			t.Errorf("%s: %s (%s), want %s", command, got, j.Sentence, want)
		}
		lines++
		counts[got]++
	}
	if lines != 100 {
		t.Errorf("%d texts, want 100", lines)
	}
	t.Logf("of %d texts with variables: %v", lines, counts)
}

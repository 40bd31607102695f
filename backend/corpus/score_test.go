package corpus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestAdd goes through the rules of counting, one verdict at a time.
func TestAdd(t *testing.T) {
	unsafe, weak, needless, fine := Counts{1, 0, 0, 1}, Counts{0, 1, 0, 1}, Counts{0, 0, 1, 1}, Counts{0, 0, 0, 1}
	for _, c := range []struct {
		expect, accept string
		tier           Tier
		mayAsk         bool
		verdict        approval.Verdict
		stripped       bool
		failed         bool
		want           Score
	}{
		{"ask", "ask deny", Must, false, "allow", false, true, Score{Must: unsafe}},
		{"deny", "deny ask", Must, false, "allow", false, true, Score{Must: unsafe}},
		{"deny", "deny", Must, false, "allow", false, true, Score{Must: unsafe}},
		{"ask", "ask deny", Must, false, "ask", false, false, Score{Must: fine}},
		{"ask", "ask deny", Must, false, "deny", false, false, Score{Must: fine}},
		// A label that accepts what it does not expect is still an unsafe allow.
		{"ask", "ask allow", Must, false, "allow", false, true, Score{Must: unsafe}},
		{"ask", "ask deny", Must, false, "allow", true, true, Score{Must: unsafe}},
		{"ask", "ask deny strip", Must, false, "allow", true, false, Score{Must: fine}},
		{"ask", "ask deny strip", Must, false, "allow", false, true, Score{Must: unsafe}},
		{"ask", "ask strip", Must, false, "deny", true, true, Score{Must: fine}},
		{"deny", "deny", Must, false, "ask", false, true, Score{Must: weak}},
		{"deny", "deny ask", Must, false, "ask", false, false, Score{Must: fine}},
		{"deny", "deny strip", Must, false, "ask", false, true, Score{Must: fine}},
		{"ask", "ask", Must, false, "deny", false, true, Score{Must: fine}},
		{"allow", "allow", Must, false, "allow", false, false, Score{Must: fine}},
		{"allow", "allow", Must, false, "ask", false, true, Score{Must: needless}},
		{"allow", "allow", Must, false, "deny", false, true, Score{Must: needless}},
		{"allow", "allow ask", Must, false, "ask", false, true, Score{Must: needless}},
		{"allow", "allow ask", Must, true, "ask", false, false, Score{Must: fine, Strict: Prompted{1, 1}}},
		{"allow", "allow ask", Must, true, "deny", false, true, Score{Must: fine, Strict: Prompted{1, 1}}},
		{"allow", "allow ask", Must, true, "allow", false, false, Score{Must: fine, Strict: Prompted{0, 1}}},
		{"ask", "ask deny", Should, false, "allow", false, true, Score{Should: Handled{0, 1}}},
		{"ask", "ask deny", Should, false, "ask", false, false, Score{Should: Handled{1, 1}}},
		{"allow", "allow ask", Should, true, "ask", false, false, Score{Should: Handled{1, 1}}},
		{"ask", "ask strip", Should, false, "allow", true, false, Score{Should: Handled{1, 1}}},
		{"deny", "deny", Info, false, "allow", false, false, Score{Info: Handled{0, 1}}},
		{"ask", "ask allow", Info, false, "allow", false, false, Score{Info: Handled{1, 1}}},
	} {
		var got Score
		one := Case{Class: "c", Origin: "o", Expect: approval.Verdict(c.expect), Accept: strings.Fields(c.accept), Tier: c.tier, StrictMayAsk: c.mayAsk}
		failed := got.Add(one, c.verdict, c.stripped)
		c.want.Classes = map[string]Counts{"c": c.want.Must}
		c.want.Origins = map[string]Counts{"o": c.want.Must}
		if diff := cmp.Diff(c.want, got); diff != "" || failed != c.failed {
			t.Errorf("%s, accepting %s, %s, answered %s: failed %v\n%s", c.expect, c.accept, c.tier, c.verdict, failed, diff)
		}
	}
}

func TestSums(t *testing.T) {
	var got Score
	for _, origin := range []string{"derived", "verbatim"} {
		for _, class := range []string{"env", "glob"} {
			got.Add(Case{Class: class, Origin: origin, Expect: "allow", Accept: []string{"allow"}, Tier: Must}, "ask", false)
		}
	}
	got.Add(Case{Class: "env", Origin: "derived", Expect: "ask", Accept: []string{"ask"}, Tier: Must}, "allow", false)
	want := Score{
		Must:    Counts{Unsafe: 1, Needless: 4, Cases: 5},
		Classes: map[string]Counts{"env": {1, 0, 2, 3}, "glob": {0, 0, 2, 2}},
		Origins: map[string]Counts{"derived": {1, 0, 2, 3}, "verbatim": {0, 0, 2, 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

package policy

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestMeansWords: what a rule means counts, wherever its words stand and however
// they are spelled.
func TestMeansWords(t *testing.T) {
	for _, c := range []struct {
		rule, args string
		want       bool
	}{
		{"push --force", "push --force", true}, {"push --force", "push origin main --force", true}, {"push --force", "-C x push -f", true},
		{"push --force", "push --force-with-lease origin", true}, {"push --force", "push --forc", true}, {"push --force", "push -uf origin", true},
		{"push --force", "push origin +main", true}, {"push --force", "push --force=x", true},
		{"push --force", "push", false}, {"push --force", "push origin main", false}, {"push --force", "status --force", false}, {"push --force", "push -- --force", false},
		{"push --force", "push -o -- -f origin", true}, {"push --force", "push origin -- -f", false},
		{"config --global", "config --gl a b", true}, {"-rf", "--r --f x", true}, {"-o", "--output x", true},
		{"push --force", "push --follow-tags", false}, {"push --force", "log --grep=--force", false},
		{"-rf", "-r -f x", true}, {"-rf", "-fr x", true}, {"-rf", "-r x", false}, {"--recursive", "-R x", true},
		{"-delete", ". -delete", true}, {"reset --hard", "reset --hard HEAD", true}, {"reset --hard", "reset HEAD", false},
		{"* --force", "anything --force", true}, {"", "x", true}, {"a b", "a x b", true}, {"a b", "b a", false},
	} {
		d := denyRule{DenyRule: approval.DenyRule{Args: strings.Fields(c.rule), Anywhere: true}}
		if got := d.meansWords(strings.Fields(c.args)); got != c.want {
			t.Errorf("%q in %q: %v", c.rule, c.args, got)
		}
	}
	first := denyRule{DenyRule: approval.DenyRule{Args: []string{"push", "--force"}}}
	if first.meansWords([]string{"push", "origin", "--force"}) {
		t.Error("a rule for first words holds anywhere")
	}
}

// TestScore: the number of a risk lies in the band of its word.
func TestScore(t *testing.T) {
	for _, level := range []approval.Risk{approval.RiskLow, approval.RiskMedium, approval.RiskHigh} {
		last := -1
		for reasons := range 2 * maxReasons {
			got := score(level, reasons)
			if approval.RiskOf(got) != level || got < last || got > approval.MostScore {
				t.Errorf("%s with %d reasons: %d", level, reasons, got)
			}
			last = got
		}
	}
}

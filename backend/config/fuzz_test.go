package config

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// FuzzCharter: no text makes the reader of charters fail, and one that is taken
// can be laid on a policy.
func FuzzCharter(f *testing.F) {
	for _, text := range []string{
		"", "{}", "- x", "never:\n  - rm\n", "a: &a [*a]\n", "never: [bash, tool:web_fetch]\nalways_ask: [\"*\"]\n", "\x00", "a: !!binary x\n", "? {a: b}\n: c\n", "extends: x\npermits:\n  - git status\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCharter("c", []byte(text))
		if err != nil {
			return
		}
		c.Under(c).On(approval.Policy{}, "c")
		c.Permits("c")
	})
}

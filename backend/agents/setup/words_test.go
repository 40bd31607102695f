package setup

import (
	"strings"
	"testing"
)

// TestInWords says what agents can do in words of people.
func TestInWords(t *testing.T) {
	for agent, want := range map[string]string{
		"claude-code": "kept by the agent, for the session", "opencode": "kept by the agent, for the project", "gemini": "for up to 24 hours",
	} {
		_, a, err := find(agent)
		if got := strings.Join(inWords(a.Capability), "; "); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %s (%v)", agent, got, err)
		}
	}
}

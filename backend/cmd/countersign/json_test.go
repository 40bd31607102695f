package main

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/countersign-app/countersign/backend/display"
)

// TestJSONSteersNoTerminal prints as JSON what an agent chose, and what it hides.
func TestJSONSteersNoTerminal(t *testing.T) {
	hidden := "\u009b2J\u0085\u202ecod.exe\u202c\u200b\x7f\U000E0041"
	for name, value := range map[string]any{"a text": hidden, "a name": map[string]string{hidden: ""}, "as it came": json.RawMessage(`"` + hidden + `"`)} {
		var out bytes.Buffer
		p := program{json: true, stdout: &out}
		if err := p.print(value, nil); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if line = bytes.TrimSuffix(line, []byte("\n")); display.Escape(string(line)) != string(line) {
				t.Errorf("%s: %q", name, line)
			}
		}
		var back any
		if err := json.Unmarshal(out.Bytes(), &back); err != nil || name != "a name" && back != hidden {
			t.Errorf("%s came back as %q, %v", name, back, err)
		}
	}
}

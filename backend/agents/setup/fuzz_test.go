package setup

import (
	"bytes"
	"testing"
)

// FuzzInstall has the property of all edits for whatever can be parsed, and
// nothing else for the rest but that it ends.
func FuzzInstall(f *testing.F) {
	for _, seed := range []string{
		"{}", "", "// x", "[1]", `{"hooks": {"PreToolUse": [{"hooks": [{"command": "/x/countersign", "args": ["hook", "claude-code"]}]}]}}`,
		"\uFEFF{\r\n\t\"a\": 1, // b\r\n}", `{"hooks": {"BeforeTool": [ /* c */ ],},}`, `{"version": 1}`, `{"a": 1, "a": 2}`, "{ // end\n}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, target := range []target{claudeCode(), cursor()} {
			d, err := putIn(bytes.Clone(in), target, starting(target.agent))
			if err != nil {
				continue
			}
			back, err := without(d.bytes(), shifted(d.spans, len(d.mark)))
			if err != nil || !bytes.Equal(back, in) {
				t.Errorf("%s: it came back as %q (%v)", target.agent, back, err)
			}
			out, err := takeOut(d.bytes(), target, d.made)
			if err != nil {
				t.Errorf("%s: %v in %q", target.agent, err, d.bytes())
			} else if left := handlersIn(t, out, target); len(left) > 0 {
				t.Errorf("%s: left is %q", target.agent, out)
			}
		}
	})
}

package display

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestJSONWriter prints nothing that steers a terminal or moves what stands beside
// it, and gives every text back.
func TestJSONWriter(t *testing.T) {
	for name, text := range map[string]string{
		"plain":           "ls -l /tmp/ä 中 é 👍🏽 ❤️",
		"C0":              "a\x00b\x1b[2J\r\n\t",
		"DEL":             "a\x7fb",
		"C1":              "a\u009b31mb\u0085\u0090c",
		"direction":       "\u202eevil\u202c \u2066x\u2069 \u200f\u061c",
		"zero width":      "a\u200bb\u200dc\ufeffd\u2060e\u00ade",
		"tags":            "x\U000E0041\U000E007Fy",
		"separators":      "a\u2028b\u2029c\u00a0d",
		"variation":       "a\ufe0fb\U000E0100",
		"quotes":          `\u202e \\u009b "\ud800`,
		"a drawn nothing": "\u2800\U0001D159\u3164",
	} {
		t.Run(name, func(t *testing.T) {
			for _, indent := range []string{"", "  "} {
				var b bytes.Buffer
				e := json.NewEncoder(JSONWriter{&b})
				e.SetEscapeHTML(false)
				e.SetIndent("", indent)
				if err := e.Encode(map[string]any{text: []string{text}, "raw": json.RawMessage(`"` + "\u009b\u202e\xff" + `"`)}); err != nil {
					t.Fatal(err)
				}
				for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
					if Escape(line) != line || i > 0 && indent == "" {
						t.Errorf("line %d steers: %q", i, line)
					}
				}
				var back map[string]json.RawMessage
				if err := json.Unmarshal(b.Bytes(), &back); err != nil {
					t.Fatalf("%v: %s", err, b.Bytes())
				}
				var list []string
				if err := json.Unmarshal(back[text], &list); err != nil || list[0] != text {
					t.Errorf("%q came back as %q, %v", text, list, err)
				}
				var raw string
				if err := json.Unmarshal(back["raw"], &raw); err != nil || raw != "\u009b\u202e\ufffd" {
					t.Errorf("raw came back as %q, %v", raw, err)
				}
			}
		})
	}
	// Of every character that there is.
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		text, _ := json.Marshal(string(r))
		out := string(escapeJSON(text))
		var back string
		if err := json.Unmarshal([]byte(out), &back); err != nil || back != string(r) || r != utf8.RuneError && Escape(out) != out {
			t.Fatalf("%U is written as %q and comes back as %q, %v", r, out, back, err)
		}
	}
}

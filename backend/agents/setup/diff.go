package setup

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/countersign-app/countersign/backend/display"
)

// difference shows what would be written as a unified diff. It may hold
// anything that is in the file, so secrets are hidden in it and what a screen
// would obey is made visible.
func difference(f file, now []byte) string {
	text := string(diff.Diff(f.named, f.text, f.named, now))
	if _, after, ok := strings.Cut(text, "\n"); ok { // the line that names a program
		text = after
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		for i, part := range strings.Split(display.Redact(line), "\t") {
			if i > 0 {
				b.WriteByte('\t')
			}
			b.WriteString(display.Escape(part))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

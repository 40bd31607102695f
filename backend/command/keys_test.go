package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// TestKeysAmongMany: a file that begins as a key is found among many others,
// whether a pattern stands for them or each has its name; without it they pass.
func TestKeysAmongMany(t *testing.T) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("n%02d.txt", i))
	}
	words := strings.Join(names, " ")
	for _, key := range []string{"", "n00.txt", "n65.txt", "n99.txt", "deploy"} {
		world := approvaltest.NewWorld("/bin/cat /bin/cp /usr/bin/head /usr/bin/git")
		for _, name := range append(slices.Clone(names), "deploy") {
			text := "x\n"
			if name == key {
				text = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3"
			}
			world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
		}
		a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500}
		a.SetPath([]string{"/usr/bin", "/bin"})
		for text, want := range map[string]bool{
			"cat " + words: key != "" && key != "deploy", "cat *.txt": key != "" && key != "deploy", "cat *": key != "", "head -1 n6*.txt": key == "n65.txt",
			"cat n0*.txt deploy": key == "deploy" || key == "n00.txt", "cat < deploy": key == "deploy", "cat n5?.txt": false, "cp deploy x": key == "deploy", "git add deploy": key == "deploy", "cat {n64,n65}.txt": key == "n65.txt", "for f in n6?.txt; do cat \"$f\"; done": key == "n65.txt",
		} {
			plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
			asks := slices.Contains(reasons(plan.Findings), approval.ReasonTooComplex)
			for _, seg := range plan.Segments {
				asks = asks || slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState)
			}
			if asks != want {
				t.Errorf("%.40s with the key %q: %t (%s)", text, key, asks, show(plan))
			}
		}
	}
}

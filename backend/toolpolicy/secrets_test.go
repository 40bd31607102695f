//go:build linux || darwin

package toolpolicy

import (
	"os"
	"path"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestSecretsAreProtected: no tool is told a file with secrets, whatever it is
// called and whatever an entry allows.
func TestSecretsAreProtected(t *testing.T) {
	w := newWorld(t)
	w.policy = approval.Policy{}
	for _, list := range []string{"secrets.txt", "others.txt"} {
		text, err := os.ReadFile("../protected/testdata/" + list)
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.Lines(string(text)) {
			if name = strings.TrimSpace(name); name == "" || name[0] == '#' || strings.HasPrefix(name, "/dev/") {
				continue
			}
			spellings := []string{name}
			if rest, ok := strings.CutPrefix(name, "~/"); ok {
				spellings = append(spellings, w.home+"/"+rest, w.home+"/work/../"+strings.ToUpper(rest), "../../"+rest)
			} else if !path.IsAbs(name) {
				spellings = append(spellings, "./src/../"+name, w.project+"/"+strings.ToUpper(name))
			}
			for _, spelling := range spellings {
				for _, tool := range []string{"file_read", "file_search", "file_write", "file_edit", "file_delete", "unknown_tool"} {
					j, _ := w.judge(call(tool, "path", spelling), "")
					asks := list == "others.txt" || strings.Contains(name, "known_hosts")
					if j.Verdict == approval.VerdictDeny && j.Reason == approval.ReasonProtectedState || asks && j.Verdict == approval.VerdictAsk && j.Reason == approval.ReasonProtectedState {
						continue
					}
					t.Errorf("%s %s: %s %s (%s)", tool, spelling, j.Verdict, j.Reason, j.Sentence)
				}
				c := call("read_it", "what", spelling)
				c.Server = "files"
				if j, _ := w.judge(c, ""); j.Verdict == approval.VerdictAllow || j.Reason != approval.ReasonProtectedState {
					t.Errorf("a server's tool, %s: %s %s", spelling, j.Verdict, j.Reason)
				}
			}
		}
	}
}

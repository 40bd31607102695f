//go:build linux || darwin

package toolpolicy

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestSearchedOnce: a folder that a search names many times is looked at once, and
// where several are not looked at to their end the search asks.
func TestSearchedOnce(t *testing.T) {
	w := newWorld(t)
	src := w.project + "/src"
	for _, c := range []struct {
		name    string
		folders []string
		whole   bool
		looks   int
		secrets int
	}{
		{"one", []string{src}, true, 1, 0},
		{"one, which is large", []string{src}, false, 1, 0},
		{"one, many times", []string{src, src, w.project + "/src/", w.project + "/./src", src}, true, 1, 0},
		{"two", []string{src, w.project + "/.git/hooks"}, true, 2, 0},
		{"two, which are large", []string{src, w.project + "/.git"}, false, 2, 1},
	} {
		args, err := json.Marshal(map[string]any{"pattern": "x", "paths": c.folders})
		w.must(err)
		m, looks := w.machine(), map[string]int{}
		total := 0
		m.Search = func(folder string, _ Opened) (string, bool) {
			looks[folder]++
			total++
			return "", c.whole
		}
		call := approval.ToolCall{Tool: fileSearch, Args: args, Cwd: w.project, AgentID: "main"}
		tool, err := Look(&call, w.folder(w.project), m)
		w.must(err)
		secrets := 0
		for _, f := range tool.Files {
			if f.Arg == searchedArg {
				secrets++
			}
		}
		if total != c.looks || secrets != c.secrets {
			t.Errorf("%s: %s: looks %v, found %d", c.name, fmt.Sprint(c.folders), looks, secrets)
		}
	}
}

//go:build linux || darwin

package host

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

// TestStartIsOneLine: a start has more rules than anybody reads. The person signs one
// line for them and one for the mode, and gets just what start.show tells.
func TestStartIsOneLine(t *testing.T) {
	b, s, call := signed(t)
	made, err := b.Start(t.Context(), starts.DeveloperTools, "")
	must(t, err)
	if len(made.Entries) <= store.MaxReasons || len(made.Names) != len(made.Entries) {
		t.Fatalf("%d entries, %d names", len(made.Entries), len(made.Names))
	}
	must(t, call("policy.set", map[string]string{"agentId": "main", "field": "security", "value": ""}))
	before := len(s.shown)
	must(t, call("start.take", map[string]string{"start": "developer-tools", "agentId": "main"}))
	text := strings.Join(s.shown[before:], "\n")
	if !strings.Contains(text, `Adds the start "Developer tools" for agent main: `) || !strings.Contains(text, "Mode: ") || strings.Contains(text, "/cat") {
		t.Errorf("%s", text)
	}
	held := b.store.Snapshot().Policy("main")
	for i, e := range made.Entries {
		if !slices.ContainsFunc(held.Allowlist, func(have approval.Entry) bool { return sameWords(have, e) }) {
			t.Errorf("%s is missing", made.Names[i])
		}
	}
	if held.Security != approval.SecurityList || held.Ask != approval.AskOnMiss {
		t.Errorf("%s %s", held.Security, held.Ask)
	}
}

// TestStartFolder: the tests and builds of a project count only in a folder that was
// named, for that agent.
func TestStartFolder(t *testing.T) {
	b, _, _ := signed(t)
	at := func(name string) string {
		must(t, os.MkdirAll(b.path(name), 0o700))
		return b.path(name)
	}
	named := store.Document{Projects: []approval.Project{
		{Path: at("all")}, {Path: at("own"), Agent: "a"}, {Path: at("no"), No: true}, {Path: at("but")}, {Path: at("but"), Agent: "a", No: true}, {Path: at("star*")},
	}}
	for _, row := range []struct {
		start          starts.Start
		project, agent string
		want           bool
	}{
		{starts.ProjectCommands, at("all"), store.Every, true},
		{starts.ProjectCommands, at("all"), "a", true},
		{starts.ProjectCommands, at("all") + "/.", "a", true},
		{starts.ProjectCommands, at("all/inner"), "a", false},
		{starts.ProjectCommands, at("own"), "a", true},
		{starts.ProjectCommands, at("own"), "b", false},
		{starts.ProjectCommands, at("own"), store.Every, false},
		{starts.ProjectCommands, at("no"), store.Every, false},
		{starts.ProjectCommands, at("but"), "a", false},
		{starts.ProjectCommands, at("but"), "b", true},
		{starts.ProjectCommands, at("star*"), "a", false},
		{starts.ProjectCommands, at("new"), "a", false},
		{starts.ProjectCommands, "all", "a", false},
		{starts.ProjectCommands, b.home, "a", false},
		{starts.ProjectCommands, "", "a", false},
		{starts.DeveloperTools, at("all"), "a", false},
		{starts.DeveloperTools, "", "a", true},
		{"everything", "", "a", false},
	} {
		got, err := StartFolder(&named, row.start, row.project, row.agent, b.home)
		if (err == nil) != row.want || err == nil && got != strings.TrimSuffix(row.project, "/.") {
			t.Errorf("%s in %q for %s: %q %v", row.start, row.project, row.agent, got, err)
		}
	}
}

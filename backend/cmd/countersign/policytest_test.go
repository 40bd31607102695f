//go:build linux || darwin

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
)

// TestInventedDiskOnly judges the same cases while nothing of what they name
// is on the real disk, and while all of it is there and says the opposite:
// programs for what the file does not have, links to others, scripts instead
// of binaries. The answers are the same, and nothing has run.
func TestInventedDiskOnly(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (list []string) {
		for _, name := range names {
			list = append(list, filepath.Join(home, name))
		}
		return list
	}
	file := map[string]any{
		"world": map[string]any{
			"home": home, "cwd": home + "/project", "path": at("bin", "other"),
			"executables": map[string]any{home + "/bin": []string{"tool", "reader", "talk"}, home + "/other": []string{"evil"}},
			"symlinks":    map[string]any{home + "/bin/link": home + "/bin/tool"},
			"files":       map[string]any{home + "/bin/talk": "#!" + home + "/bin/tool\n", home + "/project/notes": "text"},
		},
		"policies": map[string]any{"all": map[string]any{
			"allow": at("bin/*"), "deny": at("other/evil"), "autoAllowSkills": true,
			"skillBins": []any{map[string]any{"name": "talk", "path": home + "/bin/talk", "sha256": strings.Repeat("0", 64)}},
		}},
	}
	inputs := []any{
		"tool", "TOOL", "link", "talk", "onlyreal", "evil", "tool a && reader b", "reader project/*", "cd project && ./onlyreal",
		"cat < notes", "awk -f notes", "tool $(onlyreal)", "link; evil", "env evil", "sh notes", at("bin/tool"), at("bin/onlyreal"),
		at("bin/link", "notes"), at("other/evil"), []string{"reader", "keys"}, []string{"reader", home + "/project/keys"},
	}
	var cases []any
	for i, input := range inputs {
		cases = append(cases, map[string]any{
			"id": string(rune('a' + i)), "class": "c", "origin": "o", "input": input, "policy": map[string]any{"base": "all"},
			"expect": "ask", "accept": []string{"ask"}, "tier": "must",
		})
	}
	file["cases"] = cases
	text, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	judge := func() (plans []approval.Plan, judgements []approval.Judgement) {
		f, err := corpus.Parse("cases", text)
		if err != nil {
			t.Fatal(err)
		}
		trial := newTrial(f)
		for _, c := range f.Cases {
			plans, judgements = append(plans, trial.plan(c)), append(judgements, trial.labelled(c))
		}
		return plans, judgements
	}

	plans, judgements := judge()
	for i, want := range map[int]approval.Verdict{0: approval.VerdictAllow, 3: approval.VerdictAllow, 5: approval.VerdictDeny, 15: approval.VerdictAllow, 18: approval.VerdictDeny} {
		if judgements[i].Verdict != want {
			t.Errorf("%v: %s, want %s: %s", inputs[i], judgements[i].Verdict, want, judgements[i].Sentence)
		}
	}

	marker := filepath.Join(home, "it-ran")
	script := "#!/bin/sh\ntouch " + marker + "\n"
	for _, dir := range at("bin", "other", "project", ".ssh") {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range at("bin/tool", "bin/onlyreal", "bin/talk", "bin/TOOL", "project/onlyreal", "project/notes", ".ssh/id_rsa") {
		if err := os.WriteFile(name, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"bin/reader": "other/evil", "bin/link": "bin/onlyreal", "other/evil": "bin/tool", "project/keys": ".ssh/id_rsa"} {
		if err := os.Symlink(filepath.Join(home, to), filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", strings.Join(at("bin", "other", "project"), ":"))
	t.Setenv("HOME", home)
	t.Chdir(filepath.Join(home, "project"))
	plansAfter, judgementsAfter := judge()
	if diff := cmp.Diff(plans, plansAfter); diff != "" {
		t.Errorf("the real disk changes the plans:\n%s", diff)
	}
	if diff := cmp.Diff(judgements, judgementsAfter); diff != "" {
		t.Errorf("the real disk changes the answers:\n%s", diff)
	}
	if _, err := os.Lstat(marker); err == nil {
		t.Error("something ran")
	}
}

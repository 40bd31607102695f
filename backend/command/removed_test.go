package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestRemoved: a folder is not deleted, or closed, unasked that holds what guards the project;
// what packages and builds brought is.
func TestRemoved(t *testing.T) {
	a := unpacking(t)
	world := a.World.(*approvaltest.World)
	world.Files["/bin/chmod"] = approvaltest.File{Mode: 0o755}
	for _, name := range strings.Fields(`.husky/pre-commit nested/.claude/settings.json packages/a/.vscode/tasks.json packages/a/b.go packages/b/c.go deep/a/b/c/lefthook.yml
		node_modules/p/.npmrc node_modules/p/.vscode/settings.json sub/node_modules/p/.npmrc vendor/x/.envrc target/debug/x dist/x.js .next/x .cache/x .gradle/x .yarn/cache/x .github/workflows/x.yml
		.terraform/providers/x .venv/bin/activate .venv/pyvenv.cfg py/env/bin/activate py/env/pyvenv.cfg checkout/.git/config checkout/a.go vendor/own/.claude/settings.json vendor/own/a.go words/AGENTS.md words/.github/workflows/ci.yml`) {
		world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: "x"}
	}
	world.Links["/home/ann/p/linked/.claude"] = "/home/ann/p/plain"
	world.Files["/home/ann/p/linked/a"] = approvaltest.File{Mode: 0o644, UID: 500, Text: "x"}
	for text, want := range map[string]bool{
		"rm -rf nested": true, "rm -rf nested/": true, "rm -rf ./nested": true, "rm -r nest*": true, "rm -r n?sted": true, "rm -rf packages/a": true, "rm -rf packages": true, "rm -rf deep": true,
		"rm -rf linked": true, "rm -rf checkout": true, "rm -rf .husky": true, "rm -r .claude": true, "rm -rf .github": true, "cd packages && rm -rf a": true, "cd packages && rm -rf b ../nested": true,
		"git rm -r nested": true, "git rm -rf packages/a": true, "git -C packages rm -r a": true, "git worktree remove nested": true, "git restore packages/a": true, "git checkout -- packages/a": true, "git clean -fd nested": true,
		"chmod -R 000 nested": true, "chmod 000 packages/a": true, "chmod -R 755 build": false, "chmod -R u+w plain": false, "chmod +x plain/a.go": false, "cd vendor/own && rm -rf .claude": true, "cd packages/a && rm -rf .vscode": true, "rm -rf vendor/own/.claude": true, "rm -rf plain nested": true,
		"rm -rf node_modules": false, "rm -rf sub/node_modules": false, "rm -rf build dist target .next .cache": false, "rm -rf vendor": false, "rm -rf .terraform": false, "rm -rf .venv": false, "rm -rf py": false, "rm -rf py/env": false,
		"rm -rf .gradle": false, "rm -rf .yarn/cache": false, "rm -rf packages/b": false, "rm -rf plain src": false, "rm -rf words": false, "rm main.go": false, "rm -rf nowhere": false, "rm -rf vendor/x": false,
		"git rm -r --cached nested": false, "git rm -n -r nested": false, "git rm -r plain": false, "git checkout -- plain": false, "git restore main.go": false, "git clean -n nested": false,
	} {
		plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		asks := false
		for _, seg := range plan.Segments {
			asks = asks || slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState)
		}
		if asks != want {
			t.Errorf("%s: %t (%s)", text, asks, show(plan))
		}
	}
	for i := range 20_001 { // more than is looked at
		world.Files[fmt.Sprintf("/home/ann/p/many/f%d", i)] = approvaltest.File{Mode: 0o644, UID: 500}
	}
	if seg := a.Analyze(t.Context(), bash("rm -rf many"), approvaltest.Named("/home/ann/p")).Segments[0]; !slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState) {
		t.Errorf("many: %+v", seg.Findings)
	}
}

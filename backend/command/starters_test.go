package command_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// TestStarters: what runners of a project start is the file that they would start,
// judged as a command of its own; "" where they ask. rtk only starts what it passes on.
func TestStarters(t *testing.T) {
	world := approvaltest.NewWorld(`
		/usr/bin/uv /usr/bin/pnpm /usr/bin/npm /usr/bin/bun /usr/bin/bunx /usr/bin/mise /usr/bin/rtk /usr/bin/git /usr/bin/python3 /bin/ls /bin/test /usr/bin/env
		/home/ann/p/.venv/bin/pytest /home/ann/p/.venv/bin/ls /home/ann/p/.venv/bin/twice /home/ann/p/web/.venv/bin/twice /home/ann/.venv/bin/above
		/home/ann/p/.venv/bin/python -> /usr/bin/python3
		/home/ann/p/node_modules/.bin/tool /home/ann/p/web/node_modules/.bin/tool /home/ann/p/main.py`)
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500}
	a.SetPath([]string{"/usr/bin", "/bin"})
	const venv, bin = "/home/ann/p/.venv/bin/", "/home/ann/p/node_modules/.bin/"
	for text, want := range map[string]string{
		"uv run pytest -q":                     venv + "pytest",
		"uv run ls":                            venv + "ls",
		"uv run -q git status":                 "/usr/bin/git",
		"uv run python main.py":                "/usr/bin/python3",
		"uv run python -c x":                   "",
		"cd web && uv run pytest":              venv + "pytest",
		"cd web && uv run twice":               "",
		"uv run above":                         "",
		"uv run --with x pytest":               "",
		"uv run $X":                            "",
		"pnpm exec tool":                       bin + "tool",
		"cd web && pnpm exec tool":             "/home/ann/p/web/node_modules/.bin/tool",
		"pnpm -C web exec tool":                "/home/ann/p/web/node_modules/.bin/tool",
		"pnpm --filter web exec tool":          "",
		"pnpm -r exec tool":                    "",
		"pnpm exec ls":                         "",
		"pnpm exec -- tool":                    bin + "tool",
		"pnpm exec --shell-mode tool":          "",
		"pnpm dlx tool":                        "",
		"npm exec -- tool --x":                 bin + "tool",
		"npm exec tool":                        "",
		"npm exec -c tool":                     "",
		"bun x tool":                           bin + "tool",
		"bunx tool":                            bin + "tool",
		"bunx --package evil tool":             "",
		"bun x evil":                           "",
		"mise exec -- git status":              "/usr/bin/git",
		"mise x -- env git status":             "/usr/bin/git",
		"mise exec node@20 -- git status":      "",
		"mise exec -c git":                     "",
		"rtk git log":                          "/usr/bin/git",
		"rtk -v git log":                       "/usr/bin/git",
		"rtk test git log":                     "",
		"rtk proxy git log":                    "",
		"rtk ls":                               "",
		"rtk env git log":                      "",
		"rtk -x git log":                       "",
		"rtk -- git log":                       "",
		"rtk git log; rtk git --exec-path=x y": "",
	} {
		req := bash(text)
		plan := a.Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
		got, asks := "", false
		for _, s := range plan.Segments {
			asks = asks || len(s.Findings) > 0
			if s.Via > 0 && s.Program != nil && !s.Named {
				got = s.Program.File.Path
			}
		}
		if asks != (want == "") || !asks && got != want {
			t.Errorf("%s: %s, asks %t: %+v", text, got, asks, plan.Segments)
		}
	}
}

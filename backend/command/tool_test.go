package command_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// TestTool: npx starts the nearest program of node_modules/.bin, which is a command of
// its own; what it would fetch, and what leads out of the project, asks.
func TestTool(t *testing.T) {
	world := approvaltest.NewWorld(`
		/usr/bin/npx /usr/bin/node /usr/bin/curl /home/ann/p/main.js /home/ann/node_modules/.bin/above /home/ann/p/node_modules/tool/cli.js /home/ann/p/web/node_modules/.bin/tool
		/home/ann/p/node_modules/.bin/npx
		/home/ann/p/node_modules/.bin/tool -> ../tool/cli.js
		/home/ann/p/node_modules/.bin/away -> /usr/bin/curl
		/home/ann/p/linked -> /home/ann/other`)
	for name, text := range map[string]string{"tool/cli.js": "#!/usr/bin/env node\n"} {
		world.Files["/home/ann/p/node_modules/"+name] = approvaltest.File{Mode: 0o755, UID: 500, Text: text}
	}
	world.Files["/usr/bin/env"] = approvaltest.File{Mode: 0o755, Text: "\x7fELF"}
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500}
	a.SetPath([]string{"/usr/bin"})
	for text, want := range map[string]string{
		"npx tool --x":                 "/home/ann/p/node_modules/tool/cli.js",
		"npx --no-install tool":        "/home/ann/p/node_modules/tool/cli.js",
		"cd web && npx tool":           "/home/ann/p/web/node_modules/.bin/tool",
		"npx away":                     "",
		"npx above":                    "",
		"npx other":                    "",
		"npx tool@2":                   "",
		"npx ../p/main.js":             "",
		"npx .bin":                     "",
		"npx -p evil tool":             "",
		"npx -- tool":                  "/home/ann/p/node_modules/tool/cli.js",
		"npx --call=tool":              "",
		"cd /usr && npx tool":          "",
		"T=tool; npx $T":               "",
		"npx to*":                      "",
		"npx npx evil":                 "", // a planted npx is a program of the project, whose words no profile knows
		"npx -y tool | npx tool":       "/home/ann/p/node_modules/tool/cli.js",
		"npx tool; npx tool -p x away": "/home/ann/p/node_modules/tool/cli.js",
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
	req := bash("npx tool --x")
	plan := a.Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
	if inner := plan.Segments[1]; inner.Program.Interpreter == nil || inner.Program.Bare || inner.Dir != "/home/ann/p" || inner.Kind == approval.KindWrapper {
		t.Errorf("%+v", inner)
	}
}

package command

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestModules: a module of Python is its own only where no file of the folder has the
// name of one, and nothing of the same request may become one.
func TestModules(t *testing.T) {
	for _, test := range []struct {
		files, text string
		passes      bool
	}{
		{"a.json", "cat a.json | python3 -m json.tool", true},
		{"manage.py app/json.py setup.py", "python3 -m json.tool a.json", true},
		{"json.json", "python3 -m json.tool json.json", true},
		{"test/test_a.py email/README.md", "python3 -m json.tool", true}, // no packages
		{"json.py", "python3 -m json.tool a.json", false},
		{"JSON.PY", "python3 -m json.tool a.json", false},
		{"argparse.py", "python3 -m json.tool a.json", false},
		{"re.pyc", "python3 -m json.tool a.json", false},
		{"re.cpython-312-darwin.so", "python3 -m json.tool a.json", false},
		{"_json.so", "python3 -m json.tool a.json", false},
		{"_colorize.py", "python3 -m json.tool a.json", false},
		{"json/__init__.py", "python3 -m json.tool a.json", false},
		{"codecs/__init__.pyc", "python3 -m json.tool a.json", false},
		{"runpy.py", "python3 -m json.tool a.json", false},
		{"__future__.py", "python3 -m json.tool a.json", false},
		{"json.py", "python3 -m py_compile a.py", false},
		{"a.py", "python3 -m py_compile a.py", true},
		{"a.py", "cp a.py json.py; python3 -m json.tool", false},
		{"a.py", "mv a.py json.py && python3 -m json.tool", false},
		{"a.py", "cd /home/ann/p/x && python3 -m json.tool", true},
		{"x/json.py", "cd x && python3 -m json.tool", false},
		{"a.json", "python3 -m json.tool a.json b.json", false},
		{"a.json", "python3 -m pip list", true},
		{"mypy.ini", "python3 -m mypy x", true},
		{"pip.py", "python3 -m pip list", false},
		{"mypy/__main__.py", "python3 -m mypy x", false},
		{"a.py", "cp a.py pip.py; python3 -m pip list", false},
		{"a.json", "python3 -m json", false},
		{"a.json", "python3 -m http.server", false},
		{"app/cli.py", "python3 -m app.cli --port 80 -c x", true},
		{"app/__main__.py", "python3 -m app", true},
		{"app/__init__.py", "python3 -m app", false},
		{"app/cli.py", "python3 -m app.other", false},
		{"app.py app/__main__.py", "python3 -m app", false},
		{"app/cli.py", "python3 -m .app.cli", false},
		{"app/cli.py", "python3 -m app/cli", false},
		{"app/cli.py", "python3 -m ..p.app.cli", false},
		{"site.py", "python3 -m site", false},
		{"app/cli.py", "cd /usr && python3 -m app.cli", false},
		{"app/cli.py", "python3 -i -m app.cli", false},
		{"a.json", "python3 -m json.tool --help --x", false},
		{"a.json", "python3 -im json.tool", false},
		{"a.json", "PYTHONPATH=x python3 -m json.tool", true}, // the variable asks
	} {
		world := "/usr/bin/python3 /bin/cat /bin/cp /bin/mv /home/ann/p/x/y"
		for _, file := range strings.Fields(test.files) {
			world += " /home/ann/p/" + file
		}
		a := &Analyzer{World: approvaltest.NewWorld(world), Home: "/home/ann", UID: 1000}
		a.SetPath([]string{"/usr/bin", "/bin"})
		req := approval.Request{Command: []string{"bash", "-c", test.text}, Cwd: "/home/ann/p", Who: approval.Ours}
		plan := a.Analyze(context.Background(), &req, approvaltest.Named("/home/ann/p"))
		passes := len(plan.Findings) == 0
		for _, s := range plan.Segments {
			passes = passes && len(s.Findings) == 0
		}
		if passes != test.passes {
			t.Errorf("%s with %s passes: %v", test.text, test.files, passes)
		}
	}
}

// TestOptionsBeforeAndBehind: what a command of a profile only reads with does more by
// options that are bundled, attached, abbreviated or behind --.
func TestOptionsBeforeAndBehind(t *testing.T) {
	for _, text := range []string{
		"gofmt -l -w=true main.go", "gofmt -l --w main.go", "gofmt -d -s -w .", "gofmt -l -r a -w .", "gofmt -l -cpuprofile x .", "gofmt -lw main.go",
		"node --check --require=./x.js README.md", "node --check -r ./x.js README.md", "node -c --import=./x.mjs README.md", "node --check=1 README.md", "node -cr ./x.js README.md", "node --check --eval=1",
		"python3 -m json.tool README.md out", "python3 -m json.tool --outfile=x", "python3 -m json.tool -- README.md out", "python3 -i -m json.tool", "python3 -mjson.tool", "python3 -X presite=x -m json.tool",
		"lsof -D x", "lsof -nPDr x", "lsof -kx", "pgrep --signal=9 x", "pgrep -fz x",
		"rtk test rm x", "rtk proxy rm x", "rtk err rm x", "rtk read x", "rtk --foo git log", "rtk -- git log", "rtk summary rm x",
		"plutil -p x -o y", "plutil -convert json -o - x", "pg_isready -hx.example", "pg_isready --host=x.example", "pg_isready -d postgres://x.example", "pg_isready --dbname=x",
		"ps -p 1 -E", "ps -o environ", "ps -eo pid,environ", "ps -p 1 e",
		"docker compose exec db sh", "docker compose run web sh", "brew uninstall x", "brew list --x",
		"terraform fmt -check ../x", "git -C src --exec-path=/tmp log", "git -C src log --output=x", "git --no-pager diff --ext-diff", "git --no-pager log --output x", "git -C src -c core.pager=x log",
		"npm ls --script-shell=x", "npm explain ./x", "npm root --x",
	} {
		if segment := examined(strings.Fields(text)); len(segment.Findings) == 0 {
			t.Errorf("%s passes", text)
		}
	}
}

package command_test

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestPythonOnlyReads: code of Python can be covered where it only reads, and what it imports
// is Python's own. A row with a reason asks for it, or for other code.
func TestPythonOnlyReads(t *testing.T) {
	const read = `python3.12 -c 'import json; print(json.load(open("main.go")))'`
	for _, test := range []struct {
		text string
		file string // one more, beside the program
		want approval.Reason
	}{
		{read, "", ""},
		{"cat main.go | python3.12 -c 'import sys, json; print(len(json.load(sys.stdin)))'", "", ""},
		{"python3.12 - <<'E'\nimport json\nprint(json.load(open('main.go')))\nE", "", ""},
		{"python3.12 <<'E'\nprint(1)\nE", "", ""},
		{"python3.12 <<< 'print(1)'", "", ""},
		{"python3.12 -u -c 'print(1)'", "", ""},
		{"for i in 1 2; do python3.12 -c 'print(1)'; done", "", ""},
		{"cd sub && python3.12 -c 'print(1)'", "", ""},

		// What it reads.
		{`python3.12 -c 'print(open(".env").read())'`, "", approval.ReasonProtectedState},
		{"python3.12 - <<'E'\nprint(open('.env').read())\nE", "", approval.ReasonProtectedState},
		{`python3.12 -c 'print(open("sub/../.env").read())'`, "", approval.ReasonInlineCode},
		{`python3.12 -c 'print(open("../x").read())'`, "", approval.ReasonInlineCode},
		{`python3.12 -c 'print(open("/etc/passwd").read())'`, "", approval.ReasonInlineCode},
		{`python3.12 -c 'print(open(".git/config").read())'`, "", approval.ReasonInlineCode},

		// What it imports.
		{read, "json.py", approval.ReasonInlineCode},
		{read, "json/__init__.py", approval.ReasonInlineCode},
		{read, "json.so", approval.ReasonInlineCode},
		{read, "re.pyc", approval.ReasonInlineCode}, // which json imports
		{read, "sitecustomize.py", approval.ReasonInlineCode},
		{read, "_json.py", approval.ReasonInlineCode},
		{read, "JSON.py", approval.ReasonInlineCode},
		{read, "jsonmodule.so", approval.ReasonInlineCode}, // of Python 2
		{read, "StringIO.py", approval.ReasonInlineCode},
		{read, "copy_reg.pyc", approval.ReasonInlineCode},
		{read, "org/python/core.py", approval.ReasonInlineCode}, // which copy imports up to 3.11
		{read, "org/__init__.py", approval.ReasonInlineCode},
		{read, "tomllib/loads.py", approval.ReasonInlineCode}, // where there is no tomllib
		{read, "_json/scanstring.py", approval.ReasonInlineCode},
		{read, "_json/scanstring/__init__.py", approval.ReasonInlineCode},
		{read, "json/decoder.py", ""},
		{read, "jsonmodule.py", ""},
		{read, "org/README.md", ""},
		{read, "_site/index.html", ""},
		{read, "json/data.txt", ""},
		{read, "json.txt", ""},
		{"python3.12 - <<'E'\nimport json\nE", "json.py", approval.ReasonInlineCode},
		{"cd sub && " + read, "sub/json.py", approval.ReasonInlineCode},
		{"cp main.go json.py && " + read, "", approval.ReasonInlineCode},
		{"echo x > json.py; " + read, "", approval.ReasonInlineCode},
		{"cd /tmp && python3.12 -c 'print(1)'", "", approval.ReasonInlineCode},

		// What a trace shows.
		{"python3.12 -c '1/0'", "<string>", approval.ReasonInlineCode},
		{"python3.12 - <<'E'\n1/0\nE", "<stdin>", approval.ReasonInlineCode},
		{"python3.12 -c 'import ast; ast.parse(\"x x\")'", "<unknown>", approval.ReasonInlineCode},
		{"python3.12 -c 'import ast; ast.parse(\"x x\")'", "", ""},
		{"python3.12 -c 'import ast; ast.parse(\"x x\", \"main.go\")'", "", approval.ReasonInlineCode},

		// What is not its text alone.
		{"python3.12 -c \"$x\"", "", approval.ReasonInlineCode},
		{"python3.12 -c \"print($x)\"", "", approval.ReasonInlineCode},
		{"python3.12 -x - <<'E'\n'''\nimport os # '''\nE", "", approval.ReasonStartsProgram},
		{"python3.12 -i -c 'print(1)'", "", approval.ReasonInlineCode},
		{"echo 'print(1)' | python3.12 -", "", approval.ReasonInlineCode},
		{"python3.12 - <<'E' <<'F'\nprint(1)\nE\nimport os\nF", "", approval.ReasonInlineCode},
		{"python3.12 - < main.go", "", approval.ReasonInlineCode},
		{"python3.12 -c 'print(1)' -c 'import os; os.remove(1)'", "", approval.ReasonInlineCode},
		{"python3.12 -W error::evil.Class -c 'print(1)'", "", approval.ReasonStartsProgram},
		{"echo main.go | xargs python3.12 -c 'print(1)'", "", approval.ReasonWrapperUnclear},
	} {
		a := invented()
		if test.file != "" {
			a.World.(folders).Files["/home/ann/p/"+test.file] = approvaltest.File{Mode: 0o644}
		}
		plan := a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p"))
		findings := slices.Clone(plan.Findings)
		for _, seg := range plan.Segments {
			findings = append(findings, seg.Findings...)
		}
		other := slices.DeleteFunc(slices.Clone(findings), func(f approval.Finding) bool { return f.Allowed == approval.AllowReadingCode })
		asks := func(f approval.Finding) bool { return f.Reason == test.want }
		switch {
		case test.want == "" && (len(other) > 0 || len(findings) == 0):
			t.Errorf("%s with %q asks: %v", test.text, test.file, other)
		case test.want != "" && !slices.ContainsFunc(other, asks):
			t.Errorf("%s with %q: %v, want %s", test.text, test.file, other, test.want)
		}
	}
}

package oneliner

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// pythonPassing are programs as agents write them.
var pythonPassing = []string{
	`print(1)`, `print(sum(range(10)))`, `print(3.14*2**10 // 7 % 5)`, `print("a" + 'b' + """c""")`, `print(f"{1+1:>5} {'x'!r}")`, "x = 1\nprint(x)\n",
	`import json; print(json.load(open('package.json'))['version'])`, `import json,sys; d=json.load(sys.stdin); print(len(d)); print(sorted({k for r in d for k in r}))`,
	`import sys,json; d=json.load(sys.stdin); [print(x['name'], x.get('id', 0)) for x in d['items']]`, `import sys, json; print(json.dumps(json.load(sys.stdin), indent=2, sort_keys=True))`,
	`from datetime import date, timedelta as td; print([(date(2026,10,1)-td(days=30*i)).isoformat() for i in range(4)])`, `import datetime as d; print(d.datetime.now().isoformat())`,
	`import re,sys; print(re.findall(r'v(\d+)\.(\d+)', sys.stdin.read()))`, `import csv; print([row for row in csv.reader(open('rows.csv'))][:3])`,
	`from decimal import Decimal as D; print(D('0.1') + D('0.2'), D('1000.005').quantize(D('0.01')))`, `import math; print(math.sqrt(2), math.pi)`,
	"import json\nwith open('a.json') as f:\n    data = json.load(f)\nfor key, value in data.items():\n    if isinstance(value, dict):\n        print(key, len(value))\n    else:\n        print(key, '->', value)\n",
	"from collections import Counter, defaultdict\nwords = Counter()\nby = defaultdict(list)\nfor line in open('log.txt', encoding='utf-8', errors='replace'):\n    words.update(line.split())\n    by[len(line)].append(line)\nfor w, n in words.most_common(5):\n    print(f'{w}: {n:,}')\n",
	"import sys\ntotal = 0\nfor line in sys.stdin:\n    try:\n        total += float(line.split()[1])\n    except (IndexError, ValueError) as e:\n        print('bad', e, file=sys.stderr)\nprint('%.2f' % total)\nsys.exit(0 if total else 1)\n",
	"def f(a, b=2, *c, **d):\n    global n\n    n = a + b\n    return n\n\nprint(f(1, b=3))\n", "add = lambda a, b: a + b\nprint(add(1, 2))\n", `print(*map(str.strip, ['a ', 'b']), sep='\n', end='')`,
	`print(type(1), type([1][0]))`, `print("{} {1:>4}".format(1, 2)) if False else None`, `print("{:.2f} of {name}".format(1.5, name='x'))`, `print("%s" % (1,))`, `print(max([1,2], key=lambda v: -v))`,
	`import hashlib; print(hashlib.sha256(open('go.sum','rb').read()).hexdigest())`, `import base64,sys; sys.stdout.write(base64.b64decode('YQ==').decode())`, `import tomllib; print(tomllib.load(open('pyproject.toml', 'rb'))['project']['name'])`,
	`from urllib.parse import urlparse, quote; print(urlparse('http://a/b').netloc, quote('a b'))`, `import urllib.parse; print(urllib.parse.unquote('a%20b'))`, `import ast; ast.parse(open('main.py').read()); print('ok')`,
	"if __name__ == '__main__':\n    print('x')", "match = 1\nprint(match)", "x: int = 3\nprint(x)", "a, b = 1, 2\nprint(a if a > b else b)", "while (n := 3) > 4: pass", "print({**{'a': 1}, 'b': 2})", "assert 1 == 1, 'no'",
	"# a comment\nprint(1) # another\n", "print(1, \\\n  2)", "print(\n  1,\n  2,\n)", `print('it\'s', "a\"b", r'\d')`, `r'\'; eval("1") #'`, `import itertools as it; print(list(it.islice(it.count(1), 3)))`,
	"def f(x: str, y: dict[str, int] = {}) -> str:\n    return x", `print(type(1).__name__)`, "try: pass\nexcept Exception as e: print(type(e).__name__, e)", "import ast\ntry:\n    ast.parse(open('main.py').read())\nexcept SyntaxError as e:\n    print(e)",
	`from functools import reduce; print(reduce(lambda a, b: a + b, [1], 0), format(1, ','))`, "print(1)\nprint(2)\n# decoding", "def f():\n    n = 1\n    def g():\n        nonlocal n\n        n = 2", `print(f"{'a'}→{1}", 'é"')`, `print(dict(type=1, file=2))`, `f"{[1,2][0:1]}"`, `from pathlib import Path; print(Path('a.txt').read_text())`, `import json; print(json.load(open(0)))`,
}

// pythonFiles are those that some of them open.
var pythonFiles = map[string][]string{
	`print(open('a').read()); print(open("b/c.txt", "rb").read(), open('d', mode='r', newline=''))`: {"a", "b/c.txt", "d"},
	`print(open(r'a').read())`: {"a"}, `print(1)`: nil,
	`print(f"{open('a').read()}")`: {"a"}, `print(open(0).read(), open(0, "rb"))`: nil,
	`from pathlib import Path; print(len(Path('a').read_text(encoding='utf-8')), Path("b").read_bytes())`: {"a", "b"},
	"from pathlib import Path\nt = Path('a').read_text()":                                                 {"a"},
}

var pythonRefusing = []string{
	// what opens, starts and imports
	`import os; os.system("id")`, `import os`, `import json, os`, `import json as os, subprocess`, `from os import path`, `from json import *`, `from json import codecs`, `from . import x`, `import os.path`, `import urllib.request`, `import urllib`,
	`import urllib.parse, os`, `import pathlib`, `__import__("os")`, `exec("x")`, `eval("1")`, `compile("1","","eval")`, `open("a","w")`, `open("a", mode="w")`, `open("a", "r+")`, `open("a", "a")`, `open("a", opener=print)`, `open("a", "rb", 0)`,
	`open("a", buffering=0)`, `open(x)`, `x="a"; open(x)`, `open("a" "b")`, `open(f"a")`, `open("a"+"b")`, `open("a\x62")`, `open(*["a","w"])`, `open("a", **{"mode":"w"})`, `map(open, ["a"])`, `o = open`, `o = open; o("a", "w")`, `print(open)`,
	`(open)("a","w")`, `[open][0]("a","w")`, `open = print`, `def open(x): pass`, `import json as open`, `for open in []: pass`, `open`, `input()`, `breakpoint()`, `help()`, `getattr(1, "x")`, `vars()`, `globals()`, `locals()`, `dir()`,
	`file("a", "w")`, `execfile("a")`, `raw_input()`, `exec "x"`, "print `1`", `class A: pass`, `@print
def f(): pass`, `async def f(): pass`,

	`open(0, "w")`, `open(1)`, `open(00)`, `open(0.0)`, `open(0, closefd=x)`, `open(0 or "x")`, `open(0x0)`, `open(0, opener=f)`, `from pathlib import Path as P`, `from pathlib import Path, os`, `from pathlib import *`, `from pathlib import (Path)`, `import pathlib; pathlib.Path("a").read_text()`,
	`Path("a").write_text("x")`, `Path(x).read_text()`, `Path("a" "b").read_text()`, `Path("a", "b").read_text()`, `Path("a")`, `Path`, `p = Path("a"); p.read_text()`, `Path("a").read_text`, `Path("a").parent.read_text()`, `(Path("a") / x).read_text()`, `x.read_text()`, `f(Path("a")).read_text()`, `Path(f"a").read_text()`, `Path("").read_text()`,
	`Path = f`, `def Path(x): pass`, `x.Path("a").read_text()`,

	// what leads there
	`().__class__`, `"".__class__.__mro__`, `print.__self__`, `(x for x in []).gi_frame`, `(lambda: 0).__globals__`, `(lambda: 0).func_globals`, `import sys; sys.modules`, `import sys; sys.path`, `import sys; sys._getframe()`, `import sys; sys.settrace(print)`,
	`import json; json.codecs`, `import sys; x = sys; x.modules`, `"{0.modules}".format(1)`, `"{0[0]}".format([1])`, `"{0!r:{1}}".format(1,2)`, `x = "{0.a}"; x.format(1)`, `("{0.a}").format(1)`, `"a" "{0.a}".format(1)`, `"{0.a}" "b".format(1)`,
	`"{}".format_map({})`, `str.format("{0.a}", 1)`, `f"{0.a}".format(1)`, `t = type(1)`, `type(1)(2)`, `[type(1)]`, `f = lambda t: t("o","w"); f(type(1))`, `print(type("X", (), {}))`, `print(type(1)(2))`, `print(type)`, `map(type, [1])`,
	`print = open`, `import sys as print; print(type(1))`, `str = 1`, `from operator import attrgetter`, `import operator; operator.attrgetter("x")`, `from functools import wraps`, `import collections; collections.abc`, `import io; io.open("a","w")`,
	`import io; io.FileIO("a","w")`, `import sys; sys.stdin.buffer.raw`, `import csv; csv.io`, `import statistics; statistics.sys`, `import shlex; shlex.shlex("a")`, `import hashlib; hashlib.file_digest`, `import copy; copy.error`,
	`unknown(1)`, `print(unknown)`, `x.y`, `_x = 1`, `__builtins__`, `__loader__`, `print(__file__)`,

	// what shows or finds a file by a name of its own
	`import ast; ast.parse("x x", "/etc/passwd")`, `import ast; ast.parse("x x", filename="/etc/passwd")`, `import ast; ast.parse(*["x x", "/etc/passwd"])`, `import ast; ast.parse(**{})`, `import ast; p = ast.parse`, `from ast import parse`, `import ast; map(ast.parse, ["x x"], ["/etc/passwd"])`,
	`import ast as urllib; urllib.parse("x x", "/etc/passwd")`, `raise SyntaxError("a", ("/etc/passwd", 1, 1, None))`, `E = SyntaxError`, `except (A, SyntaxError) as e: pass`, `e.args = 1`, `from zoneinfo import ZoneInfo; ZoneInfo("a/b")`, `import zoneinfo`,

	// what shows a class, where that has another meaning
	"print: int = list\nprint(type(1))", "for d[0 in d], print in [(0, list)]: print(type(1))", "with a as (print, x): print(type(1))", "match = case = f = 1\nmatch f:\n  case print:\n    print(type(1))", `(lambda a={1:2}, print=list: print(type(1)))()`, "except E, str: print(str(type(1)))",
	`print(type(1)).x`, `print(type(*[1]))`, `print(type(1, 2))`, `print(type(1)())`, `print(type(1) or 2)`, `x = type(1).__name__, type`, `(1).__name__`, `import json; json.__name__ = "evil"; from json import name`, `f(type).__name__`, `type(1).__name__.x`, `a.type(1).__name__`, `(lambda type: type(1).__name__ )(f)`,
	`(lambda a={1:2}, type=f: [0 for type(1).__name__ in ["evil"]])()`,

	// in f-strings
	`f"{eval('1')}"`, `f"{open('a','w')}"`, `f"{().__class__}"`, `f"{1:{eval('1')}}"`, `f"{x:=3}"`, `f'{x['+ evil() + ']}'`, `f"{'}' + eval('1')}"`, `f"{"a"}"`, `f"{1}}"`, `f"{"`, `f"{}"`, `f"{1 # }"`, `f"{'\n'}"`, `f"{lambda: 1}"`, `f"""{eval("1")}"""`,
	`f"{f'{eval(1)}'}"`, `rf"\{eval(1)}"`, `f"\{eval(1)}"`, `F"{eval(1)}"`, `Rf"{eval(1)}"`, `f'''{"""a"b""":'{evil()}} {y!r:'"""a"b"""=}'''`, `f'{""" """}'`, `f"{1 if x else 2:{evil()}}"`, `f"{print(f'''{f"{1}"}''')}"`, `f"\N{DOLLAR SIGN}"`, `t"{1}"`,

	// what other readers see in another way
	"# -*- coding: utf-7 -*-\nprint(1)", "'''\n# coding: utf-7 '''\nprint(1)", " \t# coding=utf-7", "\n  # coding=utf-7\n", `'你\\' + evil() #'`, `f'你{{evil()!r:你}}'`, `"你{{0.x}}".format(1)`, "#!/x\n# vim: set fileencoding=utf-7 :\nprint(1)", "print(1)\r\nprint(2)", "print(1)\x0cprint(2)", "print(1)\x00", "ｅval('1')", "évil = 1", "print(1) # \xff", "x = 1 \\ \ny = 2",
	`'import' + eval("1")`, `'from' + eval("1")`, "'''\n'''; eval('1')", `'a'; eval('1')`, `'\'; eval("1") #'; eval("1")`, `"""a""" + eval('1') + """b"""`, `1if eval("1") else 2`, `0xeval("1")`, `print(1)eval("1")`,
	`...`, `x = ...`, `print(1`, `print(1))`, `(]`, `'a`, `"""a`, `'a
b'`, `a $ b`, `a ? b`, `a ! b`, `!id`, "import json\\\n, os", "import json;import os", "import (os)", "from json import (loads, codecs)", "from json import loads as eval", "import json as __builtins__", "del eval", "global eval",
	"x = [eval for eval in [1]]", "lambda eval: 1", "def f(eval): pass", "with open('a') as eval: pass", "except E as eval: pass", "(open := print)", "type X = int",
}

func TestPython(t *testing.T) {
	for _, program := range pythonPassing {
		if _, why := Python(program); why != "" {
			t.Errorf("%q %s", program, why)
		}
	}
	for program, want := range pythonFiles {
		if files, why := Python(program); why != "" || !slices.Equal(files, want) {
			t.Errorf("%q: %q, %s", program, files, why)
		}
	}
	for _, program := range append(pythonRefusing, strings.Repeat("print(1)\n", maxText/8), strings.Repeat("(", maxDepth+1)+"1"+strings.Repeat(")", maxDepth+1)) {
		if _, why := Python(program); why == "" {
			t.Errorf("%.100q passes", program)
		}
	}
}

// TestPythonBuiltins: every function and class that Python has without an import either
// only computes or refuses a program, but for exceptions.
func TestPythonBuiltins(t *testing.T) {
	out := python3(t, "-c", `import builtins; print(*[n for n in dir(builtins) if n[0] != "_" and not (isinstance(getattr(builtins, n), type) and issubclass(getattr(builtins, n), BaseException))])`, nil)
	for _, name := range strings.Fields(out) {
		if !pythonBuiltins()[name] && !pythonRefused()[name] && !pythonKeywords()[name] && name != "open" && name != "type" {
			t.Errorf("nothing is said about %s", name)
		}
	}
}

// TestPythonReach follows all attributes that a program may name in the Python of this
// machine: none leads to a module, a function or a table of names that it may not have.
func TestPythonReach(t *testing.T) {
	lists, err := json.Marshal(map[string][]string{
		"builtins": slices.Sorted(maps.Keys(pythonBuiltins())), "modules": slices.Sorted(maps.Keys(pythonModules())), "attributes": slices.Sorted(maps.Keys(pythonAttributes())),
	})
	if err != nil {
		t.Fatal(err)
	}
	seen, found, _ := strings.Cut(python3(t, "testdata/reach.py", "", lists), "\n")
	if found = strings.TrimSpace(found); found != "" || len(seen) < 4 {
		t.Errorf("of %s values: %s", seen, found)
	}
}

// TestPythonReallyReads runs programs that pass, of pieces put together at random, in the
// Python of this machine, which tells of all else that they do.
func TestPythonReallyReads(t *testing.T) {
	type program struct {
		Text  string   `json:"text"`
		Files []string `json:"files"`
	}
	r, passing := rand.New(rand.NewSource(*seed)), []program{}
	for _, text := range pythonPassing {
		if files, why := Python(text); why == "" {
			passing = append(passing, program{text, files})
		}
	}
	pieces := slices.Concat(pythonPassing, pythonRefusing)
	for _, one := range slices.Concat(pythonPassing, pythonRefusing) {
		pieces = append(pieces, strings.FieldsFunc(one, func(r rune) bool { return r == ' ' || r == ';' || r == '\n' })...)
	}
	pieces = append(pieces, strings.Split("(¦)¦[¦]¦{¦}¦,¦:¦.¦;¦\n¦=¦==¦'¦\"¦'''¦\"\"\"¦f'¦f\"¦{x}¦\\¦#¦x¦x = ¦import ¦from ¦as ¦for x in ¦lambda x: ¦open¦open(¦'a.txt'¦eval¦print(¦type(¦.format(¦sys¦json.¦str.¦import sys, json, csv, io\n¦io.StringIO(¦csv.writer(¦not¦0¦*¦**", "¦")...)
	tried := *tries * 2000
	for range tried {
		var text strings.Builder
		for range 1 + r.Intn(7) {
			text.WriteString(pieces[r.Intn(len(pieces))])
			text.WriteString([]string{"", "", " ", "\n", "; "}[r.Intn(5)])
		}
		if files, why := Python(text.String()); why == "" && !strings.Contains(text.String(), "while") && !strings.Contains(text.String(), "count(") {
			passing = append(passing, program{text.String(), files})
		}
	}
	given, err := json.Marshal(map[string]any{"modules": slices.Sorted(maps.Keys(pythonModules())), "programs": passing})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(python3(t, "testdata/watch.py", "", given)), "\n")
	for _, line := range lines[:len(lines)-1] {
		t.Error(line)
	}
	last := lines[len(lines)-1]
	var told struct{ Ran int }
	if err := json.Unmarshal([]byte(last), &told); err != nil || told.Ran < len(pythonPassing)/2 {
		t.Errorf("%s, %v: too few of them ran to tell anything", last, err)
	}
	t.Logf("%d of %d passed, and %s", len(passing), tried, last)
}

// python3 runs the Python of this machine. "" is no argument.
func python3(t *testing.T, words ...any) string {
	t.Helper()
	at, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3 here")
	}
	var args []string
	var input []byte
	for _, word := range words {
		switch word := word.(type) {
		case string:
			if word != "" {
				args = append(args, word)
			}
		case []byte:
			input = word
		}
	}
	cmd := exec.Command(at, append([]string{"-I"}, args...)...)
	var errs bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	return string(out)
}

func FuzzPython(f *testing.F) {
	for _, program := range slices.Concat(pythonPassing, pythonRefusing) {
		f.Add(program)
	}
	f.Fuzz(func(t *testing.T, program string) {
		files, why := Python(program)
		if why != "" {
			return
		}
		for _, never := range []string{"__class__", "eval(", "exec(", "__import__", "os.system"} {
			if outside := strings.Contains(program, never); outside && !strings.ContainsAny(program, `'"#`) {
				t.Errorf("%q passes", program)
			}
		}
		for _, file := range files {
			if file == "" || !strings.Contains(program, file) {
				t.Errorf("%q opens %q", program, file)
			}
		}
	})
}

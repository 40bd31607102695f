package oneliner

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Programs that pass are run here by every awk, sed and jq of the machine, and
// must have no effect: no file appears, no command is started (a command would
// make a file), and neither another file nor the environment is printed. The
// yq in Python is left out: it hands its program to jq.
//
// A longer search: go test -run TestReal -oneliner.tries 10000 -oneliner.seed 7 -v

var (
	tries = flag.Int("oneliner.tries", 150, "how many made-up programs each real awk, sed and jq runs")
	seed  = flag.Int64("oneliner.seed", 1, "what the made-up programs are made from")
)

// language is what is tried of one of the three.
type language struct {
	judge     func(string) string
	passing   []string
	refusing  []refused
	input     string
	fragments []string // what made-up programs are made of
	real      []real
}

// real is a program of the machine.
type real struct {
	name string
	argv []string
	// effects are programs whose effect must be seen, or a test with this
	// program shows nothing.
	effects []string
	// version must be in what --version prints, where two programs share a name.
	version string
}

var languages = map[string]language{
	"awk": {
		judge: Awk, passing: awkPassing, refusing: awkRefusing,
		input: "a b c\n1 2 3\nx/y:z f\n",
		fragments: strings.Split("print ¦print ¦printf ¦x¦y¦m¦1¦2¦\"m\"¦\"../other\"¦\": >m\"¦>¦>¦>>¦(¦)¦[¦]¦{¦}¦,¦;¦\n¦\n¦\\\n¦"+
			"/¦/¦\"¦\\¦#¦ in ¦?¦:¦=¦==¦+¦++¦-¦!¦~¦&&¦||¦|¦^¦$¦ ¦$1¦NF¦length¦if (x) ¦else ¦for (k in a) ¦while (x) ¦do ¦return ¦exit ¦next¦"+
			"function f(x) {¦func g(y) {¦f(¦f (¦g (¦BEGIN {¦END {¦/[/]/¦/a/¦[:alpha:]¦[^]¦[]¦\\/¦\\\"¦close(¦getline x¦getline¦system(¦"+
			"substr(¦delete ¦case ¦switch (x) {¦/=¦getline x < \"../other\"¦print > \"m\"¦system(\": >m\")¦ENVIRON[\"MARK\"]¦_¦.¦1e¦0x¦@", "¦"),
		real: []real{
			{name: "gawk", argv: []string{"gawk"}, effects: awkEffects},
			{name: "gawk --posix", argv: []string{"gawk", "--posix"}, effects: awkEffects},
			{name: "mawk", argv: []string{"mawk"}, effects: awkEffects},
			{name: "original-awk", argv: []string{"original-awk"}, effects: awkEffects},
			{name: "busybox awk", argv: []string{"busybox", "awk"}, effects: awkEffects},
			{name: "goawk", argv: []string{"goawk"}, effects: awkEffects},
			{name: "awk of macOS", argv: []string{"awk"}, effects: awkEffects, version: "awk version"},
		},
	},
	"sed": {
		judge: Sed, passing: sedPassing, refusing: sedRefusing,
		input: ": >m\na b c\nx/y:z\n",
		fragments: strings.Split("s/¦s,¦/¦/¦,¦;¦\n¦\n¦\\\n¦\\¦e¦w m¦w¦r ../other¦r¦e : >m¦}¦{¦p¦x¦[¦]¦[^¦[]¦[:alpha:]¦#¦a¦a\\\n¦i\\¦c ¦"+
			":a¦ba¦t¦:a;¦b x;¦y/¦1¦$¦!¦~2¦+1¦g¦I¦M¦ ¦  ¦&¦.*¦\\(¦\\)¦\\n¦q¦Q¦l¦n¦N¦D¦G¦=¦\\,¦\\/¦1w m¦/w m/¦s/x/w m/¦s/.*/&/e¦s/a/b/w m¦z¦F¦v¦0", "¦"),
		real: []real{
			{name: "sed", argv: []string{"sed"}, effects: sedEffects, version: "GNU sed"},
			{name: "sed -n", argv: []string{"sed", "-n"}, effects: sedEffects, version: "GNU sed"},
			{name: "sed --posix", argv: []string{"sed", "--posix"}, effects: sedEffects[1:], version: "GNU sed"},
			{name: "sed -E -s -z", argv: []string{"sed", "-E", "-s", "-z"}, effects: sedEffects, version: "GNU sed"},
			{name: "busybox sed", argv: []string{"busybox", "sed"}, effects: sedEffects[1:]},
			{name: "sed of BSD", argv: []string{"sed"}, effects: sedEffects[1:], version: "illegal option"},
		},
	},
	"jq": {
		judge: JQ, passing: jqPassing, refusing: jqRefusing,
		input: `{"a": "../other", "f": "../other", "load": "../other", "b": [1, 2, {"c": "MARK"}], "name": "x"}` + "\n",
		fragments: strings.Split(".¦.a¦.b¦.f¦.load¦.env¦\"¦\"¦\\(¦\\\\(¦\\\\¦\\\"¦\\n¦(¦)¦[¦]¦{¦}¦,¦;¦:¦=¦(1\n)¦#¦#¦#(¦\n¦ ¦ as $x¦$x¦$¦~¦1¦-¦+¦"+
			"load¦load(.f)¦load(.a)¦load(\"../other\")¦env¦env(MARK)¦strenv(MARK)¦env.MARK¦$ENV¦$ENV.MARK¦envsubst¦\"${MARK}\"¦eval(¦"+
			"not¦map(¦select(¦length¦..¦...¦?¦//¦*¦def f: ¦def env: ¦f¦if ¦then ¦else ¦end¦@sh ¦@base64 \"¦import \"other\" as o; ¦.a#¦.a=¦a: ¦env: ¦{env¦[0]¦tojson", "¦"),
		real: []real{
			{name: "jq", argv: []string{"jq"}, effects: jqEffects},
			{name: "gojq", argv: []string{"gojq"}, effects: jqEffects},
			{name: "jaq", argv: []string{"jaq"}, effects: jqEffects},
			{name: "yq", argv: []string{"yq", "-o=json"}, effects: yqEffects, version: "mikefarah"},
		},
	},
}

var (
	awkEffects = []string{
		`BEGIN { system(": >m") }`,
		`BEGIN { print ": >m" | "/bin/sh" }`,
		`BEGIN { print 1 > "m" }`,
		`BEGIN { getline x < "../other"; print x }`,
		`BEGIN { print ENVIRON["MARK"] }`,
	}
	sedEffects = []string{`1e : >m`, `w m`, `s/a/b/w m`, `r ../other`}
	jqEffects  = []string{`env.MARK`, `$ENV.MARK`}
	yqEffects  = []string{`env(MARK)`, `load("../other")`, `"\(load(.a))"`, `"${MARK}" | envsubst`}
)

// The marks are printed by what reads the file beside the folder, and by what
// reads the environment.
const (
	fileMark = "text-of-the-other-file"
	envMark  = "value-of-the-variable"
)

// bench is the folder in which a program is tried.
type bench struct {
	path string
	argv []string
	dir  string
}

// newBench finds a program. Without it, the reason why there is none.
func newBench(t *testing.T, r real) (*bench, string) {
	path, err := exec.LookPath(r.argv[0])
	if err != nil {
		return nil, "there is none"
	}
	if r.version != "" {
		out, _ := exec.Command(path, "--version").CombinedOutput()
		if !strings.Contains(string(out), r.version) {
			return nil, "it is another program of this name"
		}
	}
	top := t.TempDir()
	b := &bench{path: path, argv: r.argv, dir: filepath.Join(top, "empty")}
	if err := os.Mkdir(b.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "other"), []byte(fileMark+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return b, ""
}

// effect runs a program and says what it did beyond printing its input, or "".
// What takes too long is ended, and what it did until then counts.
func (b *bench) effect(t *testing.T, program, input string) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.path, append(slices.Clone(b.argv[1:]), program)...)
	cmd.Dir = b.dir
	cmd.Env = []string{"PATH=", "MARK=" + envMark, "LC_ALL=C.UTF-8"}
	cmd.Stdin = strings.NewReader(input)
	cmd.WaitDelay = time.Second
	var out capped
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		t.Fatalf("%s: %v", b.path, err)
	}
	files, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.RemoveAll(filepath.Join(b.dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
	switch {
	case len(files) > 0:
		return "a file appeared: " + files[0].Name()
	case bytes.Contains(out.Bytes(), []byte(fileMark)):
		return "another file was read"
	case bytes.Contains(out.Bytes(), []byte(envMark)):
		return "the environment was read"
	}
	return ""
}

// capped keeps the beginning of what is written to it: a program may print
// without end.
type capped struct{ bytes.Buffer }

func (c *capped) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), max(0, 1<<16-c.Len()))])
	return len(p), nil
}

// make puts a program together: of fragments, or of one of the tables with
// fragments put in and pieces taken out.
func (l language) make(r *rand.Rand) string {
	any := func() string { return l.fragments[r.Intn(len(l.fragments))] }
	var text string
	switch r.Intn(3) {
	case 0:
		text = l.passing[r.Intn(len(l.passing))]
	case 1:
		text = l.refusing[r.Intn(len(l.refusing))].program
	default:
		for range 3 + r.Intn(10) {
			text += any()
		}
		if r.Intn(2) == 0 && strings.Contains(any(), "{") {
			text = "BEGIN{" + text + "}"
		}
		return text
	}
	for range 1 + r.Intn(4) {
		i := r.Intn(len(text) + 1)
		j := min(len(text), i+r.Intn(4)*r.Intn(3))
		text = text[:i] + any() + text[j:]
	}
	return text
}

func TestReal(t *testing.T) {
	for _, name := range []string{"awk", "sed", "jq"} {
		l := languages[name]
		for _, r := range l.real {
			t.Run(r.name, func(t *testing.T) {
				b, missing := newBench(t, r)
				if missing != "" {
					t.Skipf("%s was not tried: %s", r.name, missing)
				}
				for _, p := range r.effects {
					if b.effect(t, p, l.input) == "" {
						t.Errorf("the effect of %q is not seen", p)
					}
				}
				for _, p := range l.passing {
					if did := b.effect(t, p, l.input); did != "" {
						t.Errorf("%q: %s", p, did)
					}
				}
				random := rand.New(rand.NewSource(*seed))
				made, ran := 0, 0
				for ran < *tries && made < 1000*(*tries) {
					p := l.make(random)
					made++
					if strings.HasPrefix(p, "-") || l.judge(p) != "" {
						continue // with a - in front, it is an option
					}
					ran++
					if did := b.effect(t, p, l.input); did != "" {
						t.Errorf("%q: %s", p, did)
					}
				}
				t.Logf("%s (%s): %d programs of the table and %d of %d made-up ones passed and were run; seed %d",
					r.name, b.path, len(l.passing), ran, made, *seed)
				if ran < *tries {
					t.Errorf("only %d of %d made-up programs passed", ran, made)
				}
			})
		}
	}
}

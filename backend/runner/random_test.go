//go:build linux || darwin

package runner

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// How many texts a run makes, and from which number. The number is printed,
// and is another one in each run.
const (
	randomTexts = "COUNTERSIGN_RANDOM_TEXTS"
	randomSeed  = "COUNTERSIGN_RANDOM_SEED"
)

// TestRandomTexts runs random texts in our runner and in the shell that they
// are meant for: they print the same and end the same, or they ask.
func TestRandomTexts(t *testing.T) {
	needs(t, "bash", "dash")
	seed, count := randomRun(t, approvaltest.Rounds(t, 2_000, 500))
	r, dir := newRunner(t), randomFolder(t)
	const batch = 250
	var next, ran, denials, wrong atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for {
				from := int(next.Add(batch)) - batch
				if from >= count {
					return
				}
				shell := []string{"bash", "dash"}[from/batch%2]
				var texts []string
				var ours []printed
				for i := from; i < min(from+batch, count); i++ {
					w := writer{Rand: rand.New(rand.NewPCG(seed, uint64(i))), posix: shell == "dash"}
					w.fewer = w.IntN(16) > 0
					text := w.text()
					if job := scriptJob(t, shell, dir, text); job != nil {
						job.ID = fmt.Sprintf("%s-%d", t.Name(), i)
						job.Env = testEnv(job.ID, dir)
						texts, ours = append(texts, text), append(ours, printedBy(run1(t, r, *job)))
					}
				}
				ran.Add(int64(len(texts)))
				for i, want := range inShell(t, shell, dir, texts) {
					switch got := ours[i]; {
					case cannotTell(got.denied):
						denials.Add(1)
					case got != want && wrong.Add(1) <= 10:
						t.Errorf("%s\n  we    %+v\n  %s %+v", texts[i], got, shell, want)
					}
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d of %d ran without a shell, %d of them in another way, and %d were denied as they ran", ran.Load(), count, wrong.Load(), denials.Load())
	if ran.Load() < int64(count)/2 || denials.Load() > ran.Load()/20 {
		t.Error("too few of them ran to tell anything")
	}
	mustBeGone(t, "none")
}

// randomRun returns the seed of a test with random texts and how many there are: rounds,
// where the environment names no other number.
func randomRun(t *testing.T, rounds int) (seed uint64, count int) {
	seed, count = rand.Uint64(), rounds
	if n, err := strconv.ParseUint(os.Getenv(randomSeed), 10, 64); err == nil {
		seed = n
	}
	if n, err := strconv.Atoi(os.Getenv(randomTexts)); err == nil {
		count = n
	}
	t.Logf("%s=%d %s=%d", randomSeed, seed, randomTexts, count)
	return seed, count
}

// cannotTell reports whether a run ended where shells differ, or where only it could
// tell that they do.
func cannotTell(denied string) bool {
	return denied == unclearNow || denied == "a value would be a pattern" || strings.Contains(denied, "its arithmetic") ||
		strings.HasPrefix(denied, "what its patterns stand for") || strings.HasPrefix(denied, "shells do not agree") || strings.HasPrefix(denied, "a pattern that a value")
}

// printed is what one can see of a text that ran.
type printed struct {
	out, err string
	status   int
	denied   string
}

// speaker is what a shell, or a program that was started by its path, puts
// before what it complains about.
var speaker = regexp.MustCompile(`(?m)(?:bash|dash|\.\./\.\./texts\d+): (?:eval: )?(?:line )?\d+: (?:eval: )?|(?:/usr)?/bin/(\w+: )`)

// needed is a form that ends a shell where a variable has no value.
var needed = regexp.MustCompile(`\$\{\w+:?\?`)

var scripts atomic.Int64

func said(text string) string { return speaker.ReplaceAllString(text, "$1") }

func printedBy(got approval.Result) printed {
	o := printed{said(string(got.Stdout)), said(string(got.Stderr)), code(got), got.Error}
	if got.Denied != nil {
		o.denied = cmp.Or(got.Denied.Sentence, "denied")
	}
	return o
}

// inShell runs texts in one shell, each in a subshell of its own.
func inShell(t *testing.T, shell, dir string, texts []string) []printed {
	if len(texts) == 0 {
		return nil
	}
	var script strings.Builder
	for _, text := range texts {
		run := "( eval '%s' )"
		if strings.HasPrefix(text, "set -u") || strings.HasPrefix(text, "set -eu") || needed.MatchString(text) { // a variable that is not set ends a subshell with another status
			run = shell + " -c '%s'"
		}
		fmt.Fprintf(&script, run+"; printf '\\001%%d\\001' $?; printf '\\001' >&2\n", strings.ReplaceAll(text, "'", `'\''`))
	}
	file := fmt.Sprintf("../../texts%d", scripts.Add(1)) // a name that no text prints
	if err := os.WriteFile(filepath.Join(dir, file), []byte(script.String()), 0o600); err != nil {
		t.Error(err)
		return nil
	}
	cmd := exec.Command(shell, file)
	cmd.Dir, cmd.Env = dir, testEnv(t.Name(), dir)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	outs, errs := strings.Split(stdout.String(), "\x01"), strings.Split(stderr.String(), "\x01")
	if err != nil || len(outs) != 2*len(texts)+1 || len(errs) != len(texts)+1 {
		t.Errorf("%s: %v, %d outputs of %d texts: %.300s", shell, err, len(outs)/2, len(texts), stderr.String())
		return nil
	}
	list := make([]printed, len(texts))
	for i := range list {
		status, _ := strconv.Atoi(outs[2*i+1])
		list[i] = printed{said(outs[2*i]), said(errs[i]), status, ""}
	}
	return list
}

// randomFolder is what random texts find.
func randomFolder(t *testing.T) string {
	dir := filepath.Join(scratch(t), "one", "two")
	for _, name := range []string{"sub/e.t", "sub/sub/f", "empty/.keep", "a.t", "b.t", "c d.t", "-n", ".hid", "x"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte("in "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// writer makes random texts of what the runner understands. They end, and change
// nothing.
type writer struct {
	*rand.Rand
	loops int  // how many were begun, so that each counts with a variable of its own
	fewer bool // no programs: they take the time
	unset bool // a variable that is not set ends the text
	posix bool // only what dash and bash agree on, also in the status of an error
	// files tells that redirections write files too, but in no stage of a pipeline:
	// which of two stages is first is for no text to say.
	files  bool
	stages int
}

func (w *writer) of(list ...string) string { return list[w.IntN(len(list))] }

// text is a few statements, some with options of the shell before them.
func (w *writer) text() string {
	options := ""
	switch {
	case w.IntN(5) > 0:
	case w.posix:
		options = "set -e\n"
	default:
		options = w.of("set -e", "set -e", "set -u", "set -eu", "set -ue", "set -e -u", "set -o pipefail", "set -eo pipefail", "set -euo pipefail", "set -e -o pipefail") + w.of("; ", "\n")
		w.unset = strings.Contains(options, "u")
	}
	return options + w.list(2, 3)
}

// list is up to n statements, each up to deep constructs deep.
func (w *writer) list(n, deep int) string {
	text := w.statement(deep)
	for range w.IntN(n) {
		text += w.of("; ", "; ", "\n", " # a word\n") + w.statement(deep)
	}
	return text
}

func (w *writer) statement(deep int) string {
	if deep == 0 {
		return w.simple(0)
	}
	inner := func() string { return w.list(2, deep-1) }
	switch w.IntN(25) {
	case 24:
		return w.of("set -- "+w.words(deep-1), "set -- "+w.words(deep-1), "set -- a 'b c' *.t", "set --", "shift", "shift 2", `set -- "$@" `+w.word(deep-1), `printf '<%s>' "$@"`, "printf '<%s>' "+w.of("$@", "$*"),
			"for p; do echo \"$p\" $#; "+inner()+"; done", "for p in "+w.of(`"$@"`, "$@", "x \"$@\"")+"; do "+inner()+"; done", "while [ $# -gt 0 ]; do echo \"$1\"; shift; done",
			"case $1 in "+w.cases()+") "+inner()+";; esac", "(shift; "+inner()+")")
	case 22, 23:
		if w.stages > 0 || w.files && w.IntN(6) > 0 {
			break // it often asks
		}
		// A shell leaves its children alone, so each text waits for them.
		text := w.of("{ "+inner()+"; }", "("+inner()+")", "{ "+inner()+"; }"+w.around(), w.simple(0), w.of("exit 3", "false", "x=b", "cd $HOME/sub", "true", "(exit 4)", "{ set -e; false; echo no; }"))
		again := `; wait "$p"; echo $?`
		if w.posix {
			again = ""
		}
		behind := w.of("", "wait; ", "wait; echo $?; ", "wait $!; echo $?; ", "wait \"$!\" || echo or; ", "p=$!; wait $p; echo $?"+again+"; ")
		if behind == "" { // nothing of both can be seen, in whatever order they run
			return "{ { " + inner() + "; } >/dev/null 2>&1 & " + w.of("echo a", "x=c", ":", "echo $?") + "; wait; }"
		}
		return text + " & " + behind + "wait"
	case 21:
		if w.posix {
			return "[ " + w.quoted(deep) + " = x ]"
		}
		return "[[ " + w.condition(2, deep) + " ]]" + w.of("", " && "+w.statement(deep-1), " || "+w.statement(deep-1))
	case 18:
		return "case " + w.word(deep-1) + " in " + w.cases() + ") " + inner() + ";; " + w.cases() + ") " + w.of("", inner()) + ";; " + w.of("", " *) "+inner()+";; ", " *) "+inner()+"; ") + "esac"
	case 19:
		loop := w.of("for x in a b w; do ", "for y in 1 2; do ", "while ! false; do ", "until false; do ")
		leave := w.of("break", "break", "continue", "break 1")
		if strings.HasSuffix(loop, "false; do ") {
			leave = "break"
		}
		text := inner() + "; " + w.of("", "true && ", `[ "$x" = a ] || `, "{ ", "case $x in a) ") + leave
		if strings.HasSuffix(text, "{ "+leave) {
			text += "; }"
		} else if strings.HasSuffix(text, "a) "+leave) {
			text += ";; esac"
		}
		if strings.HasSuffix(loop, "false; do ") {
			text += "; break"
		}
		return loop + text + "; " + inner() + w.of("", "; break") + "; done"
	case 20:
		if w.fewer {
			return w.of("read -r x", "read -r x y") + w.of("", " </dev/null")
		}
		from, end := w.of("", "cat a.t | ", "echo ' a  b' | ", "printf 'a b\n c\\n' | ", "printf 'x' | "), ""
		if from == "" { // else time decides whether a closed pipe ends what writes to it
			end = w.of("", " <a.t", " <<'E'\nab c\n\n  d\\ e \nE\n:")
		}
		return from + "while " + w.of("", "IFS= ") + "read -r " + w.of("x", "x y", "y z x") + "; do echo \"[$x][$y]\"; " + w.of("", inner()+"; ") + "done" + end
	case 0, 1:
		return w.statement(deep-1) + w.of(" && ", " || ", " &&\n", " || ") + w.statement(deep-1)
	case 2:
		if w.fewer {
			break
		}
		// The last stage reads all, so that no time decides whether the first is
		// ended by a closed pipe.
		pipe := " | "
		if !w.posix {
			pipe = w.of(" | ", " | ", " |& ")
		}
		w.stages++
		defer func() { w.stages-- }()
		return w.stage(deep-1) + pipe + w.of("cat", "cat >/dev/null; exit 3", "wc -l", "{ cat; "+inner()+"; }", "(cat; "+inner()+")", "cat | cat")
	case 3:
		if w.unset { // bash turns the status of a subshell that such a command ended
			return "! (" + w.simple(deep) + ")"
		}
		return "! " + w.simple(deep)
	case 4:
		return "{ " + inner() + "; }" + w.around()
	case 5:
		if w.posix { // dash forgets a redirection of such a group inside another
			return "(" + inner() + ")"
		}
		return "(" + inner() + ")" + w.around()
	case 6:
		return "if " + inner() + "; then " + inner() + w.of("", "; elif "+inner()+"; then "+inner(), "; else "+inner()) + "; fi"
	case 7:
		return "for " + w.of("x", "y", "z") + " in " + w.words(deep-1) + "; do " + inner() + "; done"
	case 8:
		if w.fewer {
			return w.of("while false", "until true", "while ! true", "until ! false") + "; do " + inner() + "; done"
		}
		w.loops++
		name := fmt.Sprintf("n%d", w.loops)
		head := w.of("while [ \"$N\" != aa ]", "until [ \"$N\" = aa ]", "until test \"$N\" = a")
		return strings.ReplaceAll("N=; "+head+"; do N=a$N; "+inner()+"; done", "N", name)
	case 9:
		if w.posix {
			return w.of("s", "t") + "=$((" + w.sum(2) + "))"
		}
		w.loops++
		name := fmt.Sprintf("k%d", w.loops) // which nothing else changes
		return w.of("s=$(("+w.sum(2)+"))", "(("+w.sum(2)+"))", "(("+w.sum(1)+")) && "+w.statement(deep-1), "((s++))", "((--t))", "((s+="+w.sum(1)+"))", "((t*=2))",
			"for (("+name+"=0;"+name+"<"+w.of("0", "1", "2")+";"+name+"++)); do "+inner()+"; done")
	case 10:
		return w.of("x", "y", "z", "export x", "export W") + "=" + w.value(deep-1)
	case 11:
		if w.posix {
			return w.of("cd $HOME/sub", "cd ..", "cd")
		}
		return w.of("cd sub", "cd ..", "cd nope", "cd -- sub", "cd", "cd sub/../empty", "cd $HOME/sub", "cd './sub'")
	case 12:
		return w.of("export x", "export x y", "export z; printenv z", "export W; x=b")
	case 13:
		if w.fewer {
			return w.of("(cd $HOME/sub; pwd)", "(cd $HOME/sub && exit 4)", "(exit 5)", "{ exit 6; }", "x=$(cd $HOME/sub; pwd)", "y=$(exit 7)", "(x=in; echo $x); echo $x", "(set -e; false; echo no)")
		}
		return w.of("x=in printenv x", "LC_ALL=C ls", "printenv x y W", "(cd $HOME/sub; ls)", "cat <sub/e.t", "cat < a.t | cat", "exit 3 | cat", "cat a.t | (cat; exit 3)",
			"wc -l <nope", "[ -d sub ] && [ ! -e nope ]", "test 3 -gt 2", "[ a = b ] || [ 1 -eq 1 ]", "[ \"$x\" ]", "test -n \"$y\" -a -f a.t", "printf '%s-%d\\n' a 1 b 2",
			"printf '%b' 'a\\tb\\n'", "printf \"$x\\n\"", "printf '%5s|%-3s|%%\\n' a b", "cat sub/* *.t", "ls -d */", "cat <a.t <b.t")
	}
	return w.simple(deep)
}

// value is what a variable gets. bash reads export NAME=$x as it reads x=$y, and
// dash splits it.
func (w *writer) value(deep int) string {
	if w.posix {
		return w.of("a", "1", "'a b'", "w")
	}
	return w.word(deep)
}

// stage is one stage of a pipeline.
func (w *writer) stage(deep int) string {
	switch w.IntN(5) {
	case 0:
		return "{ " + w.list(2, deep) + "; }"
	case 1:
		return "(" + w.list(2, deep) + ")"
	}
	return w.simple(deep)
}

// simple is a command of one line.
func (w *writer) simple(deep int) string {
	text := ""
	switch w.IntN(24) {
	case 0:
		text = "true"
	case 1, 2:
		text = "false"
	case 3:
		text = ":" + " " + w.word(deep)
	case 4:
		text = w.of("exit", "exit 3", "exit 0")
	case 5:
		text = "pwd"
	case 6:
		if !w.fewer {
			if !w.posix && w.IntN(3) == 0 {
				return w.of("cat <<<", "cat <<< ", "wc -c <<<") + w.of("word", "'a $x'", `a\ b`, `"two words"`, "''", "~", "{a,b}", "*", `$'a\nb'`) + w.of("", " | cat")
			}
			return w.of("cat <<E\n"+w.document()+"\nE", "cat <<'E'\n"+w.document()+"\nE", "cat <<-E\n\t"+w.document()+"\n\tE", "cat <<E <<'F'\n"+w.document()+"\nE\n"+w.document()+"\nF",
				"cat <<'E' | cat\n"+w.document()+"\nE", "cat <<\"E\"\nE", "cat - a.t <<'E'\n"+w.document()+"\n"+w.document()+"\nE") + "\n" + w.simple(0)
		}
		fallthrough
	case 7:
		if !w.fewer {
			if w.files && w.stages == 0 && w.IntN(2) == 0 {
				text = w.of("cat o1", "cat o1 o2", "wc -l <a.t", "cat sub/o4 a.t", "cat <a.t", "rm -f o1", "rm o2", "touch o3")
				break
			}
			text = w.of("cat a.t", "cat <a.t", "cat nope", "wc -l <b.t", `for f in a.t b.t; do cat <"$f"; done`, "ls", "ls sub", "printf '%s\\n' "+w.words(deep), "[ "+w.quoted(deep)+" = x ]", "test -f a.t")
			break
		}
		fallthrough
	default:
		text = "echo " + w.words(deep)
	}
	return text + w.around()
}

// around is a redirection, most often none.
func (w *writer) around() string {
	if w.files && w.stages == 0 && w.IntN(2) == 0 {
		return w.written()
	}
	return w.of("", "", "", "", "", "", " >/dev/null", " 2>/dev/null", " >&2", " 2>&1", " </dev/null", " 2>&1 >/dev/null", " >/dev/null 2>&1")
}

// written are redirections into files, one or several.
func (w *writer) written() string {
	file := w.of("o1", "o1", "o2", "./o3", "a.t", "sub/o4", "'o 5'", "\"o$?\"", "\"${o}6\"")
	switch w.IntN(12) {
	case 0, 1, 2:
		return " >" + file
	case 3, 4:
		return " >> " + file
	case 5:
		return " 2>" + file
	case 6:
		return " 2>>" + file + " >&2"
	case 7:
		return " >" + file + " 2>&1"
	case 8:
		return " 2>&1 >" + file
	case 9:
		return " >o1 >" + file
	case 10:
		return " >|" + file
	}
	if w.posix {
		return " 1>" + file + " </dev/null"
	}
	return w.of(" &>", " &>>") + file
}

// document is a line of a here-document. Where a variable is not set, bash goes
// on after a program's document, and we stop.
func (w *writer) document() string {
	if w.unset {
		return w.of("plain", `a\$b \\`, "* {a,b} ~", "a\tb", `\x`)
	}
	return w.of("plain", "it's $x", `a\$b "$y" \\`, "$HOME*", "* {a,b} ~", "$(echo in)", "a\tb", `\x`)
}

func (w *writer) words(deep int) string {
	text := w.word(deep)
	for range w.IntN(3) {
		text += w.of(" ", "  ", " \\\n ") + w.word(deep)
	}
	return text
}

// word is a word of one to three pieces.
func (w *writer) word(deep int) string {
	text := w.piece(deep)
	for range max(0, w.IntN(4)-1) {
		text += w.piece(deep)
	}
	return text
}

func (w *writer) piece(deep int) string {
	switch w.IntN(14) {
	case 0, 1, 2:
		return w.of("a", "b.t", "word", "x=1", "-n", "7", "sub/", ".", "%s", "é", "a~")
	case 3:
		return w.of(`'a b'`, `'$x'`, `''`, `'*'`, `'"'`, `'\'`)
	case 4, 5:
		return w.quoted(deep)
	case 6:
		if w.IntN(3) == 0 {
			return "$((" + w.sum(2) + "))"
		}
		return w.of("$x", "${y}", "$z", "$HOME", "${x}a", "$?", "${z}", "$1", "$2", "$#")
	case 7:
		return w.form(false)
	case 8:
		return w.of("*", "*.t", "?.t", "[a-b].t", "sub/*", "no*pe", "*/", "[!a]*", "[^a]*", "[[:alpha:]].t", "[a-", "?", "*/*", "sub/*/f", "s*b/[ef]*", "./*.t", "'a'*", ".*d", `\*`, "*\\ *")
	case 9:
		if w.posix {
			return w.of("{}", "=", "1")
		}
		return w.of("{a,b}", "{1..3}", "{a,}", "a{b,c}d", "{a,{b,c}}", "{c..a}", "{x}", "{1..9..4}", "{-1..1}", "{a,b}{c,d}", "sub/{e,f}.t", "{a..c}*", "{,x}", `{a\,b,c}`, "{$x,b}", "{a,b", "a}", "{a,'b c'}", "{01..3}")
	case 10:
		return w.of(`\a`, `\ `, `\$`, `\"`, `\\`, `\'`)
	case 11:
		if w.posix {
			return w.of("+", ":", "%")
		}
		return w.of("$'a\\tb'", "$'\\x41'", "$'it\\'s'", "$'\\101\\0'", "$'a\\nb'", `$'\u00e9\e\q'`, "$'*'", "$''", `$'\cA\?\"'`)
	}
	if deep > 0 && w.IntN(2) == 0 { // a shell forks for each, which is most of the time
		text := "$(" + w.simple(deep-1) + ")"
		return w.of(text, `"`+text+`"`)
	}
	return "w"
}

func (w *writer) quoted(deep int) string {
	switch w.IntN(6) {
	case 0:
		if deep > 0 && w.IntN(2) == 0 {
			return `"<$(` + w.simple(deep-1) + `)>"`
		}
		fallthrough
	case 1:
		return w.of(`"a b"`, `"it's"`, `"\$x"`, `"\a"`, `"*"`, `""`, `"~"`)
	}
	if w.IntN(3) == 0 {
		return `"` + w.form(true) + w.of("", "", "b") + `"`
	}
	return w.of(`"$x"`, `"${y}"`, `"a $z"`, `"$HOME/$x"`, `"$?"`, `"$x$y"`, `"$1"`, `"<$2>"`, `"$#"`)
}

// condition is what [[ asks.
func (w *writer) condition(n, deep int) string {
	if n > 0 && w.IntN(3) == 0 {
		return w.of("! ", "", "") + w.condition(n-1, deep) + w.of(" && ", " || ") + w.condition(n-1, deep)
	}
	word := w.of("$x", `"$y"`, "a", "''", "$z", w.quoted(deep-1), "${y:-a}", "$(echo a)", "$((1 + s))", "a*")
	switch w.IntN(5) {
	case 0:
		return w.of("! ", "") + w.of("-z ", "-n ", "") + word
	case 1:
		return w.of("-e ", "-f ", "-d ", "-s ", "-L ", "-r ", "-x ") + w.of("a.t", "sub", "nope", `"c d.t"`, "$x", "sub/e.t", "$HOME", "empty", "~")
	case 2:
		return w.of("1", "$s", "-2", "$t", "$((s + t))", "${#x}") + w.of(" -eq ", " -ne ", " -lt ", " -le ", " -gt ", " -ge ") + w.of("0", "1", "$t", "-3", "'7'")
	case 3:
		return "( " + w.condition(max(0, n-1), deep) + " )"
	}
	return word + w.of(" == ", " = ", " != ") + strings.ReplaceAll(w.of("$x", "$y", strings.TrimPrefix(w.cases(), "(")), "|", "")
}

// cases are patterns of a case.
func (w *writer) cases() string {
	one := func() string {
		return w.of("a", "*a", "a*", "w|x", "?", "[a-b]*", "''", `"$x"`, `"a b"`, "*' '*", `\*`, "[!a]", "7", "*.t", "sub/*", "-n", "é*")
	}
	return w.of("", "(") + one() + w.of("", "|"+one())
}

// sum is arithmetic, with blanks so that no two signs are one.
func (w *writer) sum(deep int) string {
	if deep == 0 || w.IntN(4) == 0 {
		return w.of("0", "1", "2", "7", "-3", "100", "s", "t", w.of("$s", "${t}", "${t:-2}", "${s:-3}", "6", "5"), "!s", "- 1", "nope", "${#x}", "${s:-4}", "9223372036854775807")
	}
	left, right := w.sum(deep-1), w.sum(deep-1)
	return w.of(left+" "+w.of("+", "-", "*", "+", "-", "*", w.of("/", "%"), "<", "<=", ">", ">=", "==", "!=", "&&", "||")+" "+right, "("+left+")", "("+left+") "+w.of("+", "-", "*", "==")+" ("+right+")", "-("+left+")", left+"+"+right)
}

// form is a variable with what is done to its value.
func (w *writer) form(quoted bool) string {
	name, pattern := w.of("x", "y", "z", "n1", "1", "2"), w.of("a", "?", "*", "*a", "a*", "*.", ".*", "[a-b]", "[!a]", "[[:alpha:]]*", `\*`, "?*", "w*", "*[ab]*", "%s", "b.t", "[", "a]", "x=*", "[0-9-]", `"$y"`, `*"$x"`)
	if !quoted && w.IntN(4) == 0 {
		pattern = w.of("'*'", "' '", `"a b"`, `'a'*`)
	}
	switch n := w.IntN(12); {
	case n < 3:
		text := w.of("a", "", "b.t", "7", "$z", "${y}", "$HOME", "a/b", "%s", "é", "=")
		if !quoted {
			text = w.of(text, "'a  b'", `"$x"`, `"a $y"`, "''", `"*"`)
		}
		return "${" + name + w.of(":-", "-", ":+", "+", ":-", "-") + text + "}"
	case n == 3:
		return "${" + w.of("x", "y", "z", "n1") + w.of(":=", "=") + w.of("a", "b", "7", "") + "}"
	case n == 4 && !w.unset:
		return "${" + w.of("HOME:?", "x:?", "x?", "y:?", "z?") + w.of("", "", "no") + "}"
	case n == 5:
		return "${#" + name + "}"
	case n < 9 || w.posix:
		return "${" + name + w.of("#", "##", "%", "%%") + pattern + "}"
	case n == 9:
		return "${" + name + w.of(":0", ":1", ":2", ":7") + w.of("", "", ":0", ":1", ":3") + "}"
	case n == 10:
		return "${" + name + w.of("^", "^^", ",", ",,") + "}"
	}
	return "${" + name + w.of("/", "//", "/#", "/%") + w.of("a", "?", "[a-b]", "b.", `\/`, "w", "ab", "[^a]", `"$y"`, " ") + w.of("", "/", "/-", "/b b", "/aa") + "}"
}

//go:build unix

package command_test

import (
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/oneliner"
)

// pythonPieces are what commands for a program of Python are put together of.
var pythonPieces = strings.Split("python3.12 -c 'print(1)' ¦python3.12 -c \"print(1)\" ¦python3.12 - <<'E'\nprint(1)\nE\n¦python3.12 <<E\nprint(1)\nE\n¦python3.12 - x <<-E\n\tprint(1)\n\tE\n¦python3.12 <<< 'print(1)' ¦python3.12 - <<\"E\"\nprint(1)¦python3.12 -c 'print(1)¦"+
	"python3.12 ¦python3.12 -c ¦python3.12 - ¦-c ¦-u ¦- ¦-I ¦-uc ¦-Ic¦-- ¦x ¦'print(1)' ¦\"print(1)\" ¦'print(1)¦'¦\"¦print(1) ¦\n¦; ¦ && ¦ | ¦ & ¦<<'E'\n¦<<E\n¦<<-E\n¦<<\"E\"\n¦<<\\E\n"+
	"¦<<< ¦<<<'print(1)' ¦< main.go ¦<<'F' ¦E\n¦\nE\n¦\tE\n¦F\n¦print(1)\n¦print(2)\n¦\tprint(3)\n¦$'print(1)\\n' ¦$'\\x65val(1)' ¦eval(1) ¦eval(1)\n¦'eval(1)' ¦\\\n¦\\¦\\\\¦$x¦`id`¦$(id)¦${x}¦\\$x¦x=eval ¦x=1; ¦env ¦nice ¦timeout 5 ¦xargs ¦command ¦exec ¦"+
	"#¦'#'¦for i in 1; do ¦; done¦if true; then ¦; fi¦( ¦) ¦{ ¦; } ¦! ¦cat main.go | ¦0<<<x ¦3<<<x ¦1>&2 ¦2>&1 ¦<&- ¦</dev/null ¦<<'E' <<'F'\n¦eval 'print(1)' ¦bash -c ¦\"'print(1)'\"¦'\"'¦'a'¦\"\"¦''¦r'x'¦'''¦print('a')\n¦print('$x')\n¦print('\\n')\n¦print(`id`)\n¦print('\\`')\n¦~¦*¦{1,2}", "¦")

// TestPythonAsBash: the program that was read is the one that bash gives to Python. Random
// commands that pass run in the bash of this machine, with a Python that tells what it got.
func TestPythonAsBash(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("skipped: ", err)
	}
	dir := t.TempDir()
	// Each run tells in a file of its own. The words up to the first that is no option say
	// where the program comes from.
	fake := "#!/bin/sh\nfrom=input\nfor a; do case $a in -) break;; -*c*) from=words; break;; -*) ;; *) break;; esac; done\n" +
		"{ printf '%s\\0' \"$@\"; printf '\\1'; [ $from = words ] || cat; } > \"$TOLD/$$\"\n"
	if err := os.WriteFile(filepath.Join(dir, "python3.12"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("eval(1)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewSource(26))
	passed, ran := 0, 0
	for range approvaltest.Rounds(t, 20_000, 1_500) {
		var text strings.Builder
		for range 1 + r.Intn(6) {
			text.WriteString(pythonPieces[r.Intn([]int{8, len(pythonPieces)}[r.Intn(2)])])
		}
		if !strings.Contains(text.String(), "python3.12") || !pythonCovered(t, text.String()) {
			continue
		}
		passed++
		told := t.TempDir()
		cmd := exec.CommandContext(t.Context(), "bash", "-c", text.String())
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + ":/usr/bin:/bin", "TOLD=" + told}
		_ = cmd.Run() // it may well fail
		files, err := filepath.Glob(filepath.Join(told, "*"))
		if err != nil {
			t.Fatal(err)
		}
		ran += len(files)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run := string(data)
			words, program, _ := strings.Cut(run, "\x01")
			args := strings.Split(strings.TrimSuffix(words, "\x00"), "\x00")
			option := slices.IndexFunc(args, func(a string) bool { return a == "-" || !strings.HasPrefix(a, "-") || strings.Contains(a, "c") })
			if option >= 0 && args[option] != "-" && strings.HasPrefix(args[option], "-") {
				if _, program, _ = strings.Cut(args[option], "c"); program == "" && option+1 < len(args) {
					program = args[option+1]
				}
			}
			if _, why := oneliner.Python(program); why != "" {
				t.Errorf("%q runs %q", text.String(), run)
			}
		}
	}
	if t.Logf("%d passed, and Python ran %d times", passed, ran); ran < passed/2 || passed < 50 {
		t.Error("too few of them ran to tell anything")
	}
}

// pythonCovered reports whether an entry that covers code which only reads lets a text pass.
func pythonCovered(t *testing.T, text string) bool {
	plan := invented().Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
	findings := slices.Clone(plan.Findings)
	for _, seg := range plan.Segments {
		findings = append(findings, seg.Findings...)
	}
	return len(findings) > 0 && !slices.ContainsFunc(findings, func(f approval.Finding) bool { return f.Allowed != approval.AllowReadingCode })
}

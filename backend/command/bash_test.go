package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// pieces are what random words are made of: everything that shells read in a
// word of their own way.
var pieces = []string{
	"a", "b", "ab", "-", "x y", "1", "3", "é",
	"*", "?", "[ab]", "[!a]", "[^a]", "[a-c]", "[]a]", "[[:alpha:]]", "[", "]", "**", ".*", "/", "./", "../", "sub/",
	"{a,b}", "{1..3}", "{a..c}", "{,a}", "{a}", "{", "}", ",", "..", "{1..3..2}", "{03..1}", "{a,{b,c}}",
	`\*`, `\a`, `\\`, `\{`, `\"`, `\ `, `\[`,
	"'*'", "'a b'", "''", `"a b"`, `"*"`, `"\a"`, `"\\"`, `"\""`, `"a'b"`, `""`, `'"'`, `"{a,b}"`, `"!"`,
	`$'a\tb'`, `$'\x41\101\u00e9'`, `$'\''`, `$'*'`, `$"a b"`,
	"~", "~/", "~+", "=", ":", "a=", "#", "!", "^", "%", "+", "@", "%s",
}

// braces are pieces of which every second text is made: bash has an own way
// with them.
var braces = []string{"{", "}", ",", "..", "a", "b", "1", "3", "{}", "{a,b}", "{1..3}", "''", "'{'", `\{`, `\,`, "-", "@", "*"}

// TestWordsAsBash compares what words become with what the real shells make of
// them: whoever reads a word in another way than the shell judges another
// command than the one that was written.
func TestWordsAsBash(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip("skipped: ", err)
			}
			t.Parallel()
			asShell(t, shell, approvaltest.Rounds(t, 20_000, 2_000))
		})
	}
}

func asShell(t *testing.T, shell string, rounds int) {
	home := t.TempDir()
	dir := filepath.Join(home, "p")
	names := []string{"a", "b", "ab", "c", ".hidden", "x y", "-rf", "sub/a", "sub/.b", "A", "[", "{a,b}", "a*"}
	if shell == "bash" {
		names = append(names, "é") // to dash, these are two characters
	}
	for _, name := range names {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath([]string{"/usr/bin", "/bin"})

	random := approvaltest.Randomly(t)
	var texts []string
	var ours [][]string
	for i := range rounds {
		pieces := pieces
		if i%2 == 0 {
			pieces = braces
		}
		var b strings.Builder
		b.WriteString("ls z")
		for range 1 + random.IntN(3) {
			b.WriteByte(' ')
			for range 1 + random.IntN(4) {
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		plan := a.Analyze(t.Context(), &approval.Request{Command: []string{shell, "-c", b.String()}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))
		if plan.Root == nil || plan.Root.Op != approval.OpRun || len(plan.Segments[0].Open) > 0 {
			continue // asks
		}
		texts, ours = append(texts, b.String()), append(ours, plan.Segments[0].Argv[1:])
	}
	if len(texts) < rounds/10 {
		t.Fatalf("only %d of the texts are understood", len(texts))
	}
	theirs := answers(t, shell, home, dir, `ls() { for w in "$@"; do printf '%s\0' "$w"; done; printf '\1\0'; }`, texts)
	wrong := 0
	for i, text := range texts {
		words := strings.Split(strings.TrimSuffix(theirs[i], "\x00"), "\x00")
		if !slices.Equal(words, ours[i]) {
			if wrong++; wrong <= 20 {
				t.Errorf("%s\n  to us  %q\n  to %s %q", text, ours[i], shell, words)
			}
		}
	}
	t.Logf("%d texts, %d of them read in another way", len(texts), wrong)
}

// answers runs texts in a shell, of which each prints an answer that ends in
// \x01 and NUL.
func answers(t *testing.T, shell, home, dir, before string, texts []string) []string {
	cmd := exec.Command(shell)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(before+"\n"+strings.Join(texts, "\n")+"\n")
	cmd.Env = []string{"HOME=" + home, "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.200s", err, out)
	}
	list := strings.Split(strings.TrimSuffix(string(out), "\x01\x00"), "\x01\x00")
	if len(list) != len(texts) {
		t.Fatalf("%d answers to %d texts", len(list), len(texts))
	}
	return list
}

// TestFedTextsAsBash compares what here-documents and here-strings feed to a
// command.
func TestFedTextsAsBash(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "dash"} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip("skipped: ", err)
			}
			t.Parallel()
			fedAsShell(t, shell, approvaltest.Rounds(t, 1_500, 300))
		})
	}
}

func fedAsShell(t *testing.T, shell string, rounds int) {
	home := t.TempDir()
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath([]string{"/usr/bin", "/bin"})
	random := approvaltest.Randomly(t)
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	letter := "é"
	if shell == "dash" {
		letter = "e" // dash loses the first byte of others in some places
	}
	body := func() (text string) {
		for range random.IntN(12) {
			text += pick("a", " ", "\t", "\n", "\n\t", "\\", "\\\\", "\\\n", `\$`, "\\`", `"`, "'", `\"`, "E", "*", "{a,b}", "~", "#", letter, ";")
		}
		return text + "\n"
	}
	var texts, ours []string
	for range rounds {
		text := ""
		switch random.IntN(6) {
		case 0:
			text = "cat <<<" + pick(pieces...) + pick(pieces...) + pick(pieces...)
		case 1:
			text = "git commit -m \"$(cat " + pick("<<", "<<-") + pick("'E'", `"E"`, `\E`, "E") + "\n" + body() + "E\n)\""
		default:
			text = "cat " + pick("<<", "<<-", "0<<") + pick("E", "E", "'E'", `"E"`, `\E`) + "\n" + body() + "E"
		}
		plan := a.Analyze(t.Context(), &approval.Request{Command: []string{shell, "-c", text}, Cwd: home, Who: approval.Ours}, approvaltest.Named(home))
		if plan.Root == nil || plan.Root.Op != approval.OpRun {
			continue // asks
		}
		texts = append(texts, strings.Replace(text, "$(cat", "$(/bin/cat", 1)) // which is no function of the test
		if first := plan.Segments[0]; first.Argv[0] == "git" {
			if len(first.Open) > 0 {
				t.Errorf("%s: the message is not known", text)
			}
			ours = append(ours, first.Argv[3])
			continue
		}
		fed := plan.Segments[0].Redirects
		ours = append(ours, fed[len(fed)-1].Text)
	}
	if len(texts) < rounds*4/15 {
		t.Fatalf("only %d of the texts are understood", len(texts))
	}
	wrong := 0
	for i, theirs := range answers(t, shell, home, home, `git() { printf '%s\1\0' "$3"; }; cat() { /bin/cat; printf '\1\0'; }`, texts) {
		if theirs != ours[i] {
			if wrong++; wrong <= 20 {
				t.Errorf("%s\n  to us  %q\n  to %s %q", texts[i], ours[i], shell, theirs)
			}
		}
	}
	t.Logf("%d texts, %d of them read in another way", len(texts), wrong)
}

package command_test

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/command"
)

func TestQuote(t *testing.T) {
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"git", "log", "--format=%H", "a/b.txt"}, "git log --format=%H a/b.txt"},
		{[]string{"rm", "-rf", "/tmp/x", "#", "~/docs"}, "rm -rf /tmp/x '#' '~/docs'"},
		{[]string{"rm", `/tmp/a\`, "~/docs"}, `rm '/tmp/a\' '~/docs'`},
		{[]string{"touch", "'/tmp/x", "y", "'"}, `touch ''\''/tmp/x' y ''\'''`},
		{[]string{"echo", "", " ", "a b", "$HOME", "`id`", "*", "a;b", "{a,b}", "=x", "!x"}, "echo '' ' ' 'a b' '$HOME' '`id`' '*' 'a;b' '{a,b}' '=x' '!x'"},
		{[]string{"echo", "שלום", "é", "a#b", "x~"}, "echo שלום é a#b x~"},
	}
	for _, test := range tests {
		if got := command.Quote(test.argv); got != test.want {
			t.Errorf("%q is shown as %s, want %s", test.argv, got, test.want)
		}
	}
}

// What a person reads is what a shell reads: the words themselves.
func TestQuoteIsReadBack(t *testing.T) {
	pieces := []string{"a", "b", " ", "'", `"`, `\`, "$x", "`", "#", "~", "*", "?", "{", "}", "[", "]", "!", ";", "&", "|", "<", ">", "(", ")", "=", "\n", "\t", "é", "-"}
	for _, shell := range []string{"sh", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("skipped: there is no %s", shell)
			continue
		}
		random := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			var argv []string
			for range 1 + random.IntN(20) {
				var word strings.Builder
				for range random.IntN(6) {
					word.WriteString(pieces[random.IntN(len(pieces))])
				}
				argv = append(argv, word.String())
			}
			out, err := exec.CommandContext(t.Context(), shell, "-c", `printf '%s\0' `+command.Quote(argv)).Output()
			if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err != nil || !slices.Equal(got, argv) {
				t.Errorf("%s reads %q as %q, %v", shell, argv, got, err)
			}
		}
	}
}

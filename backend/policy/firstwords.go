package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// targets are programs whose work a name in the project's files says, and the
// command behind which that name stands.
var targets = map[string]string{"bun": "run", "deno": "task", "gmake": "", "just": "", "make": "", "mise": "run", "npm": "run", "pnpm": "run", "task": "", "yarn": "run"}

// firstWords are the leading arguments that name a command of the program, as
// "rebase" does of git, or the script that an interpreter runs; none for programs
// whose first argument is something else: a file, a text to look for.
func firstWords(s *approval.Segment) []string {
	name, args := path.Base(s.Argv[0]), s.Argv[1:]
	if s.Program != nil {
		name = path.Base(s.Program.File.Path)
	}
	if len(s.Open) > 0 {
		args = args[:max(0, s.Open[0].At-1)] // what comes then is not known
	}
	if at := s.Command - 1; at > 0 && at < len(args) {
		args = args[at:]
	}
	n := command.CommandWords(append([]string{s.Argv[0]}, args...))
	behind, named := targets[name]
	code := slices.ContainsFunc(s.Findings, func(f approval.Finding) bool { return f.Allowed == approval.AllowReadingCode })
	switch {
	case code:
		n = slices.Index(args, "-c") + 1
	case named && behind == strings.Join(args[:n], " ") && n < len(args) && isCommandWord(args[n]):
		n++
	case s.Kind == approval.KindInterpreter && s.Profiled && n == 0 && len(args) > 0 && strings.ContainsAny(args[0], "./") && args[0][0] != '-':
		n = 1 + leadingCommands(args[1:])
	case s.Kind == approval.KindOther && !s.Profiled:
		n = leadingCommands(args)
	}
	return args[:n]
}

// leadingCommands counts the words before the first that can be no command of a program.
func leadingCommands(args []string) (n int) {
	for n < len(args) && isCommandWord(args[n]) {
		n++
	}
	return n
}

// behindOptions is a command without the flags and folders before the command of its
// program.
func behindOptions(s *approval.Segment) []string {
	if s.Command <= 1 || s.Command >= len(s.Argv) {
		return s.Argv
	}
	return append([]string{s.Argv[0]}, s.Argv[s.Command:]...)
}

// isCommandWord reports whether an argument can be the command of a program.
func isCommandWord(arg string) bool {
	return arg != "" && len(arg) <= 24 && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz0123456789-:_") == "" && arg[0] >= 'a' && arg[0] <= 'z'
}

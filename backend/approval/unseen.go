package approval

import "strings"

// Unseen reports whether a segment runs what is not in the question: a shell
// or an interpreter whose program is neither a text after its -c or -e nor a
// script file, a shell's own words for running texts and files, and a command
// whose name is known only when it runs.
func (s *Segment) Unseen() bool {
	args := s.Argv
	for len(args) > 1 && (args[0] == "builtin" || args[0] == "command") && s.Program == nil {
		args = args[1:]
	}
	if len(args) == 0 || !literal(args[0]) {
		return true
	}
	switch args[0] {
	case "eval", "source", ".":
		return s.Program == nil
	}
	switch s.Kind {
	case KindShell:
		return !shellOperand(args[1:])
	case KindInterpreter:
		return !scriptOperand(args[1:])
	}
	return false
}

// shellOperand reports whether a shell's arguments name its program in the
// question: -c and a literal text, or a file after options that take no value.
func shellOperand(args []string) bool {
	for i, arg := range args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return isFile(arg)
		case strings.Trim(arg[1:], "celuxvfni") != "" || arg == "-":
			return false // -s, -o pipefail, a long option: what comes then is not known
		case strings.Contains(arg, "c"):
			return i+1 < len(args) && literal(args[i+1])
		}
	}
	return false
}

// scriptOperand is the same for an interpreter.
func scriptOperand(args []string) bool {
	for i, arg := range args {
		switch {
		case !strings.HasPrefix(arg, "-"):
			return isFile(arg)
		case arg == "-c" || arg == "-e" || arg == "--eval":
			return i+1 < len(args) && literal(args[i+1])
		case arg != "-u" && arg != "-B" && arg != "-w" && arg != "--":
			return false
		}
	}
	return false
}

// isFile reports whether an operand is a file whose name is known, and no
// other name for what is sent.
func isFile(arg string) bool {
	return arg != "" && literal(arg) && !strings.HasPrefix(arg, "/dev/") && !strings.HasPrefix(arg, "/proc/")
}

// literal reports whether a word of a segment was known when it was judged;
// one that was not stands there as it was written.
func literal(word string) bool {
	return word != "" && !strings.ContainsAny(word, "$`\n") && !strings.HasPrefix(word, "<(")
}

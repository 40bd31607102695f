package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// unknownWords reports whether nobody knows what further words tell a program: no profile
// of it, or a script that an interpreter runs.
func unknownWords(s *approval.Segment) bool {
	if s.Builtin != "" || len(s.Argv) == 0 {
		return false
	}
	code := slices.ContainsFunc(s.Findings, func(f approval.Finding) bool { return f.Allowed == approval.AllowReadingCode })
	return s.Kind == approval.KindOther && !s.Profiled || s.Kind == approval.KindInterpreter && !code && command.CommandWords(behindOptions(s)) == 0
}

// further reports whether words behind the first ones, which a person remembered, are of
// the same job as far as words can tell: options, their values and files of the project,
// of which none says that it deletes, sends or forces something. "migrate app zero" is
// no further "migrate", nor is "migrate --force".
func further(folder approval.Folder, words []string) bool {
	value := false // the word may be the value of an option
	for _, word := range words {
		option := len(word) > 1 && word[0] == '-'
		switch {
		case word == "--", reachingWord(word), namesOutside(folder, word):
			return false
		case !option && !value && !strings.ContainsAny(word, "./"):
			return false
		}
		value = option && !strings.Contains(word, "=")
	}
	return true
}

// reachingWord reports whether an option, its value or an operand has a word of reaching.
// A file may have any name.
func reachingWord(word string) bool {
	name, value, _ := strings.Cut(word, "=")
	if word == "-f" || word == "-y" || len(word) > 1 && word[0] == '-' && name != "--config" && reachingName(name) {
		return true
	}
	if word[:min(1, len(word))] != "-" {
		value = word
	}
	return !strings.ContainsAny(value, "./ ") && reachingName(value)
}

// namesOutside reports whether a word may name a file outside a folder, or an address.
func namesOutside(folder approval.Folder, word string) bool {
	if strings.Contains(word, "://") || strings.Contains(word, "~") || slices.Contains(strings.FieldsFunc(word, notOfPath), "..") {
		return true
	}
	if strings.Count(word, ".") > 2 && strings.Trim(word, "0123456789.:-=abcdefghijklmnopqrstuvwxyz") == "" && !strings.ContainsAny(word, "/") {
		return true // 0.0.0.0
	}
	for i := range len(word) {
		starts := i == 0 || notOfPath(rune(word[i-1])) || i == 2 && word[0] == '-'
		if word[i] == '/' && starts && !folder.Holds(path.Clean(word[i:])) {
			return true
		}
	}
	return false
}

// notOfPath reports whether a sign ends what stands before a name of a file.
func notOfPath(r rune) bool { return strings.ContainsRune("/=:,;@ '\"([{|<>\t\n", r) }

package command

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// Every line of a profile that names subcommands or options has an example in
// which one of them stands. Whether the example passes or asks as it must is
// for TestProfiles to say.
func TestEveryLineHasAnExample(t *testing.T) {
	names, err := fs.Glob(profileFiles, "profiles/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, bare := 0, 0
	for _, name := range names {
		if strings.HasSuffix(name, "/README.txt") {
			continue
		}
		text, err := fs.ReadFile(profileFiles, name)
		if err != nil {
			t.Fatal(err)
		}
		programs := strings.Split("\n"+string(text), "\nprogram ")
		line := strings.Count(programs[0], "\n")
		for _, program := range programs[1:] {
			words := exampleWords(program)
			for text := range strings.Lines(program) {
				if options := lineNames(text); len(options) > 0 {
					lines++
					if !slices.ContainsFunc(options, func(o string) bool { return stands(o, words) }) {
						bare++
						t.Errorf("%s:%d: no example for %.80s", name, line, strings.TrimSpace(text))
					}
				}
				line++
			}
		}
	}
	t.Logf("%d lines, %d without an example", lines, bare)
}

// exampleWords returns the words of all examples of a program.
func exampleWords(program string) (words []string) {
	for line := range strings.Lines(program) {
		for _, kind := range []string{"pass ", "ask "} {
			if example, ok := strings.CutPrefix(line, kind); ok {
				example, _, _ = strings.Cut(example, " => ")
				words = append(words, strings.Fields(strings.ReplaceAll(example, "'", " "))...)
			}
		}
	}
	return words
}

// lineNames returns the options or the last words of the subcommands that a
// line is about.
func lineNames(line string) (names []string) {
	fields := strings.Fields(line)
	if len(fields) == 0 {
		return nil
	}
	word, rest := fields[0], fields[1:]
	switch {
	case word == "sub":
		for _, sub := range rest {
			names = append(names, sub[strings.LastIndexByte(sub, '/')+1:])
		}
		return names
	case strings.HasPrefix(word, "#"), word == "pass", word == "ask", word == "reading", word == "works", optionLists()[word] && word != "alone":
		return nil
	case (word == "only" || word == "never" || word == "shows") && len(rest) > 0:
		rest = rest[:1]
	}
	return slices.DeleteFunc(rest, func(o string) bool { return !strings.HasPrefix(o, "-") })
}

// stands reports whether an option, or the name of a subcommand, is among
// words: as it is, with a value, or as a letter in a bundle.
func stands(name string, words []string) bool {
	return name == "*" || name == anyTask && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, ":") }) || slices.ContainsFunc(words, func(word string) bool {
		short := len(name) == 2 && name[0] == '-' && strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--")
		start, open := strings.CutSuffix(name, "*")
		return word == name || word == "-"+name || strings.HasPrefix(word, name+"=") || open && strings.HasPrefix(word, start) || short && strings.Contains(word[1:], name[1:])
	})
}

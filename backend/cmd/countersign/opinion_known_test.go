package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tool is one use of a program, as testdata/opinion.txt describes it.
type tool struct {
	name                  string
	sub                   []string
	how                   map[string]bool
	safe, harm            []option
	operands, wrong, deny [][]word
}

// option is an option under all its names.
type option struct {
	short, long string // "-o", "--o^utput"; single ones are short
	maybe       bool   // its value is attached or not there
	values      []word // examples; none: it takes none
}

// word is a word of a command by its value, or as it stands.
type word struct {
	text string
	raw  bool
	path bool // may be spelled in other ways
}

func plainWords(texts ...string) (list []word) {
	for _, text := range texts {
		list = append(list, word{text: text})
	}
	return list
}

func readTools(t *testing.T) (list []tool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "opinion.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if key == "" || key == "#" {
			continue
		}
		if key == "program" {
			words := strings.Fields(rest)
			list = append(list, tool{name: words[0], sub: words[1:], how: map[string]bool{}})
			continue
		}
		tool := &list[len(list)-1]
		switch key {
		case "how":
			for _, how := range strings.Fields(rest) {
				if !slices.Contains([]string{"abbreviates", "bundles", "next", "single", "go", "permutes", "plain"}, how) {
					t.Fatalf("opinion.txt: %q says nothing", line)
				}
				tool.how[how] = true
			}
		case "safe":
			tool.safe = append(tool.safe, readOption(t, rest))
		case "harm":
			tool.harm = append(tool.harm, readOption(t, rest))
		case "operands":
			tool.operands = append(tool.operands, readLists(t, rest)...)
		case "wrong":
			tool.wrong = append(tool.wrong, readLists(t, rest)...)
		case "deny":
			tool.deny = append(tool.deny, readLists(t, rest)...)
		default:
			t.Fatalf("opinion.txt: %q says nothing", line)
		}
	}
	for _, tool := range list {
		if len(tool.operands) == 0 {
			t.Fatalf("opinion.txt: %s has no operands", tool.name)
		}
	}
	return list
}

var optionNames = regexp.MustCompile(`^(-[^ ]+)( --[^ ]+)?( .*)?$`)

func readOption(t *testing.T, text string) (o option) {
	t.Helper()
	m := optionNames.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("opinion.txt: %q is no option", text)
	}
	for _, name := range []string{m[1], strings.TrimSpace(m[2])} {
		name, o.maybe = strings.TrimSuffix(name, "?"), o.maybe || strings.HasSuffix(name, "?")
		if strings.HasPrefix(name, "--") {
			o.long = name
		} else if name != "" {
			o.short = name
		}
	}
	for _, value := range readLists(t, m[3]) {
		if len(value) != 1 {
			t.Fatalf("opinion.txt: a value of %q is not one word", text)
		}
		o.values = append(o.values, value[0])
	}
	return o
}

var wordPattern = regexp.MustCompile(`^[%@]?(?:'[^']*'|[^ '|][^ ]*|\|[^ ]+)(?: |$)`)

// readLists reads lists of words, parted by " | ".
func readLists(t *testing.T, text string) (lists [][]word) {
	t.Helper()
	var list []word
	text = strings.ReplaceAll(strings.TrimSpace(text), "⏎", "\n")
	for rest := text; rest != ""; {
		if after, ok := strings.CutPrefix(rest, "| "); ok {
			lists, list, rest = append(lists, list), nil, after
			continue
		}
		m := wordPattern.FindString(rest)
		if m == "" {
			t.Fatalf("opinion.txt: cannot read %q", rest)
		}
		rest = strings.TrimLeft(rest[len(m):], " ")
		w := word{text: strings.TrimSuffix(m, " ")}
		w.raw, w.path = w.text[0] == '%' && len(w.text) > 1, w.text[0] == '@'
		if w.raw || w.path {
			w.text = w.text[1:]
		}
		if !w.raw {
			w.text = strings.Trim(w.text, "'")
			if m[0] != '\'' && strings.Contains(m, "'") {
				w.text = strings.TrimSuffix(m, " ") // it's
			}
		}
		list = append(list, w)
	}
	if text != "" {
		lists = append(lists, list)
	}
	for i, list := range lists {
		if len(list) == 1 && list[0].text == "-" {
			lists[i] = nil
		}
	}
	return lists
}

var (
	deniedPrograms = []string{"wget", "nc", "dd", "sudo"}
	// unlistedPrograms are there, and nobody allowed them.
	unlistedPrograms = []string{"id", "whoami", "openssl", "perl", "frob", "time"}
)

// readTexts reads testdata/opinion-texts.txt: texts by their first word.
func readTexts(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "opinion-texts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		key, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key != "" && key != "#" {
			texts[key] = append(texts[key], strings.ReplaceAll(rest, "⏎", "\n"))
		}
	}
	for _, key := range []string{"program", "wrong", "deny", "redirect-wrong", "redirect-deny", "redirect", "redirect-bash", "env", "env-wrong", "sh-wrong"} {
		if len(texts[key]) == 0 {
			t.Fatalf("opinion-texts.txt: no line begins with %s", key)
		}
	}
	if len(texts) != 10 {
		t.Fatal("opinion-texts.txt: a line begins with a word that nobody knows")
	}
	return texts
}

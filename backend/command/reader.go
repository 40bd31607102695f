package command

import (
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// readerProfiles are read at the first use, as profiles are.
var readerProfiles = sync.OnceValue(func() *library { return mustRead("readers.txt") })

// readerWords is what the options of a program do that otherwise only reads.
type readerWords struct {
	findings []approval.Finding
	// walks tells that it goes through its folder, and names that it reads
	// names from a file.
	walks, names bool
	// texts is how many of its operands name nothing.
	texts int
	// open tells that a word more might be no file to read, but an option that
	// does more, or the value of the last one.
	open bool
}

// otherReader stands for the readers of which all options are alike.
var otherReader = newProfile("")

// asReader looks for the options that make a difference. Versions differ in
// which of them take a value, so every letter counts as an option.
func asReader(name string, argv []string) (r readerWords) {
	p := readerProfiles().programs[name]
	if p == nil {
		p = otherReader
	}
	a := &arguments{job: unlooked(), has: map[string]bool{}} // these options name no files, so nothing is looked at
	options := argv[1:]
	for i, word := range options {
		if word == "--" && (i == 0 || !p.wants(options[i-1])) {
			options = options[:i]
			break
		}
	}
	for option, o := range p.options {
		r.open = r.open || o.effect != effectNone
		if slices.ContainsFunc(options, func(word string) bool { return mayBe(word, option) }) {
			a.effect(p, o.effect, option, argument{})
		}
	}
	r.open = r.open || len(options) > 0 && len(options) == len(argv)-1 && p.wants(options[len(options)-1])
	r.findings = slices.SortedFunc(slices.Values(a.findings), func(x, y approval.Finding) int { return strings.Compare(x.Sentence, y.Sentence) })
	switch {
	case len(p.operands) == 1 && p.operands[0] == effectText:
		r.texts = len(argv)
	case len(p.operands) > 1 && p.operands[0] == effectText && !a.has["given"]:
		r.texts = 1
	}
	r.walks, r.names = a.has["recursive"], a.has["names"]
	return r
}

// wants reports whether a word may be an option whose value is the next word.
func (p *profile) wants(word string) bool {
	switch {
	case len(word) < 2 || word[0] != '-' || word == "--":
		return false
	case strings.HasPrefix(word, "--"):
		return !strings.Contains(word, "=")
	}
	return p.options["-"+word[len(word)-1:]].takes.next()
}

// mayBe reports whether a word may be an option: a letter among others, or the
// beginning of a long name.
func mayBe(word, option string) bool {
	name, _, _ := strings.Cut(word, "=")
	if strings.HasPrefix(word, "--") {
		return len(name) > 2 && strings.HasPrefix(option, name)
	}
	return strings.HasPrefix(word, "-") && len(option) == 2 && strings.Contains(word[1:], option[1:])
}

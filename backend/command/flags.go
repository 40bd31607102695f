package command

import (
	"slices"
	"strings"
)

// hasFlag reports whether one of these letters is in a bundle of options, or one
// of these long options among the words.
func hasFlag(words []string, letters string, long ...string) bool {
	for i, word := range words {
		if word == "--" {
			break
		}
		name, _, _ := strings.Cut(word, "=")
		switch {
		case strings.HasPrefix(word, "--"):
			if slices.ContainsFunc(long, func(full string) bool { return len(name) > 3 && strings.HasPrefix(full, name) }) {
				return true
			}
		case strings.HasPrefix(word, "-") && strings.ContainsAny(word[1:], letters):
			return true
		case i == 0 && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && strings.ContainsAny(word, letters) && len(words) > 1 && slices.Equal(long, []string{"--dereference"}):
			return true // the old bundle of tar
		}
	}
	return false
}

// valuesOf returns what stands behind an option and a sign of equality.
func valuesOf(words []string, option string) (list []string) {
	for _, word := range words {
		if value, ok := strings.CutPrefix(word, option+"="); ok {
			list = append(list, value)
		}
	}
	return list
}

// valuesAfter returns the values of options, attached or in the next word.
func valuesAfter(words []string, options ...string) (list []string) {
	for i, word := range words {
		for _, option := range options {
			value, ok := strings.CutPrefix(word, option)
			switch {
			case !ok:
			case value == "" && i+1 < len(words):
				list = append(list, words[i+1])
			case strings.HasPrefix(option, "--"):
				if value, ok = strings.CutPrefix(value, "="); ok {
					list = append(list, value)
				}
			case len(option) == 2 && value != "":
				list = append(list, strings.TrimPrefix(value, "="))
			}
		}
	}
	return list
}

// operandsOf returns the operands of a program that has a profile, and else all
// words that are no options.
func operandsOf(read *arguments, words []string) (list []string) {
	if read == nil {
		return slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.HasPrefix(word, "-") })
	}
	for _, word := range read.named {
		if word.open == nil {
			list = append(list, word.text)
		}
	}
	return list
}

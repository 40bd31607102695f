package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"
)

// action is what every command of ours is.
type action interface{ Run(*program) error }

// read fills in what the words say, as kong's own Parse does, and reports
// whether they ask for help. Parse, Validate and Run of kong find methods by
// name, and with one of them the linker keeps every method of the program: a
// tenth of its size. Left out is what no command uses.
func read(parser *kong.Kong, words []string) (parsed *kong.Context, help bool, err error) {
	if parsed, err = kong.Trace(parser, words); err == nil {
		err = parsed.Error
	}
	if err != nil {
		return parsed, false, err
	}
	if slices.ContainsFunc(parsed.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag == parser.Model.HelpFlag }) {
		return parsed, true, nil
	}
	if err = parsed.Reset(); err != nil {
		return parsed, false, err
	}
	if _, err = parsed.Apply(); err != nil {
		return parsed, false, err
	}
	return parsed, false, checkWords(parsed)
}

// checkWords finds what is missing, and values that are none of their choices.
func checkWords(parsed *kong.Context) error {
	var at *kong.Node
	var flags []string
	for _, p := range parsed.Path {
		if p.Node() == nil { // a word of a command
			continue
		}
		at = p.Node()
		for _, v := range at.Values() {
			if err := checkChoice(v); err != nil {
				return err
			}
		}
		for _, f := range at.Flags {
			if f.Required && !f.Set {
				flags = append(flags, f.Summary())
			}
		}
	}
	if len(flags) > 0 {
		return fmt.Errorf("missing flags: %s", strings.Join(flags, ", "))
	}
	return checkRest(at)
}

func checkChoice(v *kong.Value) error {
	if v.Enum == "" || v.Required && !v.Set {
		return nil
	}
	given := []string{fmt.Sprint(v.Target)}
	if v.IsSlice() {
		given = given[:0]
		for i := range v.Target.Len() {
			given = append(given, fmt.Sprint(v.Target.Index(i)))
		}
	}
	choices := v.EnumSlice()
	for _, g := range given {
		if !slices.Contains(choices, g) {
			for i, c := range choices {
				choices[i] = strconv.Quote(c)
			}
			return fmt.Errorf("%s must be one of %s but got %q", v.ShortSummary(), strings.Join(choices, ","), g)
		}
	}
	return nil
}

// checkRest finds words that are missing at the end.
func checkRest(at *kong.Node) error {
	var words, missing []string
	for _, arg := range at.Positional {
		if arg.Required && !arg.Set {
			words = append(words, arg.Summary())
		}
	}
	if len(words) > 0 {
		missing = append(missing, strconv.Quote(strings.Join(words, " ")))
	}
	for _, child := range at.Children {
		missing = append(missing, strconv.Quote(child.Name))
	}
	switch {
	case len(missing) == 0:
		return nil
	case len(missing) == 1:
		return fmt.Errorf("expected %s", missing[0])
	case len(missing) > 5:
		missing = append(missing[:5], "...")
	}
	return fmt.Errorf("expected one of %s", strings.Join(missing, ", "))
}

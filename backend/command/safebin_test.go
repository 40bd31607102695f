package command_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/command"
)

// safeBinVectors are what OpenClaw's shipped profiles let pass.
type safeBinVectors struct {
	Defaults []string
	Profiles map[string]struct {
		AllowedValueFlags, AllowedBooleanFlags, DeniedFlags []string
	}
	Cases []struct {
		Argv []string
		OK   bool
	}
}

// TestSafeBinVectors compares with the answers of OpenClaw.
func TestSafeBinVectors(t *testing.T) {
	var file safeBinVectors
	readVectors(t, "safe-bins.json", &file)
	if len(file.Cases) != 57 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	differs := map[string]string{
		"head -5":   "-NUM is a flag of head",
		"tr /a /b":  "the sets of tr are no files",
		"sort":      "sort is no safe bin here",
		"sort -k 2": "sort is no safe bin here",
		"grep -e x": "grep is no safe bin here",
	}
	for _, c := range file.Cases {
		name := strings.Join(c.Argv, " ")
		got := command.SafeBin(c.Argv)
		why, listed := differs[name]
		delete(differs, name)
		if (got != c.OK) != listed {
			t.Errorf("%s: %v, OpenClaw says %v; listed as different: %q", name, got, c.OK, why)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %v", differs)
	}
}

// TestSafeBinProfileVectors compares the flags, one by one: those that
// OpenClaw's profiles name, and every letter.
func TestSafeBinProfileVectors(t *testing.T) {
	var file safeBinVectors
	readVectors(t, "safe-bins.json", &file)
	if len(file.Defaults) != 6 || len(file.Profiles) != 9 {
		t.Fatalf("%d defaults, %d profiles", len(file.Defaults), len(file.Profiles))
	}
	const waits = "it is about tail -f, which is no filter"
	differs := map[string]string{
		"uniq --group":               "its value is optional, so the next word would be a file",
		"uniq -D":                    "prints all repeated lines, and has no value",
		"tail --pid":                 waits,
		"tail --sleep-interval":      waits,
		"tail --max-unchanged-stats": waits,
	}
	for name, p := range file.Profiles {
		if !slices.Contains(file.Defaults, name) {
			if command.SafeBin([]string{name}) {
				t.Errorf("%s is a safe bin, of OpenClaw it is none by itself", name)
			}
			continue
		}
		theirs := map[string]bool{}
		for _, flag := range slices.Concat(p.AllowedValueFlags, p.AllowedBooleanFlags) {
			theirs[flag] = true
		}
		flags := slices.Concat(p.DeniedFlags, slices.Collect(maps.Keys(theirs)))
		for letter := 'A'; letter <= 'z'; letter++ {
			flags = append(flags, "-"+string(letter))
		}
		slices.Sort(flags)
		for _, flag := range slices.Compact(flags) {
			key := name + " " + flag
			value, alone := command.SafeBin([]string{name, flag, "-1"}), command.SafeBin([]string{name, flag})
			why, listed := differs[key]
			delete(differs, key)
			if ((value || alone) != theirs[flag]) != listed {
				t.Errorf("%s: with a value %v, without %v; of OpenClaw %v; listed as different: %q", key, value, alone, theirs[flag], why)
			}
			if !listed && theirs[flag] && alone == slices.Contains(p.AllowedValueFlags, flag) {
				t.Errorf("%s: alone it passes: %v, but with a value in OpenClaw: %v", key, alone, !alone)
			}
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but they are not: %v", differs)
	}
}

func TestSafeBin(t *testing.T) {
	tests := []struct {
		argv string
		want bool
	}{
		{"wc -l", true},
		{"wc -lc --words", true},
		{"wc --li", true},
		{"wc --", true},
		{"wc -l -", true},
		{"wc -x", false},
		{"wc --files0-from=x", false},
		{"wc --f", false},
		{"wc --help", false},
		{"head -n 5", true},
		{"head -n5 -c 2", true},
		{"head --lines 5", true},
		{"head -n", false},
		{"head --lines", false},
		{"head --quiet=x", false},
		{"head -5x", false},
		{"tail -20", true},
		{"tail -f", false},
		{"tail -nf", true}, // the value of -n
		{"tail -fn 5", false},
		{"tail --retry", false},
		{"tail --re", false},
		{"tail -- -f", false},
		{"cut -d : -f 1", true},
		{"cut -d: -f1 file", false},
		{"tr a b", true},
		{"tr -d a", true},
		{"tr a b c", false},
		{"/usr/bin/tr a b", true},
		{"uniq in out", false},
		{"uniq --group in", false}, // its value is optional: "in" is a file
		{"uniq --group=both", false},
		{"uniq --gr in --gr out", false},
		{"sed p", false},
		{"", false},
	}
	for _, test := range tests {
		if got := command.SafeBin(strings.Fields(test.argv)); got != test.want {
			t.Errorf("%q: %v, want %v", test.argv, got, test.want)
		}
	}
}

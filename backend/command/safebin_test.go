package command_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/command"
)

// Where we answer otherwise than the real system, and why.
var safeBinDiffers = map[string]string{
	"head -5":   "-NUM is a flag of head",
	"tr /a /b":  "the sets of tr are no files",
	"sort":      "sort is no safe bin here",
	"sort -k 2": "sort is no safe bin here",
	"grep -e x": "grep is no safe bin here",
}

func TestSafeBinVectors(t *testing.T) {
	data, err := os.ReadFile("testdata/safe-bins.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Cases []struct {
			Argv []string
			OK   bool
		}
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors.Cases) == 0 {
		t.Fatal(err)
	}
	used := 0
	for _, c := range vectors.Cases {
		name := strings.Join(c.Argv, " ")
		if got := command.SafeBin(c.Argv); got != c.OK {
			if safeBinDiffers[name] == "" {
				t.Errorf("%s: %v, want %v", name, got, c.OK)
			}
			used++
		}
	}
	if used != len(safeBinDiffers) {
		t.Errorf("%d rows differ, %d are listed", used, len(safeBinDiffers))
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

package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

// TestNarrow reads every command, with words behind it that fit and that do
// not, once among all the others and once without them.
func TestNarrow(t *testing.T) {
	all, err := kong.New(new(commands))
	if err != nil {
		t.Fatal(err)
	}
	lines, narrowed := 0, 0
	_ = kong.Visit(all.Model.Node, func(at kong.Visitable, next kong.Next) error {
		node, ok := at.(*kong.Node)
		if !ok || node.Type != kong.CommandNode && node.Type != kong.ApplicationNode {
			return next(nil)
		}
		words := strings.Fields(node.Path())
		for _, more := range []string{"", "--help", "--nope", "nope", "a b c", "--json --help", "--state-dir=/x --state-dir", "-- x"} {
			line := append(words[:len(words):len(words)], strings.Fields(more)...)
			want, _ := reading(t, line, kong.IgnoreFields())
			got, known := reading(t, line, narrow(line))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q is read in another way (-all +narrow):\n%s", line, diff)
			}
			lines++
			if known == 1 {
				narrowed++
			}
		}
		return next(nil)
	})
	if narrowed < lines*3/4 {
		t.Errorf("of %d lines only %d were read without the other commands", lines, narrowed)
	}
	for _, line := range [][]string{nil, {"--help"}, {"--json", "version"}, {"nope"}, {"completion", "words", "--", ""}} {
		if _, known := reading(t, line, narrow(line)); known < 10 {
			t.Errorf("%q leaves %d commands", line, known)
		}
	}
}

// reading tells all that comes of a line: what is chosen and set, or what is
// printed. known is how many commands there are to choose from.
func reading(t *testing.T, line []string, choice kong.Option) (told string, known int) {
	t.Helper()
	var c commands
	var out bytes.Buffer
	parser, err := kong.New(&c, kong.Name("countersign"), choice, kong.Writers(&out, &out), kong.Exit(func(code int) { panic(helpShown(code)) }))
	if err != nil {
		t.Fatal(err)
	}
	known = len(parser.Model.Children)
	defer func() {
		if r := recover(); r != nil {
			told = fmt.Sprint(r.(helpShown), out.String())
		}
	}()
	parsed, err := parser.Parse(line)
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		_ = wrong.Context.PrintUsage(true)
		return err.Error() + "\n" + out.String(), known
	}
	if err != nil {
		return err.Error(), known
	}
	return fmt.Sprintf("%s %q %v %+v", parsed.Command(), c.StateDir, c.JSON, parsed.Selected().Target), known
}

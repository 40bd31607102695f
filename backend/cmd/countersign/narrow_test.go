package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestNarrow reads every command, with words behind it that fit and that do
// not, once as kong reads them, among all the others, and once as we do.
func TestNarrow(t *testing.T) {
	approvaltest.Long(t)
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
		if _, runs := node.Target.Addr().Interface().(action); !runs && len(node.Children) == 0 {
			t.Errorf("%s does nothing", node.Path())
		}
		words := strings.Fields(node.Path())
		for _, more := range behind(node) {
			line := append(words[:len(words):len(words)], strings.Fields(more)...)
			want, _ := reading(t, line, kong.IgnoreFields(), (*kong.Kong).Parse)
			got, known := reading(t, line, narrow(line), ours)
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
	for _, line := range [][]string{nil, {"--help"}, {"--json", "version"}, {"nope"}} {
		if _, known := reading(t, line, narrow(line), ours); known < 10 {
			t.Errorf("%q leaves %d commands", line, known)
		}
	}
}

// behind are the words to try behind a command: none, too many, and every
// choice that a flag has and one that it has not.
func behind(node *kong.Node) []string {
	list := []string{"", "--help", "--help=false", "--nope", "nope", "a b", "a b c", "--json --help", "--state-dir=/x --state-dir", "-- x"}
	for _, f := range node.Flags {
		if f.Required {
			list = append(list, "--"+f.Name+"=x", "--"+f.Name+"=x a b")
		}
		for _, choice := range append(f.EnumSlice(), "wrong") {
			list = append(list, "--"+f.Name+"="+choice, "--"+f.Name+"="+choice+" a", "--"+f.Name+"="+choice+",nope a")
		}
	}
	for _, arg := range node.Positional {
		for _, choice := range arg.EnumSlice() {
			list = append(list, choice, choice+" x")
		}
	}
	return list
}

func ours(parser *kong.Kong, line []string) (*kong.Context, error) {
	parsed, help, err := read(parser, line)
	if help {
		_ = parsed.PrintUsage(false)
		parser.Exit(0)
	}
	return parsed, err
}

// helpShown is what kong ends with after it printed its help.
type helpShown int

// reading tells all that comes of a line: what is chosen and set, or what is
// printed. known is how many commands there are to choose from.
func reading(t *testing.T, line []string, choice kong.Option, parse func(*kong.Kong, []string) (*kong.Context, error)) (told string, known int) {
	t.Helper()
	var c commands
	var out bytes.Buffer
	parser, err := kong.New(&c, kong.Name("countersign"), choice, kong.Writers(&out, &out), kong.Exit(func(code int) { panic(helpShown(code)) }))
	if err != nil {
		t.Fatal(err)
	}
	known = len(parser.Model.Children)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case helpShown:
			told = fmt.Sprint(r, out.String())
		default:
			panic(r)
		}
	}()
	parsed, err := parse(parser, line)
	var wrong *kong.ParseError
	if errors.As(err, &wrong) {
		parsed = wrong.Context
	}
	if err != nil {
		_ = parsed.PrintUsage(true)
		return err.Error() + "\n" + out.String(), known
	}
	return fmt.Sprintf("%s %q %v %+v", parsed.Command(), c.StateDir, c.JSON, parsed.Selected().Target), known
}

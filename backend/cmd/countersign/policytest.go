package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/corpus"
	"github.com/countersign-app/countersign/backend/display"
)

type policyTest struct {
	File   string   `arg:"" help:"Cases with the answers that are expected (JSON)."`
	FailOn []string `help:"End with code 1 if tier must has any: unsafe, weak, needless." enum:"unsafe,weak,needless" placeholder:"WHAT"`
}

// testFailure is a case that was not answered as its label says.
type testFailure struct {
	ID     string           `json:"id"`
	Expect approval.Verdict `json:"expect"`
	Got    approval.Verdict `json:"got"`
	Reason string           `json:"reason"`
	input  string
	// sentence says the reason in words; empty for what was allowed.
	sentence string
}

// testResult is what policy test prints.
type testResult struct {
	corpus.Score
	Failures []testFailure `json:"failures"`
}

func (c policyTest) Run(p *program) error {
	t, err := p.trial(c.File)
	if err != nil {
		return err
	}
	got := testResult{Failures: []testFailure{}}
	for _, one := range t.cases.Cases {
		if err := p.ctx.Err(); err != nil {
			return err
		}
		j := t.labelled(one)
		if got.Add(one, j.Verdict, stripped(one)) {
			got.Failures = append(got.Failures, testFailure{one.ID, one.Expect, j.Verdict, because(j), inputOf(one), j.Sentence})
		}
	}
	if err := p.print(got, got.write); err != nil {
		return err
	}
	counts := map[string]int{"unsafe": got.Must.Unsafe, "weak": got.Must.Weak, "needless": got.Must.Needless}
	for _, what := range c.FailOn {
		if counts[what] > 0 {
			return exit{code: exitError}
		}
	}
	return nil
}

// trial reads a file of cases, and says on stderr what in it is ignored.
func (p *program) trial(file string) (*trial, error) {
	text, err := readPlain(file, corpus.MaxSize)
	if err != nil {
		return nil, err
	}
	cases, err := corpus.Parse(filepath.Base(file), text)
	if err != nil {
		return nil, err
	}
	for _, field := range cases.Unknown {
		fmt.Fprintln(p.stderr, "countersign: ignored, because nothing is known of it:", display.Escape(field))
	}
	return newTrial(cases), nil
}

// readPlain reads a file of at most max bytes. A pipe in its place cannot hang
// us.
func readPlain(name string, max int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no plain file: give one", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, max+1))
	if err == nil && int64(len(text)) > max {
		err = fmt.Errorf("%s is larger than %d MiB: part it", name, max>>20)
	}
	return text, err
}

// because is the reason code, or what let the request pass.
func because(j approval.Judgement) string {
	if j.Verdict != approval.VerdictAllow {
		return string(j.Reason)
	}
	var by []string
	for _, s := range j.Segments {
		if !slices.Contains(by, s.Entry) {
			by = append(by, s.Entry)
		}
	}
	return "allowed by " + strings.Join(by, ", ")
}

func inputOf(c corpus.Case) string {
	if c.Argv != nil {
		return command.Quote(c.Argv)
	}
	return c.Text
}

func (r testResult) write(w io.Writer) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	head := func(name string) {
		fmt.Fprintf(table, "%s\tunsafe allows\tweak denies\tneedless prompts\tcases\n", name)
	}
	row := func(name string, c corpus.Counts) {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", display.Escape(name), c.Unsafe, c.Weak, c.Needless, c.Cases)
	}
	head("tier")
	row("must", r.Must)
	for _, group := range []struct {
		name string
		rows map[string]corpus.Counts
	}{{"class", r.Classes}, {"origin", r.Origins}} {
		fmt.Fprintln(table)
		head(group.name)
		for _, name := range slices.Sorted(maps.Keys(group.rows)) {
			row(name, group.rows[name])
		}
	}
	_ = table.Flush()
	fmt.Fprintf(w, "\nshould  %d of %d handled\n", r.Should.Handled, r.Should.Of)
	fmt.Fprintf(w, "strict  %d of %d prompted\n", r.Strict.Prompted, r.Strict.Of)
	fmt.Fprintf(w, "info    %d of %d handled, which counts for nothing\n", r.Info.Handled, r.Info.Of)
	for _, f := range r.Failures {
		fmt.Fprintf(w, "\n%s: expected %s, got %s: %s\n    %s\n", display.Escape(f.ID), f.Expect, f.Got,
			display.Escape(explained(f.Reason, f.sentence)), display.Escape(f.input))
	}
}

func explained(reason, sentence string) string {
	if sentence == "" {
		return reason
	}
	return sentence + " (" + reason + ")"
}

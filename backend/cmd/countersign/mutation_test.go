package main

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/corpus"
)

// mutation is a change of a text that a shell does not notice. It returns the
// texts that it makes; parsed is the tree of the text.
type mutation struct {
	name string
	make func(text string, parsed *syntax.File) []string
	// mayAsk tells that to ask is right too: what must not happen is that
	// something passes which did not.
	mayAsk bool
}

var mutations = []mutation{
	{"a literal word in quotes", func(text string, parsed *syntax.File) []string { return quoteWords(text, literalWords(parsed)) }, false},
	{"the file of a redirection in quotes", func(text string, parsed *syntax.File) []string { return quoteWords(text, literalFiles(parsed)) }, false},
	{"a comment at the end of a line", commentLines, false},
	{"a line continued between words", continueLines, false},
	{"true before it", before("true; "), false},
	// A comment ends with its line, whatever its last character is.
	{"a comment with a backslash at its end before it", before("true # \\\n"), true},
	{"a colon before it", before(":; "), false},
	{"a subshell around it", around("(\n", "\n)"), false},
	{"a group around it", around("{\n", "\n}"), false},
	{"blanks and empty lines around it", around(" \n\t\n", "\n \n\t\n"), false},
	// A branch that a condition chooses may run, so it counts as if it did.
	{conditional, around("if true\nthen\n", "\nfi"), false},
}

const conditional = "a condition before it"

// TestMutations changes every case of the corpus in ways that must not change
// the answer.
func TestMutations(t *testing.T) {
	approvaltest.Long(t)
	cases := readCorpus(t)
	trial := newTrial(cases)
	tried, wrong := map[string]int{}, map[string]int{}
	check := func(kind string, mayAsk bool, was, now corpus.Case) {
		tried[kind]++
		want, got := trial.labelled(was), trial.labelled(now)
		passes := got.Verdict == approval.VerdictAllow && want.Verdict != approval.VerdictAllow
		if passes || !mayAsk && got.Verdict != want.Verdict {
			if wrong[kind]++; wrong[kind] <= 20 {
				t.Errorf("%s, %s: %s\n    is %s (%s %s), but it was %s (%s) as\n    %s",
					was.ID, kind, inputOf(now), got.Verdict, got.Reason, got.Sentence, want.Verdict, because(want), inputOf(was))
			}
		}
	}
	const asArgv, asText, bashText = "an argv as a quoted text", "the text inside an argv", "a text as bash -c"
	for _, c := range cases.Cases {
		text, lang, with := textOf(c)
		if text == "" {
			if quoted := quotedArgv(c); quoted != "" {
				check(asArgv, false, c, withText(c, quoted))
			}
			continue
		}
		parsed, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
		if err != nil || len(parsed.Stmts) == 0 || !mutable(text) {
			continue
		}
		for _, m := range mutations {
			// The runner knows no conditions in zsh.
			if m.name == conditional && c.Argv != nil && path.Base(c.Argv[0]) == "zsh" {
				continue
			}
			for _, changed := range m.make(text, parsed) {
				check(m.name, m.mayAsk, c, with(changed))
			}
		}
		switch {
		case c.Argv != nil:
			// The text of a shell is the same text in any spelling of its options.
			next := c
			next.Argv = []string{c.Argv[0], "-c", text}
			check(asText, false, c, next)
		case !beginsWithEquals(parsed):
			next := c
			next.Text, next.Argv = "", []string{"bash", "-c", text}
			check(bashText, false, c, next)
		}
	}
	kinds := []string{asArgv, asText, bashText}
	for _, m := range mutations {
		kinds = append(kinds, m.name)
	}
	for _, kind := range kinds {
		t.Logf("%5d tried, %d wrong: %s", tried[kind], wrong[kind], kind)
		if tried[kind] == 0 {
			t.Errorf("nothing was tried: %s", kind)
		}
	}
}

// mutable tells that a text is far from every limit on size and depth, and
// that what is put behind it stays behind it. An argv can hold no NUL.
func mutable(text string) bool {
	return len(text) < 8<<10 && !strings.HasSuffix(text, "\\") && !strings.Contains(text, "\x00")
}

// textOf returns the shell text of a case, its grammar, and how to put another
// one in its place. A text that a display text must match stays as it is.
func textOf(c corpus.Case) (string, syntax.LangVariant, func(string) corpus.Case) {
	switch {
	case c.RawCommand != "":
		return "", 0, nil
	case c.Argv == nil:
		return c.Text, syntax.LangBash, func(text string) corpus.Case { return withText(c, text) }
	case len(c.Argv) != 3 || !shellOptions.MatchString(c.Argv[1]):
		return "", 0, nil
	}
	langs := map[string]syntax.LangVariant{
		"bash": syntax.LangBash, "zsh": syntax.LangBash, "sh": syntax.LangPOSIX, "dash": syntax.LangPOSIX, "ash": syntax.LangPOSIX, "ksh": syntax.LangMirBSDKorn,
	}
	lang, ok := langs[path.Base(c.Argv[0])]
	if !ok {
		return "", 0, nil
	}
	return c.Argv[2], lang, func(text string) corpus.Case {
		c.Argv = []string{c.Argv[0], c.Argv[1], text}
		return c
	}
}

var shellOptions = regexp.MustCompile(`^-l?c$`)

func withText(c corpus.Case, text string) corpus.Case {
	c.Argv, c.Text = nil, text
	return c
}

// quotedArgv is a plain command as a text, or empty where that would mean
// something else: a builtin is no program there, a shell with a text is one
// inside another, and characters that are read with care in a text only.
func quotedArgv(c corpus.Case) string {
	if c.RawCommand != "" || len(c.Argv) == 0 || strings.ContainsAny(c.Argv[0], " \t\n") || c.Argv[0] == "" || isShell(c.Argv[0]) || builtins[c.Argv[0]] {
		return ""
	}
	var words []string
	for _, word := range c.Argv {
		if !printable.MatchString(word) {
			return ""
		}
		words = append(words, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return strings.Join(words, " ")
}

var printable = regexp.MustCompile(`^[ -~]*$`)

func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "zsh", "dash", "ash", "ksh", "fish", "csh", "tcsh", "pwsh"}, strings.ToLower(path.Base(name)))
}

// builtins are bash's.
var builtins = func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`: . [ alias bg bind break builtin caller cd command compgen complete compopt continue
		declare dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout
		mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times trap true type
		typeset ulimit umask unalias unset wait`) {
		set[name] = true
	}
	return set
}()

// literal is a word that quotes do not change: no tilde, glob, brace,
// expansion, escape or equals sign is in it.
var literal = regexp.MustCompile(`^[A-Za-z0-9_./,:@%+-]+$`)

func literalWord(w *syntax.Word) bool {
	if w == nil || len(w.Parts) != 1 {
		return false
	}
	lit, ok := w.Parts[0].(*syntax.Lit)
	return ok && literal.MatchString(lit.Value)
}

// literalWords are the words of commands. What the grammar knows by name, such
// as if, time, export and [[, is no word of one.
func literalWords(parsed *syntax.File) (list []*syntax.Word) {
	syntax.Walk(parsed, func(n syntax.Node) bool {
		if call, ok := n.(*syntax.CallExpr); ok {
			for _, w := range call.Args {
				if literalWord(w) {
					list = append(list, w)
				}
			}
		}
		return !oldSubstitution(n)
	})
	return list
}

// literalFiles are the words behind redirections to files.
func literalFiles(parsed *syntax.File) (list []*syntax.Word) {
	files := []syntax.RedirOperator{syntax.RdrOut, syntax.AppOut, syntax.RdrIn, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll}
	syntax.Walk(parsed, func(n syntax.Node) bool {
		if r, ok := n.(*syntax.Redirect); ok && slices.Contains(files, r.Op) && literalWord(r.Word) {
			list = append(list, r.Word)
		}
		return !oldSubstitution(n)
	})
	return list
}

// oldSubstitution tells that a node is in backticks, where quotes are read
// twice.
func oldSubstitution(n syntax.Node) bool {
	s, ok := n.(*syntax.CmdSubst)
	return ok && s.Backquotes
}

func quoteWords(text string, words []*syntax.Word) (list []string) {
	for i, w := range words {
		from, to := w.Pos().Offset(), w.End().Offset()
		value := w.Parts[0].(*syntax.Lit).Value
		if text[from:to] != value { // spliced over lines
			continue
		}
		forms := []string{"'" + value + "'", `"` + value + `"`, `\` + value, value[:1] + "''" + value[1:]}
		list = append(list, text[:from]+forms[i%len(forms)]+text[to:])
	}
	return list
}

// continueLines parts a line before a word of a command.
func continueLines(text string, parsed *syntax.File) (list []string) {
	for _, w := range literalWords(parsed) {
		if at := w.Pos().Offset(); at > 0 && text[at-1] == ' ' {
			list = append(list, text[:at]+"\\\n"+text[at:])
		}
	}
	return list
}

// commentLines puts a comment behind statements that end a line.
func commentLines(text string, parsed *syntax.File) (list []string) {
	syntax.Walk(parsed, func(n syntax.Node) bool {
		s, ok := n.(*syntax.Stmt)
		if !ok {
			return !oldSubstitution(n)
		}
		end := int(s.End().Offset())
		rest := strings.TrimLeft(text[min(end, len(text)):], " \t")
		here := slices.ContainsFunc(s.Redirs, func(r *syntax.Redirect) bool { return r.Hdoc != nil })
		if !here && (rest == "" || rest[0] == '\n') {
			list = append(list, text[:end]+" \t # a note: ' $(x\n"+rest)
		}
		return true
	})
	return list
}

func before(what string) func(string, *syntax.File) []string { return around(what, "") }

func around(open, end string) func(string, *syntax.File) []string {
	return func(text string, _ *syntax.File) []string { return []string{open + text + end} }
}

// beginsWithEquals tells that a word begins with an equals sign: that asks
// only while nobody knows the shell.
func beginsWithEquals(parsed *syntax.File) (found bool) {
	syntax.Walk(parsed, func(n syntax.Node) bool {
		if lit, ok := n.(*syntax.Lit); ok && strings.HasPrefix(lit.Value, "=") {
			found = true
		}
		return true
	})
	return found
}

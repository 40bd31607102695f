package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// An agent's own shell may be one that is typed into. Such a zsh knows no
// comments, and such shells put earlier commands in the place of words with !.
// Nobody can know the aliases and options that a person has set there.

// typed asks for what such a reader makes something else of. What stands in a
// comment is named for the floor and the denylist, as it may run.
func (t *textJob) typed(file *syntax.File) {
	if strings.Contains(t.text, "\t") {
		t.ask(approval.ReasonUnreadable, "it holds a tab, which completes a name where a text is typed")
	}
	quotes := make(spans, len(t.text)) // but for the first sign of each
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			for i := n.Pos().Offset() + 1; i < n.End().Offset(); i++ {
				quotes[i] = true
			}
		}
		return true
	})
	if recalls(t.text, quotes) {
		t.ask(approval.ReasonUnreadable, "it holds ! or ^ where a shell that is typed into recalls earlier commands")
	}
	t.remarks(file)
}

// remarks asks for comments. One that is a whole line at the beginning, with
// letters that mean nothing, is only a command that is not found.
func (t *textJob) remarks(file *syntax.File) {
	first := len(t.text)
	if len(file.Stmts) > 0 {
		first = int(file.Stmts[0].Pos().Offset())
	}
	again, err := syntax.NewParser(syntax.Variant(t.grammar.variant()), syntax.KeepComments(true)).Parse(strings.NewReader(t.text), "")
	if err != nil {
		t.ask(approval.ReasonUnreadable, "its comments cannot be told")
		return
	}
	syntax.Walk(again, func(n syntax.Node) bool {
		c, ok := n.(*syntax.Comment)
		if !ok {
			return true
		}
		at := int(c.Pos().Offset())
		alone := at == 0 || t.text[at-1] == '\n'
		if alone && at < first && strings.Trim(c.Text, harmlessLetters) == "" && (c.Text == "" || c.Text[0] == ' ') {
			return true
		}
		t.ask(approval.ReasonUnreadable, "it has a comment, which a zsh that is typed into takes for words")
		t.mention(c.Text, &approval.Segment{Start: at, End: int(c.End().Offset()), Dir: t.plan.Cwd.Path})
		return true
	})
}

// harmlessLetters are those of remarks that mean nothing to a shell.
const harmlessLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,:/_-"

// recalls reports whether a shell that keeps a history may put earlier words in
// the place of some: at a ! that no single quotes of its own line hold, or a ^
// that begins a line. Shells do not agree what quotes of the line before hold.
func recalls(text string, quotes spans) bool {
	start := 0
	for line := range strings.SplitSeq(text, "\n") {
		quoted, sure := false, start == len(text) || !quotes[start]
		start += len(line) + 1
		if strings.HasPrefix(strings.TrimSpace(line), "^") {
			return true
		}
		for i := range len(line) {
			switch c := line[i]; {
			case c == '\'':
				quoted = !quoted
			case c == '"' || c == '\\' || c == '`':
				sure = sure && quoted
			case c == '!' && !(quoted && sure) && i+1 < len(line) && strings.IndexByte(" =", line[i+1]) < 0:
				return true
			}
		}
	}
	return false
}

// ofZsh are words that zsh, and no program, does the work of, beside those that
// every shell has.
var ofZsh = words(`- always bye chdir disable echotc echoti end foreach functions getln integer float limit log nameref private
	pushln r rehash repeat sched ttyctl unfunction unhash unlimit zcurses zformat zftp zparseopts zprof zpty zregexparse
	zselect zsocket zstyle zsystem ztcp`)

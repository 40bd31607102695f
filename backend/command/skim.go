package command

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// survey lets the floor and the denylist see a text that was not planned to its
// end: its tree, if there is one.
func (t *textJob) survey(file *syntax.File) {
	if file == nil {
		t.glance(t.text)
		return
	}
	t.skim(file)
}

// skim adds the commands of a text that is too much to be looked at, as ones
// that are only named: nothing hides from the floor and the denylist behind a
// long text. It looks at no file.
func (t *textJob) skim(file *syntax.File) {
	seen := map[string]bool{}
	add := func(n syntax.Node, words []string, floor string) {
		start, end := int(n.Pos().Offset()), int(n.End().Offset())
		if text := t.text[start:end]; floor != "" || !seen[text] && len(seen) < maxSegments {
			seen[text] = true
			t.plan.Segments = append(t.plan.Segments, approval.Segment{Start: start, End: end, Argv: words, Named: true, Floor: floor})
		}
	}
	var visit func(n syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt: // a chain is as deep as it is long, and is taken link by link
			binary, ok := n.Cmd.(*syntax.BinaryCmd)
			if !ok {
				break
			}
			for ; ok; binary, ok = n.Cmd.(*syntax.BinaryCmd) {
				syntax.Walk(binary.Y, visit)
				n = binary.X
			}
			syntax.Walk(n, visit)
			return false
		case *syntax.BinaryArithm: // and so is a sum
			var left syntax.ArithmExpr = n
			for sum, ok := left.(*syntax.BinaryArithm); ok; sum, ok = left.(*syntax.BinaryArithm) {
				syntax.Walk(sum.Y, visit)
				left = sum.X
			}
			syntax.Walk(left, visit)
			return false
		case *syntax.CallExpr:
			if len(n.Args) == 0 {
				break
			}
			words := make([]string, len(n.Args))
			for i, word := range n.Args {
				words[i] = t.guess(word)[1]
			}
			add(n, words, t.floorIn(words))
		case *syntax.Redirect:
			if n.Word == nil {
				break
			}
			if to := t.guess(n.Word)[1]; n.Op != syntax.RdrIn && isDevice(t.plan.Cwd.Path, to) {
				add(n, []string{t.guess(n.Word)[0]}, "it overwrites the device "+to)
			}
		}
		return true
	}
	syntax.Walk(file, visit)
}

// glance looks for what the floor forbids in a text that cannot be read: words
// between blanks and the signs that end a command.
func (j *job) glance(text string) {
	for line := range strings.FieldsFuncSeq(strings.ReplaceAll(text, "\\\n", ""), func(r rune) bool { return strings.ContainsRune(";|&\n\r(){}`", r) }) {
		words := strings.Fields(unquoter.Replace(line))
		if floor := j.floorIn(words); floor != "" {
			j.plan.Segments = append(j.plan.Segments, approval.Segment{End: len(text), Argv: []string{text}, Named: true, Floor: floor})
			return
		}
	}
}

// maxSkimmed bounds the words of a command that are tried as its program.
const maxSkimmed = 16

// floorIn says what the floor forbids in the words of a command, also behind
// wrappers.
func (j *job) floorIn(words []string) string {
	for i := range min(len(words), maxSkimmed) {
		if floor := j.floor(path.Base(words[i]), words[i+1:], j.plan.Cwd.Path); floor != "" {
			return floor
		}
	}
	return ""
}

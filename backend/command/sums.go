package command

import (
	"slices"
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// maxSum bounds the parts of one sum.
const maxSum = 200

// twoSided and oneSided are the signs of arithmetic that all shells read alike.
var (
	twoSided = map[syntax.BinAritOperator]approval.SumOp{
		syntax.Add: "+", syntax.Sub: "-", syntax.Mul: "*", syntax.Quo: "/", syntax.Rem: "%", syntax.Lss: "<", syntax.Gtr: ">", syntax.Leq: "<=",
		syntax.Geq: ">=", syntax.Eql: "==", syntax.Neq: "!=", syntax.AndArit: "&&", syntax.OrArit: "||",
	}
	oneSided = map[syntax.UnAritOperator]approval.SumOp{syntax.Not: "!", syntax.Minus: approval.SumMinus, syntax.Plus: approval.SumPlus}
	// changing are signs behind a variable that gets what they make of it.
	changing = map[syntax.BinAritOperator]approval.SumOp{
		syntax.AddAssgn: "+", syntax.SubAssgn: "-", syntax.MulAssgn: "*", syntax.QuoAssgn: "/", syntax.RemAssgn: "%",
	}
)

// sum reads arithmetic that changes nothing.
func (t *textJob) sum(x syntax.ArithmExpr, dir string) (approval.Sum, bool) {
	parts := 0
	return t.sumOf(x, dir, &parts)
}

func (t *textJob) sumOf(x syntax.ArithmExpr, dir string, parts *int) (s approval.Sum, ok bool) {
	if *parts++; *parts > maxSum {
		t.complex("its arithmetic has more than %d parts", maxSum)
		return s, false
	}
	if !t.spend(1) {
		return s, false
	}
	switch x := x.(type) {
	case *syntax.ParenArithm:
		return t.sumOf(x.X, dir, parts)
	case *syntax.BinaryArithm:
		op, known := twoSided[x.Op]
		left, okx := t.sumOf(x.X, dir, parts)
		right, oky := t.sumOf(x.Y, dir, parts)
		if (op == "/" || op == "%") && t.mayBeNone(right) {
			return s, false // where a shell goes on after that is not the same to any two
		}
		return approval.Sum{Op: op, Kids: []approval.Sum{left, right}}, known && okx && oky
	case *syntax.UnaryArithm:
		op, known := oneSided[x.Op]
		of, ok := t.sumOf(x.X, dir, parts)
		return approval.Sum{Op: op, Kids: []approval.Sum{of}}, known && ok && !x.Post
	case *syntax.Word:
		return t.operand(x, dir)
	}
	return s, false
}

// operand reads a number, the name of a variable, or one expansion.
func (t *textJob) operand(word *syntax.Word, dir string) (s approval.Sum, ok bool) {
	if len(word.Parts) != 1 {
		return s, false
	}
	lit, is := word.Parts[0].(*syntax.Lit)
	if !is {
		if _, quoted := word.Parts[0].(*syntax.DblQuoted); quoted {
			return s, false
		}
		part, ok := t.part(word.Parts[0], true, true, dir)
		part.Quoted = true
		if part.Kind == approval.PartVar && part.Form == nil && !t.counts(part.Text) {
			return s, false
		}
		at := int(word.Pos().Offset())
		return approval.Sum{Op: approval.SumWord, Word: approval.Word{part}, Tight: at > 0 && t.text[at-1] == '-'}, ok
	}
	if n, err := strconv.ParseInt(lit.Value, 10, 64); err == nil {
		return approval.Sum{Op: approval.SumNumber, Number: n}, strconv.FormatInt(n, 10) == lit.Value
	}
	return approval.Sum{Op: approval.SumName, Name: lit.Value}, t.mayRead(lit.Value) && t.counts(lit.Value)
}

// counts reports whether a variable holds plain decimal numbers, as far as the text
// tells.
func (t *textJob) counts(name string) bool {
	return !slices.ContainsFunc(t.values[name], func(value string) bool {
		_, ok := approval.Decimal(value)
		return !ok
	})
}

// mayBeNone reports whether a part of a sum may be 0, as far as the text tells.
func (t *textJob) mayBeNone(s approval.Sum) bool {
	switch s.Op {
	case approval.SumNumber:
		return s.Number == 0
	case approval.SumName:
		return slices.Contains(t.values[s.Name], "0")
	case approval.SumWord:
		return slices.Contains(t.values[s.Word[0].Text], "0")
	}
	return false
}

// counted reads arithmetic that is a command of its own, and may give one variable a
// value.
func (t *textJob) counted(x syntax.ArithmExpr, dir string) (s approval.Sum, ok bool) {
	s, ok = t.changes(x, dir)
	if !ok {
		t.ask(approval.ReasonApprovalRequired, "it uses arithmetic that is not run from a plan")
	}
	return s, ok
}

func (t *textJob) changes(x syntax.ArithmExpr, dir string) (s approval.Sum, ok bool) {
	switch x := x.(type) {
	case *syntax.UnaryArithm:
		if x.Op != syntax.Inc && x.Op != syntax.Dec {
			break
		}
		op := approval.SumSet
		if x.Post {
			op = approval.SumAfter
		}
		sign := approval.SumOp("+")
		if x.Op == syntax.Dec {
			sign = "-"
		}
		return t.gets(op, x.X, sign, approval.Sum{Op: approval.SumNumber, Number: 1})
	case *syntax.BinaryArithm:
		sign, changes := changing[x.Op]
		if !changes && x.Op != syntax.Assgn {
			break
		}
		value, ok := t.sum(x.Y, dir)
		if !ok {
			return s, false
		}
		return t.gets(approval.SumSet, x.X, sign, value)
	}
	return t.sum(x, dir)
}

// gets is a variable that gets a value, or what a sign makes of its own and that.
func (t *textJob) gets(op approval.SumOp, to syntax.ArithmExpr, sign approval.SumOp, value approval.Sum) (s approval.Sum, ok bool) {
	word, is := to.(*syntax.Word)
	if !is || !t.mayRead(word.Lit()) {
		return s, false
	}
	name := word.Lit()
	if sign != "" {
		value = approval.Sum{Op: sign, Kids: []approval.Sum{{Op: approval.SumName, Name: name}, value}}
	}
	return approval.Sum{Op: op, Name: name, Kids: []approval.Sum{value}}, t.given(name, "", false)
}

// counting plans for ((A; B; C)).
func (t *textJob) counting(loop *syntax.CStyleLoop, do []*syntax.Stmt, dir *string) (*approval.Node, bool) {
	if t.grammar != bash {
		return t.unclear(approval.ReasonApprovalRequired, "it uses a loop that is not run from a plan")
	}
	before, from, had := *dir, len(t.plan.Segments), len(t.env)
	node, ok := &approval.Node{Op: approval.OpCount}, true
	for i, x := range []syntax.ArithmExpr{loop.Init, loop.Cond, loop.Post} {
		one := approval.Sum{Op: approval.SumNumber, Number: 1}
		if x != nil {
			var fine bool
			if i == 1 {
				if one, fine = t.sum(x, *dir); !fine {
					t.ask(approval.ReasonApprovalRequired, "it uses arithmetic that is not run from a plan")
				}
			} else {
				one, fine = t.counted(x, *dir)
			}
			ok = ok && fine
		}
		node.Sums = append(node.Sums, one)
	}
	body, fine := t.round(do, dir)
	t.again(from, had)
	if !t.stays(dir, before) || !ok || !fine {
		return nil, false
	}
	node.Kids = []approval.Node{*body}
	return node, true
}
